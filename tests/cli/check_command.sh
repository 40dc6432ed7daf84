#!/bin/sh
# Tests `tracehost check`: each bug planted in check_command/planted.c is found by its rule, in the smallest stream; tracers
# that ship have no finding; errors. With a sanitizer, one bug of nine is planted, and a few
# tracers are tried. `tests/cli/check_command.sh --update` writes
# check_command/expected. CHECK_FOR=600s tries the tracers that ship for as long as that.
. tests/cli/lib/assertions.sh

# The checker reports the leaks, which are on purpose here, not the address sanitizer.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
top=$PWD
bugs=$(sed -n '/^enum planted {/,/^};/p' tests/cli/check_command/planted.c | grep -o '^    [a-z_]*')
case $BUILD_DIR in
*/asan | */ubsan | */tsan) bugs=$(echo "$bugs" | grep -v race_ | awk 'NR % 9 == 1') ;;
esac
expected=tests/cli/check_command/expected

# --- planted bugs ---

# found BUG: prints each finding without what differs from run to run.
found() {
    case $1 in
    race_*) set -- "$1" -fsanitize=thread ;;
    esac
    mkdir "$work/$1" && cd "$work/$1" &&
        "$CC" -O1 -g -Wall -Wextra -Wno-use-after-free -Werror -fPIC -shared -DPLANTED="$@" \
            -I"$BUILD_DIR/include/tracehost" -o planted.so "$top/tests/cli/check_command/planted.c" || return
    "$tracehost" check --seed=1 --for=0s ./planted.so >said 2>&1
    echo $? >status
    cd "$top" || return
    sed -n 's/ of tracer .[^ ,:]*.,/,/; s/ of tracer .[^ ,:]*. got/ got/
        s/at least [0-9]* us/at least N us/; /^[a-z]*: /p; s/^  stream *[^ ]* \(.*\)/  \1/p' "$work/$1/said"
}

# Two bugs at a time: most of the time is that of processes that begin and end.
for bug in $bugs; do
    {
        echo "= $bug"
        found "$bug" 2>&1
    } >"$work/$bug.found" &
    [ "$((number = ${number:-0} + 1))" -lt 2 ] || { wait && number=0; }
done
wait
if [ "${1:-}" = --update ]; then
    for bug in $bugs; do cat "$work/$bug.found"; done >$expected
fi
one_bug() {
    sed -n "/^= $1\$/,/^= /p" $expected | sed '2,${/^= /d}' >"$work/$1.expected"
    diff -u "$work/$1.expected" "$work/$1.found" || return
    case $1 in
    no_bug) [ "$(cat "$work/$1/status")" = 0 ] || return ;;
    *) [ "$(cat "$work/$1/status")" = 1 ] || return ;;
    esac
    # The commands that the findings name repeat them.
    sed -n 's/^  repeat *tracehost//p' "$work/$1/said" >"$work/$1/repeat"
    grep -o '^[a-z]*: ' "$work/$1/said" >"$work/$1/rules"
    cd "$work/$1" || return
    while read -r rule && IFS= read -r command <&3; do
        mkdir -p repeated
        eval "\"$tracehost\" $command -o repeated" >again
        grep "^$rule " again >/dev/null || { echo "not repeated: $command"; cat again; return 1; }
    done <rules 3<repeat
}
for bug in $bugs; do
    check "planted: $bug" one_bug "$bug"
    cd "$top" || exit
done

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
    case $BUILD_DIR/$(basename "$tracer" .so) in
    */?san/text | */?san/otlp | */?san/report | */ubsan/text) set -- ;;
    */?san/* | */ubsan/*) continue ;;
    esac
    check "$(basename "$tracer" .so) has no finding" no_finding "$tracer" "$@"
done
# covers: each slot, tag and shape is delivered to a tracer that wants all.
covers() {
    no_finding "$work/no_bug/planted.so" && sed -n '2,$p' "$work/report" >"$work/covered"
    grep -c ' \([0-9]*\) of \1$' "$work/covered"
    [ "$(grep -c ' \([0-9]*\) of \1$' "$work/covered")" = 3 ] && [ "$(wc -l <"$work/covered")" = 4 ] &&
        grep -q "compile the tracer with -fsanitize=thread" "$work/covered"
}
case $BUILD_DIR in
*/tsan) skip 'all slots, tags and shapes are covered' 'this sanitizer has a thread of its own' ;;
*) check 'all slots, tags and shapes are covered' covers ;;
esac
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
