#!/bin/bash
# The feeder of running nodes, tracehost_node.so: each refusal is provoked with real nodes and its whole
# message compared; records come through the pipe whole; and all ways to end. feeder/fake_node.py is for
# peers that are no nodes. Long because: one node, one epmd and one network are made once for all ends.
. tests/cli/lib/assertions.sh
nodes_of_machine

object=$BUILD_DIR/lib/tracehost/tracehost_node.so
driver=$BUILD_DIR/tests/node/serve_node
if [ ! -x "$driver" ]; then
    echo 'tracehost_node.so is not built here: it needs erlc and libei (Debian: erlang-base, erlang-dev)'
    exit 77
fi

# An epmd of our own, at a free port, and a home with a cookie.
here=$(pwd)
ERL_EPMD_PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')
HOME=$work/home
export ERL_EPMD_PORT HOME
mkdir "$HOME" && printf 'our cookie\n' | tr ' ' _ >"$HOME/.erlang.cookie" && chmod 400 "$HOME/.erlang.cookie"
nodes=
epmd=
space=
inside= # the command that runs the driver in another network
end_nodes() {
    exec 7>&-
    # shellcheck disable=SC2086
    kill -9 $nodes $epmd 2>/dev/null
    [ -z "$space" ] || ip netns delete "$space" 2>/dev/null
    rm -rf "$work"
}
trap end_nodes EXIT
(cd "$work" && erlc "$here"/tests/node/feeder/*.erl "$here/tests/node/watched.erl" && erl -noinput -run write_wishes main) || exit 1

# serve NODE WISH [OPTION]...: traces. Ports and this machine's name get fixed words in the messages.
serve() {
    name=$1
    wish=$2
    shift 2
    # shellcheck disable=SC2086
    $inside "$driver" "$object" "$name" "$work/$wish.wish" "$@" 2>"$work/served" 7>&-
    result=$?
    sed "s/:$ERL_EPMD_PORT/:PORT/; s/port [0-9][0-9]*/port N/; s/@$(hostname)/@HOST/g
        s/\(no IPv4 address here\): .*/\1: REASON/; s/#Pid<[^>]*>\|<[0-9.]*>/PID/g" "$work/served" >&2
    return $result
}

is_known() { epmd -names | grep -q "^name $1 at"; }

# start_node NAME [ARGUMENT]...: starts a node; the shell's variable `started` is its pid.
start_node() {
    erl -noinput -sname "$@" >"$work/$1.out" 2>&1 &
    started=$!
    disown
    nodes="$nodes $started"
    until_so is_known "$1" || echo "the node $1 does not start"
}

answered() { [ "$(grep -c '^answer ' "$work/shop.out")" -ge "$1" ]; }

# tell EXPRESSION RESULT: evaluates in the node shop, and waits for the result.
told=0
tell() {
    told=$((told + 1))
    echo "$1." >&7
    until_so answered $told || fail "shop answers to $1"
    answer=$(sed -n 's/^answer //p' "$work/shop.out" | sed -n ${told}p)
    [ "$answer" = "$2" ] || fail "shop: $1 is $answer, not $2"
}

# --- Without a node ---------------------------------------------------------------------------------

expect 'no epmd' serve shop@localhost sell <<'END'
-- stderr
error: no epmd listens at localhost:PORT: no node that has a name runs there, or ERL_EPMD_PORT is another port
-- status 3
END
expect 'a host that is unknown' serve shop@no..host sell <<'END'
-- stderr
error: the host no..host has no IPv4 address here: REASON
-- status 3
END
for wrong in @localhost shop@ shop@here@there ''; do
    expect "no name of a node: '$wrong'" serve "$wrong" sell <<END
-- stderr
error: $wrong is no name of a node: NAME@HOST, or NAME for a node of this host
-- status 3
END
done
HOME=$work expect 'no file with the cookie' serve shop sell <<'END'
-- stderr
error: cannot read the cookie: WORK/.erlang.cookie: No such file or directory: give the node's cookie with --cookie=COOKIE, or its file with --cookie-file=FILE
-- status 3
END
: >"$work/empty"
expect 'a file without a cookie' serve shop sell cookie-file="$work/empty" <<'END'
-- stderr
error: WORK/empty has no cookie: a cookie is one line of 1 to 512 bytes
-- status 3
END

epmd -port "$ERL_EPMD_PORT" >"$work/epmd.out" 2>&1 &
epmd=$!
disown
until_so epmd -names
expect 'an epmd without nodes' serve shop sell <<'END'
-- stderr
error: epmd of localhost knows no node: start the node with -sname shop
-- status 3
END

# --- Refusals of nodes ------------------------------------------------------------------------------

mkfifo "$work/lines_of_shop"
erl -noshell -sname shop -pa "$work" -run shop run <"$work/lines_of_shop" >"$work/shop.out" 2>"$work/shop.log" &
shop=$!
disown
nodes="$nodes $shop"
exec 7>"$work/lines_of_shop"
until_so is_known shop
start_node closed -eval 'net_kernel:allow([some@where])'

expect 'a name that epmd does not know' serve hsop sell <<'END'
-- stderr
error: epmd of localhost knows no node hsop, it knows closed, shop
-- status 3
END
expect 'a wrong cookie' serve shop sell cookie=theirs <<'END'
-- stderr
error: shop refuses the given cookie: give the node's cookie with --cookie=COOKIE, or its file with --cookie-file=FILE
-- status 3
END
echo theirs >"$work/theirs"
expect 'a wrong cookie of a file' serve "shop@$(hostname)" sell cookie-file="$work/theirs" <<'END'
-- stderr
error: shop@HOST refuses the cookie of WORK/theirs: give the node's cookie with --cookie=COOKIE, or its file with --cookie-file=FILE
-- status 3
END
expect 'a node that does not allow us' serve closed sell <<'END'
-- stderr
error: closed does not allow connections from here: call net_kernel:allow(['tracehost1@HOST']) in the node
-- status 3
END

for wish in not_loaded bad_match_spec bad_flag no_process no_name; do
    serve shop $wish >"$work/records" 2>>"$work/refusals"
    echo "$wish: $?, $(stat -c %s "$work/records") bytes" >>"$work/refusals"
done
expect 'reasons of the agent' cat "$work/refusals" <<'END'
error: the module ftp is not loaded in the node: with --load the node loads it
not_loaded: 3, 0 bytes
error: the node refuses the match specification of pattern 2: Function foo/0 does_not_exist.
bad_match_spec: 3, 0 bytes
error: the node does not know the flag sometimes
bad_flag: 3, 0 bytes
error: the node has no process PID
no_process: 3, 0 bytes
error: no process of the node is registered as nobody
no_name: 3, 0 bytes
END
tell 'code:is_loaded(tracehost_agent)' false
tell 'nodes(hidden)' '[]'

if openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout "$work/key.pem" \
    -out "$work/certificate.pem" >/dev/null 2>&1 && erl -noinput -eval 'halt(case code:which(ssl) of non_existing -> 1; _ -> 0 end)'; then
    start_node secret -proto_dist inet_tls \
        -ssl_dist_opt server_certfile "$work/certificate.pem" -ssl_dist_opt server_keyfile "$work/key.pem"
    expect 'a node whose distribution is encrypted' serve secret sell <<'END'
-- stderr
error: the distribution of secret is encrypted (-proto_dist inet_tls), which tracehost does not speak: record in the node, with dbg:trace_port
-- status 3
END
else
    skip 'a node whose distribution is encrypted' 'openssl or erlang-ssl is not installed'
fi

stop_process "$shop"
expect 'a node that is stopped' serve shop sell <<'END'
-- stderr
error: shop does not answer within 5 seconds: it is stopped or hangs
-- status 3
END
kill -CONT "$shop"

# --- Records ----------------------------------------------------------------------------------------

# begin NAME WISH [OPTION]...: traces in the background; the shell's variable `feeding` is the pid of the driver.
# Returns when the node traces.
begin() {
    name=$1
    wish=$2
    shift 2
    : >"$work/lines"
    # shellcheck disable=SC2086
    $inside "$driver" "$object" "$name" "$work/$wish.wish" "$@" >"$work/records" 2>"$work/lines" 7>&- &
    feeding=$!
    until_so grep -qx ok "$work/lines"
}

# show_end: waits for the driver, and shows the records, the lines and the exit status.
show_end() {
    wait $feeding
    result=$?
    RECORDS=$work/records erl -noinput -pa "$work" -run show_records main
    sed 's/^/line /; s/#Pid<[^>]*>\|<[0-9.]*>/PID/g' "$work/lines"
    echo "status $result"
}

# The records end with the call shop:sell(1000).
has_sold_1000() { grep -qaP 'b\x00\x00\x03\xe8' "$work/records"; }

has_records() { [ "$(stat -c %s "$work/records")" -gt "$1" ]; }

begin shop sell
tell 'shop:work(1000)' 1000
expect 'two commands at once' serve shop sell <<'END'
-- stderr
error: another tracehost traces shop (its module is tracehost_agent): end that one first
-- status 3
END
kill -TERM "$(worker_of $feeding)"
expect 'records come, and SIGTERM ends in order' show_end <<'END'
note node
note round_trip
note clock
sell 1 to 1000
line ok
status 0
END
tell 'code:is_loaded(tracehost_agent)' false
tell 'erlang:trace_info({shop,sell,1},traced)' '{traced,false}'

begin shop sell no-load
tell 'code:is_loaded(tracehost_agent)' false
tell 'shop:work(100)' 100
kill -INT "$(worker_of $feeding)"
expect 'the agent can be evaluated' show_end <<'END'
note node
note round_trip
note clock
sell 1 to 100
line ok
status 0
END

begin shop sell for-ms=200
tell 'shop:work(10)' 10
expect 'for_ns ends in order' show_end <<'END'
note node
note round_trip
note clock
sell 1 to 10
line ok
status 0
END

# The controller ends the tracing after 1.5 seconds without a beat.
begin shop impatient for-ms=3000
tell 'shop:work(10)' 10
expect 'beats keep the controller alive' show_end <<'END'
note node
note round_trip
note clock
sell 1 to 10
line ok
status 0
END

check 'the clocks are asked for with each beat' test "$(grep -ao round_trip "$work/records" | wc -l)" -ge 7 # 5 at the beginning

# The records of 60,000 calls, 5 MB, are more than pipe, window and socket hold.
mkfifo "$work/slow"
: >"$work/lines"
"$driver" "$object" shop "$work/sell.wish" >"$work/slow" 2>"$work/lines" 7>&- &
feeding=$!
exec 8<"$work/slow"
until_so grep -qx ok "$work/lines"
tell 'shop:work(60000)' 60000
kill -TERM "$(worker_of $feeding)"
cat <&8 >"$work/records"
exec 8<&-
expect 'a reader that begins after the end gets all' show_end <<'END'
note node
note round_trip
note clock
sell 1 to 60000
line ok
status 0
END

begin shop sell read=100
tell 'shop:work(5)' 5
wait $feeding
expect 'a reader that goes away ends in order' cat "$work/lines" <<'END'
ok
END
tell 'code:is_loaded(tracehost_agent)' false

begin shop sell
until_so has_records 100
kill -KILL "$(worker_of $feeding)" && wait $feeding 2>/dev/null
expect 'a feeder that is killed' show_end <<'END'
note node
note round_trip
note clock
line ok
status 137
END

# is_clean: the agent has gone from the node.
is_clean() {
    serve shop sell for-ms=1 >"$work/records" 2>"$work/said_again"
}
check 'the node can be traced again' until_so is_clean
tell 'code:is_loaded(tracehost_agent)' false

tell 'register(traced,spawn(fun()->receive after infinity -> ok end end))' true
tell 'erlang:trace(whereis(traced),true,[call,{tracer,whereis(init)}])' 1
tell 'erlang:trace_pattern({shop,work,1},true,[local])' 1
for wish in traced_by pattern_of_other; do
    serve shop $wish >"$work/records" 2>>"$work/refused"
    echo "$wish: $?" >>"$work/refused"
done
expect 'the tracing of others' cat "$work/refused" <<'END'
error: the process PID is traced by PID already, and a process has one tracer: end that tracing, or choose other processes
traced_by: 3
error: somebody else has a trace pattern on shop:work/1 ({local,[]}): end that tracing, or choose other functions
pattern_of_other: 3
END
begin shop sell for-ms=1
tell 'erlang:trace_pattern({shop,work,1},false,[local])' 1
expect 'a process that is left out' show_end <<'END'
note node
note round_trip
note notice
note clock
line ok
status 0
END

tell 'exit(whereis(traced),kill)' true

# --- Trace ports -------------------------------------------------------------------------------------

# is_rid: the node has nothing of a trace by a trace port.
is_rid() {
    tell 'code:is_loaded(tracehost_agent)' false
    tell 'lists:member("trace_ip_drv",element(2,erl_ddll:loaded_drivers()))' "${1:-false}"
    tell '[P||P<-erlang:ports(),{name,"trace"++_}<-[erlang:port_info(P,name)]]' '[]'
    tell 'erlang:trace_info(new_processes,tracer)' '{tracer,[]}'
    tell 'erlang:trace_info({shop,sell,1},traced)' '{traced,false}'
}

is_rid
for load in '' no-load; do
    begin shop port $load
    tell 'lists:member("trace_ip_drv",element(2,erl_ddll:loaded_drivers()))' true
    tell 'shop:work(10000)' 10000
    kill -TERM "$(worker_of $feeding)"
    expect "records come by a trace port${load:+, $load}" show_end <<'END'
note node
note round_trip
note clock
note port
sell 1 to 10000
line ok
status 0
END
    is_rid
done

begin shop port read=100
tell 'shop:work(5)' 5
wait $feeding
expect 'a reader that goes away closes the trace port' cat "$work/lines" <<'END'
ok
END
is_rid

sum_of_records() {
    show_end >"$work/shown"
    awk '/^sell/ { sum += $4 - $2 + 1 } / dropped$/ { sum += $1; drops++ } /^line|^status/
        END { print sum " records" (drops ? ", some of them dropped" : "") }' "$work/shown"
}

# The calls are more than the driver's queue and all buffers hold. The driver drops the mark of the end, too.
begin shop port
stop_process "$(worker_of $feeding)"
tell 'shop:work(300000)' 300000
tell 'shop:drains()' drains
kill -CONT "$(worker_of $feeding)"
expect 'a full queue of the trace port drops records, and counts them' sum_of_records <<'END'
line ok
status 0
300000 records, some of them dropped
END
is_rid

show_limited() {
    show_end >"$work/shown"
    sed 's/\(sell 1 to [1-9]\)[0-9]\{3\}$/\1NNN/' "$work/shown"
}
for limit in rate=1000 bytes=100000; do
    begin shop port port-$limit
    tell 'shop:work(100000)' 100000
    expect "beyond the limit port-$limit the trace port is closed" show_limited <<'END'
note node
note round_trip
note clock
note port
sell 1 to 1NNN
note off
line ok
status 0
END
    is_rid
done

begin shop port
until_so has_records 100
kill -KILL "$(worker_of $feeding)" && wait $feeding 2>/dev/null
check 'the node can be traced after the feeder of a trace port was killed' until_so is_clean
is_rid

tell 'shop:connect_first()' looking
expect 'somebody else connects to the trace port first' serve shop slow_port <<'END'
-- stderr
error: somebody else has connected to the trace port of shop, port N, first: it takes one client, and asks for no cookie
-- status 3
END
is_rid

tell 'put(runtime_tools,code:lib_dir(runtime_tools))' undefined
tell 'code:del_path(runtime_tools)' true
expect 'a node without runtime_tools' serve shop port <<'END'
-- stderr
error: the node cannot open a trace port: the node has no runtime_tools: --via=agent needs none
-- status 3
END
tell 'code:add_path(get(runtime_tools)++"/ebin")' true
is_rid

# --- Names ------------------------------------------------------------------------------------------

# clients COUNT: the expression that waits until COUNT clients are connected.
clients() {
    echo "(fun Wait() -> case length(nodes(hidden)) of $1 -> connected; _ -> timer:sleep(10), Wait() end end)()"
}

others=$nodes
for number in 1 2 3 4 5 6 7 8; do
    start_node tracehost$number -hidden -eval "true = net_kernel:connect_node('shop@$(hostname)')"
    if [ $number = 1 ]; then
        tell "$(clients 1)" connected
        begin shop sell
        tell "lists:member('tracehost2@$(hostname)', nodes(hidden))" true
        kill -TERM "$(worker_of $feeding)"
        wait $feeding
        tell "$(clients 1)" connected
    fi
done
tell "$(clients 8)" connected
expect 'all names are taken' serve shop sell <<'END'
-- stderr
error: shop has connections under all names from tracehost1@HOST to tracehost8@HOST: end one of the commands that trace it
-- status 3
END
# shellcheck disable=SC2086
kill -9 ${nodes#"$others"}
tell "$(clients 0)" connected

# --- Peers that are no nodes ------------------------------------------------------------------------

fakes() { python3 tests/node/feeder/fake_node.py "$driver" "$object" "$work/sell.wish" "$@"; }
expect 'nonsense is refused' fakes table <tests/node/feeder/peers
expect 'changed bytes end no feeder' fakes random 100 <<'END'
statuses: 0 3 4
END

# --- A network that is cut --------------------------------------------------------------------------

# rate: prints the number of events in the last second of the records.
rate() { RECORDS=$work/records erl -noinput -pa "$work" -run show_records rate; }

flows() { [ "$(rate)" -ge 49000 ]; }

# cut_network: cuts the network while one process makes 50,000 events a second. The node gets its state back within 8
# seconds. The variable `cuts` gets the rate in the last second before the cut, and the time that the node took.
cuts=
cut_network() {
    tell 'shop:remember()' ok
    inside="ip netns exec $space"
    begin shop@$net flood
    inside=
    tell 'flood ! open' open
    until_so flows || echo 'the events do not flow'
    ip link set node$$ down
    told=$((told + 1))
    echo 'shop:time_until_as_before(8000).' >&7
    show_end >"$work/shown"
    until_so answered $told
    took=$(sed -n 's/^answer //p' "$work/shop.out" | sed -n ${told}p)
    [ "$took" -ge 0 ] 2>/dev/null || echo "the node is not as before: $took"
    rate=$(rate)
    [ "$rate" -ge 40000 ] || echo "$rate events in the second before the cut"
    cuts="$cuts $rate/s:$took"
    sed "s/\b$(sed -n 's/^sell 1 to //p' "$work/shown")\b/N/" "$work/shown"
    tell 'flood ! close' close
    ip link set node$$ up
}

# A namespace with a network of its own, and the network between.
space=feeder$$
net=10.213.$(($$ / 64 % 256)).$(($$ % 64 * 4 + 1))
if ip netns add $space 2>"$work/said" &&
    ip link add node$$ type veth peer name client$$ netns $space 2>>"$work/said"; then
    ip address add $net/30 dev node$$
    ip link set node$$ up
    ip netns exec $space ip address add "${net%.*}.$((${net##*.} + 1))/30" dev client$$
    ip netns exec $space ip link set client$$ up
    tell 'shop:flood(50000)' true
    for number in $(seq "${CUTS:-1}"); do
        expect "a network that is cut at 50,000 events a second, $number of CUTS=${CUTS:-1}" cut_network <<END
note node
note round_trip
note clock
sell 1 to N
line ok
line error: the network to shop@$net is cut: nothing was acknowledged for 6 seconds, after N records
status 4
END
    done
    echo "# events in the second before a cut, and the node's time to get its state back, in ms:$cuts"
    tell "$(clients 0)" connected
    tell 'code:is_loaded(tracehost_agent)' false

    # The client's rules leave the ports of epmd and of the distribution only.
    ip link set node$$ up
    port=$(epmd -names | sed -n 's/^name shop at port //p')
    for rule in "priority 1 dport $ERL_EPMD_PORT lookup main" "priority 2 dport $port lookup main" 'priority 3 dport 1024-65534 unreachable'; do
        # shellcheck disable=SC2086
        ip netns exec $space ip rule add ipproto tcp $rule
    done
    inside="ip netns exec $space"
    expect 'a trace port that the network does not reach' serve shop@$net port <<END
-- stderr
error: cannot reach the trace port of shop@$net, port N of $net: Network is unreachable: --via=agent needs no other port than that of the distribution
-- status 3
END
    inside=
    is_rid
    ip link delete node$$
else
    skip 'a network that is cut' "$(head -n 1 "$work/said")"
fi

# --- The end of the node ----------------------------------------------------------------------------

# stop_both: lets the node stand still after 1000 records, and asks the feeder to end.
stop_both() {
    tell 'shop:work(1000)' 1000
    until_so has_sold_1000
    stop_process "$shop"
    kill -TERM "$(worker_of $feeding)"
}

begin shop sell
stop_both
expect 'a node that is stopped while it is traced' show_end <<'END'
note node
note round_trip
note clock
sell 1 to 1000
line ok
line error: shop does not end the tracing within 5 seconds: it is stopped or hangs, and ends the tracing when it runs again
status 4
END
kill -CONT "$shop"
check 'the node can be traced when it runs again' until_so is_clean

begin shop port
stop_both
expect 'a node that is stopped while its trace port is read' show_end <<'END'
note node
note round_trip
note clock
note port
sell 1 to 1000
line ok
line error: shop does not end the tracing within 5 seconds: it is stopped or hangs, and ends the tracing when it runs again
status 4
END
kill -CONT "$shop"
check 'the node with a trace port can be traced when it runs again' until_so is_clean
is_rid

begin shop sell
tell 'shop:work(1000)' 1000
until_so has_sold_1000
kill -KILL "$shop"
expect 'a node that is killed' show_end <<'END'
note node
note round_trip
note clock
sell 1 to 1000
line ok
line error: the node shop went down after 1000 records
status 4
END

finish
