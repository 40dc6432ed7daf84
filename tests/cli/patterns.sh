#!/bin/sh
# Tests `tracehost replay -p`: recorded calls are traced again with other patterns.
# Long because: it holds whole outputs.
. tests/cli/lib/assertions.sh

seed=$recordings/s01_seed_local_caller.trace
exceptions=$recordings/s03_exceptions_return_to.trace
pingpong=$recordings/s04_genserver_pingpong.trace

replay() {
    "$tracehost" replay "$@"
}

# The example of local and global calls: foo() -> lots(), ok. lots() -> 'of'(), and so on to
# bar(0), by tail calls.
{
    call() {
        echo "{\"tracee\":\"<0.1.0>\",\"tag\":\"call\",\"term\":\"{$1}\",\"external\":$2,\"tail\":$3}"
    }
    echo '{"tracehost":1,"node":"nonode@nohost","creation":0}'
    call 'sem,w,[]' true false
    call 'ex,foo,[]' true false
    call 'ex,lots,[]' false false
    call "ex,'of',[]" false true
    call 'ex,indirections,[]' false true
    for n in 2 1 0; do call "ex,bar,[$n]" false true; done
    echo '{"tracee":"<0.1.0>","tag":"return_from","term":"{ex,bar,1}","extra":"done"}'
    echo '{"tracee":"<0.1.0>","tag":"return_from","term":"{ex,foo,0}","extra":"ok"}'
} >"$work/example.jsonl"

echo '{"tracee":"<0.1.0>","tag":"call","term":"{ex,bar,1}"}' >"$work/arity.jsonl"
refused() {
    replay "$@" "$seed" 2>"$work/refusal"
    status=$?
    head -1 "$work/refusal"
    return $status
}

# --- which calls ---

expect 'a pattern without --kind selects all calls of a module, with callers' replay -p 'ex:_/_' --caller "$work/example.jsonl" <<'EOF'
<0.1.0>    call ex:foo() [result {sem,w,0}]
<0.1.0>    call ex:lots() [result {ex,foo,0}]
<0.1.0>    call ex:'of'() [result {ex,foo,0}]
<0.1.0>    call ex:indirections() [result {ex,foo,0}]
<0.1.0>    call ex:bar(2) [result {ex,foo,0}]
<0.1.0>    call ex:bar(1) [result {ex,foo,0}]
<0.1.0>    call ex:bar(0) [result {ex,foo,0}]
EOF
expect '--kind=global selects external calls' replay -p 'ex:_/_' --kind=global --caller --return "$work/example.jsonl" <<'EOF'
<0.1.0>    call ex:foo() [result {sem,w,0}]
<0.1.0>    return ex:foo/0 -> ok
EOF
expect 'M:_ is short for M:_/_' replay -p ex:_ --flags=call,arity "$work/example.jsonl" <<'EOF'
<0.1.0>    call ex:foo/0
<0.1.0>    call ex:lots/0
<0.1.0>    call ex:'of'/0
<0.1.0>    call ex:indirections/0
<0.1.0>    call ex:bar/1
<0.1.0>    call ex:bar/1
<0.1.0>    call ex:bar/1
EOF
expect 'a pattern may have any arity, or a name in quotes' replay -p 'ex:bar/_' -p "ex:'of'/0" "$work/example.jsonl" <<'EOF'
<0.1.0>    call ex:'of'()
<0.1.0>    call ex:bar(2)
<0.1.0>    call ex:bar(1)
<0.1.0>    call ex:bar(0)
EOF
expect 'a later pattern of a function replaces an earlier one' replay -p 'ex:_' --return -p ex:bar/1 "$work/example.jsonl" <<'EOF'
<0.1.0>    call ex:foo()
<0.1.0>    call ex:lots()
<0.1.0>    call ex:'of'()
<0.1.0>    call ex:indirections()
<0.1.0>    call ex:bar(2)
<0.1.0>    call ex:bar(1)
<0.1.0>    call ex:bar(0)
<0.1.0>    return ex:indirections/0 -> done
<0.1.0>    return ex:'of'/0 -> done
<0.1.0>    return ex:lots/0 -> done
<0.1.0>    return ex:foo/0 -> ok
EOF
expect 'a function that was not called gives a warning' replay -p lists:_ -p ex:foo/1 "$work/example.jsonl" <<'EOF'
-- stderr
tracehost replay: warning: -p lists:_: no such function was called
tracehost replay: warning: -p ex:foo/1: no such function was called; did you mean 'ex:foo/0'?
EOF
expect 'a later pattern clears earlier ones' replay -p ex:_ -p ex:bar/1 --match-spec false -p 'ex:lots/_' --match-spec false "$work/example.jsonl" <<'EOF'
<0.1.0>    call ex:foo()
<0.1.0>    call ex:'of'()
<0.1.0>    call ex:indirections()
EOF
expect 'the pattern _:_ with false clears all patterns' replay -p ex:bar/1 -p _:_ --match-spec false "$work/example.jsonl" </dev/null
expect 'events of other flags are delivered if no call matches' replay -p wl:init/1 --flags=call,procs "$pingpong" --max-records=9 <<'EOF'
<0.94.0>   spawn <0.95.0> as proc_lib:init_p(<0.94.0>,[],gen,init_it,[gen_server,<0.94.0>,<0.94.0>,wl,[],[]])
<0.94.0>   link <0.95.0>
<0.95.0>   spawned by <0.94.0> as proc_lib:init_p(<0.94.0>,[],gen,init_it,[gen_server,<0.94.0>,<0.94.0>,wl,[],[]])
<0.95.0>   getting_linked <0.94.0>
-- stderr
tracehost replay: warning: -p wl:init/1: no such function was called
EOF
expect 'a pattern selects calls of a recording of a BEAM' replay -p ex:bar/1 --max-records=6 "$seed" <<'EOF'
<0.79.0>   call ex:bar(10)
<0.79.0>   call ex:bar(9)
EOF
expect 'a match specification filters calls and adds results' replay -p ex:bar/1 --match-spec "[{['\$1'],[{'>','\$1',0}],[{message,{{at,'\$1'}}}]}]" "$work/example.jsonl" <<'EOF'
<0.1.0>    call ex:bar(2) [result {at,2}]
<0.1.0>    call ex:bar(1) [result {at,1}]
EOF
expect '--recorded-callers gives the callers that were recorded' replay -p ex:foo/0 --caller -p ex:lots/0 --caller --recorded-callers "$seed" <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
EOF

# --- how calls end ---

expect '--return delivers returns of tail calls, too' replay -p 'ex:_/_' --return "$work/example.jsonl" <<'EOF'
<0.1.0>    call ex:foo()
<0.1.0>    call ex:lots()
<0.1.0>    call ex:'of'()
<0.1.0>    call ex:indirections()
<0.1.0>    call ex:bar(2)
<0.1.0>    call ex:bar(1)
<0.1.0>    call ex:bar(0)
<0.1.0>    return ex:bar/1 -> done
<0.1.0>    return ex:bar/1 -> done
<0.1.0>    return ex:bar/1 -> done
<0.1.0>    return ex:indirections/0 -> done
<0.1.0>    return ex:'of'/0 -> done
<0.1.0>    return ex:lots/0 -> done
<0.1.0>    return ex:foo/0 -> ok
EOF
expect '--exception delivers exceptions of a caught call' replay -p 'ex:c4/_' --exception -p ex:caught/1 --return --max-records=17 -t text "$exceptions" <<'EOF'
0.000007 <0.89.0>   call ex:caught(err)
0.000014 <0.89.0>   call ex:c4(err)
0.000016 <0.89.0>   exception ex:c4/1 ! error:boom
0.000022 <0.89.0>   return ex:caught/1 -> {error,boom}
EOF
expect 'the flag return_to names the function that continues' replay -p ex:foo/0 --flags=call,return_to "$work/example.jsonl" <<'EOF'
<0.1.0>    call ex:foo()
<0.1.0>    return_to sem:w/0
EOF
expect 'the flag return_to is limited to recorded functions' replay -p ex:caught/1 --flags=call,return_to --max-records=20 "$exceptions" <<'EOF'
<0.89.0>   call ex:caught(err)
<0.89.0>   return_to ex:mid/1
<0.89.0>   call ex:caught(thr)
EOF

# --- the results of match specifications ---

expect 'the action display prints before its event' replay -p ex:bar/1 --match-spec "[{['\$1'],[],[{display,{{\"at\",'\$1',1.5,#{a=>b}}}}]}]" --max-records=7 "$work/example.jsonl" <<'EOF'
{"at",2,1.5,#{a => b}}
<0.1.0>    call ex:bar(2)
{"at",1,1.5,#{a => b}}
<0.1.0>    call ex:bar(1)
EOF

# --- kinds ---

expect '--kind=count counts the calls of each function' replay -p 'ex:_/_' --kind=count "$work/example.jsonl" <<'EOF'
       calls  function
           3  ex:bar/1
           1  ex:foo/0
           1  ex:indirections/0
           1  ex:lots/0
           1  ex:'of'/0
EOF
expect '--kind=count adds the calls of all streams' replay -p ex:bar/1 --kind=count "$work/example.jsonl" "$work/example.jsonl" "$seed" <<'EOF'
       calls  function
          17  ex:bar/1
EOF
expect '--kind=local,count delivers calls and counts them' replay -p ex:foo/0 --kind=local,count "$work/example.jsonl" <<'EOF'
<0.1.0>    call ex:foo()
       calls  function
           1  ex:foo/0
EOF
expect 'counts of two sessions as JSON' replay --session a -p 'ex:foo/_' --kind=count --session b -t msg -p ex:bar/1 --kind=count -p ex:foo/0 --match-spec cx --format=json "$work/example.jsonl" <<'EOF'
{"session":"a","tracer":"text","functions":[{"function":"ex:foo/0","calls":1}]}
{"session":"b","tracer":"msg","functions":[{"function":"ex:bar/1","calls":3}]}
EOF
expect 'counts of several tracers have the names of the tracers' replay -t count,output=/dev/null -t msg -p ex:foo/0 --kind=count "$work/example.jsonl" <<'EOF'
tracer 'count'
       calls  function
           1  ex:foo/0
tracer 'msg'
       calls  function
           1  ex:foo/0
EOF
expect 'counts of several sessions have the names of the sessions' replay --session a -t msg -p ex:foo/0 --kind=count --session b -t msg -p ex:bar/1 --kind=count "$work/example.jsonl" <<'EOF'
session 'a'
       calls  function
           1  ex:foo/0
session 'b'
       calls  function
           3  ex:bar/1
EOF
expect '--kind=time gives the time of a function' replay -p wl:handle_call/3 --kind=count -p wl:handle_cast/2 --kind=time "$pingpong" <<'EOF'
       calls       seconds  function
          20      0.000041  wl:handle_cast/2
          20             -  wl:handle_call/3
-- stderr
tracehost replay: returns that also ended other calls, whose own returns are missing: 41
EOF
expect '--kind=time as JSON' replay -p wl:handle_cast/2 --kind=time --format=json "$pingpong" <<'EOF'
{"session":null,"tracer":"text","functions":[{"function":"wl:handle_cast/2","calls":20,"time":[{"process":"<0.95.0>","calls":20,"ns":41000}]}]}
-- stderr
tracehost replay: returns that also ended other calls, whose own returns are missing: 41
EOF
expect '--kind=time counts calls that have no time stamp' replay -p ex:bar/1 --kind=time "$work/example.jsonl" <<'EOF'
       calls       seconds  function
           0      0.000000  ex:bar/1
-- stderr
tracehost replay: tracer 'text': calls not timed, as they have no time stamp: 3
EOF
expect '--kind=meta selects calls of processes without flags' replay --processes=new -p ex:bar/1 --kind=meta -p ex:foo/0 "$work/example.jsonl" <<'EOF'
<0.1.0>    call ex:bar(2)
<0.1.0>    call ex:bar(1)
<0.1.0>    call ex:bar(0)
EOF

# --- callers ---

{
    echo '{"tracee":"<0.1.0>","tag":"spawn","term":"<0.2.0>","extra":"{m,start,[]}"}'
    echo '{"tracee":"<0.2.0>","tag":"spawned","term":"<0.1.0>","extra":"{m,start,[]}"}'
    for call in 'start false' 'loop false' 'loop false' 'loop false' 'next true' 'last false' 'stop true'; do
        echo "{\"tracee\":\"<0.2.0>\",\"tag\":\"call\",\"term\":\"{m,${call% *},[]}\",\"tail\":${call#* }}"
    done
} >"$work/stack.jsonl"
{
    echo '{"tracee":"<0.1.0>","tag":"call","term":"{m,f,[]}","match_spec_result":"{m,g,1,{\"m.erl\",7}}"}'
    echo '{"tracee":"<0.1.0>","tag":"call","term":"{m,f,[]}","match_spec_result":"undefined"}'
    echo '{"tracee":"<0.1.0>","tag":"call","term":"{m,f,[]}","match_spec_result":"{m,g,1}"}'
    echo '{"tracee":"<0.1.0>","tag":"call","term":"{m,f,[]}","match_spec_result":"{m,g,1,{odd}}"}'
} >"$work/lines.jsonl"
asks() {
    replay -p m:_ --match-spec "[{'_',[],[{message,$1}]}]" --processes=all "$2" "$3"
}
expect '{current_stacktrace} gives the open callers, innermost first' asks '{current_stacktrace}' --flags=call "$work/stack.jsonl" <<'EOF'
<0.2.0>    call m:start() [result []]
<0.2.0>    call m:loop() [result [{m,start,0,[]}]]
<0.2.0>    call m:loop() [result [{m,loop,0,[]},{m,start,0,[]}]]
<0.2.0>    call m:loop() [result [{m,loop,0,[]},{m,loop,0,[]},{m,start,0,[]}]]
<0.2.0>    call m:next() [result [{m,loop,0,[]},{m,loop,0,[]},{m,start,0,[]}]]
<0.2.0>    call m:last() [result [{m,next,0,[]},{m,loop,0,[]},{m,loop,0,[]},{m,start,0,[]}]]
<0.2.0>    call m:stop() [result [{m,next,0,[]},{m,loop,0,[]},{m,loop,0,[]},{m,start,0,[]}]]
EOF
expect '{current_stacktrace,N} gives the N innermost callers' asks '{current_stacktrace,2}' --flags=call "$work/stack.jsonl" <<'EOF'
<0.2.0>    call m:start() [result []]
<0.2.0>    call m:loop() [result [{m,start,0,[]}]]
<0.2.0>    call m:loop() [result [{m,loop,0,[]},{m,start,0,[]}]]
<0.2.0>    call m:loop() [result [{m,loop,0,[]},{m,loop,0,[]}]]
<0.2.0>    call m:next() [result [{m,loop,0,[]},{m,loop,0,[]}]]
<0.2.0>    call m:last() [result [{m,next,0,[]},{m,loop,0,[]}]]
<0.2.0>    call m:stop() [result [{m,next,0,[]},{m,loop,0,[]}]]
EOF
expect 'a stack trace with unknown callers is undecided' asks '{current_stacktrace,3}' --recorded-callers "$work/lines.jsonl" <<'EOF'
<0.1.0>    call m:f() [result []]
-- stderr
tracehost replay: tracer 'text': callers unknown: 3
tracehost replay: tracer 'text': undecided matches: 3
EOF
expect 'a stack trace of known depth needs no further callers' asks '{current_stacktrace,1}' --recorded-callers "$work/lines.jsonl" <<'EOF'
<0.1.0>    call m:f() [result [{m,g,1,[]}]]
<0.1.0>    call m:f() [result []]
<0.1.0>    call m:f() [result [{m,g,1,[]}]]
-- stderr
tracehost replay: tracer 'text': callers unknown: 1
tracehost replay: tracer 'text': undecided matches: 1
EOF
expect '{caller_line} gives recorded lines' asks '{caller_line}' --recorded-callers "$work/lines.jsonl" <<'EOF'
<0.1.0>    call m:f() [result {m,g,1,{"m.erl",7}}]
<0.1.0>    call m:f() [result undefined]
<0.1.0>    call m:f() [result {m,g,1,undefined}]
<0.1.0>    call m:f() [result undefined]
-- stderr
tracehost replay: tracer 'text': callers unknown: 1
tracehost replay: tracer 'text': lines of callers unknown: 1
EOF
expect '{caller} of a recording with lines has no line' asks '{caller}' --recorded-callers "$work/lines.jsonl" <<'EOF'
<0.1.0>    call m:f() [result {m,g,1}]
<0.1.0>    call m:f() [result undefined]
<0.1.0>    call m:f() [result {m,g,1}]
<0.1.0>    call m:f() [result undefined]
-- stderr
tracehost replay: tracer 'text': callers unknown: 1
EOF
expect 'process dumps and sequential trace tokens are undecided' asks '{{{process_dump},{get_seq_token}}}' --flags=call "$work/stack.jsonl" <<'EOF'
-- stderr
tracehost replay: tracer 'text': undecided matches: 7
EOF

# --- unknown functions ---

expect 'callers that were not recorded are counted' replay -p ex:bar/1 --caller --max-records=6 "$seed" <<'EOF'
<0.79.0>   call ex:bar(10) [result undefined]
<0.79.0>   call ex:bar(9) [result undefined]
-- stderr
tracehost replay: tracer 'text': callers unknown: 2
EOF
expect 'a global pattern skips calls that may be local' replay -p ex:bar/1 --kind=global "$seed" <<'EOF'
-- stderr
tracehost replay: tracer 'text': calls skipped by global patterns, as they may be local: 11
EOF
expect 'a match on arguments that were not recorded is undecided' replay -p ex:bar/1 --match-spec "[{['\$1'],[{'>','\$1',0}],[]}]" "$work/arity.jsonl" <<'EOF'
-- stderr
tracehost replay: tracer 'text': undecided matches: 1
EOF

# --- facts that the stacks of processes lack ---

line() {
    echo "{\"tracee\":\"<0.1.0>\",\"tag\":\"$1\",\"term\":\"$2\"$3}"
}
returns() {
    line return_from "$1" ',"extra":1'
}
{
    line call '{m,a,[]}' ',"tail":false'
    line call '{m,b,[]}' ',"tail":true'
    line call '{m,d,[]}' ',"tail":false,"match_spec_result":"{m,c,0}"'
    returns '{m,b,0}'
    returns '{m,e,0}'
    line call '{m,b,[]}' ',"tail":false'
    echo '{"drop":1}'
    line call '{m,a,[]}' ',"tail":false'
} >"$work/odd.jsonl"
grep -v return "$work/odd.jsonl" >"$work/calls.jsonl"
{
    line call '{m,a,[]}' ',"tail":false'
    line call '{m,b,[]}' ',"tail":true'
    returns '{m,b,0}'
    returns '{m,a,0}'
    line call '{m,b,[]}' ',"tail":false'
    returns '{m,b,0}'
} >"$work/each.jsonl"
stack() {
    replay -t count,output=/dev/null -p m:_ --return --caller "$@"
}
figures() {
    stack --stats "$@" 2>&1 | grep -E 'call(er|s whose|s that w)|s that also ended|frames|unknown' | grep -v ' 0 '
}
expect 'gaps and contradictions of a recording are counted' stack --recorded-callers "$work/odd.jsonl" <<'EOF'
-- stderr
tracehost replay: WORK/odd.jsonl: the recorder dropped 1 event
tracehost replay: tracer 'count': callers unknown: 4
tracehost replay: tracer 'count': returns unknown, though calls have ended: 1
tracehost replay: callers about which calls and returns disagree: 1
tracehost replay: returns of calls that were not recorded: 1
tracehost replay: returns that also ended other calls, whose own returns are missing: 1
tracehost replay: return frames lost together with events: 1
EOF
expect 'frames beyond --max-frames are counted' stack --max-frames=2 "$work/odd.jsonl" <<'EOF'
-- stderr
tracehost replay: WORK/odd.jsonl: the recorder dropped 1 event
tracehost replay: tracer 'count': callers unknown: 4
tracehost replay: tracer 'count': returns unknown, though calls have ended: 1
tracehost replay: return frames not kept: 1
tracehost replay: returns of calls whose frames were not kept: 1
tracehost replay: returns that also ended other calls, whose own returns are missing: 1
tracehost replay: return frames lost together with events: 1
EOF
expect '--stats counts gaps and contradictions of a recording' figures --recorded-callers "$work/odd.jsonl" <<'EOF'
           1  callers about which calls and returns disagree
           1  returns of calls that were not recorded
           1  returns that also ended other calls, whose own returns are missing
           1  return frames lost together with events
           4  callers unknown
           1  returns unknown, though calls have ended
EOF
expect 'unknown returns of a recording without returns are counted' stack "$work/calls.jsonl" <<'EOF'
-- stderr
tracehost replay: WORK/calls.jsonl: the recorder dropped 1 event
tracehost replay: tracer 'count': callers unknown: 3
tracehost replay: return frames lost together with events: 4
tracehost replay: returns unknown, as the recording has none: 5
EOF
expect '--each-returns ends a single call with each recorded return' replay -p m:_ --return --each-returns "$work/each.jsonl" <<'EOF'
<0.1.0>    call m:a()
<0.1.0>    call m:b()
<0.1.0>    return m:b/0 -> 1
<0.1.0>    return m:a/0 -> 1
<0.1.0>    call m:b()
<0.1.0>    return m:b/0 -> 1
EOF

# --- wrong patterns ---

expect '--max-frames=1 is refused' refused -p m:_ --max-frames=1 <<'EOF'
tracehost replay: --max-frames must be from 2 to 1000000000, not '1'
-- status 2
EOF

expect 'a pattern without a colon is refused' refused -p nix <<'EOF'
tracehost replay: -p must be M:F/A, M:F/_, M:_/_ or _:_/_, such as lists:reverse/1 or Elixir's Enum.sort/1, or on_load, send or receive, not 'nix'
-- status 2
EOF
expect 'a pattern whose module is not an atom is refused' refused -p Enum:map/2 <<'EOF'
tracehost replay: -p must be M:F/A, M:F/_, M:_/_ or _:_/_, such as lists:reverse/1 or Elixir's Enum.sort/1, or on_load, send or receive, not 'Enum:map/2'
-- status 2
EOF
expect 'a pattern M:_/1 is refused' refused -p 'lists:_/1' <<'EOF'
tracehost replay: -p must be M:F/A, M:F/_, M:_/_ or _:_/_, such as lists:reverse/1 or Elixir's Enum.sort/1, or on_load, send or receive, not 'lists:_/1'
-- status 2
EOF
expect 'a pattern _:F/1 is refused' refused -p '_:f/1' <<'EOF'
tracehost replay: -p must be M:F/A, M:F/_, M:_/_ or _:_/_, such as lists:reverse/1 or Elixir's Enum.sort/1, or on_load, send or receive, not '_:f/1'
-- status 2
EOF
expect 'an arity that is not a number is refused' refused -p lists:map/many <<'EOF'
tracehost replay: -p must be M:F/A, M:F/_, M:_/_ or _:_/_, such as lists:reverse/1 or Elixir's Enum.sort/1, or on_load, send or receive, not 'lists:map/many'
-- status 2
EOF
expect 'an arity above 255 is refused' refused -p lists:map/256 <<'EOF'
tracehost replay: -p must be M:F/A, M:F/_, M:_/_ or _:_/_, such as lists:reverse/1 or Elixir's Enum.sort/1, or on_load, send or receive, not 'lists:map/256'
-- status 2
EOF
expect '--return before any pattern is refused' refused --return -p lists:_ <<'EOF'
tracehost replay: --return must follow the -p to which it applies
-- status 2
EOF
expect '--return after a pattern of another session is refused' refused -p lists:_ --session a --return <<'EOF'
tracehost replay: --return must follow the -p to which it applies
-- status 2
EOF
expect 'an unknown --kind is refused' refused -p lists:_ --kind=often <<'EOF'
tracehost replay: --kind must be local, global, meta, count or time, not 'often'
-- status 2
EOF
expect 'kinds that exclude each other are refused' refused -p lists:_ --kind=local,global <<'EOF'
tracehost replay: -p lists:_: the kind global cannot be combined with another
-- status 2
EOF
expect '--match-spec together with --caller is refused' refused -p lists:_ --caller --match-spec r <<'EOF'
tracehost replay: -p lists:_: --match-spec cannot be combined with --return, --exception, --caller or --caller-line: write their actions in the specification
-- status 2
EOF
expect 'a pattern for calls without the flag call is refused' refused -p lists:_ --flags=send <<'EOF'
tracehost replay: -p lists:_ needs the flag call: add it to --flags=send
-- status 2
EOF
expect 'an unknown --format is refused' refused -p lists:_ --format=xml <<'EOF'
tracehost replay: --format must be text or json, not 'xml'
-- status 2
EOF
expect 'a pattern before the first --session is refused' refused -p lists:_ --session a <<'EOF'
tracehost replay: -p must follow the --session to which it applies
-- status 2
EOF
expect 'a match specification that is not a term is refused' replay -p lists:_ --match-spec '[{' "$seed" <<'EOF'
-- stderr
tracehost replay: cannot set -p lists:_; try the specification with `tracehost match`
  cannot parse the match specification
  line 1, column 3: expected a term, found the end of the text
-- status 3
EOF
expect 'a match specification with an unknown function is refused' replay -p lists:_ --match-spec "[{'_',[{nix}],[]}]" "$seed" <<'EOF'
-- stderr
tracehost replay: cannot set -p lists:_; try the specification with `tracehost match`
  clause 1, guard 1: Function nix/0 does_not_exist.
-- status 3
EOF
expect '--kind=memory of a replay is refused' replay -p lists:_ --kind=memory "$seed" <<'EOF'
-- stderr
tracehost replay: cannot set -p lists:_
  recordings do not contain the memory that calls allocate
-- status 2
EOF
expect 'the refusal of an unknown --kind hints at --help' replay -p lists:_ --kind=often "$seed" <<'EOF'
-- stderr
tracehost replay: --kind must be local, global, meta, count or time, not 'often'
Try `tracehost replay --help' or `tracehost replay --usage' for more
information.
-- status 2
EOF
expect 'an unknown --kind of a run is refused, and memory is listed' "$tracehost" run -p lists:_ --kind=count,often fib 'fib:fib(1)' <<'EOF'
-- stderr
tracehost run: --kind must be local, global, meta, count, time or memory, not 'often'
Try `tracehost run --help' or `tracehost run --usage' for more information.
-- status 2
EOF

# main() -> w(), f().  f() -> g().  g() -> f().  The lower f() calls h(), which returns to one of the two: to the upper
# one, and both calls between them have ended, if g() and the lower f() have made tail calls.
for event in 'call main' 'call w' 'return_to main' 'call f' 'call g' 'call f' 'call h' 'return_to f' 'call w' 'return_to f'; do
    case $event in
    call*) arguments='[]' ;;
    *) arguments=0 ;;
    esac
    echo "{\"tracee\":\"<0.1.0>\",\"tag\":\"${event% *}\",\"term\":\"{m,${event#* },$arguments}\"}"
done >"$work/recursion.jsonl"
expect 'a doubtful return is not reported if no pattern depends on the doubt' replay -p m:w/0 --flags=call,return_to "$work/recursion.jsonl" <<'EOF'
<0.1.0>    call m:w()
<0.1.0>    return_to m:main/0
<0.1.0>    call m:w()
<0.1.0>    return_to m:f/0
EOF
expect 'a doubtful return is reported if a pattern matches a call between' replay -p m:w/0 -p m:g/0 --flags=call,return_to "$work/recursion.jsonl" <<'EOF'
<0.1.0>    call m:w()
<0.1.0>    return_to m:main/0
<0.1.0>    call m:g()
<0.1.0>    call m:w()
<0.1.0>    return_to m:f/0
-- stderr
tracehost replay: tracer 'text': returns delivered, skipped or timed in doubt, as the recording does not show which calls they end (dbg:tpl(MODULE, cx) records that): 1
EOF
finish
