#!/bin/sh
# Tests the test runner: its counts, its output, its exit status.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# script NAME LINE...: a test that the runner is given.
script() {
    name=$1
    shift
    printf '%s\n' "$@" >"$work/$name.sh"
}

# expect WHAT STATUS SUM NAME...: the runner's exit status and last line for these scripts. $limits are
# the runner's options.
limits=--timeout=1
expect() {
    what=$1 status=$2 sum=$3
    shift 3
    for name in "$@"; do set -- "$@" "$work/$name.sh"; shift; done
    env -u TEST_SUMMARY python3 tests/runner $limits "$@" >"$work/said" 2>&1
    got=$?
    if [ $got = "$status" ] && [ "$(tail -n 1 "$work/said")" = "$sum" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'not ok %s: status %s, wanted %s and "%s"\n' "$what" "$got" "$status" "$sum"
        cat "$work/said"
    fi
}

# shows TEXT: the runner has just printed it.
shows() {
    if grep -qF -e "$1" "$work/said"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'not ok: not shown: %s\n' "$1"
    fi
}

closes() { sed -n '/^failed:/,$p' "$work/said" | diff - "$work/wanted"; }
check() {
    name=$1
    shift
    cat >"$work/wanted"
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not ok $name"
    fi
}

script good 'echo fine'
script bad 'echo what went wrong; exit 3'
script absent 'echo; echo "no such tool"; exit 77'
script counted 'echo "3 passed, 0 failed, 2 skipped"'
script liar 'echo "3 passed, 0 failed"; exit 1'
script cmocka 'echo "[  PASSED  ] 5 test(s)."; echo "[  SKIPPED ] 1 test(s), listed below:"'
script cmocka_bad 'echo "[  PASSED  ] 5 test(s)."; echo "[  FAILED  ] 2 test(s), listed below:"; exit 2'
script reasoned 'echo "ok one # skipped: no disk"; echo "# skipped: no net"; echo "1 passed, 0 failed, 3 skipped"'
script crash 'kill -SEGV $$'
script endless 'sleep 30 & sleep 30'
begin='echo "[ RUN      ] the_first_one"' change='echo "[       OK ] the_first_one"; echo "[ RUN      ] the_second_one"'
script loop "$begin" "$change" 'while :; do :; done'
script deadlock "$begin" 'sleep 100'

expect 'a run without tests passes' 0 '0 passed, 0 failed'
expect 'a test that passes is counted' 0 '1 passed, 0 failed' good
expect 'a test that fails is counted' 1 '1 passed, 1 failed' good bad
shows 'what went wrong'
shows 'exit status 3'
expect 'a test that is skipped is counted' 0 '1 passed, 0 failed, 1 skipped' good absent
shows 'no such tool'
expect 'the counts of a test are added up' 0 '3 passed, 0 failed, 2 skipped' counted
expect 'a test that counts no failure but has exit status 1 fails' 1 '3 passed, 1 failed' liar
expect 'the reasons of skipped parts are printed' 0 '1 passed, 0 failed, 3 skipped' reasoned
shows "reasoned.sh: one: no disk"
shows "reasoned.sh: no net"
shows "reasoned.sh: a test that did not say why"
expect 'the counts of a CMocka program that passes are added up' 0 '5 passed, 0 failed, 1 skipped' cmocka
expect 'the counts of a CMocka program that fails are added up' 1 '5 passed, 2 failed' cmocka_bad
expect 'a test that crashes is counted as failed' 1 '0 passed, 1 failed' crash
shows 'ended by SIGSEGV'
expect 'a test that exceeds its time limit is counted as failed' 1 '0 passed, 1 failed' endless
shows 'still running after 1 s'
limits='--timeout=60 --function-timeout=1'
expect 'a test function that loops is counted as failed' 1 '0 passed, 1 failed' loop
shows 'the_second_one still running after 1 s, the limit of a test function'
shows 'stacks of the_second_one'
expect 'a test function that waits forever is counted as failed' 1 '0 passed, 1 failed' deadlock
shows 'the_first_one still running after 1 s, the limit of a test function'
limits=--timeout=1
expect 'the counts of many tests are added up' 1 '17 passed, 6 failed, 4 skipped' \
    good bad absent counted liar cmocka cmocka_bad crash endless
check 'the end lists failed tests and the reasons of skipped ones' closes <<EOF
failed:
  $work/bad.sh
  $work/liar.sh
  $work/cmocka_bad.sh
  $work/crash.sh
  $work/endless.sh
skipped:
  $work/absent.sh: no such tool
  $work/counted.sh: a test that did not say why
  $work/counted.sh: a test that did not say why
  $work/cmocka.sh: a test that did not say why
17 passed, 6 failed, 4 skipped
EOF
expect 'a missing program is counted as failed' 1 '0 passed, 1 failed' nowhere

TEST_SUMMARY=$work/sum python3 tests/runner "$work/good.sh" >/dev/null
if [ "$(cat "$work/sum")" = '1 passed, 0 failed' ]; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo 'not ok TEST_SUMMARY names a file for the sum'
fi

echo "$passed passed, $failed failed"
[ $failed = 0 ]
