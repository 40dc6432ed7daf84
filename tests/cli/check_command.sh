#!/bin/sh
# Tests `tracehost check`: each bug planted in check_command/planted.c is found by its rule, in the smallest stream; tracers
# that ship have no finding; errors. With a sanitizer or in an emulator, one bug of nine is planted, and a few tracers are tried.
# `tests/cli/check_command.sh --update` writes check_command/expected. CHECK_FOR=600s tries the tracers that ship for as
# long as that.
. tests/cli/lib/assertions.sh
. tests/cli/check_command/planted_bugs.sh

source=tests/cli/check_command/planted.c
expected=tests/cli/check_command/expected
bugs=$(bugs_in $source)
case $BUILD_DIR in
*/asan | */tsan) few=yes ;;
*) few=${EMULATOR:-} ;;
esac
if [ "$(machine)" = AArch64 ]; then
    skip 'bugs that make system calls' 'the kernel of arm64 cannot show the system calls of a callback'
    bugs=$(echo "$bugs" | grep -vxF "$(awk '/^= / { bug = $2 } /\(2\)$/ { print "    " bug }' $expected)")
fi
if [ -n "$few" ]; then bugs=$(echo "$bugs" | grep -v race_ | awk 'NR % 9 == 1'); fi

# --- planted bugs ---

# found BUG: prints each finding without what differs from run to run.
found() {
    case $1 in
    race_*) check_bug "$1" -fsanitize=thread ;;
    *) check_bug "$1" ;;
    esac || return
    sed -n 's/ of tracer .[^ ,:]*.,/,/; s/ of tracer .[^ ,:]*. got/ got/; s/at least [0-9]* us/at least N us/
        s, at /.*/planted, at planted,; /^[a-z]*: /p; s/^  stream *[^ ]* \(.*\)/  \1/p' "$work/$1/said" |
        case $1 in
        # Threads that never meet at one event show no race; `count++` reads and writes, and either access may be the second.
        race_*) sed 's/^  [12] events\{0,1\}$/  1 or 2 events/; s/ \(reads\|writes\) it in / reads or writes it in /' ;;
        *) cat ;;
        esac
}
planted "$@"

# --- what has no finding ---

# no_finding ARGUMENT...
no_finding() {
    (cd "$work" && "$tracehost" check --seed=1 --for="${CHECK_FOR:-0s}" "$@") >"$work/report" 2>&1
    status=$?
    cat "$work/report"
    [ $status = 0 ] && grep -q '^0 findings; ' "$work/report"
}
set -- "$top/$recordings/s04_genserver_pingpong.trace" "$top/$recordings/s06_ports.trace"
for tracer in "$BUILD_DIR"/lib/tracehost/tracers/*.so; do
    case $few:$(basename "$tracer" .so) in
    ?*:text | ?*:otlp | ?*:report) set -- ;;
    ?*:*) continue ;;
    :nats) continue ;;
    esac
    check "$(basename "$tracer" .so) has no finding" no_finding "$tracer" "$@"
done
# nats begins a process on purpose, which is its only finding; here a program that keeps what it should publish. With full=wait
# a callback waits, too, if the program is slow.
begins_a_process() {
    printf '#!/bin/sh\nexec cat >%s\n' "$work/kept" >"$work/keep"
    chmod +x "$work/keep"
    no_finding "$BUILD_DIR/lib/tracehost/tracers/nats.so,log=nats://x/y,full=drop,program=$work/keep" "$top/$recordings/s06_ports.trace" >"$work/found"
    grep -o -e 'begins a process' -e '^1 finding' "$work/found"
}
[ "$few" ] || expect 'nats begins a process, and has no other finding' begins_a_process <<'LINES'
begins a process
1 finding
LINES
# covers: each slot, tag and shape is delivered to a tracer that wants all.
covers() {
    no_finding "$work/no_bug/planted.so" && sed -n '2,$p' "$work/report" >"$work/covered"
    grep -c ' \([0-9]*\) of \1$' "$work/covered"
    [ "$(grep -c ' \([0-9]*\) of \1$' "$work/covered")" = 3 ] && [ "$(wc -l <"$work/covered")" = 5 ] &&
        grep -q '^  node     loads the library from OTP 29 on$' "$work/covered" &&
        grep -q "compile the tracer with -fsanitize=thread" "$work/covered"
}
case $BUILD_DIR:${EMULATOR:-} in
*:?*) skip 'all slots, tags and shapes are covered' 'the kernel of arm64 cannot show the system calls of a callback' ;;
*/tsan:) skip 'all slots, tags and shapes are covered' 'this sanitizer has a thread of its own' ;;
*) check 'all slots, tags and shapes are covered' covers ;;
esac
# slowed: a callback that was slow once, as on a busy machine, changes nothing of what is found.
cat >"$work/keeps.c" <<'EOF'
#include <erl_tracer.h>
#include <sys/stat.h>
#include <unistd.h>

static ERL_NIF_TERM latest;

TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
    if (latest && enif_is_identical(tag, enif_make_atom(env, "gc_major_end"))) {
        if (mkdir("slowed", 0777) == 0)
            usleep(500000);
        enif_is_identical(latest, term);
    }
    latest = term;
}
EOF
slowed() {
    "$CC" -fPIC -shared -I plugin_api -o "$work/keeps.so" "$work/keeps.c" || return
    for run in idle busy; do
        mkdir "$work/$run"
        [ $run = busy ] || mkdir "$work/$run/slowed"
        (cd "$work/$run" && "$tracehost" check --seed=1 --for=0s ../keeps.so) | sed '/ runs, /d' >"$work/$run/said"
    done
    [ -d "$work/busy/slowed" ] && grep -q '^kept: ' "$work/idle/said" && diff "$work/idle/said" "$work/busy/said"
}
check 'a callback that is slow once changes nothing of what is found' slowed
# same_seed: a seed repeats the random streams.
same_seed() {
    for i in 1 2; do
        (cd "$work" && "$tracehost" check --seed=77 --for=0s crash_at_shape/planted.so) | sed 's/, [0-9.]* s$//' >"$work/seed$i"
    done
    grep -q '^1 finding; .* seed 77$' "$work/seed1" && diff "$work/seed1" "$work/seed2"
}
case $bugs in
*crash_at_shape*) check 'a run with a seed can be repeated' same_seed ;;
*) skip 'a run with a seed can be repeated' 'this bug is not planted here' ;;
esac

# --- errors ---

tracer=$BUILD_DIR/lib/tracehost/tracers/count.so
said() { (cd "$work" && "$tracehost" check "$@"); }
expect 'no such tracer' said nothing <<'LINES'
-- stderr
tracehost check: there is no library 'nothing'
  looked for nothing.so in BUILD/lib/tracehost/tracers (built in)
  add its folder with -L DIR or to $TRACEHOST_PATH, or give a path with a '/'; `tracehost tracers` lists all that are found
-- status 5
LINES
expect 'a recording that is missing' said --for=0s count missing.trace <<'LINES'
-- stderr
tracehost check: cannot read missing.trace
  No such file or directory
-- status 3
LINES
expect 'a run without a recording' said --run=plain count <<'LINES'
-- stderr
tracehost check: --run needs a recording
-- status 2
LINES
expect 'a run of an unknown kind' said --run=threads=0 count "$top/$recordings/s08_gc.trace" <<'LINES'
-- stderr
tracehost check: --run must be plain, state=TERM, threads=N (up to 64), allocation=N, replace or twice, not 'threads=0'
-- status 2
LINES
expect 'a setting that the tracer does not have' said --for=0s count,nothing=1 <<'LINES'
-- stderr
tracehost check: cannot attach tracer 'count'
  tracer 'count' has no setting 'nothing'
  the settings are by, format, top, output and color
-- status 2
LINES
expect 'a folder that is missing' said --for=0s -o missing no_bug/planted.so <<'LINES'
-- stderr
tracehost check: cannot write to the folder 'missing'
  No such file or directory
-- status 1
LINES
finish
