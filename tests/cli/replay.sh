#!/bin/sh
# Tests `tracehost replay`: tracers, their states, flags, clocks, times, streams.
# Long because: it holds whole outputs.
. tests/cli/lib/assertions.sh

calls=$recordings/s01_seed_local_caller.trace
messages=$recordings/s18_ms_messages.trace
timed=$recordings/s07_running_exiting.trace

# --- tracers and their states ---

expect 'the default tracer is text' "$tracehost" replay --max-events=3 "$calls" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
EOF

expect 'several tracers get the same events' \
    "$tracehost" replay -t text -t msg -t count --max-events=4 "$recordings/s04_genserver_pingpong.trace" <<'EOF'
0.000000 <0.94.0>   receive {go,<0.9.0>,#Fun<small.2.108605527>}
0.000009 <0.94.0>   call wl:pingpong(20)
0.000011 <0.94.0>   call gen_server:start_link(wl,[],[])
0.000019 <0.94.0>   spawn <0.95.0> as proc_lib:init_p(<0.94.0>,[],gen,init_it,[gen_server,<0.94.0>,<0.94.0>,wl,[],[]])
      events       %  tag
           2   50.00  call
           1   25.00  receive
           1   25.00  spawn
           4  100.00  all

       calls       %  function
           1   50.00  gen_server:start_link/3
           1   50.00  wl:pingpong/1
EOF

expect 'one library may be two tracers with two states' \
    "$tracehost" replay -t text -t "text,output=$work/second" --max-events=1 "$calls" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
EOF
expect 'the setting output names the file of a tracer' cat "$work/second" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
EOF

state() {
    "$tracehost" replay -L "$tracers" -t "$1" --max-events=1 "$calls" | grep ^state
}
expect 'the state of a name alone is an empty map' state echo <<'EOF'
state #{}
EOF
expect 'NAME=TERM gives a term as state' state 'echo={level,2,"text",[<<"b">>]}' <<'EOF'
state {level,2,"text",[<<"b">>]}
EOF
expect 'NAME,KEY=VALUE gives a map as state' state 'echo,n=-17,yes=true,no=false,name=some text=more,empty=,pid=console' <<'EOF'
state #{empty => <<>>,n => -17,name => <<"some text=more">>,no => false,pid => <0.1.4096>,yes => true}
EOF
expect 'NAME=console gives the console process as state' state 'echo=console' <<'EOF'
state <0.1.4096>
EOF
expect 'a term after = may contain commas and =' state 'echo="a,b=c"' <<'EOF'
state "a,b=c"
EOF

expect 'messages of a tracer to the console are printed' \
    "$tracehost" replay -L "$samples" -t erl_msg_tracer=console "$recordings/file_open.trace" <<'EOF'
{trace,<0.84.0>,<0.66.0>}
{trace,<0.86.0>,<0.66.0>}
{trace,<0.87.0>,<0.60.0>}
{trace,<0.88.0>,<0.66.0>}
{trace,<0.87.0>,<0.81.0>}
{trace,<0.89.0>,<0.66.0>}
{trace,<0.90.0>,<0.66.0>}
{trace,<0.87.0>,<0.81.0>}
{trace,<0.91.0>,<0.66.0>}
EOF

expect 'a state that is not a term is refused' "$tracehost" replay -t 'text={a' "$calls" <<'EOF'
-- stderr
tracehost replay: cannot use -t 'text={a'
  the state is not an Erlang term: line 1, column 3: expected an operator, ',' or '}', found the end of the text
-- status 2
EOF

# state STATE: prints STATE as the tracer gets it.
state() {
    "$tracehost" replay -L "$BUILD_DIR/tests/tracers" -t "echo=$1" --max-events=1 "$calls" | head -n 1
}
console=$(state console)
console=${console#state }
inside="#{a => [console,{x,console}|console],console => key,p => <0.1.0>}"
check 'the word console inside a state is the console process' test "$(state "$inside")" = \
    "state #{a => [$console,{x,$console}|$console],console => key,p => <0.1.0>}"
check 'the console is a process identifier' test "${console#<0.*.}" != "$console"
check 'the word console in a large map is the console process' test \
    "$(state '#{N => {console} || N <- lists:seq(1, 40)}' | grep -o '{<0\.[0-9.]*>}' | wc -l)" = 40
expect 'a state may be an expression' state '#{a => 1 + 2, b => [X * X || X <- [1, 2]]}' <<'EOF'
state #{a => 3,b => [1,4]}
EOF
expect 'a state whose expression fails is refused' "$tracehost" replay -t 'text=1 + a' "$calls" <<'EOF'
-- stderr
tracehost replay: cannot use -t 'text=1 + a'
  cannot evaluate the state: exception error: an error occurred when evaluating an arithmetic expression, in operator  +/2, called as 1 + a
-- status 2
EOF
expect 'a state that calls an undefined function is refused' "$tracehost" replay -t 'text=fib:fib(3)' "$calls" <<'EOF'
-- stderr
tracehost replay: cannot use -t 'text=fib:fib(3)'
  cannot evaluate the state: exception error: undefined function fib:fib/1
-- status 2
EOF
expect 'a state of two expressions is refused' "$tracehost" replay -t 'text=a. b.' "$calls" <<'EOF'
-- stderr
tracehost replay: cannot use -t 'text=a. b.'
  the state must be one expression, not 2
-- status 2
EOF
expect 'a setting without a value is refused' "$tracehost" replay -t text,output=x,colour "$calls" <<'EOF'
-- stderr
tracehost replay: cannot use -t 'text,output=x,colour'
  'colour' is not a KEY=VALUE pair
-- status 2
EOF
expect 'a setting without a name is refused' "$tracehost" replay -t text,=x "$calls" <<'EOF'
-- stderr
tracehost replay: cannot use -t 'text,=x'
  '=x' is not a KEY=VALUE pair
-- status 2
EOF
expect 'a state without the name of a tracer is refused' "$tracehost" replay -t =x "$calls" <<'EOF'
-- stderr
tracehost replay: cannot use -t '=x'
  the name of the tracer is missing
-- status 2
EOF

by_environment() {
    TRACEHOST_PATH=/nowhere:$tracers "$tracehost" replay -t echo --max-events=1 "$calls"
}
expect 'a tracer is found in $TRACEHOST_PATH' by_environment <<'EOF'
state #{}
call: <0.79.0> call {ex,foo,[]} with #{match_spec_result => {rec,w,0}}
EOF
expect 'a tracer is found by its path' "$tracehost" replay -t "$tracers/echo.so" --max-events=1 "$calls" <<'EOF'
state #{}
call: <0.79.0> call {ex,foo,[]} with #{match_spec_result => {rec,w,0}}
EOF

# --- flags ---

# tags RECORDING FLAG...: prints the counts of tags, for each flag.
tags() {
    recording=$1
    shift
    for flag; do
        echo "$flag"
        "$tracehost" replay --flags="$flag" -t count "$recording" | sed '/^$/,$d'
    done
}
expect 'each flag of ports selects its events' tags "$recordings/s06_ports.trace" ports running_ports <<'EOF'
ports
      events       %  tag
           3   30.00  getting_linked
           2   20.00  closed
           2   20.00  open
           1   10.00  getting_unlinked
           1   10.00  register
           1   10.00  unregister
          10  100.00  all
running_ports
      events       %  tag
          13   54.17  in
          11   45.83  out
          24  100.00  all
EOF
expect 'each flag of processes selects its events' tags "$recordings/s15_kitchen_sink.trace" send receive call return_to procs \
    running_procs running exiting garbage_collection all <<'EOF'
send
      events       %  tag
          20   90.91  send
           2    9.09  send_to_non_existing_process
          22  100.00  all
receive
      events       %  tag
          33  100.00  receive
          33  100.00  all
call
      events       %  tag
          94   76.42  call
          29   23.58  return_from
         123  100.00  all
return_to
      events       %  tag
          40  100.00  return_to
          40  100.00  all
procs
      events       %  tag
           9   20.00  exit
           9   20.00  spawn
           9   20.00  spawned
           5   11.11  getting_linked
           5   11.11  getting_unlinked
           5   11.11  link
           1    2.22  register
           1    2.22  unlink
           1    2.22  unregister
          45  100.00  all
running_procs
      events       %  tag
          49   55.06  in
          40   44.94  out
          89  100.00  all
running
      events       %  tag
          49   55.06  in
          40   44.94  out
          89  100.00  all
exiting
      events       %  tag
           9  100.00  out_exited
           9  100.00  all
garbage_collection
      events       %  tag
           6   37.50  gc_minor_end
           6   37.50  gc_minor_start
           2   12.50  gc_major_end
           2   12.50  gc_major_start
          16  100.00  all
all
      events       %  tag
          94   24.93  call
          49   13.00  in
          40   10.61  out
          40   10.61  return_to
          33    8.75  receive
          29    7.69  return_from
          20    5.31  send
           9    2.39  exit
           9    2.39  out_exited
           9    2.39  spawn
           9    2.39  spawned
           6    1.59  gc_minor_end
           6    1.59  gc_minor_start
           5    1.33  getting_linked
           5    1.33  getting_unlinked
           5    1.33  link
           2    0.53  gc_major_end
           2    0.53  gc_major_start
           2    0.53  send_to_non_existing_process
           1    0.27  register
           1    0.27  unlink
           1    0.27  unregister
         377  100.00  all
EOF

echoed() {
    "$tracehost" replay -L "$tracers" -t echo "$@" | cut -c 1-160
}
expect 'without --flags, events have all recorded data' echoed "$messages" <<'EOF'
state #{}
receive: <0.213.0> 'receive' {go,<0.9.0>,#Fun<small.11.108605527>} with #{match_spec_result => nonode@nohost,scheduler_id => 1,timestamp => timestamp}
call: <0.213.0> call {ex,n1,[1]} with #{match_spec_result => [{small,'-main/0-fun-14-',0},<0.213.0>,{x,1}],scheduler_id => 1,timestamp => timestamp}
call: <0.213.0> call {ex,n3,[1]} with #{match_spec_result => <<"=proc:<0.213.0>\nState: Running\nSpawned as: erlang:apply/2\nSpawned by: <0.9.0>\nMessage queue 
call: <0.213.0> call {ex,id,[1]} with #{match_spec_result => 1,scheduler_id => 1,timestamp => timestamp}
send: <0.213.0> send {m,1} with #{extra => <0.213.0>,match_spec_result => <0.213.0>,scheduler_id => 1,timestamp => timestamp}
receive: <0.213.0> 'receive' {m,1} with #{match_spec_result => nonode@nohost,scheduler_id => 1,timestamp => timestamp}
send: <0.213.0> send {went,<0.213.0>,ok} with #{extra => <0.9.0>,match_spec_result => <0.213.0>,scheduler_id => 1,timestamp => timestamp}
EOF
expect '--flags=call,arity removes time stamps and arguments' echoed --flags=call,arity "$messages" <<'EOF'
state #{}
call: <0.213.0> call {ex,n1,1} with #{match_spec_result => [{small,'-main/0-fun-14-',0},<0.213.0>,{x,1}]}
call: <0.213.0> call {ex,n3,1} with #{match_spec_result => <<"=proc:<0.213.0>\nState: Running\nSpawned as: erlang:apply/2\nSpawned by: <0.9.0>\nMessage queue le
call: <0.213.0> call {ex,id,1} with #{match_spec_result => 1}
EOF
expect '--flags chooses the kind of time stamp' echoed --flags=send,monotonic_timestamp,scheduler_id "$messages" <<'EOF'
state #{}
send: <0.213.0> send {m,1} with #{extra => <0.213.0>,match_spec_result => <0.213.0>,scheduler_id => 1,timestamp => monotonic}
send: <0.213.0> send {went,<0.213.0>,ok} with #{extra => <0.9.0>,match_spec_result => <0.213.0>,scheduler_id => 1,timestamp => monotonic}
EOF
expect '--flags=all delivers all recorded data' echoed --flags=all "$messages" <<'EOF'
state #{}
receive: <0.213.0> 'receive' {go,<0.9.0>,#Fun<small.11.108605527>} with #{match_spec_result => nonode@nohost,scheduler_id => 1,timestamp => timestamp}
call: <0.213.0> call {ex,n1,1} with #{match_spec_result => [{small,'-main/0-fun-14-',0},<0.213.0>,{x,1}],scheduler_id => 1,timestamp => timestamp}
call: <0.213.0> call {ex,n3,1} with #{match_spec_result => <<"=proc:<0.213.0>\nState: Running\nSpawned as: erlang:apply/2\nSpawned by: <0.9.0>\nMessage queue le
call: <0.213.0> call {ex,id,1} with #{match_spec_result => 1,scheduler_id => 1,timestamp => timestamp}
send: <0.213.0> send {m,1} with #{extra => <0.213.0>,match_spec_result => <0.213.0>,scheduler_id => 1,timestamp => timestamp}
receive: <0.213.0> 'receive' {m,1} with #{match_spec_result => nonode@nohost,scheduler_id => 1,timestamp => timestamp}
send: <0.213.0> send {went,<0.213.0>,ok} with #{extra => <0.9.0>,match_spec_result => <0.213.0>,scheduler_id => 1,timestamp => timestamp}
EOF
expect 'the flag cpu_timestamp chooses CPU time' echoed --flags=send,cpu_timestamp "$messages" <<'EOF'
state #{}
send: <0.213.0> send {m,1} with #{extra => <0.213.0>,match_spec_result => <0.213.0>,timestamp => cpu_timestamp}
send: <0.213.0> send {went,<0.213.0>,ok} with #{extra => <0.9.0>,match_spec_result => <0.213.0>,timestamp => cpu_timestamp}
EOF
expect 'an unknown flag is refused' "$tracehost" replay --flags=send,calls "$calls" <<'EOF'
-- stderr
tracehost replay: there is no trace flag 'calls'; did you mean 'call'?
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF
expect 'flags that select no event are refused' "$tracehost" replay --flags=timestamp,arity "$calls" <<'EOF'
-- stderr
tracehost replay: --flags=timestamp,arity selects no event: add a flag such as call or send
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF
expect 'an empty flag is refused' "$tracehost" replay --flags=send, "$calls" <<'EOF'
-- stderr
tracehost replay: there is no trace flag ''; the flags are: all, send, receive, call, return_to, procs, ports, running, running_procs, running_ports, exiting, garbage_collection, timestamp, cpu_timestamp, monotonic_timestamp, strict_monotonic_timestamp, arity, scheduler_id, silent, set_on_spawn, set_on_first_spawn, set_on_link, set_on_first_link
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF

# --- clocks ---

clocks() {
    "$tracehost" replay -L "$tracers" -t clock --max-events=2 "$@"
}
expect 'the clock shows recorded system time' clocks "$recordings/s17_meta.trace" <<'EOF'
monotonic 1795233754869586000 ns, offset 0 ns, now {1795,233754,869586}, CPU {1795,233754,869586}
monotonic 1795233754869593000 ns, offset 0 ns, now {1795,233754,869593}, CPU {1795,233754,869593}
EOF
expect 'the clock shows recorded CPU time' clocks "$recordings/s14_cpu_timestamp.trace" <<'EOF'
monotonic 166511000 ns, offset 0 ns, now {0,0,166511}, CPU {0,0,166511}
monotonic 166517000 ns, offset 0 ns, now {0,0,166517}, CPU {0,0,166517}
EOF
expect 'the clock shows recorded monotonic time' clocks --clock=recorded "$recordings/s05_supervisor_restarts.trace" <<'EOF'
monotonic -576460751669138054 ns, offset 0 ns, now {-577,539248,330861}, CPU {-577,539248,330861}
monotonic -576460751669128646 ns, offset 0 ns, now {-577,539248,330871}, CPU {-577,539248,330871}
EOF
expect 'the clock shows recorded strictly monotonic time' clocks "$timed" <<'EOF'
monotonic -576460751548353607 ns, offset 0 ns, now {-577,539248,451646}, CPU {-577,539248,451646}
monotonic -576460751548344730 ns, offset 0 ns, now {-577,539248,451655}, CPU {-577,539248,451655}
EOF
expect 'the clock shows real time if no time was recorded' clocks "$calls" <<'EOF'
the real time
the real time
EOF
expect '--clock=wall shows real time' clocks --clock=wall "$timed" <<'EOF'
the real time
the real time
EOF
expect 'an unknown --clock is refused' "$tracehost" replay --clock=atomic "$calls" <<'EOF'
-- stderr
tracehost replay: --clock must be recorded or wall, not 'atomic'
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF

# --- from, to, max-events ---

# passing OPTION...: prints the times of the delivered events.
passing() {
    "$tracehost" replay -L "$tracers" -t clock "$@" | sed 's/, now.*//'
}
expect '--from and --to count from the first event' passing --from=13.2us --to 16090ns "$timed" <<'EOF'
monotonic -576460751548339190 ns, offset 0 ns
monotonic -576460751548337517 ns, offset 0 ns
EOF
expect '--to is inclusive, and --from may be before the first event' passing --from=-1s --to=0 "$timed" <<'EOF'
monotonic -576460751548353607 ns, offset 0 ns
EOF
expect '--from=@T and --to=@T are strictly monotonic times of the clock' \
    passing --from=@-576460751.548337517 --to=@-576460751548334882ns "$timed" <<'EOF'
monotonic -576460751548337517 ns, offset 0 ns
monotonic -576460751548336334 ns, offset 0 ns
monotonic -576460751548334882 ns, offset 0 ns
EOF
expect '--from=@T and --to=@T are monotonic times of the clock' \
    passing --from=@-576460751669128.7us --to=@-576460751669.12ms "$recordings/s05_supervisor_restarts.trace" <<'EOF'
monotonic -576460751669128646 ns, offset 0 ns
monotonic -576460751669126122 ns, offset 0 ns
monotonic -576460751669124719 ns, offset 0 ns
EOF
expect '--to=@T is a system time of the clock' passing --to=@1795233754.869593s "$recordings/s17_meta.trace" <<'EOF'
monotonic 1795233754869586000 ns, offset 0 ns
monotonic 1795233754869593000 ns, offset 0 ns
EOF
expect '--from=@T is a CPU time of the clock' passing --from=@166546us "$recordings/s14_cpu_timestamp.trace" <<'EOF'
monotonic 166547000 ns, offset 0 ns
EOF
expect 'a --from after the last event gives a warning' passing --from=1.5min "$timed" <<'EOF'
-- stderr
tracehost replay: warning: no event is at --from or after; there are events from 0s to 0.024397018s
EOF
expect 'a --to before the first event gives a warning' passing --to=@-600000000s "$timed" <<'EOF'
-- stderr
tracehost replay: warning: no event is at --to or before; there are events from @-576460751.548353607s to @-576460751.523956589s
EOF
expect '--from and --to that select no event of two streams give a warning' passing --from=2 --to=3 "$timed" "$timed" <<'EOF'
-- stderr
tracehost replay: warning: no event is between --from and --to; there are events from 0s to 0.024397018s
EOF
expect 'a time of day is no time of the clock' "$tracehost" replay --from=@14:05:20 "$timed" <<'EOF'
-- stderr
tracehost replay: --from must be a time of the recording's clock in seconds, such as @1795233754.349 (`date -d TIME +@%s` prints a system time), not '@14:05:20'
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF
expect 'each clock of a stream counts from its own first time' passing --from=10us "$recordings/s10_seq_trace.trace" <<'EOF'
monotonic -576460751340455095 ns, offset 0 ns
monotonic -576460751340452660 ns, offset 0 ns
monotonic -576460751340450696 ns, offset 0 ns
monotonic -576460751340433875 ns, offset 0 ns
monotonic 1795233754349939000 ns, offset 0 ns
EOF
expect 'events without a time pass --from, and are counted' "$tracehost" replay --from=1000 --max-events=1 "$calls" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
-- stderr
tracehost replay: warning: events without a time, played despite --from and --to: 1
EOF
expect 'a stream without records gives a warning' "$tracehost" replay /dev/null <<'EOF'
-- stderr
tracehost replay: warning: there are no records in /dev/null
EOF
expect 'a --to that is not a time is refused' "$tracehost" replay --to=soon "$calls" <<'EOF'
-- stderr
tracehost replay: --to must be a time such as 1.5, 250ms, 10us or 2min, not 'soon'
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF
expect 'a negative --max-events is refused' "$tracehost" replay --max-events=-1 "$calls" <<'EOF'
-- stderr
tracehost replay: --max-events must be a number, not '-1'
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF
expect '--max-events=0 of an empty stream gives no warning' "$tracehost" replay --max-events=0 "$recordings/s20_empty.trace" <<'EOF'
EOF
pingpong=$recordings/s04_genserver_pingpong.trace
expect '--max-events counts the events that pass --flags' "$tracehost" replay --max-events=2 --flags=send "$pingpong" <<'EOF'
<0.95.0>   send {ack,<0.95.0>,{ok,<0.95.0>}} -> <0.94.0>
<0.94.0>   send {'$gen_call',{<0.94.0>,[alias|#Ref<0.3774324694.940638210.141746>]},{ping,1}} -> <0.95.0>
EOF
expect '--max-events counts the events that match patterns' "$tracehost" replay --max-events=3 -p ex:c4/1 --exception -t text \
    "$recordings/s03_exceptions_return_to.trace" <<'EOF'
0.000014 <0.89.0>   call ex:c4(err)
0.000016 <0.89.0>   exception ex:c4/1 ! error:boom
0.000042 <0.89.0>   call ex:c4(thr)
EOF
expect '--max-events counts an event of two tracers once, and no discarded event' \
    "$tracehost" replay --max-events=1 -t msg -t msg "$pingpong" <<'EOF'
<0.95.0> -> <0.94.0>
<0.95.0> -> <0.94.0>
EOF
cat >"$work/two.jsonl" <<'EOF'
{"tracee":"<0.50.0>","tag":"send","term":"a","extra":"<0.51.0>"}
{"tracee":"<0.51.0>","tag":"receive","term":"a"}
{"tracee":"<0.50.0>","tag":"send","term":"b","extra":"<0.51.0>"}
EOF
sed '2s/$/ damaged/' "$work/two.jsonl" >"$work/unread.jsonl"
expect '--max-events counts the events of all streams together' "$tracehost" replay --max-events=3 --flags=send \
    "$work/two.jsonl" "$work/two.jsonl" "$work/unread.jsonl" <<'EOF'
<0.50.0>   send a -> <0.51.0>
<0.50.0>   send b -> <0.51.0>
<0.50.0>   send a -> <0.51.0>
EOF
expect '--max-records counts the records of each stream' "$tracehost" replay --max-records=2 --flags=send "$work/two.jsonl" "$work/two.jsonl" <<'EOF'
<0.50.0>   send a -> <0.51.0>
<0.50.0>   send a -> <0.51.0>
EOF
expect '--max-events ends a replay that --max-records would continue' "$tracehost" replay --max-records=2 --max-events=2 "$work/two.jsonl" "$work/unread.jsonl" <<'EOF'
<0.50.0>   send a -> <0.51.0>
<0.51.0>   receive a
EOF
expect '--max-events=0 delivers no event' "$tracehost" replay --max-events=0 -t count "$pingpong" <<'EOF'
EOF
expect '--max-records=0 reads no record' "$tracehost" replay --max-records=0 "$pingpong" <<'EOF'
EOF
same_in_other_commands() {
    for command in dump info 'convert --to=jsonl -'; do
        for count in 0 3; do
            "$tracehost" $command --max-records=$count - <"$pingpong" >"$work/records" &&
                "$tracehost" $command --max-events=$count - <"$pingpong" >"$work/events" &&
                cmp "$work/records" "$work/events" || return 1
        done
    done
    [ "$("$tracehost" dump --max-events=3 "$pingpong" | wc -l)" = 3 ] &&
        [ -z "$("$tracehost" dump --max-events=0 "$pingpong")" ]
}
check '--max-events equals --max-records in dump, info and convert' same_in_other_commands

# --- verify, stats, loss ---

without_speed() {
    "$tracehost" replay "$@" >"$work/out" 2>"$work/err"
    status=$?
    sed 's/^played in .*/played in T/' "$work/err"
    return $status
}
expect '--stats prints figures of the replay and of each tracer' without_speed --stats -t text -t msg --flags=send,call --from=10us "$messages" <<'EOF'
played in T
           7  records read
           5  events played
           2  events outside of --from and --to
           0  records skipped, as they are damaged
           0  places where a stream is truncated or damaged
           0  events dropped by the recorder
           1  tracees seen
           0  open calls forgotten: their returns go to all tracers
           0  messages dropped, as their receivers do not run here
tracer 'text'
           4  calls of its enabled callbacks
           4  calls of its trace callbacks
           2  calls for trace_status
           0  events that it discarded
           1  events held back by --flags
           0  returns held back, as the call was discarded
           0  tracees removed from the tracer, as it answered neither 'trace' nor 'discard'
           0  events discarded, as it answered neither 'trace' nor 'discard'
           0  messages or commands to the tracee refused
tracer 'msg'
           4  calls of its enabled callbacks
           2  calls of its trace callbacks
           2  calls for trace_status
           2  events that it discarded
           1  events held back by --flags
           0  returns held back, as the call was discarded
           0  tracees removed from the tracer, as it answered neither 'trace' nor 'discard'
           0  events discarded, as it answered neither 'trace' nor 'discard'
           0  messages or commands to the tracee refused
EOF
expect '--verify prints nothing about a correct tracer' "$tracehost" replay --verify -t msg "$messages" <<'EOF'
<0.213.0> -> <0.213.0>
<0.213.0> -> <0.9.0>
EOF

drops=$recordings/s21_ip_drop_extract.trace
expect 'events that the recorder dropped are counted' without_speed "$drops" <<'EOF'
tracehost replay: samples/recordings/s21_ip_drop_extract.trace: the recorder dropped 2243 events
EOF
expect '--fail-on-loss gives status 4 if events were dropped' without_speed --fail-on-loss "$drops" <<'EOF'
tracehost replay: samples/recordings/s21_ip_drop_extract.trace: the recorder dropped 2243 events
-- status 4
EOF
expect '--fail-on-loss gives status 0 if no event was dropped' "$tracehost" replay --fail-on-loss --max-events=1 "$calls" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
EOF

# --- streams ---

expect 'several streams are played one after the other' \
    "$tracehost" replay --max-records=2 "$calls" "$messages" "$recordings/s03_exceptions_return_to.trace" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
0.000000 <0.213.0>  receive {go,<0.9.0>,#Fun<small.11.108605527>} [result nonode@nohost] [scheduler 1]
0.000008 <0.213.0>  call ex:n1(1) [result [{small,'-main/0-fun-14-',0},<0.213.0>,{x,1}]] [scheduler 1]
-0.985812 <0.89.0>   call ex:mid(err)
-0.985805 <0.89.0>   call ex:caught(err)
EOF

cat >"$work/life.jsonl" <<'EOF'
{"ts":1000,"tracee":"<0.50.0>","tag":"receive","term":"stop"}
{"ts":2000,"tracee":"<0.50.0>","tag":"exit","term":"normal"}
{"ts":3000,"tracee":"<0.51.0>","tag":"receive","term":"hello"}
EOF
fate() {
    "$tracehost" replay -L "$tracers" -t 'alive=<0.50.0>' "$@"
}
expect 'a process that exits in one stream is alive again in the next stream' fate "$work/life.jsonl" "$work/life.jsonl" <<'EOF'
<0.50.0> 'receive': <0.50.0> is alive
<0.50.0> exit: <0.50.0> is alive
<0.51.0> 'receive': <0.50.0> is dead
<0.50.0> 'receive': <0.50.0> is alive
<0.50.0> exit: <0.50.0> is alive
<0.51.0> 'receive': <0.50.0> is dead
EOF
expect 'an exit before --from ends the process' fate --from=2us "$work/life.jsonl" <<'EOF'
<0.51.0> 'receive': <0.50.0> is dead
EOF

from_stdin() {
    "$tracehost" replay --max-events=2 - <"$calls"
}
expect 'the stream - is read from stdin' from_stdin <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
EOF

json() {
    "$tracehost" convert "$recordings/s10_seq_trace.trace" "$work/stream.jsonl" &&
        "$tracehost" replay "$work/stream.jsonl" >"$work/from_json" &&
        "$tracehost" replay "$recordings/s10_seq_trace.trace" | cmp - "$work/from_json"
}
check 'JSON lines play as the trace-port file does' json

expect 'a wrap set plays as one stream' "$tracehost" replay -t count --flags=call "$recordings/wrap/w*.log" <<'EOF'
      events       %  tag
         184  100.00  call
         184  100.00  all

       calls       %  function
         184  100.00  wl:id/1
EOF
expect 'the first file of a wrap set stands for the set' "$tracehost" replay --max-events=1 "$recordings/wrap/w1.log" <<'EOF'
<0.242.0>  call wl:id({n,317})
-- stderr
tracehost replay: the wrap set samples/recordings/wrap/w*.log is read: 4 files, samples/recordings/wrap/w1.log first
EOF
expect 'a later file of a wrap set plays alone' "$tracehost" replay --max-events=1 "$recordings/wrap/w3.log" <<'EOF'
<0.242.0>  call wl:id({n,419})
-- stderr
tracehost replay: samples/recordings/wrap/w3.log alone is read; if it belongs to a wrap set, give 'samples/recordings/wrap/w*.log'
EOF

expect 'all files of a wrap set are not read twice' "$tracehost" replay -t count "$recordings"/wrap/w?.log <<'EOF'
-- stderr
tracehost replay: samples/recordings/wrap/w2.log would be read twice: samples/recordings/wrap/w1.log stands for a wrap set that contains it
  give only samples/recordings/wrap/w1.log
-- status 2
EOF
expect 'a wrap set and one of its files are not read twice' "$tracehost" report -o "$work/twice.html" "$recordings/wrap/w2.log" \
    "$recordings/wrap/w*.log" <<'EOF'
-- stderr
tracehost report: samples/recordings/wrap/w2.log would be read twice: samples/recordings/wrap/w*.log stands for a wrap set that contains it
  give only samples/recordings/wrap/w*.log
-- status 2
EOF
expect 'later files of a wrap set play one by one' "$tracehost" replay -t count,by=tag "$recordings/wrap/w2.log" \
    "$recordings/wrap/w3.log" <<'EOF'
      events       %  tag
         102  100.00  call
         102  100.00  all
-- stderr
tracehost replay: samples/recordings/wrap/w2.log alone is read; if it belongs to a wrap set, give 'samples/recordings/wrap/w*.log'
tracehost replay: samples/recordings/wrap/w3.log alone is read; if it belongs to a wrap set, give 'samples/recordings/wrap/w*.log'
EOF

# Files of no wrap set: JSON lines, and recordings that begin with a note, as those of nodes do.
not_of_dbg() {
    mkdir -p "$work/numbered"
    cp samples/two_nodes/north.trace "$work/numbered/shop1.trace"
    cp samples/two_nodes/south.trace "$work/numbered/shop2.trace"
    "$tracehost" convert "$work/numbered/shop1.trace" "$work/numbered/shop1.jsonl" &&
        cp "$work/numbered/shop1.jsonl" "$work/numbered/shop2.jsonl" &&
        "$tracehost" replay -t count,by=tag --max-events=1 "$work/numbered/shop1.trace" &&
        "$tracehost" replay -t count,by=tag --max-events=1 "$work/numbered/shop1.jsonl"
}
expect 'numbered files that dbg has not written are no wrap set' not_of_dbg <<'EOF'
      events       %  tag
           1  100.00  receive
           1  100.00  all
      events       %  tag
           1  100.00  receive
           1  100.00  all
EOF

incomplete_set() {
    mkdir -p "$work/wrap"
    cp "$recordings/wrap/w1.log" "$recordings/wrap/w4.log" "$work/wrap"
    "$tracehost" replay "$work/wrap/w*.log"
}
expect 'a wrap set with missing files is refused' incomplete_set <<'EOF'
-- stderr
tracehost replay: cannot read WORK/wrap/w*.log
  the wrap set is inconsistent
  the numbers 0, 2-3 are missing; a wrap set has one gap, of one number; files that belong together in another way must be given one by one
-- status 3
EOF
expect 'a wrap set that does not exist is refused' "$tracehost" replay "$work/none*.log" <<'EOF'
-- stderr
tracehost replay: cannot read WORK/none*.log
  there is no file WORK/none<number>.log
-- status 3
EOF

expect 'no stream plays if another cannot be read' "$tracehost" replay --max-records=1 "$calls" "$work/none" "$messages" <<'EOF'
-- stderr
tracehost replay: cannot read WORK/none
  No such file or directory
-- status 3
EOF
expect 'a replay without a stream is refused' "$tracehost" replay -t count <<'EOF'
-- stderr
tracehost replay: argument STREAM is missing
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF

finish
