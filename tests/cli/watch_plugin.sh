#!/bin/sh
# Tests --watch: a plugin is edited and compiled while the host runs its functions.
. tests/cli/lib/assertions.sh
. tests/cli/lib/control_hosts.sh

folder=$work/made
mkdir "$folder"
plugin=$folder/edited.so

cat >"$work/edited.c" <<'END'
#include <erl_nif.h>
#include <nif_module.h>

#ifndef ANSWER
#define ANSWER 0
#endif

#ifdef BEATS
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *beat(void *unused)
{
    FILE *beats = fopen(BEATS, "a");

    while (fprintf(beats, "beat\n") > 0 && fflush(beats) == 0)
        usleep(10000);
    return unused;
}

static void start_beating(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, beat, NULL);
}
#else
#define start_beating() (void)0
#endif

static int load(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info)
{
    (void)private_data;
    start_beating();
    return enif_is_number(env, info) ? ANSWER : 9; /* --load-info=1.5 */
}

#ifdef UPGRADES
static int upgrade(ErlNifEnv *env, void **private_data, void **old_private_data, ERL_NIF_TERM info)
{
    (void)old_private_data;
    return load(env, private_data, info);
}
#else
#define upgrade NULL
#endif

TH_NIF(word)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc, (void)argv;
    return enif_make_atom(env, WORD);
}

static ERL_NIF_TERM waited(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc, (void)argv;
    return enif_make_atom(env, WORD);
}

/* In this code, until a message comes. */
TH_NIF(stay)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc, (void)argv;
    return th_await(env, waited, TH_INFINITY, 0, NULL);
}

/* A process that does. */
TH_NIF(start)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifPid pid;

    return th_spawn(env, enif_make_atom(env, "edited"), enif_make_atom(env, "stay"), argc, argv, 0, &pid, NULL)
               ? enif_make_atom(env, "ok")
               : 0;
}

static ErlNifFunc functions[] = {{"word", 0, word, 0}, {"stay", 0, stay, 0}, {"start", 0, start, 0}};
ERL_NIF_INIT(edited, functions, load, NULL, upgrade, NULL)
END

# make FILE WORD [FLAG...]: moves the complete file there. The host refuses a file that a linker has written in part.
make() {
    made=$1
    shift
    link "$work/fresh.so" "$@"
    mv "$work/fresh.so" "$made"
}
link() {
    made_by_linker=$1
    word=$2
    shift 2
    "$CC" -fPIC -shared -Iplugin_api -fcf-protection=none -DWORD="\"$word\"" "$@" -o "$made_by_linker" "$work/edited.c"
}

# said TEXT [TIMES]: waits until the host has printed TEXT on stderr, in as many lines.
said() {
    until_so said_now "$@"
}
said_now() {
    [ "$(grep -c -- "$1" "$work/host.err")" -ge "${2:-1}" ]
}
# returns WORD: the plugin's function does, again and again.
returns() {
    count=$(counted "$1")
    until_so returns_more "$1"
}
counted() {
    grep -c "return edited:word/0 -> $1" "$work/text"
}
returns_more() {
    [ "$(counted "$1")" -gt $((count + 3)) ]
}

{
    echo 'edited:start().'
    for _ in $(seq 20000); do
        echo 'edited:word(). receive after 10 -> ok end.'
    done
} >"$work/long"
make "$plugin" one
begin "$tracehost" run --watch --control="$socket" --load-info=1.5 -t "text=#{output => <<\"$work/text\">>}" \
    -p edited:word/0 --return -f "$work/long" "$plugin"

check 'the first one runs' returns one
link "$plugin" two
check 'compiled anew: it lacks an upgrade()' said 'cannot load the new .*: the old code stays in use'
check 'which is told' said 'has no upgrade()'
check 'the old one goes on' returns one
make "$plugin" three -DUPGRADES
check 'one that was moved there is loaded' said 'edited.so is loaded: module edited, generation 2'
check 'and runs, traced' returns three

make "$plugin" four -DUPGRADES
check 'old code is in use' said 'cannot load the new .* yet: old code of its module is in use'
check 'by whom, is told' said 'in edited:stay/0; purge the module hard'
check 'the current one goes on' returns three
purged() {
    ctl purge --hard edited
}
check 'the old code is purged' purged
check 'then the new is loaded' said 'edited.so is loaded: module edited, generation 3'
check 'and runs' returns four
check 'that it waited was told once' test "$(grep -c 'cannot load the new .* yet' "$work/host.err")" = 1

echo 'no library' >"$folder/broken"
mv "$folder/broken" "$plugin"
check 'what is no library leaves the old code' said 'the file is text, not a shared object'
make "$plugin" five -DUPGRADES -DANSWER=7
check 'so does one with a veto' said 'upgrade() returned 7'
check 'the old one still goes on' returns four
link "$work/six.so" six -DUPGRADES
cp "$work/six.so" "$plugin"
check 'one that was written in place is taken' said 'edited.so is loaded: module edited, generation 4'
check 'and harms nobody' returns six

# --- one that is loaded by a command ---

mkdir "$work/other"
make "$work/other/edited.so" seven -DUPGRADES
check 'a command loads one from elsewhere' ctl load "$work/other/edited.so"
check 'it runs' returns seven
make "$work/other/edited.so" eight -DUPGRADES
check 'and is watched' said 'other/edited.so is loaded: module edited, generation 6'
check 'the new one runs' returns eight

before=$(grep -c . "$work/host.err")
rm -r "$work/other"
mkdir "$work/other"
make "$work/other/edited.so" nine -DUPGRADES
check 'in a folder that was made again' said 'module edited, generation 7'
check 'it runs' returns nine
check 'nothing else is said' test "$(grep -c . "$work/host.err")" = $((before + 1))

# --- one with a thread of its own ---

beats() {
    beats=$(grep -c . "$work/beats.$1")
    until_so beats_more "$1"
}
beats_more() {
    [ "$(grep -c . "$work/beats.$1")" -gt "$beats" ]
}
make "$work/other/edited.so" ten -DUPGRADES -DBEATS="\"$work/beats.ten\"" -pthread
check 'it is loaded' said 'module edited, generation 8'
check 'its thread runs' beats ten
make "$work/other/edited.so" eleven -DUPGRADES -DBEATS="\"$work/beats.eleven\"" -pthread
check 'it is replaced' said 'module edited, generation 9'
make "$work/other/edited.so" twelve -DUPGRADES -DBEATS="\"$work/beats.twelve\"" -pthread
check 'and purged, when the next one comes' said 'module edited, generation 10'
stays='warning: .*other/edited.so was replaced, but stays in memory: the library uses pthread_create: a thread of the library may still run'
check 'what stays in memory is said' said "$stays"
check 'as its thread goes on' beats ten
make "$work/other/edited.so" thirteen -DUPGRADES
check 'it is replaced once more' said 'module edited, generation 11'
check 'the new one runs' returns thirteen
check 'the threads go on' beats ten
check 'of all that are in memory' beats eleven
check 'which is said once' test "$(grep -c "$stays" "$work/host.err")" = 1

ctl stop >/dev/null
ended >"$work/end"
no_failures() {
    ! grep -v -e '^stderr' -e '^status 0$' -e '^ok$' -e '^<' "$work/end" | grep -qvx 'one\|three\|four\|six\|seven\|eight\|nine\|ten\|eleven\|twelve\|thirteen'
}
check 'no call has failed' no_failures
finish
