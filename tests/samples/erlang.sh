#!/bin/sh
# Tests the application tracehost_tracers of samples/erlang: rebar3 and mix compile it without a network; recordings, their limits and
# failures; rules about calls. samples/erlang/README.md has the projects that use it. With ERLANG_ROOT, all of this and the page run
# with the Erlang of another root; see in_root.
if [ -n "${ERLANG_ROOT:-}" ] && [ "${IN_ROOT:-}" != yes ]; then
    exec tests/samples/in_root "$ERLANG_ROOT" "$0"
fi
. tests/cli/lib/assertions.sh

if ! command -v erlc >/dev/null; then
    skip 'the application tracehost_tracers' 'no Erlang here'
    finish
fi
tree=$BUILD_DIR/erlang/tracehost_tracers
cp -r "$tree" "$work/app"
export HOME="$work" ERL_CRASH_DUMP_SECONDS=0
offline=
unshare -rn true 2>/dev/null && offline='unshare -rn'

# compiles COMMAND...: quietly; the modules and the libraries are where COMMAND puts them.
compiles() {
    (cd "$work/app" && $offline "$@") && [ -e "$(echo "$work"/app/_build/*/lib/tracehost_tracers/ebin/tracehost_record.beam)" ] &&
        [ -e "$(echo "$work"/app/_build/*/lib/tracehost_tracers/priv/text.so)" ] && rm -r "$work/app/_build"
}
for command in rebar3 mix; do
    if command -v $command >/dev/null; then
        check "$command compiles the application without a network" compiles $command compile
    else
        skip "$command compiles the application without a network" "$command is not installed"
    fi
done

case $BUILD_DIR in
*asan | *tsan | *ubsan)
    skip 'recordings of a node' 'libraries with sanitizers do not load into it'
    finish
    ;;
esac

# Each module of a tracer finds its library.
loaded() {
    ERL_LIBS=$BUILD_DIR/erlang timeout 60 "${1}erl" -noinput -boot no_dot_erlang -eval '
        [ok = (list_to_atom("tracehost_" ++ Name)):Load() || Name <- tracehost_tracers:names(), Load <- [load, load]],
        io:format("~w~n", [length(tracehost_tracers:names())]), halt().'
}
expect 'the modules of all tracers load their libraries' loaded '' <<LINES
$(find tracers -mindepth 2 -maxdepth 2 -name '*.c' | sed -n 's|^tracers/\(.*\)/\1.c$|\1|p' | wc -l)
LINES

erlc -o "$work" tests/samples/erlang/recordings.erl
# recordings PATH-OF-PROGRAMS FUNCTION FOLDER: pids differ from run to run.
recordings() {
    ERL_LIBS=$BUILD_DIR/erlang TRACEHOST=$tracehost timeout 60 "${1}erl" -noinput -boot no_dot_erlang -pa "$work" \
        -run recordings "$2" "$3" | sed 's/<[0-9.]*>/<P>/g'
}
each_case() {
    rm -rf "$work/each case" && mkdir "$work/each case" && recordings "$1" main "$work/each case"
}

# $1: lines of two cases that need sessions
wanted() {
    cat <<LINES
whole {20,0,stopped} [{call,10},{return_from,10}] $1
events {5,true,{limit,events,5}} [{call,5},{drop,1}]
bytes {limit,bytes,1000} {true,true}
ms {limit,ms,100} {true,true,true}
queue
exists eexist {2,0,stopped} [{call,2}]
folders [enoent,enoent,eisdir,eexist]
full {failed,"No space left on device"}
dies {3,0,stopped} [{call,2},{exit,1}]
$2
killed [call]
$3
options {options,"must be a map"}
options {nothing_to_record,"name patterns or flags"}
options {nothing_to_record,"name patterns or flags"}
options {nothing_to_record,"name patterns or flags"}
options {nothing_to_record,"calls are recorded by patterns"}
options {unknown_option,flag,{there_are,[file,patterns,flags,processes,limits,overwrite]}}
options {flags,[monotonic_timestamp,sends]}
options {pattern,{a,b},"must be Module, {Module, Function, Arity} or {{Module, Function, Arity}, MatchSpecification}"}
options {no_function,{lists,no,1}}
options {match_specification,[{bad}],{pattern,{lists,sort,1}}}
options {patterns,lists,"must be a list"}
options no_process
options no_process
options {limit,events,0,"must be infinity or a number from 1 to 4294967295"}
options {limit,events,many,"must be infinity or a number from 1 to 4294967295"}
never_called 0: kept
never_called 1: recordings:other/1: no call is allowed, 1 came
    <P> recordings:other(1), called by recordings:'-rules/0-lc\$^1/1-1-'/1
at_most 2: kept
at_most 3: recordings:other/1: at most 2 calls are allowed, 3 came
    <P> recordings:other(1), called by recordings:'-rules/0-lc\$^1/1-1-'/1
    <P> recordings:other(2), called by recordings:'-rules/0-lc\$^1/1-1-'/1
    <P> recordings:other(3), called by recordings:'-rules/0-lc\$^1/1-1-'/1
at_least 1: recordings:other/1: at least 2 calls are wanted, 1 came
    <P> recordings:other(1), called by recordings:'-rules/0-lc\$^1/1-1-'/1
at_least 2: kept
at_most 15: recordings:other/1: at most 2 calls are allowed, 15 came
$(for n in 1 2 3 4 5 6 7 8 9 10; do echo "    <P> recordings:other($n), called by recordings:'-rules/0-lc\$^1/1-1-'/1"; done)
    ... 5 more
no_exception 0: kept
no_exception 1: recordings:fails/1: no exception is allowed, 1 came
    <P> recordings:fails(1) ! error:1, called by recordings:'-rules/0-lc\$^4/1-3-'/1
processes recordings:other/1: no call is allowed, 1 came
    <P> recordings:other(7), called by recordings:'-rules/0-fun-7-'/1
doubts unknown calls are possible: {ended,{limit,events,4}}
doubts unknown calls are possible: {ended,{limit,events,4}}
storm [{true,true}]
again 0
-- stderr
tracer: cannot write WORK/each case/full: No space left on device
LINES
}
wanted '20, 2370 bytes' 'at once 2: [{call,4}] [{call,1}]
refused' 'others 1 {already_traced,{recordings,fails,1}}' >"$work/wanted 25"
wanted '20, 2240 bytes' 'at once 4: [{call,4}] [{call,1}]
the same [[{call,4}],[]]' 'others 0 sessions' >"$work/wanted 27"
release=$(erl -noinput -boot no_dot_erlang -eval 'io:put_chars(erlang:system_info(otp_release)), halt().')
if [ -e "$work/wanted $release" ]; then
    expect 'recordings, their limits and failures, rules about calls' each_case '' <"$work/wanted $release"
else
    skip 'recordings, their limits and failures, rules about calls' "OTP $release is installed, neither 25 nor 27"
fi
otp27=$SOURCE_DIR/build/otp27/bin/
if [ -n "${EMULATOR:-}" ]; then
    skip 'the same in sessions of OTP 27' 'it is of this machine, and loads no library of the other one'
elif [ -x "${otp27}erl" ]; then
    expect 'the same in sessions of OTP 27' each_case "$otp27" <"$work/wanted 27"
else
    skip 'the same in sessions of OTP 27' 'tests/unpack-otp27 has not unpacked it'
fi

# A project of Mix: its tests, and recordings of what a task does.
in_project() {
    (cd "$work/project" && $offline "$@")
}
# A warning about the end of the recording is logged, unless the node ends before.
record() {
    in_project mix tracehost.record -p Lists -p Lists.none -p :lists.seq/2 "$@" -- run -e ':lists.seq(1, 9); :lists.seq(1, 8)' 2>&1 |
        sed "s/, [0-9]* bytes//; /^Compil/d; /^Generated/d; /^==>/d; /^=WARNING REPORT=/d; /^tracehost_record: the recording /d"
}
if command -v mix >/dev/null; then
    mkdir -p "$work/project/lib" "$work/project/test"
    cp tests/samples/erlang/rules_test.exs "$work/project/test"
    echo 'ExUnit.start()' >"$work/project/test/test_helper.exs"
    echo 'defmodule Lists do def none, do: [] end' >"$work/project/lib/lists.ex"
    cat >"$work/project/mix.exs" <<'MIX'
defmodule Rules.MixProject do
  use Mix.Project
  def project, do: [app: :rules, version: "1.0.0", deps: [{:tracehost_tracers, path: "../app"}]]
end
MIX
    check 'each macro of Tracehost.Case fails tests that break its rule' in_project mix test
    expect 'mix tracehost.record records what a task does' record <<'LINES'
WORK/project/trace.trace: 2 events
LINES
    expect 'mix tracehost.record reports the limit that ended the recording' record --limit events=1 --overwrite <<'LINES'
WORK/project/trace.trace: 1 events; the recording ended before the task: {:limit, :events, 1}
LINES
    for option in --limit=many=1 --pattern=7 --flags=call,no --bad=1; do record --overwrite $option; done >"$work/refused"
    expect 'mix tracehost.record refuses what it does not know' cat "$work/refused" <<'LINES'
** (Mix) mix tracehost.record: --limit many=1: KIND=N is needed, where KIND is events, bytes, ms or queue
** (Mix) mix tracehost.record: --pattern 7: a function such as Shop.sell/1, Shop.sell, Shop or :lists.sort/1 is needed
** (Mix) mix tracehost.record: the recording did not begin: {:flags, [:monotonic_timestamp, :call, :no]}
** (Mix) mix tracehost.record: --bad is unknown, or lacks its value
LINES
fi

if [ "${IN_ROOT:-}" = yes ]; then
    check 'the page has the described results' python3 tests/samples/walkthrough samples/erlang/README.md
    dialyzed() { cd "$work/app" && rebar3 dialyzer; }
    check 'dialyzer finds nothing' dialyzed
    finish
fi

# A disk of 64 KB gets full: the file has whole records, as many as the report has.
small_disk() {
    mkdir "$work/disk" && unshare -rm sh -c "mount -t tmpfs -o size=64k none '$work/disk' && ERL_LIBS='$BUILD_DIR/erlang' \
        TRACEHOST='$tracehost' timeout 60 erl -noinput -boot no_dot_erlang -pa '$work' -run recordings small '$work/disk'" | sed '/REPORT=/d'
}
if unshare -rm mount -t tmpfs none /mnt 2>/dev/null; then
    expect 'a recording on a full disk has whole records' small_disk <<'LINES'
tracehost_record: the recording WORK/disk/small has ended: the file cannot be written: No space left on device
small {failed,"No space left on device"} {true,true,true}
-- stderr
tracer: cannot write WORK/disk/small: No space left on device
LINES
else
    skip 'a recording on a full disk has whole records' 'no file system can be mounted here'
fi

# A folder in which this user may not write; root becomes another user.
closed_folder() {
    mkdir -p "$work/closed" && chmod 555 "$work/closed"
    chmod 755 "$work"
    as_user=
    [ "$(id -u)" != 0 ] || as_user='setpriv --reuid=65534 --regid=65534 --clear-groups'
    ERL_LIBS=$BUILD_DIR/erlang timeout 60 $as_user erl -noinput -boot no_dot_erlang -pa "$work" -run recordings closed "$work/closed"
}
if [ "$(id -u)" != 0 ] || setpriv --reuid=65534 --regid=65534 --clear-groups test -r "$tree/priv/trace_port.so" 2>/dev/null; then
    expect 'a closed folder is refused' closed_folder <<'LINES'
closed eacces
LINES
else
    skip 'a closed folder is refused' 'no other user may read the build tree'
fi

finish
