#!/bin/sh
# Tests the tracer `usdt`: the probes that events hit, as gdb sees them.
. tests/cli/lib/assertions.sh

# LeakSanitizer wants to be the one that traces.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"

all_probes() {
    "$tracehost" probes "${1:-usdt}" | sed 's/(.*//' >"$work/names"
    "$tracehost" probes | sed 's/(.*//' | diff - "$work/names"
}
check 'the library has the same probes as the program' all_probes

cat >"$work/events.jsonl" <<'LINES'
{"tracee":"<0.1.0>","tag":"send","term":"{hello,[1,2]}","extra":"server"}
{"tracee":"<0.1.0>","tag":"send_to_non_existing_process","term":"hello","extra":"<0.3.0>"}
{"tracee":"<0.1.0>","tag":"receive","term":"#{a => 1.5}"}
{"tracee":"#Port<0.4>","tag":"receive","term":"{<0.1.0>,{command,<<\"x\">>}}"}
{"tracee":"<0.1.0>","tag":"call","term":"{m,f,[1,2]}"}
{"tracee":"<0.1.0>","tag":"return_from","term":"{m,f,2}","extra":"ok"}
{"tracee":"<0.1.0>","tag":"exception_from","term":"{m,f,2}","extra":"{error,x}"}
{"tracee":"<0.1.0>","tag":"spawn","term":"<0.2.0>","extra":"{m,'F f',[]}"}
{"tracee":"<0.1.0>","tag":"link","term":"<0.2.0>"}
{"tracee":"<0.2.0>","tag":"in","term":"{m,g,1}"}
{"tracee":"<0.2.0>","tag":"out","term":"0"}
{"tracee":"#Port<0.4>","tag":"in","term":"command"}
{"tracee":"<0.2.0>","tag":"gc_minor_start","term":"[{heap_size,1},{wordsize,8}]"}
{"tracee":"<0.2.0>","tag":"gc_major_end","term":"[{wordsize,77}]"}
{"tracee":"<0.2.0>","tag":"gc_max_heap_size","term":"[]"}
{"tracee":"<0.2.0>","tag":"exit","term":"{bad,reason}"}
{"tracee":"#Port<0.5>","tag":"open","term":"<0.1.0>","extra":"tcp_inet"}
{"tracee":"#Port<0.5>","tag":"closed","term":"normal"}
{"tag":"seq_trace","label":"17","info":"{send,{0,1},<0.1.0>,<0.2.0>,hello}"}
LINES

in_gdb() {
    HITS=$work/hits SAID=$work/said_by_it OF_FILE=usdt.so: gdb -q -nx -batch -iex 'set debuginfod enabled off' \
        -iex 'set breakpoint pending on' -ex 'handle SIGUSR1 SIGUSR2 nostop noprint pass' \
        -x tests/probe/watch_probes.py --args "$tracehost" replay -t 'usdt={my,state}' "$work/events.jsonl" \
        </dev/null >"$work/gdb" 2>&1
    cat "$work/hits"
    grep -q 'exited normally' "$work/gdb" || tail "$work/gdb"
}

if [ -n "${EMULATOR:-}" ]; then
    skip 'each event fires its probe' 'gdb would see the emulator'
elif ! command -v gdb >/dev/null; then
    skip 'each event fires its probe' 'gdb is not installed'
elif ! gdb -q -nx -batch -ex 'python print(1)' 2>/dev/null | grep -q 1; then
    skip 'each event fires its probe' 'this gdb has no Python'
elif ! gdb -q -nx -batch -ex run --args true 2>&1 | grep -q 'exited normally'; then
    skip 'each event fires its probe' 'gdb cannot run a program here'
else
    expect 'each event fires its probe' in_gdb <<'LINES'
message__send sender=<0.1.0> receiver=server size=7 token_label=0 token_previous=0 token_current=0
trace p=<0.1.0> event=send_to_non_existing_process state={my,state} arg_1=hello arg_2=<0.3.0>
message__receive receiver=<0.1.0> size=8 queue_len=0 token_label=0 token_previous=0 token_current=0
port__command process=<0.1.0> port=#Port<0.4> port_name= command_type=command
global__function__entry p=<0.1.0> mfa=m:f/2 depth=0
function__return p=<0.1.0> mfa=m:f/2 depth=0
trace p=<0.1.0> event=exception_from state={my,state} arg_1={m,f,2} arg_2={error,x}
process__spawn p=<0.2.0> mfa=m:'F f'/0
trace p=<0.1.0> event=link state={my,state} arg_1=<0.2.0> arg_2=
process__scheduled p=<0.2.0> mfa=m:g/1
process__unscheduled p=<0.2.0>
trace p=#Port<0.4> event=in state={my,state} arg_1=command arg_2=
gc_minor__start p=<0.2.0> need=8
gc_major__end p=<0.2.0> reclaimed=77
trace p=<0.2.0> event=gc_max_heap_size state={my,state} arg_1=[] arg_2=
process__exit p=<0.2.0> reason={bad,reason}
port__open process=<0.1.0> port_name=tcp_inet port=#Port<0.5>
port__exit process= port=#Port<0.5> port_name= new_process=normal
trace_seq state={my,state} label=17 seq_info={send,{0,1},<0.1.0>,<0.2.0>,hello}
LINES
fi

# Without a watcher, `enabled` is called and `trace` is not; ends of discarded calls are not asked about.
unwatched() {
    "$tracehost" replay --stats -t usdt "$work/events.jsonl" 2>&1 | grep 'of its .* callbacks' | sed 's/^ *//'
}
expect 'without a watcher, trace is never called' unwatched <<'LINES'
17  calls of its enabled callbacks
0  calls of its trace callbacks
LINES
finish
