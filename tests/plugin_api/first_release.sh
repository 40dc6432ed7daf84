#!/bin/sh
# Tests compatibility with the first release, 0.1, whose headers are in first_release/. Sources for them compile
# without a warning with both sets of headers; shared objects and embedding programs that are compiled with the old
# ones behave in today's host like those compiled with today's.
. tests/plugin_api/report

first=tests/plugin_api/first_release
patchable=$(PKG_CONFIG_PATH="$BUILD_DIR/lib/pkgconfig" pkg-config --cflags-only-other tracehost-plugin 2>/dev/null)
warnings='-Wall -Wextra -Wpedantic -Wshadow -Werror'
: "${TRACEHOST:=$BUILD_DIR/bin/tracehost}"
unset TRACEHOST_PATH
export LC_ALL=C
mkdir "$work/first" "$work/today"

# library NAME SOURCE...: first/NAME.so and today/NAME.so.
library() {
    name=$1
    shift
    for headers in first today; do
        if [ $headers = first ]; then folder=$first; else folder=plugin_api; fi
        # shellcheck disable=SC2086
        check "$name.so compiles with the headers of $headers" $CC -std=gnu11 -O2 -fPIC -shared $warnings \
            -Wno-pedantic $patchable -I$folder -I. "$@" -o "$work/$headers/$name.so"
    done
}

library party tests/plugins/party.c
library bank plugins/bank/*.c
library files plugins/files/*.c
library spec_example plugins/spec_example/*.c
library factor samples/nifs/factor.c
for source in samples/tracers/*.c; do
    library "$(basename "$source" .c)" "$source"
done

# said_by FOLDER COMMAND...: the command's output in $work/FOLDER.said; WORK stands for the folder.
said_by() {
    folder=$work/$1
    shift
    "$@" 2>&1 | sed "s,$folder,WORK,g; s/#Ref<[0-9.]*>/REF/g; s/<0\.[0-9]*\.0>/PID/g" >"$folder.said"
}

# same COMMAND WORD...: both print the same; LIBRARIES stands for the folder of the shared objects.
same() {
    for headers in first today; do
        # shellcheck disable=SC2046
        said_by $headers timeout 60 $(printf '%s\n' "$@" | sed "s,LIBRARIES,$work/$headers,")
    done
    cat "$work/first.said"
    diff "$work/first.said" "$work/today.said"
}

call() { same "$TRACEHOST" call -L LIBRARIES "$@"; }
# The words of an expression must not have blanks.
check 'a plugin of each release calls the host' call party 'party:present().' "[party:await(1)||_<-[1]]."
check 'the host is present for an old plugin' grep -q -x 1 "$work/first.said"
check 'a plugin of each release has the same results' call bank 'bank:start(),bank:open(alice,100),bank:open(bob,50).' \
    'bank:transfer(alice,bob,30).' 'bank:audit().' 'bank:withdraw(alice,1000).'
check 'the old plugin refuses a withdrawal without funds' grep -q insufficient_funds "$work/first.said"
check 'functions of a library of each release have the same trace' same "$TRACEHOST" run -t text -p 'factor:_/_' \
    LIBRARIES/factor.so 'factor:factors(60)'

for tracer in samples/tracers/*.c; do
    tracer=$(basename "$tracer" .c)
    check "a tracer of each release has the same output: $tracer" same "$TRACEHOST" replay -L LIBRARIES -t "$tracer" \
        samples/recordings/s02_seed_global_caller.trace samples/recordings/s13_procs.trace
done

# Programs that are hosts: with a sanitizer they would have to be linked with its runtime.
host() {
    name=$1
    shift
    for headers in first today; do
        if [ $headers = first ]; then folder=$first; else folder=plugin_api; fi
        $CC -std=c11 -pthread $warnings -I$folder "samples/embedding/$name.c" -L"$BUILD_DIR/lib" \
            "-Wl,-rpath,$BUILD_DIR/lib" -ltracehost -o "$work/$headers/$name" || return
    done
    same "LIBRARIES/$name" "$@"
}
case $BUILD_DIR in
*/release | */debug)
    for name in replay_into_tracer patterns tracees read_stream counts match_specification live_calls; do
        check "an embedding program of each release has the same output: $name" host $name samples/recordings/s13_procs.trace
    done
    ;;
*) skip 'an embedding program of each release has the same output' 'they would need the sanitizer' ;;
esac

# A library that is compiled with today's header finds a host of the first release, and that it lacks
# what came later.
cat >"$work/asks.c" <<'C'
#include <erl_nif.h>
#include <nif_module.h>
int answers(void);
int answers(void)
{
    return 10 * th_host_present() + TH_HAS(th_host_version);
}
C
cat >"$work/older.c" <<'C'
#include <dlfcn.h>
#include <stdlib.h>
#ifdef PRESENT
__attribute__((visibility("default"))) int th_disarm(void);
int th_disarm(void)
{
    return 0;
}
#endif
int main(int argc, char **argv)
{
    void *library = dlopen(argv[1], RTLD_NOW);
    int (*answers)(void) = library ? (int (*)(void))dlsym(library, "answers") : NULL;
    return argc != 3 || !answers || answers() != atoi(argv[2]);
}
C
in_older() {
    $CC -O2 -fPIC -shared -Wall -Wextra -Werror -Iplugin_api "$work/asks.c" -o "$work/asks.so" &&
        $CC "$@" -rdynamic "$work/older.c" -ldl -o "$work/older"
}
is_present() { in_older -DPRESENT && "$work/older" "$work/asks.so" 10; }
is_absent() { in_older && "$work/older" "$work/asks.so" 0; }
check 'a library with a newer header finds a host of 0.1' is_present
check 'a library with a newer header finds no host in another program' is_absent
finish
