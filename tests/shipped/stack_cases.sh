#!/bin/sh
# Tests the stacks of the tracers `time` and `flame`, and of call_time, with one table of events.
. tests/cli/lib/assertions.sh

python3 tests/shipped/stack_cases.py "$tracehost" tests/support/stack_cases "$work" >"$work/results" || fail 'the table is read'
while read -r line; do
    case $line in
    'ok '*) pass "${line#ok }" ;;
    *) fail "${line#not ok }" ;;
    esac
done <"$work/results"
check 'each case of the table has a result' test "$(grep -c '^case: ' tests/support/stack_cases)" = "$((passed + failed))"
finish
