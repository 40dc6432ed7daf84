#!/bin/sh
# Tests the tracer `jsonl`: reading its lines returns the recorded events.
. tests/cli/lib/assertions.sh

# again STREAM OPTION...: replays into $work/again.jsonl, without the messages about damage.
again() {
    rm -f "$work/again.jsonl"
    "$tracehost" replay -t jsonl,output="$work/again.jsonl" "$@" >"$work/replay" 2>&1
    case $? in
    0 | 4) [ "$(echo "$work"/again.jsonl*)" = "$work/again.jsonl" ] ;;
    *) cat "$work/replay" && false ;;
    esac
}

# The host reports drops.
events() {
    "$tracehost" dump "$1" 2>/dev/null | sed '/^{drop,[0-9]*}\.$/d'
}
same_events() {
    again "$1" && events "$1" >"$work/wanted" && events "$work/again.jsonl" | diff - "$work/wanted"
}
for stream in "$recordings"/*.trace "$large"/l[12]*.trace samples/executions/*.jsonl; do
    if [ -e "$stream" ]; then
        check "the written file has the same events: $(basename "$stream")" same_events "$stream"
    else
        skip "the written file has the same events: $stream" 'this recording is not here'
    fi
done

# The tracer's warnings about this stream equal those of `convert`.
as_converted() {
    again "$recordings/s04_genserver_pingpong.trace" &&
        "$tracehost" convert --to=jsonl "$recordings/s04_genserver_pingpong.trace" - | diff - "$work/again.jsonl"
}
check 'the output equals the output of convert' as_converted

# Times that no program rounds, and that are read back.
cat >"$work/times.jsonl" <<'LINES'
{"ts":-576460751548353607,"ts_kind":"strict_monotonic","ts_unique":-576460752303423488,"tracee":"<0.1.0>","tag":"in","term":"0"}
{"tracee":"<0.1.0>","tag":"in","term":"0"}
{"ts":1795233760542293000,"ts_kind":"timestamp","tracee":"<0.1.0>","tag":"out","term":"0"}
LINES
expect 'ts=string writes times as strings' "$tracehost" replay -t jsonl,ts=string "$work/times.jsonl" <<'LINES'
{"tracehost":1,"node":"nonode@nohost","creation":0}
{"ts":"-576460751548353607","ts_kind":"strict_monotonic","ts_unique":"-576460752303423488","tracee":"<0.1.0>","tag":"in","term":"0"}
{"tracee":"<0.1.0>","tag":"in","term":"0"}
{"ts":"1795233760542293000","ts_kind":"timestamp","tracee":"<0.1.0>","tag":"out","term":"0"}
LINES
times_again() {
    "$tracehost" replay -t jsonl,ts=string,output="$work/again.jsonl" "$recordings/s07_running_exiting.trace" &&
        "$tracehost" replay -t text "$recordings/s07_running_exiting.trace" >"$work/wanted" &&
        "$tracehost" replay -t text "$work/again.jsonl" | diff - "$work/wanted" && [ -s "$work/wanted" ]
}
check 'times that are written as strings are read' times_again

# These fields exist in JSON lines alone: external and tail calls, callers.
lines_stay() {
    printf '%s\n' '{"tracehost":1,"node":"nonode@nohost","creation":0}' \
        '{"tracee":"<0.1.0>","tag":"call","term":"{m,f,[]}","callers":"[{m,g,2,[{file,\"m.c\"},{line,7}]}|undefined]"}' \
        '{"tracee":"<0.1.0>","tag":"call","term":"{m,f,[]}","external":false,"callers":"undefined"}' >"$work/told.jsonl"
    for file in samples/executions/tail_calls.jsonl "$work/told.jsonl"; do
        again "$file" && diff "$file" "$work/again.jsonl" || return
    done
}
check 'the fields of calls and executions are kept' lines_stay

# --- Terms ---

deep() {
    printf "%0${1}d" 0 | tr 0 '['
    printf "%0${1}d" 0 | tr 0 ']'
}
while read -r term; do
    printf '{"tracee":"<0.1.0>","tag":"receive","term":"%s"}\n' "$term"
done >"$work/terms.jsonl" <<LINES
a@B_1
'Elixir.Enum'
''
'end'
'maybe'
'two words'
'it\\\\'s'
'back\\\\\\\\slash'
'\\"'
'\\\\x{e9}t\\\\x{e9}'
'\\\\n\\\\r\\\\t\\\\x{1}\\\\x{7f}\\\\x{0}x'
'\\\\x{3b1}'
9223372036854775807
-9223372036854775808
18446744073709551615
18446744073709551616
0.1
-0.0
1.0e22
5.0e-324
1.7976931348623157e308
123456789012345680.0
[]
[1|2]
\\"text\\"
\\"quoted \\\\\\"text\\\\\\" \\\\\\\\ \\"
[32,126,127]
\\"text\\\\n\\"
[\\"a\\",98|c]
{}
{{},[{[]}]}
<<>>
<<\\"quoted \\\\\\"bytes\\\\\\"\\\\n\\">>
<<0,255>>
<<5:3>>
#{}
#{a => #{1.5 => []},[] => {}}
<0.1.0>
#Port<0.7>
#Ref<0.1.2.3>
$(deep 150)
$(deep 250)
LINES
lines=$(wc -l <"$work/terms.jsonl")
as_many() {
    same_events "$work/terms.jsonl" && [ "$(wc -l <"$work/wanted")" -eq "$lines" ] && [ "$lines" -gt 40 ]
}
check 'terms of all types are read back' as_many
strict_json() {
    again "$work/terms.jsonl" && python3 -c 'import json, sys
for line in sys.stdin: json.loads(line)' <"$work/again.jsonl"
}
check 'each line with a term is valid JSON' strict_json

shown() {
    grep -e "two words" -e '"<0.1.0>"}$' -e 922337203685477580 -e '<<' -e '{}' "$work/again.jsonl"
    grep -c etf "$work/again.jsonl"
}
expect 'terms are written as Erlang text' shown <<'LINES'
{"tracee":"<0.1.0>","tag":"receive","term":"'two words'"}
{"tracee":"<0.1.0>","tag":"receive","term":"9223372036854775807"}
{"tracee":"<0.1.0>","tag":"receive","term":"-9223372036854775808"}
{"tracee":"<0.1.0>","tag":"receive","term":"{}"}
{"tracee":"<0.1.0>","tag":"receive","term":"{{},[{[]}]}"}
{"tracee":"<0.1.0>","tag":"receive","term":"<<>>"}
{"tracee":"<0.1.0>","tag":"receive","term":"<<\"quoted \\\"bytes\\\"\\n\">>"}
{"tracee":"<0.1.0>","tag":"receive","term":"<<0,255>>"}
{"tracee":"<0.1.0>","tag":"receive","term":"#{}"}
{"tracee":"<0.1.0>","tag":"receive","term":"#{a => #{1.5 => []},[] => {}}"}
{"tracee":"<0.1.0>","tag":"receive","term":"<0.1.0>"}
4
LINES

# --- Lines ---

cat >"$work/fields.jsonl" <<'LINES'
{"tracehost":1,"node":"töst@höst","creation":7}
{"ts":5000001000,"ts_kind":"timestamp","tracee":"<0.1.0>","tag":"call","term":"{m,f,0}","match_spec_result":"{m,g,1}","scheduler_id":2}
{"ts":-5,"ts_kind":"monotonic","tracee":"#Port<0.4>","tag":"open","term":"<0.1.0>","extra":"tcp_inet"}
{"ts":7000,"ts_kind":"cpu_timestamp","tag":"seq_trace","label":"17","info":"{print,{1,2},<0.1.0>,[],stop}"}
LINES
expect 'all fields of events are kept' "$tracehost" replay -t jsonl "$work/fields.jsonl" <"$work/fields.jsonl"

filtered() {
    "$tracehost" replay -p ex:c4/1 --exception -t jsonl,output="$work/small.jsonl" --max-records=17 \
        "$recordings/s03_exceptions_return_to.trace" && cat "$work/small.jsonl"
}
expect 'only events that pass the filters are written' filtered <<'LINES'
{"tracehost":1,"node":"nonode@nohost","creation":0}
{"ts":1795233753912940000,"ts_kind":"timestamp","tracee":"<0.89.0>","tag":"call","term":"{ex,c4,[err]}"}
{"ts":1795233753912942000,"ts_kind":"timestamp","tracee":"<0.89.0>","tag":"exception_from","term":"{ex,c4,1}","extra":"{error,boom}"}
LINES

# A plugin's run is traced into a file, which replays as the run happened.
live() {
    "$tracehost" run -p fib:fib/1 --return -t text,output="$work/happened" -t jsonl,output="$work/live.jsonl" fib 'fib:fib(4)' &&
        "$tracehost" replay "$work/live.jsonl" | diff "$work/happened" - && wc -l <"$work/happened"
}
expect 'a recorded run replays as the run happened' live <<'LINES'
3
18
LINES

# Only the first line is in place of an earlier file's.
nothing() {
    echo earlier >"$work/again.jsonl"
    "$tracehost" replay -t jsonl,output="$work/again.jsonl" -p no:such/1 "$recordings/s06_ports.trace"
    cat "$work/again.jsonl"
}
expect 'a stream without events leaves only the header' nothing <<'LINES'
{"tracehost":1,"node":"nonode@nohost","creation":0}
-- stderr
tracehost replay: warning: -p no:such/1: no such function was called
LINES

# States that differ, one file.
twice() {
    "$tracehost" replay -t jsonl -t jsonl,color=never --max-events=1 "$recordings/s06_ports.trace" | sed 's/{"\$etf":.*/.../'
}
expect 'two sessions with one output write one header' twice <<'LINES'
{"tracehost":1,"node":"nonode@nohost","creation":0}
{"tracee":"<0.111.0>","tag":"receive","term":...
{"tracee":"<0.111.0>","tag":"receive","term":...
LINES

finish
