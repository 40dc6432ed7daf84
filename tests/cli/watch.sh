#!/bin/sh
# Tests --watch: a tracer is edited and compiled while the host runs.
. tests/cli/lib/assertions.sh

folder=$work/made
mkdir "$folder"
tracer=$folder/edited.so

cat >"$work/edited.c" <<'EOF'
#include <erl_nif.h>

#include <stdatomic.h>
#include <stdio.h>

#ifndef ANSWER
#define ANSWER 0
#endif
#ifndef TRACE
#define TRACE "trace"
#endif

static ERL_NIF_TERM enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc, (void)argv;
    return enif_make_atom(env, "trace");
}

static ERL_NIF_TERM trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc, (void)argv;
    dprintf(1, "%s %s\n", WORD, (const char *)enif_priv_data(env));
    return enif_make_atom(env, "ok");
}

static int load(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info)
{
    (void)env, (void)info;
    *private_data = "loaded";
    return ANSWER;
}

#ifdef UPGRADES
static int upgrade(ErlNifEnv *env, void **private_data, void **old, ERL_NIF_TERM info)
{
    (void)env, (void)info;
    dprintf(1, "%s upgrades %s\n", WORD, (const char *)*old);
    *private_data = "upgraded";
    return ANSWER;
}
#else
#define upgrade NULL
#endif

static void unload(ErlNifEnv *env, void *private_data)
{
    (void)env, (void)private_data;
    dprintf(1, "%s ends\n", WORD);
}

static ErlNifFunc functions[] = {{"enabled", 3, enabled, 0}, {TRACE, 5, trace, 0}};
ERL_NIF_INIT(edited, functions, load, NULL, upgrade, unload)
EOF

# make FILE WORD [FLAG...]: compiles a tracer that prints WORD.
make() {
    made=$1
    word=$2
    shift 2
    "$CC" -fPIC -shared -Iplugin_api -DWORD="\"$word\"" "$@" -o "$made" "$work/edited.c"
}

# wait_for TEXT FILE [TIMES]: waits until TIMES lines of FILE have TEXT.
wait_for() {
    for _ in $(seq 600); do
        [ "$(grep -c -- "$1" "$2")" -ge "${3:-1}" ] && return 0
        kill -0 "$host" 2>/dev/null || break
        sleep 0.05
    done
    echo "no '$1' in:"
    tail -5 "$2"
    return 1
}

# goes_on WORD: waits until the tracer has printed WORD for three more events.
goes_on() {
    wait_for "^$1 " "$work/out" $(($(grep -c "^$1 " "$work/out") + 3))
}

# --- a run ---

for _ in $(seq 20000); do
    echo 'json:encode(1). receive after 10 -> ok end.'
done >"$work/long"
make "$tracer" one
"$tracehost" run --watch -t "$tracer" -p json:_/_ -f "$work/long" json >"$work/out" 2>"$work/err" &
host=$!

replaced() {
    wait_for "^$1 $2" "$work/out" && wait_for 'is in use' "$work/err" "$3"
}

check 'the first tracer gets events' wait_for '^one loaded' "$work/out"
make "$tracer" two -DUPGRADES
check 'a recompiled tracer with upgrade() replaces the first' replaced two upgraded 1
check 'upgrade() gets the private data of the old tracer' grep -q '^two upgrades loaded' "$work/out"
check 'the old tracer is unloaded after the upgrade' wait_for '^one ends' "$work/out"
make "$folder/fresh.so" three
mv "$folder/fresh.so" "$tracer"
check 'a tracer file that is moved into place is loaded' replaced three loaded 2
check 'the replaced tracer is unloaded after the move' wait_for '^two ends' "$work/out"

refused() {
    wait_for "$1" "$work/err" && goes_on three
}
echo 'no library' >"$folder/broken"
mv "$folder/broken" "$tracer"
check 'a file that is not a library leaves the old tracer in use' refused 'stays in use'
make "$tracer" four -DANSWER=7
check 'a tracer whose load() fails leaves the old tracer in use' refused 'load() returned 7'
make "$tracer" five -DTRACE='"show"'
check 'a tracer without trace/5 leaves the old tracer in use' refused 'trace/5'
check 'replacements and refusals are reported once each' test "$(grep -c '^tracehost' "$work/err")" = 5

make "$tracer" six
check 'a valid tracer after refusals is loaded' replaced six loaded 3
printf x >>"$tracer"
check 'a tracer file that is written in place is loaded' wait_for 'is in use' "$work/err" 4
check 'the tracer written in place gets events' goes_on six

i=0
while [ $i -lt 20 ]; do
    cp "$tracer" "$folder/copy$i"
    i=$((i + 1))
done
rename_all() {
    "${PYTHON:-python3}" - "$folder" <<'EOF'
import os, sys
for i in range(20):
    os.rename('%s/copy%d' % (sys.argv[1], i), sys.argv[1] + '/edited.so')
EOF
}
rename_all
check 'a burst of renames replaces the tracer' wait_for 'is in use' "$work/err" 5
goes_on six >/dev/null
check 'a burst of renames replaces the tracer a few times at most' test "$(grep -c 'is in use' "$work/err")" -lt 9

before=$(grep -c 'is in use' "$work/err")
rm -r "$folder"
mkdir "$folder"
make "$tracer" seven
check 'a tracer in a recreated folder is loaded' replaced seven loaded $((before + 1))
kill -TERM $host
wait $host
check 'SIGTERM ends a watched run with status 143' test $? = 143
check 'the last tracer of a run is unloaded' grep -q '^seven ends' "$work/out"

# --- a replay ---

"$tracehost" dump --format=jsonl "$recordings/s01_seed_local_caller.trace" >"$work/events"
mkfifo "$work/stream"
make "$tracer" one
"$tracehost" replay --watch -t "$tracer" - <"$work/stream" >"$work/out" 2>"$work/err" &
host=$!
exec 3>"$work/stream"
head -1 "$work/events" >&3

# Events are sent all the time, as by a node that runs.
{
    while tail -n +2 "$work/events" >&3 2>/dev/null && [ ! -e "$work/enough" ]; do
        sleep 0.02
    done
} &
feeder=$!
check 'the first tracer of a replay gets events' wait_for '^one loaded' "$work/out"
make "$tracer" two
check 'a replay replaces its tracer' replaced two loaded 1
check 'the old tracer of a replay is unloaded' wait_for '^one ends' "$work/out"
touch "$work/enough"
wait $feeder
exec 3>&-
wait $host
check 'a replay with a replaced tracer has status 0' test $? = 0
check 'the new tracer of a replay is unloaded' grep -q '^two ends' "$work/out"

# --- by command, without a changed file ---

make "$folder/first.so" first
make "$folder/second.so" second -DUPGRADES
"$tracehost" run --watch --control="$work/socket" -L "$folder" -t first -p json:_/_ -f "$work/long" json \
    >"$work/out" 2>"$work/err" &
host=$!
ctl() {
    "$tracehost" ctl "$work/socket" "$@"
}
check 'the first tracer of a run under control gets events' wait_for '^first loaded' "$work/out"
check 'ctl replace takes another tracer' ctl replace first second
check 'the tracer of ctl replace gets events' wait_for '^second upgraded' "$work/out"
make "$folder/second.so" third -DUPGRADES
check 'the file of the tracer of ctl replace is watched' wait_for '^third upgraded' "$work/out"
check 'ctl replace takes the same file again' ctl replace second second
check 'ctl replace with the same file calls upgrade()' wait_for '^third upgrades upgraded' "$work/out"
check 'the tracer reloaded by ctl replace gets events' goes_on third
expect 'ctl replace of an unknown session is refused' ctl replace nobody second <<'EOF'
-- stderr
tracehost ctl: there is no session or tracer 'nobody'
-- status 2
EOF
expect 'ctl replace without a tracer is refused' ctl replace second <<'EOF'
-- stderr
tracehost ctl: arguments SESSION and TRACER are needed; `sessions` and `tracers` list them
-- status 2
EOF
check 'ctl stop succeeds' ctl stop
wait $host
check 'ctl stop unloads the last tracer' grep -q '^third ends' "$work/out"

# --- files that do not change ---

expect '--watch without changed files changes no output' "$tracehost" run --watch json 'json:encode(1)' <<'EOF'
<0.1.4096> call json:encode(1)
<0.1.4096> exit normal
<<"1">>
EOF

finish
