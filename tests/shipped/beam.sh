#!/bin/sh
# Tests the shipped tracers in a real BEAM.
. tests/cli/lib/assertions.sh

: "${BUILD_DIR:=build/release}"
tracers=$BUILD_DIR/lib/tracehost/tracers
modules=$BUILD_DIR/erlang/tracehost_tracers/ebin

if ! command -v erlc >/dev/null; then
    skip 'the shipped tracers in a BEAM' 'no Erlang here'
    finish
fi
case $BUILD_DIR in
*asan | *tsan)
    skip 'the shipped tracers in a BEAM' 'libraries with sanitizers do not load into it'
    finish
    ;;
esac

# in_beam TRACER: prints the tracer's output. Numbers of processes differ from run to run: the tracee is <W>.
in_beam() {
    mkdir -p "$work/ebin" && erlc -o "$work/ebin" tests/shipped/traced.erl &&
        ERL_CRASH_DUMP_SECONDS=0 timeout 60 erl -noinput -boot no_dot_erlang -pa "$work/ebin" "$modules" \
            -run traced main "$1" "$tracers" "$work/$1.txt" &&
        worker=$(sed -n 's/^\(<[0-9.]*>\).*/\1/p;q' "$work/$1.txt") &&
        sed "s/${worker:-none}/<W>/g; s/<[0-9]*\.[0-9]*\.[0-9]*>/<P>/g; s/  *$//; s/^<W>  */<W> /" "$work/$1.txt"
}

# The settings of text, each with its answer to trace_status.
without_name() {
    ERL_CRASH_DUMP_SECONDS=0 timeout 60 erl -noinput -boot no_dot_erlang -pa "$modules" -eval '
        ok = tracehost_text:load("'"$tracers"'/text"),
        [io:format("~w: ~w~n", [Path, tracehost_text:enabled(trace_status, #{output => Path}, self())]) ||
            Path <- [[], <<>>, '"''"', {a}, "-"]],
        halt().'
}
expect 'an output setting that names no file removes the tracer' without_name <<'LINES'
[]: remove
<<>>: remove
'': remove
{a}: remove
[45]: trace
-- stderr
tracer: the setting 'output' must be the name of a file
tracer: the setting 'output' must be the name of a file
tracer: the setting 'output' must be the name of a file
tracer: the setting 'output' must be the name of a file
LINES
expect 'text prints each event of a process' in_beam text <<'LINES'
<W> receive {go,<P>}
<W> call traced:work(2)
<W> call traced:work(1)
<W> call traced:work(0)
<W> return traced:work/1 -> none
<W> return traced:work/1 -> [1,none]
<W> return traced:work/1 -> [2,[1,none]]
<W> send {done,[2,[1,none]]} -> <P>
<W> exit normal
LINES
expect 'msg prints sender and receiver of a message' in_beam msg <<'LINES'
<W> -> <P>
LINES
expect 'count prints events by tag and calls by function' in_beam count <<'LINES'
      events       %  tag
           3   33.33  call
           3   33.33  return_from
           1   11.11  exit
           1   11.11  receive
           1   11.11  send
           9  100.00  all

       calls       %  function
           3  100.00  traced:work/1
LINES

# Times differ from run to run: printed is how they compare.
times_in_beam() {
    in_beam time >/dev/null && awk 'NR == 1 || /more/ { print; next }
        { print $1, ($2 >= $3 && $3 > 0 && $5 <= $6 && $6 <= $7 && $7 <= $8 ? "times" : $0), $NF }' "$work/time.txt"
}
expect 'time prints consistent times of recursive calls' times_in_beam <<'LINES'
     calls     total us       own us      %    p50 us    p90 us    p99 us    max us  function
3 times traced:work/1
LINES

expect 'tree prints recursive calls' in_beam tree <<'LINES'
   duration  process    call
          -  <P>   traced:work(2)
          -  <P>     traced:work(1)
          -  <P>       traced:work(0)
-- stderr
tree: events without a time stamp, which takes a flag such as monotonic_timestamp: 6
LINES

# Times differ from run to run.
flame_in_beam() {
    in_beam flame | sed 's/ [0-9]*$/ N/'
}
expect 'flame prints each stack of recursive calls' flame_in_beam <<'LINES'
<W>;traced:work/1 N
<W>;traced:work/1;traced:work/1 N
<W>;traced:work/1;traced:work/1;traced:work/1 N
-- stderr
flame: events without a time stamp, which got the time of their arrival: 6
LINES

chrome_in_beam() {
    in_beam chrome | tests/shipped/chrome_rules /dev/stdin
}
expect 'chrome writes valid slices and arrows' chrome_in_beam <<'LINES'
C 0, E 5, M 1, B 5, f 0, s 1
LINES

# Without time stamps the times are the node's, those of the run.
perfetto_in_beam() {
    in_beam perfetto >/dev/null && NODE_PATH=$SOURCE_DIR/build/npm/node_modules node tests/shipped/perfetto_decode "$work/perfetto.txt" &&
        python3 tests/shipped/perfetto_check.py --show "$work/perfetto.txt.json" |
        sed 's/<[0-9]*\.[0-9]*\.[0-9]*>/<P>/g; s/ [0-9][0-9]* / N /; s/#Port.*/PORT/'
}
if [ -e "$SOURCE_DIR/build/npm/packages" ]; then
    expect 'perfetto writes valid packets' perfetto_in_beam <<'LINES'
node N nonode@nohost
clock none
<P> node's N instant message receive
<P> node's N slice_begin call traced:work/1
<P> node's N slice_begin call traced:work/1
<P> node's N slice_begin call traced:work/1
<P> node's N slice_end
<P> node's N slice_end
<P> node's N slice_end
<P> node's N instant message send to=<P> flow 1
<P> node's N instant process exit type=exit:normal
LINES
else
    skip 'perfetto writes valid packets' "$(tail -n 1 "$SOURCE_DIR/build/npm.log")"
fi

speedscope_in_beam() {
    in_beam speedscope | sed 's/<[0-9]*\.[0-9]*\.[0-9]*>/<P>/g; s/\("[a-z]*Value"\|"at"\):[0-9]*/\1:N/g'
}
expect 'speedscope writes nested calls' speedscope_in_beam <<'LINES'
{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"tracehost","name":"calls","profiles":[
{"type":"evented","name":"<P>","unit":"nanoseconds","startValue":N,"endValue":N,"events":[
{"type":"O","frame":0,"at":N},
{"type":"O","frame":0,"at":N},
{"type":"O","frame":0,"at":N},
{"type":"C","frame":0,"at":N},
{"type":"C","frame":0,"at":N},
{"type":"C","frame":0,"at":N}]}],"shared":{"frames":[
{"name":"traced:work/1"}
]}}
LINES

# Times are when events come, which is when they happen: this run's.
otlp_in_beam() {
    in_beam otlp >/dev/null && tests/shipped/otlp_rules "$work/otlp.txt" && tests/shipped/otlp_rules --spans "$work/otlp.txt" |
        awk -v now="$(date +%s)" '{ split($4, time, "[+]"); $4 = time[1] > (now - 600) * 1e9 && time[1] < (now + 1) * 1e9 ? "now" : $4; print }'
}
expect 'otlp writes nested spans with the present time' otlp_in_beam <<'LINES'
3 spans in 1 traces, 0 links, 0 errors
traced:work/1 in traced:work/1 now kind 1
traced:work/1 in traced:work/1 now kind 1
traced:work/1 in none now kind 1
-- stderr
otlp: messages sent whose receipt is unknown: 1
otlp: messages received whose sending is unknown: 1
otlp: events without a time stamp, which got the time of their arrival: 9
LINES

# No line begins with the tracee: `none` stands for it.
sequence_in_beam() {
    in_beam sequence | sed 's/#60;[0-9.]*#62;/<P>/; s/<W>/none/'
}
expect 'sequence draws a message' sequence_in_beam <<'LINES'
sequenceDiagram
    participant p1 as <P>
    participant p2 as <P>
    p1->>p2: {done,[2,[1,none]]}
LINES

report_in_beam() {
    in_beam report >/dev/null && python3 tests/shipped/page_data "$work/report.txt" title streams summary tags functions names messages |
        sed 's/<[0-9]*\.[0-9]*\.[0-9]*>/<P>/g'
}
expect 'report writes a page with calls, events and messages' report_in_beam <<'LINES'
"trace"
[]
{"events": 9, "calls": 3, "errors": 0, "sent": 1, "received": 1, "processes": 1, "ports": 0, "ended": 3, "functions": 1}
[
  ["call", 3],
  ["return_from", 3],
  ["exit", 1],
  ["receive", 1],
  ["send", 1]
]
[
  [0, 3, 0, 0, 0, null, null, null, null, null, null]
]
["traced:work/1"]
[
  {"from": 0, "to": 1, "sent": 1, "matched": 0, "p50": null, "p90": null, "p99": null, "max": null, "total": null}
]
LINES

# Nothing is disarmed there, and the table is the same.
expect 'coverage lists a called function' in_beam coverage <<'LINES'
called   traced:work/1
         1 function of traced
LINES

# Two runs, whose worker has other pids; the second one calls with 1 in place of 2.
diff_in_beam() {
    mkdir -p "$work/ebin" && erlc -o "$work/ebin" tests/shipped/traced.erl &&
        ERL_CRASH_DUMP_SECONDS=0 timeout 60 erl -noinput -boot no_dot_erlang -pa "$work/ebin" "$modules" -eval "
            Run = fun(Settings, N, File) ->
                {module, traced} = code:ensure_loaded(traced), ok = tracehost_diff:load(\"$tracers/diff\"),
                erlang:trace_pattern({traced, work, 1}, [{'_', [], [{return_trace}]}], [local]),
                {W, M} = spawn_monitor(fun() -> receive go -> traced:work(N) end end),
                erlang:trace(W, true, [call, procs, {tracer, tracehost_diff, Settings}]),
                W ! go, receive {'DOWN', M, _, _, _} -> ok end,
                D = erlang:trace_delivered(all), receive {trace_delivered, all, D} -> ok end,
                true = code:delete(tracehost_diff), code:purge(tracehost_diff),
                (fun Wait() -> filelib:file_size(File) > 0 orelse begin timer:sleep(20), Wait() end end)(), timer:sleep(100)
            end,
            Run(#{keep => \"$work/side\"}, 2, \"$work/side\"),
            Run(#{before => \"$work/side\", output => \"$work/differences\"}, 1, \"$work/differences\"), halt()." &&
        sed 's/<[0-9.]*>/<P>/g' "$work/differences" | sed -n '1p; 3,6p; /^times/p'
}
expect 'diff compares two runs' diff_in_beam <<'LINES'
5 differences of calls: 1 dropped, 2 with other arguments, 2 with another result
a call has other arguments
  process    <P> -> <P>
  before     traced:work(2) -> [2,[1,none]]
  after      traced:work(1) -> [1,none]
times without a certain change: 1 function (1: no times)
LINES

# Prints the messages that dbg reads from the file, each {trace, Tracee, ...} in a line.
trace_port_in_beam() {
    in_beam trace_port >/dev/null && erl -noinput -boot no_dot_erlang -eval "
        dbg:trace_client(file, \"$work/trace_port.txt\", {fun(end_of_trace, _) -> halt();
            (T, _) -> io:format(\"~0p~n\", [erlang:delete_element(1, erlang:delete_element(1, T))]) end, none})." |
        sed 's/<[0-9]*\.[0-9]*\.[0-9]*>/<P>/g'
}
expect 'dbg reads the file of trace_port' trace_port_in_beam <<'LINES'
{'receive',{go,<P>}}
{call,{traced,work,[2]}}
{call,{traced,work,[1]}}
{call,{traced,work,[0]}}
{return_from,{traced,work,1},none}
{return_from,{traced,work,1},[1,none]}
{return_from,{traced,work,1},[2,[1,none]]}
{send,{done,[2,[1,none]]},<P>}
{exit,normal}
LINES

# Times are of the node's clock of the requested kind, and later than a time before.
stamps_in_beam() {
    ERL_CRASH_DUMP_SECONDS=0 timeout 60 erl -noinput -boot no_dot_erlang -pa "$work/ebin" "$modules" -eval "
        Now = #{timestamp => fun erlang:timestamp/0, monotonic_timestamp => fun() -> erlang:monotonic_time(nanosecond) end,
                strict_monotonic_timestamp =>
                    fun() -> {erlang:monotonic_time(nanosecond), erlang:unique_integer([monotonic])} end},
        ok = tracehost_trace_port:load(\"$tracers/trace_port\"),
        File = fun(Kind) -> filename:join(\"$work\", Kind) end,
        Trace = fun(Kind, Clock) ->
            {W, M} = spawn_monitor(fun() -> receive go -> ok end end),
            erlang:trace(W, true, [procs, Kind, {tracer, tracehost_trace_port, #{output => File(Kind)}}]),
            Before = Clock(), W ! go, receive {'DOWN', M, _, _, _} -> ok end,
            D = erlang:trace_delivered(all), receive {trace_delivered, all, D} -> {Before, Clock()} end
        end,
        Between = maps:map(Trace, Now),
        true = code:delete(tracehost_trace_port), code:purge(tracehost_trace_port),
        Wait = fun Wait(Kind) -> filelib:is_file(File(Kind)) orelse begin timer:sleep(20), Wait(Kind) end end,
        Me = self(),
        Read = fun(Kind, {Before, After}) ->
            Wait(Kind),
            dbg:trace_client(file, File(Kind), {fun(T, _) -> Me ! T end, none}),
            receive {trace_ts, _, exit, normal, Time} when Before =< Time, Time =< After -> io:format(\"~w~n\", [Kind]) end,
            receive end_of_trace -> ok end
        end,
        maps:foreach(Read, Between), halt()."
}
expect 'trace_port writes times of the requested clock' stamps_in_beam <<'LINES'
monotonic_timestamp
strict_monotonic_timestamp
timestamp
LINES

# Prints the events that tracehost reads from the file.
jsonl_in_beam() {
    in_beam jsonl >/dev/null && sed -n 1p "$work/jsonl.txt" &&
        "$tracehost" dump "$work/jsonl.txt" | sed 's/{trace,<[0-9.]*>/{trace,<W>/; s/<[0-9]*\.[0-9]*\.[0-9]*>/<P>/g'
}
expect 'tracehost reads the file of jsonl' jsonl_in_beam <<'LINES'
{"tracehost":1,"node":"nonode@nohost","creation":0}
{trace,<W>,'receive',{go,<P>}}.
{trace,<W>,call,{traced,work,[2]}}.
{trace,<W>,call,{traced,work,[1]}}.
{trace,<W>,call,{traced,work,[0]}}.
{trace,<W>,return_from,{traced,work,1},none}.
{trace,<W>,return_from,{traced,work,1},[1,none]}.
{trace,<W>,return_from,{traced,work,1},[2,[1,none]]}.
{trace,<W>,send,{done,[2,[1,none]]},<P>}.
{trace,<W>,exit,normal}.
LINES

expect 'jsonl keeps terms of all types' timeout 120 escript tests/shipped/jsonl_terms.escript "$tracehost" "$tracers" "$modules" "$work" <<'LINES'
read 32 terms
LINES

# Eight processes at once, on all schedulers: no record comes into another.
crowd_in_beam() {
    rm -f "$work/crowd" && ERL_CRASH_DUMP_SECONDS=0 timeout 60 erl -noinput -boot no_dot_erlang +S 4 -pa "$work/ebin" "$modules" -eval "
        ok = tracehost_$1:load(\"$tracers/$1\"), File = \"$work/crowd\",
        erlang:trace_pattern({lists, duplicate, 2}, true, [global]),
        Run = fun() -> receive go -> [lists:duplicate(N, x) || N <- lists:seq(1, 500)] end end,
        Ws = [spawn_monitor(Run) || _ <- lists:seq(1, 8)],
        [erlang:trace(W, true, [call, strict_monotonic_timestamp, {tracer, tracehost_$1, #{output => File}}]) || {W, _} <- Ws],
        [W ! go || {W, _} <- Ws], [receive {'DOWN', M, _, _, _} -> ok end || {_, M} <- Ws],
        D = erlang:trace_delivered(all), receive {trace_delivered, all, D} -> ok end,
        true = code:delete(tracehost_$1), code:purge(tracehost_$1),
        Wait = fun Wait() -> filelib:is_file(File) orelse begin timer:sleep(20), Wait() end end, Wait(), halt()." &&
        "$tracehost" dump "$work/crowd" | grep -c '^{trace_ts,<[0-9.]*>,call,{lists,duplicate,\[[0-9]*,x\]},{-*[0-9]*,-[0-9]*}}\.$'
}
for name in trace_port jsonl; do
    expect "$name: concurrent processes do not mix their records" crowd_in_beam $name <<'LINES'
4000
LINES
done

# The tracer writes nothing, but must stay loaded until the end.
quiet_in_beam() {
    ERL_CRASH_DUMP_SECONDS=0 timeout 60 erl -noinput -boot no_dot_erlang \
        -pa "$work/ebin" "$modules" -eval "ok = tracehost_$1:load(\"$tracers/$1\"), W = spawn(fun() -> receive {go, P} -> P ! lists:seq(1, 3) end end),
            erlang:trace(W, true, [call, send, 'receive', procs, running, garbage_collection, {tracer, tracehost_$1, []}]),
            W ! {go, self()}, receive [1, 2, 3] -> ok end, D = erlang:trace_delivered(all),
            receive {trace_delivered, all, D} -> io:put_chars(\"traced\\n\") end, halt()."
}
expect 'usdt traces a process and prints nothing' quiet_in_beam usdt <<'LINES'
traced
LINES

finish
