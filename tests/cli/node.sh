#!/bin/sh
# Tests streams node:NAME@HOST: the request that options make, sessions, ends, and that a node is left as it was.
# tests/node tests the parts that speak with the node; tests/oracle/node.sh compares callbacks with those in a node.
. tests/cli/lib/assertions.sh

nodes_of_machine

# --- the request, without a node

explain() {
    "$tracehost" replay --explain "$@" node:shop@host
}
expect 'patterns, flags and tracees are asked for' explain --flags=call,send,timestamp -p lists:sort/1 --return \
    -p wl:_ --kind=global -p send --match-spec="[{['_',go],[],[]}]" --processes="till,<0.12.0>,'new'" --ports=new <<'EOF'
in node:shop@host
  -p lists:sort/1: [{'_',[],[{return_trace},true]}]
  -p wl:_
  -p send: [{['_',go],[],[]}]
  till: send, call, timestamp
  <0.12.0>: send, call, timestamp
  new: send, call, timestamp
  new ports: send, timestamp
  at most 10000 events a second
here
  flags: the node decides the patterns
EOF
expect 'a specification that would change the node is decided here' explain \
    -p a:b/1 --match-spec="[{'_',[],[{set_seq_token,label,1},{return_trace}]}]" \
    -p a:c/1 --match-spec="[{['\$1'],[{'==',{get_tcw},'\$1'}],[]}]" -p a:d/1 --match-spec="[{'_',[],[{message,{caller}}]}]" <<'EOF'
in node:shop@host
  -p a:b/1: [{'_',[],[{exception_trace}]}]; decided here: [{'_',[],[{set_seq_token,label,1},{return_trace}]}]
  -p a:c/1: [{'_',[],[{exception_trace}]}]; decided here: [{['$1'],[{'==',{get_tcw},'$1'}],[]}]
  -p a:d/1: [{'_',[],[{message,{caller}}]}]
  all processes: call, monotonic_timestamp
  at most 10000 events a second
here
  the same again, for each session
EOF
expect 'specifications of several sessions are decided here' explain --session=one -t text -p a:b/1 --exception \
    --session=two -t count -p a:_ <<'EOF'
in node:shop@host
  -p a:b/1: [{'_',[],[{exception_trace}]}]; decided here: [{'_',[],[{exception_trace},true]}]
  all processes: call, monotonic_timestamp
  -p a:_
  at most 10000 events a second
here
  the same again, for each session
EOF
without_times() {
    "$tracehost" replay --explain --session=a --flags=call -t text -p a:b/1 --session=b --flags=send,cpu_timestamp -t text \
        --session=c -t text -p a:b/1 --session=d --flags=call,arity -p a:_ -t text node:shop 2>&1 | sed '1,/^here/d'
    "$tracehost" dump --explain --flags=call -p a:b/1 node:shop | sed '1,/^here/d'
}
expect 'sessions whose events have no times are told' without_times <<'EOF'
  the same again, for each session
  tracers get no times, as --flags=call names no time stamp: monotonic_timestamp is one
  tracers get no times, as --flags=call,arity names no time stamp: monotonic_timestamp is one
  flags: the node decides the patterns
EOF
expect 'several nodes get one request' explain --flags=send --processes=till node:till@north <<'EOF'
in node:till@north, node:shop@host
  till: send, monotonic_timestamp
  at most 10000 events a second
here
  flags: the node decides the patterns
  tracers get no times, as --flags=send names no time stamp: monotonic_timestamp is one
EOF
expect 'limits are part of the request' explain -p a:b/1 --max-rate=0 --max-bytes=1MiB --sample=8 <<'EOF'
in node:shop@host
  -p a:b/1
  all processes: call, monotonic_timestamp
  any number of events a second and 1048576 bytes; beyond that, one of 8 processes
here
  flags: the node decides the patterns
EOF
expect 'counts need no event, times need the flag call' explain -p a:b/1 --kind=count -p a:c/1 --kind=time <<'EOF'
in node:shop@host
  -p a:b/1 (no events, call_count)
  -p a:c/1 (no events, call_time)
  all processes: call, monotonic_timestamp
here
  the same again, for each session
EOF
expect 'dump, info, convert and report explain, too' sh -c '
    for command in "dump" "info" "convert" "report"; do
        "$1" $command --explain -p a:b/1 node:shop $([ $command != convert ] || echo out.trace) || echo "$command failed"
    done' sh "$tracehost" <<'EOF'
in node:shop
  -p a:b/1
  all processes: call, monotonic_timestamp
  at most 10000 events a second
here
  flags: the node decides the patterns
in node:shop
  -p a:b/1
  all processes: call, monotonic_timestamp
  at most 10000 events a second
here
  flags: the node decides the patterns
in node:shop
  -p a:b/1
  all processes: call, monotonic_timestamp
  at most 10000 events a second
here
  flags: the node decides the patterns
in node:shop
  -p a:b/1
  all processes: call, monotonic_timestamp
  at most 10000 events a second
here
  flags: the node decides the patterns
EOF

for arguments in 'replay' 'replay -p on_load' 'replay -p a:b --kind=meta' 'replay --flags=call' 'replay --flags=call,return_to' \
    'dump' 'convert -p a:b/1 --match-spec=[' 'info --session=x' 'replay -p a:b/1 --max-rate=-1' 'replay -p a:b/1 --sample=1' \
    'replay -p a:b/1 --for=0' 'replay --session=a -t text -p a:b --processes=new --session=b -t count -p a:c' 'replay -p a:b/1 --shards=2' 'replay -p a:b/1 a.trace' 'replay --flags=send --processes=<0.9.0> node:other'; do
    echo "$arguments:"
    # shellcheck disable=SC2086 # words
    set -- $arguments
    [ "$1" != convert ] || set -- "$@" 'node:shop' out.trace
    [ "$1" = convert ] || set -- "$@" 'node:shop'
    "$tracehost" "$@" 2>&1 | grep -v '^Try \|^information'
done >"$work/refusals"
expect 'requests that a node cannot get are refused' cat "$work/refusals" <<'EOF'
replay:
tracehost replay: a running node traces only what it is asked for: give -p M:F/A or --flags
replay -p on_load:
tracehost replay: -p on_load: a running node cannot be asked for on_load
replay -p a:b --kind=meta:
tracehost replay: -p a:b: a running node cannot be asked for --kind=meta
replay --flags=call:
tracehost replay: --flags=call: calls of a running node need -p M:F/A
replay --flags=call,return_to:
tracehost replay: --flags=call,return_to: calls of a running node need -p M:F/A
dump:
tracehost dump: a running node traces only what it is asked for: give -p M:F/A or --flags
convert -p a:b/1 --match-spec=[:
tracehost convert: cannot ask for -p a:b/1; try the specification with `tracehost match`
  cannot parse the match specification
  line 1, column 2: expected a term, found the end of the text
info --session=x:
tracehost info: unrecognized option '--session=x'
tracehost info: did you mean '--version'?
replay -p a:b/1 --max-rate=-1:
tracehost replay: --max-rate must be a number, not '-1'
replay -p a:b/1 --sample=1:
tracehost replay: --sample must be a number from 2 to 1048576, not '1'
replay -p a:b/1 --for=0:
tracehost replay: --for must be a time above 0, not '0'
replay --session=a -t text -p a:b --processes=new --session=b -t count -p a:c:
tracehost replay: --processes: sessions that share a running node can choose single tracees only
replay -p a:b/1 --shards=2:
tracehost replay: --shards cannot be used with -p: patterns need the calls that are open where a share begins
replay -p a:b/1 a.trace:
tracehost replay: a.trace is no running node: running nodes are traced with each other only; record node:shop with tracehost convert
replay --flags=send --processes=<0.9.0> node:other:
tracehost replay: --processes: several nodes can be asked for names, not for identifiers, as each node has its own
EOF
expect 'options for nodes are for nodes' "$tracehost" dump -p a:b/1 "$recordings/s13_procs.trace" <<'EOF'
-- stderr
tracehost dump: -p, --flags, --processes and --ports are for node:NAME@HOST: of samples/recordings/s13_procs.trace, each record is taken
-- status 2
EOF

# --- with a node

if ! command -v erlc >/dev/null || [ ! -e "$BUILD_DIR/lib/tracehost/tracehost_node.so" ]; then
    skip 'a running node is traced' 'there is no erlc, or the part for running nodes is not built (Debian: erlang-base, erlang-dev)'
    finish
fi
sources=$PWD
order=$PWD/tests/cli/lib/message_order
cd "$work" || exit 1
erlc "$sources/tests/node/feeder/shop.erl" || exit 1
HOME=$work
ERL_EPMD_PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')
export HOME ERL_EPMD_PORT
(umask 077 && printf secret >"$HOME/.erlang.cookie")
mkfifo questions answers
epmd -port "$ERL_EPMD_PORT" >epmd.out 2>&1 & # our own: what a node starts stays when the node is killed
epmd=$!
node=
other=
trap 'kill -KILL $node $other $epmd 2>/dev/null; rm -rf "$work"' EXIT
until_so epmd -names
erl -sname shop -noshell -boot no_dot_erlang -run shop run <questions >answers 2>node.log &
node=$!
exec 7>questions 8<answers

# ask EXPRESSIONS: prints their value in the node.
ask() {
    # shellcheck disable=SC2086 # one line
    echo $1 >&7
    read -r word value <&8
    [ "$word" = answer ] && echo "$value"
}

# The traces of tracing in the node.
state() {
    ask '
        Of = fun(What) -> [{T, F} || P <- What, {tracer, T} <- [erlang:trace_info(P, tracer)], {flags, F} <- [erlang:trace_info(P, flags)], F =/= []] end,
        {Of([new_processes, new_ports | processes()]), erlang:trace_info({lists, sort, 1}, all), erlang:trace_info({lists, map, 2}, all),
         erlang:trace_info(send, match_spec), [N || N <- nodes(hidden), hd(atom_to_list(N)) =:= $t],
         code:is_loaded(tracehost_agent), [N || N <- registered(), lists:prefix("tracehost", atom_to_list(N))]}.'
}
nothing() {
    [ "$(state)" = "$clean" ]
}
ask 'Sell = fun F(N) -> receive stop -> ok after 1 -> lists:sort([N, 2, 1]), lists:nth(1, [N]), F(N + 1) end end,
    register(till, spawn(fun() -> Sell(0) end)).' >/dev/null
clean=$(state)
expect 'the state of the node can be asked' echo "$clean" <<'EOF'
{[],{all,false},{all,false},{match_spec,true},[],false,[]}
EOF

expect 'a process is traced by its name, and named' \
    sh -c '"$1" replay -p lists:sort/1 --return --processes=till -t flame --max-events=4 node:shop | sed "s/<[0-9.]*>/PID/; s/[0-9]*$/NS/"' \
    sh "$tracehost" <<'EOF'
till PID;lists:sort/1 NS
EOF
check 'the node is left as it was after the last event' until_so nothing
expect '--for ends the tracing' sh -c '"$1" replay -p lists:sort/1 -t count,output=counts.txt --for=100ms node:shop && grep -c lists:sort/1 counts.txt' \
    sh "$tracehost" <<'EOF'
1
EOF
check 'the node is left as it was after --for' until_so nothing

# without_last: what is reported, without a count of events that a busy machine had not read when the tracing ended.
without_last() {
    sed '/: the recorder dropped [0-9]* events*$/d; s/[0-9][0-9]* records*/N records/'
}
# ends SIGNAL WHOM [OPTION]...: sends SIGNAL to a replay, or to its feeder, once events come, and waits until the node is clean.
ends() {
    signal=$1
    whom=$2
    shift 2
    rm -f "$work/out"
    env --default-signal=INT "$tracehost" replay "$@" -p lists:sort/1 -t text,output="$work/out" node:shop 2>"$work/err" &
    replay=$!
    until_so grep -q sort "$work/out" || return 1
    [ "$(state)" != "$clean" ] || return 1
    case $whom in
    worker) whom=$(worker_of $replay) ;;
    feeder) whom=$(worker_of "$(worker_of $replay)") ;;
    *) whom=$replay ;;
    esac
    kill -"$signal" "$whom"
    if [ "$signal" = STOP ]; then
        until_so nothing || return 1
        kill -CONT "$whom"
    fi
    wait $replay 2>/dev/null
    echo "status $?"
    without_last <"$work/err" | sed 's/, at record [0-9][0-9]*$//' # between two records there is none
    until_so nothing || state
}
expect 'SIGINT ends the tracing in order' ends INT command <<'EOF'
status 130
tracehost replay: node:shop: received SIGINT after N records
EOF
expect 'SIGTERM does, too' ends TERM command <<'EOF'
status 143
tracehost replay: node:shop: received SIGTERM after N records
EOF
expect 'the node is left as it was if the worker is killed' ends KILL worker <<'EOF'
status 137
tracehost replay: killed from outside: SIGKILL, Killed
EOF
expect 'the node is left as it was if the process that speaks with it is killed' ends KILL feeder <<'EOF'
status 4
tracehost replay: node:shop: the process that spoke with the node was killed: what the node sent last is lost
  signal 9, Killed
tracehost replay: node:shop: recovered N records
EOF
expect 'the node is left as it was if the process that speaks with it stops' ends STOP feeder <<'EOF'
status 4
tracehost replay: node:shop: the node shop closed the connection after N records, and still runs
tracehost replay: node:shop: recovered N records
EOF
# The first signal ends the tracing; the counts that the node sends then are read.
counting() {
    rm -f "$work/seen"
    env --default-signal=INT "$tracehost" replay -p lists:sort/1 --kind=count -p lists:nth/2 -t text,output="$work/seen" node:shop \
        >"$work/out" 2>"$work/err" &
    replay=$!
    until_so grep -q nth "$work/seen" || return 1
    kill -INT $replay
    wait $replay
    echo "status $?"
    sed 's/ *[1-9][0-9]* / N /; s|/1|/N|' "$work/out"
    until_so nothing || state
}
expect 'counts are read at a signal' counting <<'EOF'
status 130
       calls  function
 N  lists:sort/N
EOF

# Five of the records are notes, more in a slow second.
# misspelt OPTION...: a replay with a pattern that the node has no function for. It warns while it runs, and once.
misspelt() {
    rm -f "$work/out"
    env --default-signal=INT "$tracehost" replay -p lists:srot/1 -p lists:sort/1 -p lists:map/2 "$@" -t text,output="$work/out" \
        node:shop 2>"$work/err" &
    replay=$!
    until_so grep -q srot "$work/err" && until_so grep -q sort "$work/out" || cat "$work/err"
    kill -INT $replay
    wait $replay
    sed '/received SIGINT/d' "$work/err"
    until_so nothing || state
}
for how in --load --no-load; do
    expect "a pattern that has no function is reported at once: $how" misspelt $how <<'EOF'
tracehost replay: node:shop: -p lists:srot/1: the node has no such function; did you mean 'lists:sort/1'?
EOF
done
expect 'dump reports it, too' sh -c '"$1" dump -p lists:srot/1 -p lists:sort/1 --max-records=10 node:shop >dumped && grep -c srot dumped' \
    sh "$tracehost" <<'EOF'
1
-- stderr
tracehost dump: node:shop: -p lists:srot/1: the node has no such function; did you mean 'lists:sort/1'?
EOF
expect 'a local function has no global pattern' "$tracehost" replay -p lists:sort/1 -p lists:usplit_1/5 --kind=global \
    -t count,output=/dev/null --max-events=1 node:shop <<'EOF'
-- stderr
tracehost replay: node:shop: -p lists:usplit_1/5: the node does not export this function
EOF
expect 'isolated tracers read one node' \
    sh -c '"$1" replay -p lists:sort/1 --isolate -t count,output=one -t count,output=other --max-records=25 node:shop; cmp one other &&
        tail -1 one | sed "s/ 1[0-9] / 20 /"' \
    sh "$tracehost" <<'EOF'
          20  100.00  lists:sort/1
EOF
check 'the node is left as it was after isolated tracers' until_so nothing

expect 'beyond --max-rate the tracing ends, which the recording tells, too' sh -c '
    "$1" convert -p lists:sort/1 --max-rate=20 node:shop rate.trace
    "$1" replay -t count,output=/dev/null rate.trace' sh "$tracehost" <<'EOF'
-- stderr
tracehost convert: node:shop: the node has ended the tracing: more than 20 events a second; --max-rate=N allows more, --sample=N goes on with fewer processes
tracehost replay: rate.trace: the node has ended the tracing: more than 20 events a second; --max-rate=N allows more, --sample=N goes on with fewer processes
EOF
check 'the node is left as it was beyond --max-rate' until_so nothing

# --- by a trace port

# no_port: the node has no trace port, and its driver is not loaded.
no_port() {
    nothing && [ "$(ask '{[P || P <- erlang:ports(), {name, "trace" ++ _} <- [erlang:port_info(P, name)]],
        lists:member("trace_ip_drv", element(2, erl_ddll:loaded_drivers()))}.')" = '{[],false}' ]
}
expect 'a trace port is asked for' explain -p a:b/1 --via=port --max-bytes=1MiB <<'EOF'
in node:shop@host
  -p a:b/1
  all processes: call, monotonic_timestamp
  at most 10000 events a second and 1048576 bytes
  a trace port: it listens on all addresses, without a cookie, and
  queues without a bound in bytes; the limits are applied here
here
  flags: the node decides the patterns
EOF
expect 'a trace port cannot go on with fewer processes' "$tracehost" dump -p a:b/1 --via=port --sample=2 node:shop <<'EOF'
-- stderr
tracehost dump: --sample cannot be used with --via=port: a trace port cannot go on with fewer processes
-- status 2
EOF
expect 'a trace port sends calls, and names are known' \
    sh -c '"$1" replay --via=port -p lists:sort/1 --return --processes=till -t flame --max-events=4 node:shop | sed "s/<[0-9.]*>/PID/; s/[0-9]*$/NS/"' \
    sh "$tracehost" <<'EOF'
till PID;lists:sort/1 NS
EOF
check 'the trace port is closed after the last event' until_so no_port
expect 'SIGINT closes the trace port' ends INT command --via=port <<'EOF'
status 130
tracehost replay: node:shop: received SIGINT after N records
EOF
check 'it is closed after SIGINT' until_so no_port
expect 'the trace port is closed if the process that speaks with the node is killed' ends KILL feeder --via=port <<'EOF'
status 4
tracehost replay: node:shop: the process that spoke with the node was killed: what the node sent last is lost
  signal 9, Killed
tracehost replay: node:shop: recovered N records
EOF
check 'it is closed after SIGKILL' until_so no_port
expect 'the trace port is closed if the process that speaks with the node stops' ends STOP feeder --via=port <<'EOF'
status 4
tracehost replay: node:shop: the node shop closed the connection after N records, and still runs
tracehost replay: node:shop: recovered N records
EOF
check 'it is closed after SIGSTOP' until_so no_port
expect 'beyond --max-rate the trace port is closed, which the recording tells, too' sh -c '
    "$1" convert --via=port -p lists:sort/1 --max-rate=20 node:shop rate.trace
    "$1" replay -t count,output=/dev/null rate.trace' sh "$tracehost" <<'EOF'
-- stderr
tracehost convert: node:shop: the node has ended the tracing: more than 20 events a second by the trace port, whose queue is lost; --max-rate=N allows more
tracehost replay: rate.trace: the node has ended the tracing: more than 20 events a second by the trace port, whose queue is lost; --max-rate=N allows more
EOF
check 'it is closed beyond --max-rate' until_so no_port
# The node becomes busy when the client is connected: the port's first record is not behind all events.
falls_behind() {
    "$tracehost" replay --via=port --max-rate=0 --session=one -p lists:sort/1 -t text,output=sorted \
        --session=two -p shop:sell/1 -t count,output=/dev/null node:shop 2>err &
    replay=$!
    until_so grep -q sort sorted || {
        kill -KILL $replay
        return 1
    }
    ask '[register(Name, spawn(fun shop:busy/0)) || Name <- [busy1, busy2]].' >/dev/null
    wait $replay
    grep -v dropped err
}
expect 'a trace port that falls behind is closed' falls_behind <<'EOF'
tracehost replay: node:shop: the node has ended the tracing: more events at once than the trace port handles: 64 MiB waited; -p and --processes ask for fewer events, --flags=call,arity for events without arguments
EOF
ask '[exit(whereis(Name), kill) || Name <- [busy1, busy2]].' >/dev/null
check 'it is closed after it fell behind' until_so no_port

# random_ends COUNT SEED: COUNT replays, each of which a signal of SEED ends: another signal, at another process, at
# another time. The node is left as it was after each.
random_ends() {
    awk -v count="$1" -v seed="$2" 'BEGIN {
        srand(seed); split("INT TERM HUP KILL KILL STOP", signals); split("command worker feeder", whom)
        split("-p_lists:sort/1 --flags=send,receive,procs,running --flags=send_-p_send -p_lists:__--kind=count --via=port_--flags=send,procs,running", asked)
        for (i = 0; i < count; i++)
            print signals[1 + int(6 * rand())], whom[1 + int(3 * rand())], int(300 * rand()), asked[1 + int(5 * rand())]
    }' >"$work/ends"
    while read -r signal whom ms asked; do
        # Before the replay begins: its only child is the worker then.
        options=$(echo "$asked" | tr _ ' ' | sed 's/lists: $/lists:_/; s/lists:  /lists:_ /')
        # shellcheck disable=SC2086 # words
        env --default-signal=INT,HUP "$tracehost" replay $options -t count,output=/dev/null node:shop >"$work/out" 2>&1 &
        replay=$!
        sleep "0.$(printf %03d "$ms")"
        worker=$(worker_of $replay)
        feeder=$worker # there is none yet
        [ "$worker" = $replay ] || feeder=$(worker_of "$worker")
        case $whom in
        worker) whom=$worker ;;
        feeder) whom=$feeder ;;
        *) whom=$replay ;;
        esac
        kill -"$signal" "$whom" 2>/dev/null
        # A stopped reader is still one; only the process that speaks with the node gives signs of life.
        [ "$signal" != STOP ] || { [ "$whom" = "$feeder" ] && [ "$feeder" != "$worker" ]; } || kill -KILL "$whom"
        until_so nothing || {
            echo "after SIG$signal at $ms ms, with $asked:"
            state
            return 1
        }
        kill -CONT "$whom" "$feeder" "$worker" 2>/dev/null
        kill -KILL $replay "$worker" "$feeder" 2>/dev/null
        wait $replay 2>/dev/null
    done <"$work/ends"
    return 0
}
seed=${SEED:-$(date +%s)}
check "the node is left as it was after ${ENDS:-6} random ends (ENDS=${ENDS:-6} SEED=$seed)" random_ends "${ENDS:-6}" "$seed"

# --- two nodes

erl -sname other -noinput -boot no_dot_erlang -eval '
    register(pong, spawn(fun Pong() -> receive {From, Ref, N} -> From ! {Ref, N}, Pong() end end)).' >other.log 2>&1 &
other=$!
until_so sh -c 'epmd -names | grep -q "name other"'
ask '
    Pong = {pong, list_to_atom("other@" ++ tl(lists:dropwhile(fun(C) -> C =/= $@ end, atom_to_list(node()))))},
    Call = fun(N) -> Ref = make_ref(), Pong ! {self(), Ref, N}, receive {Ref, N} -> ok end end,
    register(ping, spawn(fun Ping() -> receive {go, N} -> lists:foreach(Call, lists:seq(1, N)), Ping() end end)),
    persistent_term:put(other, element(2, Pong)).' >/dev/null
pong_waits() {
    [ "$(ask 'is_pid(rpc:call(persistent_term:get(other), erlang, whereis, [pong])).')" = true ]
}
until_so pong_waits # a node has its name before it evaluates

# Whether both nodes trace; whether none does.
both() {
    [ "$(ask '[F || {flags, F} <- [erlang:trace_info(whereis(ping), flags), rpc:call(persistent_term:get(other), erlang, trace_info,
        [rpc:call(persistent_term:get(other), erlang, whereis, [pong]), flags])], F =/= []].' | tr -cd '[' | wc -c)" = 3 ]
}
none() {
    nothing && [ "$(ask 'rpc:call(persistent_term:get(other), erlang, trace_info, [rpc:call(persistent_term:get(other), erlang, whereis, [pong]), flags]).')" = '{flags,[]}' ]
}
# together ARGUMENT...: begins a replay of both nodes, and lets them talk.
together() {
    rm -f both.txt
    env --default-signal=INT "$tracehost" replay --flags=send,receive --processes=ping,pong -t text,output=both.txt "$@" node:shop node:other 2>err &
    replay=$!
    until_so both || {
        kill -KILL $replay
        return 1
    }
    ask 'ping ! {go, 500}.' >/dev/null
}
# A node records a send to another node when it has sent the message: on a busy machine, that may be late.
ordered() {
    together --max-events=2001 || return 1
    wait $replay
    "$order" <both.txt | awk '$3 <= 50 { $3 = "few" } 1'
    sed 's/> .*/>/; s/\.[0-9.]*>/.N>/' both.txt | sort | uniq -c
    until_so none || state
}
expect 'two nodes are one stream, in which receives follow their sends' ordered <<'EOF'
1000 received, few of them before they were sent
   1001 ping <0.N>
   1000 pong <1.N>
EOF
interrupted() {
    together || return 1
    until_so grep -q ',500}' both.txt || return 1
    kill -INT $replay
    wait $replay
    echo "status $?"
    without_last <err
    until_so none || state
}
expect 'SIGINT ends the tracing of both' interrupted <<'EOF'
status 130
tracehost replay: node:shop and node:other: received SIGINT after N records
EOF
one_goes_down() {
    together || return 1
    until_so grep -q ',500}' both.txt || return 1
    { kill -KILL $other && wait $other; } 2>/dev/null
    until_so grep -q 'went down' err || return 1
    ask 'ping ! {go, 0}, ping ! {stay, make_ref()}.' >/dev/null
    until_so grep -q stay both.txt || return 1
    kill -INT $replay
    wait $replay
    echo "status $?"
    without_last <err
    until_so nothing || state
}
expect 'a node that goes down leaves the other one' one_goes_down <<'EOF'
status 130
tracehost replay: node:other: the node other went down after N records
tracehost replay: node:shop and node:other: recovered N records
tracehost replay: node:shop and node:other: received SIGINT after N records
EOF

# --- the end of the node

goes_down() {
    rm -f text.txt
    "$tracehost" replay -p lists:sort/1 -t text,output=text.txt node:shop 2>err &
    replay=$!
    until_so grep -q sort text.txt || return 1
    echo 'erlang:halt(0).' >&7
    wait $replay
    echo "status $?"
    sed 's/[0-9][0-9]* record/N record/' err
}
expect 'a node that goes down is reported' goes_down <<'EOF'
status 4
tracehost replay: node:shop: the node shop went down after N records
tracehost replay: node:shop: recovered N records
EOF
finish
