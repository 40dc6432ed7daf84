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
# returns WORD: waits until the plugin's function has returned WORD several more times.
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

check 'the first plugin runs under trace' returns one
link "$plugin" two
check 'a recompiled plugin without upgrade() leaves the old code in use' said 'cannot load the new .*: the old code stays in use'
check 'the missing upgrade() is reported' said 'has no upgrade()'
check 'the first plugin still runs' returns one
make "$plugin" three -DUPGRADES
check 'a plugin that is moved into place is loaded as generation 2' said 'edited.so is loaded: module edited, generation 2'
check 'generation 2 runs under trace' returns three

make "$plugin" four -DUPGRADES
check 'a new plugin is not loaded while old code is in use' said 'cannot load the new .* yet: old code of its module is in use'
check 'the function that uses the old code is reported' said 'in edited:stay/0; purge the module hard'
check 'generation 2 still runs' returns three
purged() {
    ctl purge --hard edited
}
check 'ctl purge --hard removes the old code' purged
check 'the waiting plugin is loaded after the purge' said 'edited.so is loaded: module edited, generation 3'
check 'generation 3 runs under trace' returns four
check 'the wait for old code is reported once' test "$(grep -c 'cannot load the new .* yet' "$work/host.err")" = 1

echo 'no library' >"$folder/broken"
mv "$folder/broken" "$plugin"
check 'a file that is not a library is refused' said 'the file is text, not a shared object'
make "$plugin" five -DUPGRADES -DANSWER=7
check 'a plugin whose upgrade() fails is refused' said 'upgrade() returned 7'
check 'generation 3 still runs after refusals' returns four
link "$work/six.so" six -DUPGRADES
cp "$work/six.so" "$plugin"
check 'a plugin that is written in place is loaded as generation 4' said 'edited.so is loaded: module edited, generation 4'
check 'generation 4 runs under trace' returns six

# --- a plugin that is loaded by a command ---

mkdir "$work/other"
make "$work/other/edited.so" seven -DUPGRADES
check 'ctl load takes a plugin from another folder' ctl load "$work/other/edited.so"
check 'the plugin of ctl load runs under trace' returns seven
make "$work/other/edited.so" eight -DUPGRADES
check 'the file of ctl load is watched' said 'other/edited.so is loaded: module edited, generation 6'
check 'generation 6 runs under trace' returns eight

before=$(grep -c . "$work/host.err")
rm -r "$work/other"
mkdir "$work/other"
make "$work/other/edited.so" nine -DUPGRADES
check 'a plugin in a recreated folder is loaded' said 'module edited, generation 7'
check 'generation 7 runs under trace' returns nine
check 'only the replacement in the recreated folder is reported' test "$(grep -c . "$work/host.err")" = $((before + 1))

# --- a plugin with a thread of its own ---

beats() {
    beats=$(grep -c . "$work/beats.$1")
    until_so beats_more "$1"
}
beats_more() {
    [ "$(grep -c . "$work/beats.$1")" -gt "$beats" ]
}
make "$work/other/edited.so" ten -DUPGRADES -DBEATS="\"$work/beats.ten\"" -pthread
check 'a plugin with a thread is loaded' said 'module edited, generation 8'
check 'the thread of generation 8 runs' beats ten
make "$work/other/edited.so" eleven -DUPGRADES -DBEATS="\"$work/beats.eleven\"" -pthread
check 'a plugin with a thread is replaced' said 'module edited, generation 9'
make "$work/other/edited.so" twelve -DUPGRADES -DBEATS="\"$work/beats.twelve\"" -pthread
check 'a plugin with a thread is purged before the next one is loaded' said 'module edited, generation 10'
stays='warning: .*other/edited.so was replaced, but stays in memory: the library uses pthread_create: a thread of the library may still run'
check 'a purged plugin that stays in memory is reported' said "$stays"
check 'the thread of purged generation 8 still runs' beats ten
make "$work/other/edited.so" thirteen -DUPGRADES
check 'a second plugin with a thread is replaced' said 'module edited, generation 11'
check 'generation 11 runs under trace' returns thirteen
check 'the thread of generation 8 still runs after the second purge' beats ten
check 'the thread of generation 9 still runs after the second purge' beats eleven
check 'plugins that stay in memory are reported once' test "$(grep -c "$stays" "$work/host.err")" = 1

ctl stop >/dev/null
ended >"$work/end"
no_failures() {
    ! grep -v -e '^stderr' -e '^status 0$' -e '^ok$' -e '^<' "$work/end" | grep -qvx 'one\|three\|four\|six\|seven\|eight\|nine\|ten\|eleven\|twelve\|thirteen'
}
check 'no call failed during all replacements' no_failures
finish
