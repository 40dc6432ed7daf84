#!/bin/sh
# The stacks of the tracers `time` and `flame`, and that of call_time: one table of events for all.
. tests/cli/lib/assertions.sh

python3 tests/shipped/stack_cases.py "$tracehost" tests/support/stack_cases "$work" >"$work/results" || fail 'the table is read'
while read -r line; do
    case $line in
    'ok '*) pass "${line#ok }" ;;
    *) fail "${line#not ok }" ;;
    esac
done <"$work/results"
check 'as many cases as there are' test "$(grep -c '^case: ' tests/support/stack_cases)" = "$((passed + failed))"
finish
