#!/bin/sh
# Tests loading of code into a running host: tracehost ctl load, purge, delete, modules.
. tests/cli/lib/assertions.sh
. tests/cli/lib/control_hosts.sh

mkdir "$work/copies"
export TMPDIR="$work/copies"

# version NAME: makes WORK/NAME.so, a library of the module version_NAME with the functions of tests/plugins/version.c.
version() {
    LC_ALL=C sed "s/version_0000/version_$1/g" "$BUILD_DIR/tests/plugins/version.so" >"$work/$1.new"
    mv "$work/$1.new" "$work/$1.so"
}
for name in 000a 000b 000c; do
    version $name
done

# The module whose functions are called during all loads.
{
    echo 'bank:start(), bank:open(alice, 100), bank:open(bob, 50).'
    for _ in $(seq 20000); do
        echo 'version_000a:number_inside(). receive after 10 -> ok end.'
    done
} >"$work/long"

# a_host OPTION...: starts a host with two modules; functions of a version return the number of that version.
a_host() {
    begin "$tracehost" run --control="$socket" --schedulers=2 --load-info=1 "$@" "$work/000a.so" bank -f "$work/long"
    until_so bank_is_open
}
bank_is_open() {
    ctl processes | grep -q bob
}

# modules: prints the modules without figures that vary: users of the module under call, number of functions.
modules() {
    ctl modules | sed "/version_000a/s|  1  $work|  0  $work|; /version_/s| 1[0-9]      1  |  N      1  |"
}

# --- loading ---

a_host
expect 'modules lists the modules that the host started with' modules <<'END'
module        code     generation  functions  local  users  path
bank          current           1         15      0      3  BUILD/lib/tracehost/plugins/bank.so
version_000a  current           1          N      1      0  WORK/000a.so
END
expect 'two libraries are loaded at once, one of them as an upgrade' ctl load "$work/000a.so" "$work/000b.so" --load-info=2 <<'END'
module        generation  was       from
version_000a           2  upgraded  WORK/000a.so
version_000b           1  loaded    WORK/000b.so
committed at one instant, after 1 round of thread progress
END
expect 'modules lists the new code and the old code' modules <<'END'
module        code     generation  functions  local  users  path
bank          current           1         15      0      3  BUILD/lib/tracehost/plugins/bank.so
version_000a  current           2          N      1      0  WORK/000a.so
version_000a  old               1          N      1      0  WORK/000a.so
version_000b  current           1          N      1      0  WORK/000b.so
END
here() {
    (cd "$work" && ctl load ./000c.so --load-info 3)
}
expect 'a relative path is relative to the folder of ctl' here <<'END'
module        generation  was     from
version_000c           1  loaded  WORK/000c.so
committed at one instant, after 1 round of thread progress
END
expect 'a built-in plugin is loaded by its name' ctl load bank <<'END'
module  generation  was       from
bank             2  upgraded  BUILD/lib/tracehost/plugins/bank.so
committed at one instant, after 1 round of thread progress
END

# --- traced events ---

returns() {
    grep -c "return version_000a:number_inside/0 -> $1" "$work/text"
}
tells() {
    [ "$(returns "$1")" -gt 0 ]
}
expect 'a tracer is attached to a function of the current code' ctl attach "text=#{output => <<\"$work/text\">>}" -p version_000a:number_inside/0 --return <<'END'
session 1, tracer 'text': flags call, 1 breakpoint
END
check 'the tracer gets returns of the current code' until_so tells 2
purged_a() {
    until_so ctl purge version_000a
}
check 'old code becomes unused and is purged' purged_a
check 'new code of a traced module is loaded' ctl load "$work/000a.so" --load-info=7
check 'the tracer gets returns of the new code' until_so tells 7
check 'a pattern stays set when new code is loaded' sh -c "'$tracehost' ctl '$socket' info version_000a:number_inside/0 | grep -q match_spec"
check 'old code becomes unused and is purged again' purged_a

# --- refusals ---

before() {
    modules >"$work/before"
}
as_before() {
    modules | diff "$work/before" -
}
# three LOAD_INFO
three() {
    ctl load "$work/000a.so" "$work/000b.so" "$work/000c.so" --load-info="$1"
}
before
expect 'a th_upgrade_check() that refuses prevents the load of all three' three '{9,[{version_000b,check}]}' <<'END'
-- stderr
tracehost ctl: none of the 3 libraries was loaded
  WORK/000b.so was refused
  th_upgrade_check() returned 3
-- status 5
END
check 'a refusal by th_upgrade_check() changes no module' as_before
expect 'a load info for three libraries that is not a term is refused' three '{9' <<'END'
-- stderr
tracehost ctl: --load-info is not an Erlang term: line 1, column 3: expected ',' or '}', found the end of the text
-- status 2
END
expect 'an upgrade() that refuses prevents the load of all three' three '{9,[{version_000b,upgrade}]}' <<'END'
-- stderr
tracehost ctl: none of the 3 libraries was loaded
  WORK/000b.so was refused
  upgrade() returned 2
-- status 5
END
check 'a refusal by upgrade() changes no module' as_before
seven_again() {
    count=$(returns 7)
    until_so more_than_before
}
more_than_before() {
    [ "$(returns 7)" -gt "$((count + 3))" ]
}
check 'calls of the current code continue after a refused load' seven_again
check 'no call reaches code that was refused' sh -c "! grep -q -- '-> 9' '$work/text'"
expect 'a missing file prevents the load of both libraries' ctl load "$work/000a.so" ./nothing.so <<END
-- stderr
tracehost ctl: none of the 2 libraries was loaded
  cannot open $PWD/nothing.so
  No such file or directory
-- status 5
END
version 000d
expect 'a load() that refuses prevents the load of a new module' ctl load "$work/000d.so" '--load-info={1,[{version_000d,load}]}' <<'END'
-- stderr
tracehost ctl: WORK/000d.so was refused
  load() returned 1
-- status 5
END
echo 'no library' >"$work/text.so"
expect 'a text file is refused' ctl load "$work/text.so" <<'END'
-- stderr
tracehost ctl: WORK/text.so was refused
  the file is text, not a shared object; compile C code with -fPIC -shared
-- status 5
END
expect 'two libraries of one module are refused' ctl load "$work/000c.so" "$work/000c.so" <<'END'
-- stderr
tracehost ctl: none of the 2 libraries was loaded
  WORK/000c.so and WORK/000c.so are both module version_000c: load one at a time
-- status 2
END
expect 'a load info that is not a term is refused' ctl load "$work/000c.so" '--load-info={' <<'END'
-- stderr
tracehost ctl: --load-info is not an Erlang term: line 1, column 2: expected a term, found the end of the text
-- status 2
END
expect 'load without a library is refused' ctl load --purge=hard <<'END'
-- stderr
tracehost ctl: argument LIBRARY is missing
-- status 2
END
expect 'an unknown value of --purge is refused' ctl load bank --purge=gently <<'END'
-- stderr
tracehost ctl: --purge must be soft or hard, not 'gently'
-- status 2
END
expect 'an option of another command is refused' ctl load bank --hard <<'END'
-- stderr
tracehost ctl: this command has no option --hard
-- status 2
END
expect 'purge without a module is refused' ctl purge <<'END'
-- stderr
tracehost ctl: argument MODULE is missing; `modules` lists the modules
-- status 2
END
expect 'purge of an unknown module is refused' ctl purge nobody <<'END'
-- stderr
tracehost ctl: there is no module nobody
-- status 2
END
expect 'delete of two modules is refused' ctl delete bank version_000a <<'END'
-- stderr
tracehost ctl: unexpected argument 'version_000a'
-- status 2
END
check 'refused commands change no module' as_before

# --- old code that is in use ---

expect 'a load is refused while processes use the old code' ctl load bank <<'END'
-- stderr
tracehost ctl: cannot load module bank
  not_purged: 3 calls or continuations of the old code, BUILD/lib/tracehost/plugins/bank.so, have not ended: <0.2.4096> bank in bank:run/0, <0.3.4096> alice in bank:account/3, <0.4.4096> bob in bank:account/3; purge the module hard, which kills the processes in the old code
-- status 5
END
expect 'a soft purge is refused while processes use the old code' ctl purge bank <<'END'
-- stderr
tracehost ctl: cannot purge module bank
  not_purged: 3 calls or continuations of the old code, BUILD/lib/tracehost/plugins/bank.so, have not ended: <0.2.4096> bank in bank:run/0, <0.3.4096> alice in bank:account/3, <0.4.4096> bob in bank:account/3; purge the module hard, which kills the processes in the old code
-- status 5
END
expect 'load --purge=hard replaces old code that is in use' ctl load bank --purge=hard <<'END'
module  generation  was       from
bank             3  upgraded  BUILD/lib/tracehost/plugins/bank.so
committed at one instant, after 1 round of thread progress
END
nobody_is_left() {
    ctl processes | grep -c 'bank\|alice\|bob'
}
expect 'load --purge=hard kills the processes in the old code' nobody_is_left <<'END'
0
-- status 1
END
expect 'purge --hard purges old code that no process uses' ctl purge bank --hard <<'END'
bank: the old code was purged
END
expect 'purge succeeds if there is no old code' ctl purge bank <<'END'
bank: there is no old code
END

# --- delete ---

expect 'delete turns the current code into old code' ctl delete version_000c <<'END'
version_000c is deleted: its code is old code until it is purged
END
expect 'a second delete is refused' ctl delete version_000c <<'END'
-- stderr
tracehost ctl: no module version_000c is loaded
-- status 2
END
expect 'modules lists a deleted module as old code' modules <<'END'
module        code     generation  functions  local  users  path
bank          current           3         15      0      0  BUILD/lib/tracehost/plugins/bank.so
version_000a  current           3          N      1      0  WORK/000a.so
version_000b  current           1          N      1      0  WORK/000b.so
version_000c  old               1          N      1      0  WORK/000c.so
END
expect 'a load after a delete upgrades the old code, as in a BEAM' ctl load "$work/000c.so" --load-info=4 <<'END'
module        generation  was       from
version_000c           2  upgraded  WORK/000c.so
committed at one instant, after 1 round of thread progress
END

# --- a changed or removed file has no effect ---

no_harm() {
    : >"$work/000a.so"
    seven_again && rm "$work/000a.so" && seven_again && version 000a
}
check 'a loaded library works after its file is truncated and removed' no_harm

# --- a slow constructor ---

cat >"$work/slow.c" <<'END'
#include <erl_nif.h>

#include <stdio.h>
#include <unistd.h>

/* Waits until there is a file that says go on. */
__attribute__((constructor)) static void begin(void)
{
    FILE *began = fopen(WORK "/began", "a");

    fputs("began\n", began);
    fclose(began);
    while (access(WORK "/go_on", F_OK) != 0)
        usleep(10000);
}

static ERL_NIF_TERM zero(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc, (void)argv;
    return enif_make_int(env, 0);
}

static ErlNifFunc functions[] = {{"zero", 0, zero, 0}};
ERL_NIF_INIT(slow, functions, NULL, NULL, NULL, NULL)
END
"$CC" -fPIC -shared -Iplugin_api -DWORK="\"$work\"" -o "$work/slow.so" "$work/slow.c"
began() {
    [ "$(grep -c began "$work/began")" -ge "$1" ]
}
is_there() {
    ctl modules | grep -q "$1"
}
ctl load "$work/slow.so" "$work/000b.so" --load-info=5 >"$work/loaded" 2>&1 &
loader=$!
check 'a load waits for the constructor of a library' until_so began 1
expect 'other commands are answered while a load waits' ctl functions version_000b:number/0 <<'END'
function               can have
version_000b:number/0  local,global
END
expect 'no module changes while a load waits' modules <<'END'
module        code     generation  functions  local  users  path
bank          current           3         15      0      0  BUILD/lib/tracehost/plugins/bank.so
version_000a  current           3          N      1      0  WORK/000a.so
version_000b  current           1          N      1      0  WORK/000b.so
version_000c  current           2          N      1      0  WORK/000c.so
version_000c  old               1          N      1      0  WORK/000c.so
END
touch "$work/go_on"
wait $loader
expect 'both libraries are loaded when the constructor returns' cat "$work/loaded" <<'END'
module        generation  was       from
slow                   1  loaded    WORK/slow.so
version_000b           2  upgraded  WORK/000b.so
committed at one instant, after 1 round of thread progress
END
check 'the library with the slow constructor is deleted' ctl delete slow
check 'the library with the slow constructor is purged' ctl purge slow
rm "$work/go_on"
ctl load "$work/slow.so" >/dev/null 2>&1 &
loader=$!
check 'a second load waits for the constructor' until_so began 2
kill -KILL $loader
wait $loader 2>/dev/null
check 'the host answers after the client of a load was killed' ctl status
touch "$work/go_on"
check 'a load completes after its client was killed' until_so is_there slow

# --- the schema ---

answers() {
    name=$1
    ctl --json "$@" | conforms "$name"
}
all_conform() {
    answers load "$work/000b.so" "$work/000c.so" && answers modules && answers delete version_000c &&
        answers purge version_000c && answers modules && ctl --json load nobody | conforms failure
}
check 'answers conform to the schema' all_conform

# --- the end ---

ctl stop >/dev/null
ended >"$work/end"
no_errors() {
    grep -v -e '^[1-9]$' -e '^ok$' "$work/end"
}
expect 'no call fails during the loads' no_errors <<'END'
stderr: tracehost run: received a request to stop
status 0
END
check 'no copy of a library is left' test -z "$(ls "$work/copies")"

# --- a replay has no code ---

mkfifo "$work/pipe"
"$tracehost" replay --control="$socket" -t count - <"$work/pipe" >/dev/null 2>&1 &
host=$!
exec 3>"$work/pipe"
until_so ctl status
for command in 'load bank' 'purge bank' 'delete bank' modules; do
    # shellcheck disable=SC2086
    expect "${command% *} is refused by a replay" ctl $command <<'END'
-- stderr
tracehost ctl: this host runs no code; `tracehost run` does
-- status 2
END
done
exec 3>&-
wait "$host"
finish
