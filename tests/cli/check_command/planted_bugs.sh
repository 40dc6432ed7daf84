# Sourced by the tests of `tracehost check`, in which $source has a library that is compiled with one of $bugs at a time, and
# $expected the findings of each.
# shellcheck shell=sh disable=SC2154 # the tests set these variables

# The checker reports the leaks, which are on purpose here, not the address sanitizer.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
top=$PWD

# bugs_in FILE: prints the names of the bugs.
bugs_in() {
    sed -n '/^enum planted {/,/^};/p' "$1" | grep -o '^    [a-z_]*'
}

# check_bug BUG [FLAG]...: compiles and checks the library; the folder $work/BUG has the output in `said`, and the status.
check_bug() {
    bug=$1
    shift
    mkdir "$work/$bug" && cd "$work/$bug" &&
        "$CC" -O1 -g -Wall -Wextra -Wno-use-after-free -Werror -fPIC -shared "-DPLANTED=$bug" "$@" \
            -I"$BUILD_DIR/include/tracehost" -o planted.so "$top/$source" || return
    "$tracehost" check --seed=1 --for=0s ./planted.so >said 2>&1
    echo $? >status
    cd "$top" || return
}

one_bug() {
    sed -n "/^= $1\$/,/^= /p" "$expected" | sed '2,${/^= /d}' >"$work/$1.expected"
    diff -u "$work/$1.expected" "$work/$1.found" || return
    case $1 in
    no_bug) [ "$(cat "$work/$1/status")" = 0 ] || return ;;
    *) [ "$(cat "$work/$1/status")" = 1 ] || return ;;
    esac
    # The commands that the findings name repeat them: `check` by its rule, `call` by its status, `tracers` and
    # `plugins` by their list of refusals.
    sed -n 's/^  repeat *tracehost//p' "$work/$1/said" >"$work/$1/repeat"
    grep -o '^[a-z]*: ' "$work/$1/said" >"$work/$1/rules"
    cd "$work/$1" || return
    mkdir -p repeated
    while read -r rule && IFS= read -r command <&3; do
        case $command in
        ' call '*)
            eval "\"$tracehost\" $command" >again 2>&1
            status=$?
            grep -e 'tracehost: check: ' -e 'tracehost: library ' again >/dev/null &&
                { [ $status = 1 ] || [ $status = 6 ]; }
            ;;
        ' tracers '* | ' plugins '*)
            eval "\"$tracehost\" $command" >again 2>&1
            grep '^  a node ' again >/dev/null
            ;;
        *)
            eval "\"$tracehost\" $command -o repeated" >again
            grep "^$rule " again >/dev/null
            ;;
        esac || { echo "not repeated: $command"; cat again; return 1; }
    done <rules 3<repeat
}

# planted [--update]: checks the library with each bug, by the test's found(), which prints the findings without what differs
# from run to run. Two bugs at a time: most of the time is that of processes that begin and end.
planted() {
    number=0
    for bug in $bugs; do
        {
            echo "= $bug"
            found "$bug" 2>&1
        } >"$work/$bug.found" &
        [ "$((number = number + 1))" -lt 2 ] || { wait && number=0; }
    done
    wait
    if [ "${1:-}" = --update ]; then
        for bug in $bugs; do cat "$work/$bug.found"; done >"$expected"
    fi
    for bug in $bugs; do
        check "planted: $bug" one_bug "$bug"
        cd "$top" || exit
    done
}
