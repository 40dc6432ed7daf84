#!/bin/sh
# Tests the tracer `text`: a line for each tag; times, options, colours, settings.
. tests/cli/lib/assertions.sh
unset CLICOLOR_FORCE NO_COLOR

cat >"$work/tags.jsonl" <<'LINES'
{"tracee":"<0.1.0>","tag":"call","term":"{m,f,[]}"}
{"tracee":"<0.1.0>","tag":"call","term":"{m,f,[[1,2],\"ab\",<<\"c\">>]}"}
{"tracee":"<0.1.0>","tag":"call","term":"{'Elixir.Enum','sort by',2}"}
{"tracee":"<0.1.0>","tag":"call","term":"{m,f,[a|b]}"}
{"tracee":"<0.1.0>","tag":"return_to","term":"{m,f,2}"}
{"tracee":"<0.1.0>","tag":"return_to","term":"undefined"}
{"tracee":"<0.1.0>","tag":"return_from","term":"{m,f,2}","extra":"{ok,1}"}
{"tracee":"<0.1.0>","tag":"exception_from","term":"{m,f,2}","extra":"{error,badarg}"}
{"tracee":"<0.1.0>","tag":"send","term":"hello","extra":"<0.2.0>"}
{"tracee":"<0.1.0>","tag":"send","term":"hello","extra":"{name,node}"}
{"tracee":"<0.1.0>","tag":"send_to_non_existing_process","term":"hello","extra":"<0.3.0>"}
{"tracee":"<0.2.0>","tag":"receive","term":"hello"}
{"tracee":"<0.1.0>","tag":"spawn","term":"<0.2.0>","extra":"{m,f,[1]}"}
{"tracee":"<0.2.0>","tag":"spawned","term":"<0.1.0>","extra":"{m,f,[1]}"}
{"tracee":"<0.2.0>","tag":"exit","term":"{badarg,[]}"}
{"tracee":"<0.1.0>","tag":"link","term":"<0.2.0>"}
{"tracee":"<0.1.0>","tag":"unlink","term":"#Port<0.4>"}
{"tracee":"<0.1.0>","tag":"getting_linked","term":"<0.2.0>"}
{"tracee":"#Port<0.4>","tag":"getting_unlinked","term":"<0.2.0>"}
{"tracee":"<0.1.0>","tag":"register","term":"server"}
{"tracee":"<0.1.0>","tag":"unregister","term":"server"}
{"tracee":"#Port<0.4>","tag":"open","term":"<0.1.0>","extra":"tcp_inet"}
{"tracee":"#Port<0.4>","tag":"closed","term":"normal"}
{"tracee":"<0.1.0>","tag":"in","term":"{m,f,2}"}
{"tracee":"<0.1.0>","tag":"out","term":"0"}
{"tracee":"#Port<0.4>","tag":"in","term":"command"}
{"tracee":"<0.1.0>","tag":"in_exiting","term":"{m,f,2}"}
{"tracee":"<0.1.0>","tag":"out_exiting","term":"{m,f,2}"}
{"tracee":"<0.1.0>","tag":"out_exited","term":"0"}
{"tracee":"<0.1.0>","tag":"gc_minor_start","term":"[{wordsize,5},{old_heap_block_size,9},{heap_block_size,233},{mbuf_size,1},{stack_size,4},{old_heap_size,0},{heap_size,220},{bin_vheap_size,3},{bin_vheap_block_size,46422}]"}
{"tracee":"<0.1.0>","tag":"gc_minor_end","term":"[{heap_size,20}]"}
{"tracee":"<0.1.0>","tag":"gc_major_start","term":"[{heap_size,20}]"}
{"tracee":"<0.1.0>","tag":"gc_major_end","term":"[{wordsize,33}]"}
{"tracee":"<0.1.0>","tag":"gc_max_heap_size","term":"[{heap_size,2000}]"}
{"tag":"seq_trace","label":"17","info":"{send,{0,1},<0.1.0>,<0.2.0>,hello}"}
{"tag":"seq_trace","label":"17","info":"{'receive',{0,1},<0.1.0>,<0.2.0>,hello}"}
{"tag":"seq_trace","label":"17","info":"{print,{1,2},<0.2.0>,[],stop}"}
LINES
expect 'each tag has its own line' "$tracehost" replay "$work/tags.jsonl" <<'LINES'
<0.1.0>    call m:f()
<0.1.0>    call m:f([1,2],"ab",<<"c">>)
<0.1.0>    call 'Elixir.Enum':'sort by'/2
<0.1.0>    call m:f(a|b)
<0.1.0>    return_to m:f/2
<0.1.0>    return_to undefined
<0.1.0>    return m:f/2 -> {ok,1}
<0.1.0>    exception m:f/2 ! error:badarg
<0.1.0>    send hello -> <0.2.0>
<0.1.0>    send hello -> {name,node}
<0.1.0>    send hello -> <0.3.0> (no such process)
<0.2.0>    receive hello
<0.1.0>    spawn <0.2.0> as m:f(1)
<0.2.0>    spawned by <0.1.0> as m:f(1)
<0.2.0>    exit {badarg,[]}
<0.1.0>    link <0.2.0>
<0.1.0>    unlink #Port<0.4>
<0.1.0>    getting_linked <0.2.0>
#Port<0.4> getting_unlinked <0.2.0>
<0.1.0>    register server
<0.1.0>    unregister server
#Port<0.4> open tcp_inet by <0.1.0>
#Port<0.4> closed normal
<0.1.0>    in m:f/2
<0.1.0>    out
#Port<0.4> in command
<0.1.0>    in_exiting m:f/2
<0.1.0>    out_exiting m:f/2
<0.1.0>    out_exited
<0.1.0>    gc_minor_start heap 220/233, old heap 0/9, stack 4, message buffers 1, binaries 3/46422, wordsize 5
<0.1.0>    gc_minor_end heap 20
<0.1.0>    gc_major_start heap 20
<0.1.0>    gc_major_end wordsize 33
<0.1.0>    gc_max_heap_size heap 2000
<0.1.0>    seq_trace 17 send {0,1} hello -> <0.2.0>
<0.2.0>    seq_trace 17 receive {0,1} hello <- <0.1.0>
<0.2.0>    seq_trace 17 print {1,2} stop
LINES

cat >"$work/options.jsonl" <<'LINES'
{"tracee":"<0.1.0>","tag":"receive","term":"early"}
{"ts":5000000000,"tracee":"<0.1.0>","tag":"call","term":"{m,f,0}","match_spec_result":"{m,g,1}","scheduler_id":2}
{"ts":5000001999,"tracee":"<0.1.0>","tag":"receive","term":"x","match_spec_result":"[]"}
{"ts":8250001000,"tracee":"<0.1.0>","tag":"exit","term":"normal","scheduler_id":1}
{"tracee":"<0.2.0>","tag":"exit","term":"untimed"}
{"ts":7000000000,"ts_kind":"timestamp","tracee":"<0.3.0>","tag":"exit","term":"another_clock"}
{"ts":4999999000,"tracee":"<0.4.0>","tag":"exit","term":"before_the_first"}
LINES
expect 'times since the first event and options are printed' "$tracehost" replay "$work/options.jsonl" <<'LINES'
<0.1.0>    receive early
0.000000 <0.1.0>    call m:f/0 [result {m,g,1}] [scheduler 2]
0.000001 <0.1.0>    receive x [result []]
3.250001 <0.1.0>    exit normal [scheduler 1]
         <0.2.0>    exit untimed
0.000000 <0.3.0>    exit another_clock
-0.000001 <0.4.0>    exit before_the_first
LINES

tail -1 "$work/options.jsonl" >"$work/one.jsonl"
line='0.000000 <0.4.0>    exit before_the_first'
e=$(printf '\033')
coloured="$e[2m0.000000$e[0m <0.4.0>    $e[31mexit$e[0m before_the_first"
expect 'without a terminal the output has no colours' "$tracehost" replay -t text "$work/one.jsonl" <<LINES
$line
LINES
expect 'color=always overrides NO_COLOR' env NO_COLOR=1 "$tracehost" replay -t text,color=always "$work/one.jsonl" <<LINES
$coloured
LINES
expect 'CLICOLOR_FORCE overrides NO_COLOR' env NO_COLOR=1 CLICOLOR_FORCE=1 "$tracehost" replay -t text \
    "$work/one.jsonl" <<LINES
$coloured
LINES
expect 'color=never overrides CLICOLOR_FORCE' env CLICOLOR_FORCE=1 "$tracehost" replay -t text,color=never "$work/one.jsonl" <<LINES
$line
LINES
expect 'an unknown setting is refused with a suggestion' "$tracehost" replay -t text,colour=always "$work/one.jsonl" <<LINES
-- stderr
tracehost replay: cannot attach tracer 'text'
  tracer 'text' has no setting 'colour'
  did you mean 'color'?
-- status 2
LINES

to_files() {
    "$tracehost" replay -t "text,output=$work/a" -t "text,output=$work/b,color=always" -t "text,output=-" \
        "$work/one.jsonl" && cat "$work/a" "$work/b"
}
expect 'each session writes to its own output' to_files <<LINES
$line
$line
$coloured
LINES

# --- Times ---

cat >"$work/times.jsonl" <<'LINES'
{"ts":1795233753912926000,"ts_kind":"timestamp","tracee":"<0.1.0>","tag":"exit","term":"a"}
{"ts":1795233754912927000,"ts_kind":"timestamp","tracee":"<0.10.0>","tag":"exit","term":"b"}
{"tracee":"#Port<0.123456>","tag":"closed","term":"untimed"}
{"ts":1795233754912926000,"ts_kind":"timestamp","tracee":"<0.1.0>","tag":"exit","term":"earlier"}
{"ts":1795233854912926000,"ts_kind":"timestamp","tracee":"<0.1.0>","tag":"exit","term":"later"}
{"ts":5000001999,"ts_kind":"monotonic","tracee":"<0.1.0>","tag":"exit","term":"another_clock"}
LINES
expect 'columns grow with longer times and pids' "$tracehost" replay -t text "$work/times.jsonl" <<'LINES'
0.000000 <0.1.0>    exit a
1.000001 <0.10.0>   exit b
         #Port<0.123456> closed untimed
1.000000 <0.1.0>         exit earlier
101.000000 <0.1.0>         exit later
  0.000000 <0.1.0>         exit another_clock
LINES
expect 'time=delta prints the time since the event before' "$tracehost" replay -t text,time=delta "$work/times.jsonl" <<'LINES'
0.000000 <0.1.0>    exit a
1.000001 <0.10.0>   exit b
         #Port<0.123456> closed untimed
-0.000001 <0.1.0>         exit earlier
100.000000 <0.1.0>         exit later
  0.000000 <0.1.0>         exit another_clock
LINES
expect 'time=absolute prints date and time' "$tracehost" replay -t text,time=absolute "$work/times.jsonl" <<'LINES'
2026-11-21T04:02:33.912926Z <0.1.0>    exit a
2026-11-21T04:02:34.912927Z <0.10.0>   exit b
                            #Port<0.123456> closed untimed
2026-11-21T04:02:34.912926Z <0.1.0>         exit earlier
2026-11-21T04:04:14.912926Z <0.1.0>         exit later
                   0.000000 <0.1.0>         exit another_clock
-- stderr
text: events whose date is not in the recording, shown in seconds since its first record: 1
LINES
expect 'time=absolute prints CPU time in seconds' "$tracehost" replay -t text,time=absolute --max-events=2 "$recordings/s14_cpu_timestamp.trace" <<'LINES'
0.000000 <0.218.0>  call ex:foo()
0.000006 <0.218.0>  call ex:lots()
-- stderr
text: events whose date is not in the recording, shown in seconds since its first record: 2
LINES
expect 'time=absolute prints monotonic time in seconds' "$tracehost" replay -t text,time=absolute --max-events=1 --flags=call,monotonic_timestamp "$recordings/s05_supervisor_restarts.trace" <<'LINES'
0.000010 <0.100.0>  call supervisor:start_link/2
-- stderr
text: events whose date is not in the recording, shown in seconds since its first record: 1
LINES
expect 'an unknown value of time is refused' "$tracehost" replay -t text,time=when "$work/one.jsonl" <<'LINES'
-- stderr
tracehost replay: cannot attach tracer 'text'
  tracer 'text': the setting 'time' cannot be 'when'
  the setting must be relative, absolute or delta
-- status 2
LINES

# --- One axis for all views of a recording ---

# The clocks come by turns. The first record of each clock, which is filtered out, is its zero.
cat >"$work/clocks.jsonl" <<'LINES'
{"ts":1795233753000000000,"ts_kind":"timestamp","tracee":"<0.1.0>","tag":"call","term":"{m,f,[]}"}
{"ts":-576460751547000000,"ts_kind":"strict_monotonic","ts_unique":1,"tracee":"<0.2.0>","tag":"call","term":"{m,f,[]}"}
{"ts":5000,"ts_kind":"cpu_timestamp","tracee":"<0.3.0>","tag":"call","term":"{m,f,[]}"}
{"ts":1795233753000007000,"ts_kind":"timestamp","tracee":"<0.1.0>","tag":"send","term":"a","extra":"<0.2.0>"}
{"ts":-576460751546992000,"ts_kind":"monotonic","tracee":"<0.2.0>","tag":"send","term":"b","extra":"<0.1.0>"}
{"ts":14000,"ts_kind":"cpu_timestamp","tracee":"<0.3.0>","tag":"send","term":"c","extra":"<0.1.0>"}
{"ts":1795233753000010000,"ts_kind":"timestamp","tracee":"<0.1.0>","tag":"send","term":"d","extra":"<0.2.0>"}
LINES
expect 'filters do not move the zero of a clock' "$tracehost" replay --from=8us --flags=send,timestamp,monotonic_timestamp,cpu_timestamp "$work/clocks.jsonl" <<'LINES'
0.000008 <0.2.0>    send b -> <0.1.0>
0.000009 <0.3.0>    send c -> <0.1.0>
0.000010 <0.1.0>    send d -> <0.2.0>
LINES
cat >"$work/later.jsonl" <<'LINES'
{"ts":1795233753000020000,"ts_kind":"timestamp","tracee":"<0.1.0>","tag":"send","term":"e","extra":"<0.2.0>"}
{"ts":-576460751546979000,"ts_kind":"monotonic","tracee":"<0.2.0>","tag":"send","term":"f","extra":"<0.1.0>"}
LINES
expect 'the first stream sets the zeros of later streams' "$tracehost" replay --from=10us --to=20us "$work/clocks.jsonl" "$work/later.jsonl" <<'LINES'
0.000010 <0.1.0>    send d -> <0.2.0>
0.000020 <0.1.0>    send e -> <0.2.0>
LINES
# Only the last bytes of records are read, as long as they show the clock.
"$tracehost" convert "$work/clocks.jsonl" "$work/clocks.trace"
expect 'each clock of a binary recording has its own zero' "$tracehost" replay --flags=send,timestamp "$work/clocks.trace" <<'LINES'
0.000007 <0.1.0>    send a -> <0.2.0>
0.000008 <0.2.0>    send b -> <0.1.0>
0.000009 <0.3.0>    send c -> <0.1.0>
0.000010 <0.1.0>    send d -> <0.2.0>
LINES

# The same with recordings of nodes, without the first event by each clock.
cat >"$work/since.py" <<'PYTHON'
import json, re, sys
zeros, wanted = {}, []
for event in map(json.loads, open(sys.argv[1])):
    if 'ts' in event:
        zero = zeros.setdefault(event['ts_kind'].replace('strict_', ''), event['ts'])
        since = event['ts'] // 1000 - zero // 1000
        if event['ts'] > zero:
            wanted.append('%s%d.%06d' % ('-' if since < 0 else '', abs(since) // 10 ** 6, abs(since) % 10 ** 6))
found = [found.group(1) for found in (re.match(r' *(-?\d+\.\d{6}) ', line) for line in sys.stdin) if found]
assert found == wanted, [pair for pair in zip(found, wanted) if pair[0] != pair[1]][:3] or (len(found), len(wanted))
PYTHON
since_first() {
    for stream in "$recordings"/s*.trace; do
        "$tracehost" convert "$stream" "$work/since.jsonl" 2>/dev/null
        "$tracehost" replay -t text --from=1ns "$stream" 2>/dev/null | python3 "$work/since.py" "$work/since.jsonl" ||
            { echo "$stream" && return 1; }
    done
}
check 'times of all recordings count from the first record' since_first

# Dates are the dates of the recording.
dates() {
    "$tracehost" replay -t text,time=absolute "$1" | sed 's/ .*//' >"$work/dates"
    "$tracehost" convert --to=jsonl "$1" - | python3 -c 'import datetime, json, sys
for line in sys.stdin:
    if "ts" in json.loads(line):
        s, ns = divmod(json.loads(line)["ts"], 10 ** 9)
        print("%s.%06dZ" % (datetime.datetime.fromtimestamp(s, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S"), ns // 1000))' |
        diff - "$work/dates" && [ -s "$work/dates" ]
}
check 'time=absolute prints the dates of a recording' dates "$recordings/s04_genserver_pingpong.trace"

# --- How much of terms ---

ones=1,1,1,1,1,1,1,1,1,1
tens=abcdefghij
while read -r term; do
    printf '{"tracee":"<0.1.0>","tag":"receive","term":"%s"}\n' "$term"
done >"$work/terms.jsonl" <<LINES
[$ones,$ones]
[$ones,$ones,2]
[$ones,$ones|2]
[$ones,$ones,3|2]
{$ones,$ones}
{$ones,$ones,2}
[[[[[[6]]]]]]
[[[[[[[7,8]]]]]]]
{{{{{{{7,8},{},[],#{}}}}}}}
{[{[{[{},#{a=>b}]}]}]}
[[$ones],[$ones],[$ones],[$ones],[$ones],[$ones],[$ones],[$ones],[$ones],[$ones],[$ones]]
#{a=>1,b=>[$ones,$ones,$ones]}
\\"$tens$tens$tens$tens$tens$tens$tens$tens\\"
\\"$tens$tens$tens$tens$tens$tens$tens$tens!\\"
<<\\"$tens$tens$tens$tens$tens${tens}1234\\">>
<<\\"$tens$tens$tens$tens$tens${tens}12345\\">>
{1.5,a,'B c',<0.1.0>,<<5:3>>}
$(printf '%0100d' 0 | tr 0 7)
$(printf '%0101d' 0 | tr 0 7)
LINES
expect 'by default, long and deep terms are cut' "$tracehost" replay -t text "$work/terms.jsonl" <<'LINES'
<0.1.0>    receive [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]
<0.1.0>    receive [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,...(21)]
<0.1.0>    receive [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1|2]
<0.1.0>    receive [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,...(21)]
<0.1.0>    receive {1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1}
<0.1.0>    receive {1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,...(21)}
<0.1.0>    receive [[[[[[6]]]]]]
<0.1.0>    receive [[[[[[[...(2)]]]]]]]
<0.1.0>    receive {{{{{{{...(2)},{},[],#{}}}}}}}
<0.1.0>    receive {[{[{[{},#{...(1)}]}]}]}
<0.1.0>    receive [[1,1,1,1,1,1,1,1,1,1],[1,1,1,1,1,1,1,1,1,1],[1,1,1,1,1,1,1,1,1,1],[1,1,1,1,1,1,1,1,1,1],[1,1,1,1,1,1,1,1,1,1],[1,1,1,1,1,1,1,1,1,1],[1,1,1,1,1,1,1,1,1,1],[1,1,1,1,1,1,1,1,1,1],[1,1,1,1,1,1,1,1,1,1],...(11)]
<0.1.0>    receive #{a => 1,b => [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,...(30)]}
<0.1.0>    receive "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij"
<0.1.0>    receive "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij"...(81)
<0.1.0>    receive <<"abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij1234">>
<0.1.0>    receive <<"abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij1234"...(65)>>
<0.1.0>    receive {1.5,a,'B c',<0.1.0>,<<5:3>>}
<0.1.0>    receive 7777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777
<0.1.0>    receive 7777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777...(101)
LINES
expect 'args=shape prints type and size of a term' "$tracehost" replay -t text,args=shape "$work/terms.jsonl" <<'LINES'
<0.1.0>    receive list(20)
<0.1.0>    receive list(21)
<0.1.0>    receive list(20)
<0.1.0>    receive list(21)
<0.1.0>    receive tuple(20)
<0.1.0>    receive tuple(21)
<0.1.0>    receive list(1)
<0.1.0>    receive list(1)
<0.1.0>    receive tuple(1)
<0.1.0>    receive tuple(1)
<0.1.0>    receive list(11)
<0.1.0>    receive map(2)
<0.1.0>    receive list(80)
<0.1.0>    receive list(81)
<0.1.0>    receive binary(64)
<0.1.0>    receive binary(65)
<0.1.0>    receive tuple(5)
<0.1.0>    receive integer
<0.1.0>    receive integer
LINES
expect 'args=shape is obeyed for each tag' "$tracehost" replay -t text,args=shape "$work/tags.jsonl" <<'LINES'
<0.1.0>    call m:f()
<0.1.0>    call m:f(list(2),list(2),binary(1))
<0.1.0>    call 'Elixir.Enum':'sort by'/2
<0.1.0>    call m:f(atom|atom)
<0.1.0>    return_to m:f/2
<0.1.0>    return_to undefined
<0.1.0>    return m:f/2 -> tuple(2)
<0.1.0>    exception m:f/2 ! error:atom
<0.1.0>    send atom -> <0.2.0>
<0.1.0>    send atom -> {name,node}
<0.1.0>    send atom -> <0.3.0> (no such process)
<0.2.0>    receive atom
<0.1.0>    spawn <0.2.0> as m:f(integer)
<0.2.0>    spawned by <0.1.0> as m:f(integer)
<0.2.0>    exit tuple(2)
<0.1.0>    link <0.2.0>
<0.1.0>    unlink #Port<0.4>
<0.1.0>    getting_linked <0.2.0>
#Port<0.4> getting_unlinked <0.2.0>
<0.1.0>    register server
<0.1.0>    unregister server
#Port<0.4> open tcp_inet by <0.1.0>
#Port<0.4> closed atom
<0.1.0>    in m:f/2
<0.1.0>    out
#Port<0.4> in command
<0.1.0>    in_exiting m:f/2
<0.1.0>    out_exiting m:f/2
<0.1.0>    out_exited
<0.1.0>    gc_minor_start heap 220/233, old heap 0/9, stack 4, message buffers 1, binaries 3/46422, wordsize 5
<0.1.0>    gc_minor_end heap 20
<0.1.0>    gc_major_start heap 20
<0.1.0>    gc_major_end wordsize 33
<0.1.0>    gc_max_heap_size heap 2000
<0.1.0>    seq_trace 17 send {0,1} atom -> <0.2.0>
<0.2.0>    seq_trace 17 receive {0,1} atom <- <0.1.0>
<0.2.0>    seq_trace 17 print {1,2} atom
LINES
expect 'args=none prints no terms' "$tracehost" replay -t text,args=none "$work/tags.jsonl" <<'LINES'
<0.1.0>    call m:f/0
<0.1.0>    call m:f/3
<0.1.0>    call 'Elixir.Enum':'sort by'/2
<0.1.0>    call m:f
<0.1.0>    return_to m:f/2
<0.1.0>    return_to undefined
<0.1.0>    return m:f/2
<0.1.0>    exception m:f/2 ! error
<0.1.0>    send -> <0.2.0>
<0.1.0>    send -> {name,node}
<0.1.0>    send -> <0.3.0> (no such process)
<0.2.0>    receive
<0.1.0>    spawn <0.2.0> as m:f/1
<0.2.0>    spawned by <0.1.0> as m:f/1
<0.2.0>    exit
<0.1.0>    link <0.2.0>
<0.1.0>    unlink #Port<0.4>
<0.1.0>    getting_linked <0.2.0>
#Port<0.4> getting_unlinked <0.2.0>
<0.1.0>    register server
<0.1.0>    unregister server
#Port<0.4> open tcp_inet by <0.1.0>
#Port<0.4> closed
<0.1.0>    in m:f/2
<0.1.0>    out
#Port<0.4> in command
<0.1.0>    in_exiting m:f/2
<0.1.0>    out_exiting m:f/2
<0.1.0>    out_exited
<0.1.0>    gc_minor_start heap 220/233, old heap 0/9, stack 4, message buffers 1, binaries 3/46422, wordsize 5
<0.1.0>    gc_minor_end heap 20
<0.1.0>    gc_major_start heap 20
<0.1.0>    gc_major_end wordsize 33
<0.1.0>    gc_max_heap_size heap 2000
<0.1.0>    seq_trace 17 send {0,1} -> <0.2.0>
<0.2.0>    seq_trace 17 receive {0,1} <- <0.1.0>
<0.2.0>    seq_trace 17 print {1,2}
LINES

# A line that `bounded` cuts ends with a mark; all other lines are as `full` prints them.
cut_or_same() {
    for args in full bounded; do
        "$tracehost" replay -t "text,args=$args" "$1" 2>/dev/null >"$work/$args"
    done
    paste -d '\n' "$work/full" "$work/bounded" | awk 'NR % 2 { full = $0; next }
        $0 == full { same++; next } /\.\.\.\([0-9]+\)/ && length($0) < length(full) + 20 { cut++; next } { print; exit wrong = 1 }
        END { exit wrong || same + cut == 0 }'
}
for name in s04_genserver_pingpong s09_collections_return s12_fileio s15_kitchen_sink s16_terms s21_ip_drop_extract; do
    check "a line of bounded equals that of full or is marked as cut: $name" cut_or_same "$recordings/$name.trace"
done

# A line longer than the buffer of one line.
long=$(head -c 100000 /dev/zero | tr '\0' x)
printf '{"tracee":"<0.1.0>","tag":"receive","term":["%s"]}\n' "$long" >"$work/long.jsonl"
whole_line() {
    printf '<0.1.0>    receive [<<"%s">>]\n' "$long" >"$work/whole"
    "$tracehost" replay -t text,args=full "$work/long.jsonl" | cmp - "$work/whole"
}
check 'a line longer than the buffer is whole' whole_line

finish
