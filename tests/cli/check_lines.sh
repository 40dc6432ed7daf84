#!/bin/sh
# Tests the line `lines` of `tracehost check`: the lines that gcov counts in a library that is compiled with --coverage.
. tests/cli/lib/assertions.sh

command -v gcc >/dev/null && command -v gcov >/dev/null || {
    skip 'lines that are reached' 'no gcc or no gcov here'
    finish
}
mkdir "$work/source" "$work/scratch" "$work/empty"
export TMPDIR="$work/scratch"
cat >"$work/source/tracer.c" <<'EOF_C'
#include <erl_tracer.h>

static int count;

TH_TRACER_ENABLED(generic)
{
    if (enif_is_identical(tag, tracee)) {
        count = 1;

        count = 2;
    }
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
    if (enif_is_identical(tag, tracee))
        count = 3;
}
EOF_C
cat >"$work/source/plugin.c" <<'EOF_C'
#include <erl_nif.h>

static ERL_NIF_TERM number(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    int number;

    if (argc != 1)
        return enif_make_badarg(env);
    if (!enif_get_int(env, argv[0], &number))
        return enif_make_badarg(env);
    return argv[0];
}

static void unload(ErlNifEnv *env, void *data)
{
    if (!env)
        enif_free(data);
}

static ErlNifFunc functions[] = {{"number", 1, number, 0}};
ERL_NIF_INIT(plugin, functions, NULL, NULL, NULL, unload)
EOF_C
# A library with a thread of the C library's is never closed.
for name in tracer plugin; do
    sed '$a\
int begin(pthread_t *thread, void *(*run)(void *)) { return pthread_create(thread, 0, run, 0); }
1i\
#include <pthread.h>' "$work/source/$name.c" >"$work/source/open_$name.c"
done

# made NAME FLAG...: compiles NAME.c.
made() {
    name=$1
    shift
    (cd "$work/source" && gcc -O0 -fPIC -shared -I"$BUILD_DIR/include/tracehost" "$@" -o "$name.so" "$name.c")
}

# lines NAME [FLAG]...: prints the line `lines` of the summary.
lines() {
    made "$@" && (cd "$work/source" && "$tracehost" check --seed=1 --for=0s "./$1.so" >"$work/said" 2>&1)
    echo "status $?"
    sed -n "s,$work/source/,,; s/^  lines  *//p" "$work/said"
}
BUILD_DIR=$(realpath "$BUILD_DIR")
tracehost=$(realpath "$tracehost")
expect 'a tracer: the lines that no event reaches' lines tracer --coverage <<'LINES'
status 0
6 of 9 (66 %); not reached: tracer.c:8-10, 18
LINES
# of_plugin NAME LIBRARY: expects the lines of a NIF library.
of_plugin() {
    if [ -z "${EMULATOR:-}" ]; then
        expect "$1" lines "$2" --coverage
    else
        cat >/dev/null
        skip "$1" 'check reports calls that take a second: in an emulator, correct ones do'
    fi
}
of_plugin 'a NIF library' plugin <<'LINES'
status 0
9 of 11 (81 %); not reached: plugin.c:8, 17
LINES
expect 'a tracer that is never closed' lines open_tracer --coverage <<'LINES'
status 0
6 of 10 (60 %); not reached: open_tracer.c:9-11, 19, 21
LINES
of_plugin 'a NIF library that is never closed' open_plugin <<'LINES'
status 0
9 of 12 (75 %); not reached: open_plugin.c:9, 18, 23
LINES
expect 'a library that does not count' lines tracer <<'LINES'
status 0
LINES
case $BUILD_DIR:${EMULATOR:-} in
*:?*) skip 'counters are no data races' 'the thread sanitizer does not start in an emulator' ;;
*asan: | *tsan:) skip 'counters are no data races' 'the program has a sanitizer already' ;;
*)
    expect 'counters are no data races' lines tracer --coverage -fsanitize=thread <<'LINES'
status 0
6 of 9 (66 %); not reached: tracer.c:8-10, 18
LINES
    ;;
esac
no_gcov() {
    made tracer --coverage
    (cd "$work/source" && PATH=$work/empty "$tracehost" check --seed=1 --for=0s ./tracer.so >"$work/said")
    grep '^  lines' "$work/said"
}
expect 'gcov is not installed' no_gcov <<'LINES'
  lines    not known: gcov is not installed
LINES
no_notes() {
    made tracer --coverage
    rm "$work/source/tracer.so-tracer.gcno"
    (cd "$work/source" && "$tracehost" check --seed=1 --for=0s ./tracer.so) | sed -n "s,$work/source,SOURCE,; /^  lines/p"
}
expect 'a file of the compiler is gone' no_notes <<'LINES'
  lines    not known: there is no SOURCE/tracer.so-tracer.gcno
LINES
no_counts() { ! ls "$work"/source/*.gcda 2>/dev/null; }
check 'no counts are left beside the library' no_counts
nothing_left() { ! ls -d "$work"/scratch/tracehost-check.* 2>/dev/null; }
check 'no folder is left' nothing_left
has_counts() { ls -d "$work"/scratch/tracehost-check.*/counts; }
killed() {
    "$tracehost" check --for=60s -o "$work" "$work/source/tracer.so" >/dev/null 2>&1 &
    until_so has_counts && there=yes || there=no
    kill -KILL $!
    wait $!
    [ $there = yes ] && until_so nothing_left
}
check 'no folder is left by a program that is killed' killed
finish
