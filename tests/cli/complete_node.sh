#!/bin/bash
# Tests the completion of patterns with the modules and functions of a running node.
. tests/cli/lib/assertions.sh

for program in erl erlc epmd; do
    command -v $program >/dev/null || { echo "$program is not here (Debian: erlang-base)" && exit 77; }
done
if [ ! -e "$BUILD_DIR/lib/tracehost/tracehost_node.so" ]; then
    echo 'tracehost_node.so is not built here: it needs erlc and libei (Debian: erlang-base, erlang-dev)'
    exit 77
fi

# An epmd of our own, at a free port, and a home with a cookie.
ERL_EPMD_PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')
HOME=$work/home
export ERL_EPMD_PORT HOME
mkdir "$HOME" && echo our_cookie >"$HOME/.erlang.cookie" && chmod 400 "$HOME/.erlang.cookie"
node=
epmd=
trap 'kill -9 $node $epmd 2>/dev/null; rm -rf "$work"' EXIT
epmd -port "$ERL_EPMD_PORT" >/dev/null 2>&1 &
epmd=$!
disown
cd "$work" || exit 1
mkdir ebin
cat >Elixir.MyApp.Cart.erl <<'EOF'
-module('Elixir.MyApp.Cart').
-export([add/2, 'valid?'/1, 'odd name'/0]).
add(A, B) -> local(A) + B.
'valid?'(_) -> true.
'odd name'() -> ok.
local(A) -> A.
EOF
cat >shop_till.erl <<'EOF'
-module(shop_till).
-export([open/1, 'Close'/0]).
open(_) -> ok.
'Close'() -> ok.
EOF
cat >shop_unused.erl <<'EOF'
-module(shop_unused).
-export([f/0]).
f() -> ok.
EOF
erlc -o ebin ./*.erl || exit 1
erl -noinput -sname shop -pa "$work/ebin" -eval '[{module, _} = c:l(Module) || Module <- [shop_till, list_to_atom("Elixir.MyApp.Cart")]].' >node.out 2>&1 &
node=$!
disown

# offered ARGUMENT...: prints the words that are offered at the end of the command, without those for all streams.
offered() {
    for line; do
        echo "$line =>"
        "$tracehost" complete "tracehost $line" '' </dev/null | sed 's/\x1f/ /g; s/ $//; /^word \(on_load\|send\|receive\)$/d' | LC_ALL=C sort
    done
}
is_up() { offered 'replay node:shop -p MyApp.Cart.a' | grep -q add; }
until_so is_up || { cat node.out && exit 1; }

expect 'modules of a running node are completed' offered 'replay node:shop -p shop_' 'dump node:shop --pattern=MyA' "info node:shop@$(hostname -s) -p MyApp." \
    'convert node:shop -p "'"'"'Elixir.MyApp' 'replay node:shop -p :shop_' 'replay -p shop_' 'replay a.trace -p shop_' <<EOF
replay node:shop -p shop_ =>
part shop_till:
dump node:shop --pattern=MyA =>
part MyApp.Cart. --pattern=
info node:shop@$(hostname -s) -p MyApp. =>
part MyApp.Cart.
convert node:shop -p "'Elixir.MyApp =>
part 'Elixir.MyApp.Cart':
replay node:shop -p :shop_ =>
part :shop_till.
replay -p shop_ =>
replay a.trace -p shop_ =>
EOF
expect 'functions of a running node are completed, also local ones' offered 'replay node:shop -p shop_till:' 'replay node:shop -p MyApp.Cart.' \
    'replay node:shop -p shop_till:o' 'replay node:shop -p :shop_till.o' "replay node:shop -p \"'Elixir.MyApp.Cart':a" 'replay node:shop -p MyApp.Cart._' \
    'replay node:shop -p lists:nthtai' <<'EOF'
replay node:shop -p shop_till: =>
word shop_till:\'Close\'/0
word shop_till:_/_
word shop_till:module_info/0
word shop_till:module_info/1
word shop_till:open/1
replay node:shop -p MyApp.Cart. =>
word MyApp.Cart.\"odd\ name\"/0
word MyApp.Cart._/_
word MyApp.Cart.add/2
word MyApp.Cart.local/1
word MyApp.Cart.module_info/0
word MyApp.Cart.module_info/1
word MyApp.Cart.valid\?/1
replay node:shop -p shop_till:o =>
word shop_till:open/1
replay node:shop -p :shop_till.o =>
word :shop_till.open/1
replay node:shop -p "'Elixir.MyApp.Cart':a =>
word 'Elixir.MyApp.Cart':add/2
replay node:shop -p MyApp.Cart._ =>
word MyApp.Cart._/_
replay node:shop -p lists:nthtai =>
word lists:nthtail/2
EOF
expect 'a module that is not loaded has no functions, and is not loaded' offered 'replay node:shop -p shop_unused:' 'replay node:shop -p shop_u' 'replay node:shop -p MyApp.Till.' <<'EOF'
replay node:shop -p shop_unused: =>
replay node:shop -p shop_u =>
replay node:shop -p MyApp.Till. =>
EOF

chmod 600 "$HOME/.erlang.cookie" && mv "$HOME/.erlang.cookie" cookie && chmod 400 cookie
expect 'the cookie is the given one' offered 'replay node:shop -p shop_' 'replay node:shop --cookie=our_cookie -p shop_' \
    'replay node:shop --cookie our_cookie -p shop_' 'replay --cookie-file=cookie node:shop -p shop_' 'replay node:shop --cookie=other -p shop_' <<'EOF'
replay node:shop -p shop_ =>
replay node:shop --cookie=our_cookie -p shop_ =>
part shop_till:
replay node:shop --cookie our_cookie -p shop_ =>
part shop_till:
replay --cookie-file=cookie node:shop -p shop_ =>
part shop_till:
replay node:shop --cookie=other -p shop_ =>
EOF
mv cookie "$HOME/.erlang.cookie"

# quiet ARGUMENT...: prints what is offered and said, and whether that took at most 1.5 seconds: a second for the node.
quiet() {
    before=$(date +%s%N)
    "$tracehost" complete "tracehost $*" '' </dev/null 2>&1 | sed 's/\x1f/ /g; s/ $//'
    [ $(($(date +%s%N) - before)) -lt 1500000000 ] && echo 'in time'
}
expect 'an unknown node is silent' quiet replay node:nobody -p s <<'EOF'
word send
in time
EOF
stop_process "$node"
expect 'a node that is stopped is silent, and costs a second' quiet replay node:shop -p s <<'EOF'
word send
in time
EOF
kill -CONT "$node"
no_epmd() { ERL_EPMD_PORT=1 quiet replay node:shop -p s; }
expect 'a host without epmd is silent' no_epmd <<'EOF'
word send
in time
EOF
kill -9 "$epmd"

finish
