#!/bin/sh
# Tests each probe of the host with gdb, which reads the notes, raises the semaphores and finds the arguments by
# itself.
. tests/cli/lib/assertions.sh
needs_machine 'gdb finds the probes' 'it would see the emulator'

party=$BUILD_DIR/tests/plugins/party.so
# LeakSanitizer wants to be the one that traces.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
ulimit -c 0

# A list of 5000 numbers, for which a heap must grow.
awk 'BEGIN { printf "L = ["; for (i = 1; i < 5000; i++) printf "1,"; print "1]." }' >"$work/list"
cat >"$work/script" <<'END'
party:trap(1).
P = party:spawn(party, server, [], 0).
party:seq_set(label, 17).
party:ping(P, 1).
party:seq_reset().
party:sends(self(), [{a,b}]).
party:await(0).
party:local(1).
party:call(party, echo, [7]).
party:user_trace(hello, 4711).
party:spawn(party, yields, [3, L], 1).
party:select('EXIT', 10000).
party:spawn(party, sheds, [3, L], 1).
party:select('EXIT', 10000).
F = tracehost:open_port("FILE").
port_command(F, "text").
port_close(F).
files:put_tag(<<"some-user-tag">>).
files:rename("NOTHING", "ELSE").
party:signal(P, bad).
END
sed -i "s|FILE|$work/port|; s|NOTHING|$work/nothing|; s|ELSE|$work/else|" "$work/script"

in_gdb() {
    gdb -q -nx -batch -iex 'set debuginfod enabled off' -iex 'set pagination off' \
        -ex 'handle SIGUSR1 SIGUSR2 nostop noprint pass' -x tests/probe/watch_probes.py \
        --args "$tracehost" "$@" </dev/null
}

# watched WHAT-GDB-SAYS WHAT-THE-HOST-SAYS ARGUMENT...: under gdb.
watched() {
    gdb_lines=$1
    host_lines=$2
    shift 2
    HITS=$gdb_lines SAID=$work/said_by_it in_gdb "$@" >"$work/all" 2>&1
    grep '^[a-z_]*__[a-z_0-9]* [a-z]*=' "$work/said_by_it" >"$host_lines"
    grep -q 'exited normally' "$work/all" && [ -s "$gdb_lines" ] && return
    tail -20 "$work/all"
    return 1
}

# run_watched WHAT-GDB-SAYS WHAT-THE-HOST-SAYS OPTION...
run_watched() {
    gdb_lines=$1
    host_lines=$2
    shift 2
    watched "$gdb_lines" "$host_lines" run --schedulers=1 -t count "$@" -p party:_/_ --kind=local --return \
        -f "$work/list" -f "$work/script" files "$party" 'done.'
}

# Threads may come to a probe at once, and to printing it in another order. The host shows operations on
# files in other words.
same_arguments() {
    run_watched "$work/gdb" "$work/host" --probe='*' || return
    [ -s "$work/host" ] && grep -v '^efile_drv__' "$work/gdb" | sort >"$work/a" && sort "$work/host" >"$work/b" &&
        diff "$work/a" "$work/b"
}

# every_probe live|replay FILE: all such are hit in FILE.
every_probe() {
    sed -n "s/^    X(\([a-z_0-9]*\), $1, .*/\1/p" plugin_api/probe_table.h >"$work/such"
    [ -s "$work/such" ] || return
    while read -r probe; do
        grep -q "^$probe " "$2" || echo "$probe was not hit"
    done <"$work/such" >"$work/missed"
    cat "$work/missed"
    [ ! -s "$work/missed" ]
}

replayed() {
    watched "$work/replayed" "$work/none" replay --probes -t count \
        $recordings/s08_gc.trace $recordings/s10_seq_trace.trace $recordings/s03_exceptions_return_to.trace || return
    every_probe replay "$work/replayed" || return
    "$tracehost" dump $recordings/s08_gc.trace | grep -c '>,gc_minor_start,' >"$work/c"
    grep -c '^gc_minor__start ' "$work/replayed" | diff "$work/c" -
}

# gdb is the only watcher.
gdb_alone() {
    run_watched "$work/alone" "$work/none" || return
    [ ! -s "$work/none" ] && sed 's/<[0-9.]*>//g' "$work/alone" | sort -u | grep '^message__send' >"$work/c"
    sed 's/<[0-9.]*>//g' "$work/gdb" | sort -u | grep '^message__send' | diff - "$work/c"
}

has() {
    grep -q -x "$1" "$work/gdb" && return
    echo "nothing is like $1"
    return 1
}

pid='<0\.[0-9]*\.[0-9]*>'
values() {
    has "message__send sender=$pid receiver=$pid size=3 token_label=17 token_previous=0 token_current=1" &&
        has "message__queued receiver=$pid size=3 queue_len=1 token_label=17 token_previous=0 token_current=1" &&
        has "process__spawn p=$pid mfa=party:yields/2" &&
        has "copy__object proc=$pid size=10000" &&
        has "local__function__entry p=$pid mfa=party:sum_of/5 depth=1" &&
        has "function__return p=$pid mfa=party:one/0 depth=1" &&
        has "user_trace__i4s4 proc=$pid user_tag=tag i_1=4711 i_2=-1 i_3=0 i_4=1 s_1=hello s_2= s_3=s3 s_4=s4" &&
        has "process__exit_signal sender=$pid receiver=$pid reason=bad" &&
        operation_values
}

# All probes of a file operation have its tag.
operation_values() {
    tag=$(sed -n 's/^efile_drv__entry \(thread_id=[0-9]* tag=[0-9]*\) .*/\1/p' "$work/gdb")
    [ -n "$tag" ] && names="string_1=$work/nothing string_2=$work/else" &&
        has "efile_drv__entry $tag user_tag=some-user-tag command=12 $names integer_1=0 integer_2=0 integer_3=0 integer_4=0 port=#Port<.*>" &&
        has "aio_pool__add port=#Port<.*> new_queue_length=1" &&
        has "aio_pool__get port=#Port<.*> new_queue_length=0" &&
        has "efile_drv__int_entry $tag command=12" &&
        has "efile_drv__int_return $tag command=12" &&
        has "efile_drv__return $tag user_tag=some-user-tag command=12 success=0 errno_value=2"
}

if ! command -v gdb >/dev/null; then
    skip 'gdb finds the probes and their arguments' 'gdb is not installed'
elif ! gdb -q -nx -batch -ex 'python print(1)' 2>/dev/null | grep -q 1; then
    skip 'gdb finds the probes and their arguments' 'this gdb has no Python'
elif ! gdb -q -nx -batch -ex run --args true 2>&1 | grep -q 'exited normally'; then
    skip 'gdb finds the probes and their arguments' 'gdb cannot run a program here'
else
    check 'gdb finds the same arguments as the host' same_arguments
    check 'gdb hits each probe that fires in a live run' every_probe live "$work/gdb"
    check 'the probes have the expected arguments' values
    check 'gdb hits each probe that fires in a replay' replayed
    check 'gdb raises the semaphores itself' gdb_alone
fi
finish
