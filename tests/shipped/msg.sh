#!/bin/sh
# Tests the tracer `msg`: sender and receiver of each message, and nothing else.
. tests/cli/lib/assertions.sh

expect 'sender and receiver of each message are printed' "$tracehost" replay -t msg "$recordings/file_open.trace" <<'LINES'
<0.84.0> -> <0.66.0>
<0.86.0> -> <0.66.0>
<0.87.0> -> <0.60.0>
<0.88.0> -> <0.66.0>
<0.87.0> -> <0.81.0>
<0.89.0> -> <0.66.0>
<0.90.0> -> <0.66.0>
<0.87.0> -> <0.81.0>
<0.91.0> -> <0.66.0>
LINES

cat >"$work/sends.jsonl" <<'LINES'
{"tracee":"<0.1.0>","tag":"send","term":"hello","extra":"server"}
{"tracee":"<0.1.0>","tag":"send","term":"hello","extra":"{server,'n@h'}"}
{"tracee":"<0.1.0>","tag":"send_to_non_existing_process","term":"hello","extra":"<0.3.0>"}
{"tracee":"<0.1.0>","tag":"receive","term":"hello"}
{"tracee":"#Port<0.4>","tag":"send","term":"hello","extra":"<0.1.0>"}
{"tracee":"<0.1.0>","tag":"return_from","term":"{m,f,1}","extra":"ok"}
LINES
expect 'receivers are printed as names, pids or gone processes' "$tracehost" replay -t msg "$work/sends.jsonl" <<'LINES'
<0.1.0> -> server
<0.1.0> -> {server,n@h}
<0.1.0> -> <0.3.0> (gone)
#Port<0.4> -> <0.1.0>
LINES

finish
