#!/bin/sh
# Compares the callbacks of libraries at a real BEAM's halt with those at the end of tracehost run: which are called,
# in which order, and which functions are waited for. A BEAM unloads no library when it halts, tracehost does; so the
# lines about unloading, which are the last ones, are compared separately.
. tests/cli/lib/assertions.sh
. tests/cli/lib/control_hosts.sh
needs_machine 'callbacks at the end of a node' 'OTP 27 is of this machine, and loads no library of the other one'

code=tests/oracle/halt
PATH=$SOURCE_DIR/build/otp27/bin:$PATH
[ ! -e "$SOURCE_DIR/build/otp27/include" ] || OTP_INCLUDE=$SOURCE_DIR/build/otp27/include
command -v erl >/dev/null && command -v erlc >/dev/null || { echo 'no erl (Debian: erlang-base)'; exit 77; }
grep -qs ERL_NIF_OPT_ON_HALT "$OTP_INCLUDE/erl_nif.h" || { echo 'no OTP 26 or later: tests/unpack-otp27'; exit 77; }

# library NAME VERSION DELAYS
library() {
    "$CC" -std=gnu11 -O1 -Wall -Wextra -Werror -fPIC -shared -I"$OTP_INCLUDE" -DNAME="$1" -DVERSION="$2" -DDELAYS="$3" \
        -o "$work/$1$2.so" $code/halting.c || exit 1
}
library one 1 true
library one 2 true
library two 1 true
library hasty 1 false
for name in one two hasty; do
    cat >"$work/$name.erl" <<EOF
-module($name).
-export([block/0]).
-on_load(load/0).
load() -> erlang:load_nif("$work/$name" ++ os:getenv("VERSION", "1"), 0).
block() -> erlang:nif_error(not_loaded).
EOF
    erlc -o "$work" "$work/$name.erl" || exit 1
done

# in_beam EXPRESSIONS: evaluates the expressions, which end with halt(), then prints the journal.
in_beam() {
    export JOURNAL="$work/journal"
    rm -f "$JOURNAL"
    ERL_CRASH_DUMP_SECONDS=0 timeout 60 erl -noinput -boot no_dot_erlang -pa "$work" -eval "
        Load = fun(Modules) -> [{module, _} = code:load_file(Module) || Module <- Modules] end,
        Begun = fun Wait(Line) ->
            {ok, Text} = file:read_file(\"$JOURNAL\"),
            string:find(Text, Line) =/= nomatch orelse begin timer:sleep(10), Wait(Line) end
        end,
        $1." || echo "status $?"
    cat "$JOURNAL"
}

# here LIBRARIES EXPRESSION COMMAND...: each a command of ctl, the last one before the end; wait:LINE waits for a line of the
# journal.
here() {
    export JOURNAL="$work/journal"
    libraries=$1
    expression=$2
    shift 2
    rm -f "$JOURNAL"
    # shellcheck disable=SC2086
    (cd "$work" && exec "$tracehost" run --control="$socket" $libraries "$expression" 2>"$work/errors") >"$work/printed" &
    host=$!
    until_so "$tracehost" ctl "$socket" status
    # shellcheck disable=SC2086
    for command; do
        case $command in
        wait:*) until_so grep -q "${command#wait:}" "$JOURNAL" ;;
        *) (cd "$work" && "$tracehost" ctl "$socket" $command) >/dev/null || echo "$command: failed" ;;
        esac
    done
    "$tracehost" ctl "$socket" stop >/dev/null
    wait "$host" || echo "status $?"
    cat "$JOURNAL"
}

# Removes the last lines about unloading; there is one for each library.
but_for_the_end() {
    awk '{ line[NR] = $0 } / unload$/ { next } { last = NR } END {
        for (i = 1; i <= last; i++) print line[i]
        print NR - last " are unloaded"
    }'
}

# compare NAME UNLOADED
compare() {
    echo "$2 are unloaded" >>"$work/beam"
    but_for_the_end <"$work/here" >"$work/told"
    check "$1" diff -u "$work/beam" "$work/told"
    check "$1: the journal of the BEAM is not empty" grep -q . "$work/beam"
}

in_beam 'Load([one, two]), halt(0)' >"$work/beam"
here './one1.so ./two1.so' 'timer:sleep(600000).' >"$work/here"
compare 'on_halt is called for the latest library first: one, two' 2

in_beam 'Load([two, one]), init:stop(0), receive nothing -> ok end' >"$work/beam"
here './two1.so ./one1.so' 'timer:sleep(600000).' >"$work/here"
compare 'on_halt is called for the latest library first: two, one' 2

in_beam 'Load([one, two]), os:putenv("VERSION", "2"), Load([one]), halt(0)' >"$work/beam"
here './one1.so ./two1.so' 'timer:sleep(600000).' 'load ./one2.so' >"$work/here"
compare 'on_halt is called for old code' 3

in_beam 'Load([one, two]), os:putenv("VERSION", "2"), Load([one]), code:purge(one), Begun("one 1: unload"), halt(0)' >"$work/beam"
here './one1.so ./two1.so' 'timer:sleep(600000).' 'load ./one2.so' 'purge one' 'wait:one 1: unload' >"$work/here"
compare 'on_halt is not called for purged code' 2

in_beam 'Load([one, two]), code:delete(one), halt(0)' >"$work/beam"
here './one1.so ./two1.so' 'timer:sleep(600000).' 'delete one' >"$work/here"
compare 'on_halt is called for deleted code' 2

party=$BUILD_DIR/tests/plugins/party.so
in_beam 'Load([two, one]), spawn(one, block, []), Begun("block begins"), halt(0)' >"$work/beam"
here "$party ./two1.so ./one1.so" 'party:spawns(1, one, block, []), timer:sleep(600000).' 'wait:block begins' >"$work/here"
compare 'a running function is awaited, its scheduled function is not run' 2

# This host waits for functions of other libraries, too, as it unloads them.
in_beam 'Load([hasty]), spawn(hasty, block, []), Begun("block begins"), halt(0)' >"$work/beam"
here "$party ./hasty1.so" 'party:spawns(1, hasty, block, []), timer:sleep(600000).' 'wait:block begins' >"$work/here"
echo 'hasty 1: block ends' >>"$work/beam"
compare 'a function without ERL_NIF_OPT_DELAY_HALT is awaited, too' 1

# on_halt is called when the first process has ended, and so not while that is in a function.
here "--grace=50ms ./one1.so" 'one:block().' 'wait:block begins' >"$work/here"
cat >"$work/beam" <<'EOF'
status 6
one 1: load
one 1: block begins
EOF
compare 'on_halt is not called while the first process runs a function' 0
finish
