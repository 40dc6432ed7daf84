#!/bin/sh
# Tests the plugin `bank`: the same results as its twin in Erlang; many customers at once; in a real BEAM.
. tests/cli/lib/assertions.sh
. tests/shipped/answers

reported=embezzled
answers bank none

# Customers on four schedulers move money between the same accounts. The customer of the last round compares the balances.
at_once() {
    "$tracehost" call --threads=4 --repeat=50 bank \
        'bank:start(), bank:open(left, 100000), bank:open(right, 100000), bank:open(rounds, 0), ok.' \
        'ok = bank:transfer(left, right, 3), ok = bank:transfer(right, left, 2).' \
        'case bank:deposit(rounds, 1) of 200 -> {99800, 100200} = {bank:balance(left), bank:balance(right)}; _ -> ok end.' \
        2>&1 | tail -1
}
expect 'concurrent transfers keep the sum of the accounts' at_once <<'LINES'
tracehost call: 200 rounds in 4 processes, 0 evaluations failed
LINES

# Calls on a host that has no processes for a library.
cat >"$work/all.calls" <<'LINES'
[bank:start(), bank:stop(), bank:open(a, 1), bank:close(a), bank:names(), bank:balance(a), bank:deposit(a, 1)].
[bank:withdraw(a, 1), bank:transfer(a, b, 1), bank:audit(), bank:freeze(a, 1), bank:crash(a), bank:run(), bank:run(#{})].
bank:account(self(), a, 1).
LINES
if [ -n "$sanitized" ] || ! command -v escript >/dev/null; then
    skip 'in a BEAM the functions return not_supported' 'there is none, or there are sanitizers'
else
    not_supported='{error,not_supported}'
    expect 'in a BEAM the functions return not_supported' escript tests/shipped/calls.escript plugins/bank/bank.erl "$plugins/bank" "$work/all.calls" <<LINES
[$not_supported,$not_supported,$not_supported,$not_supported,$not_supported,$not_supported,$not_supported]
[$not_supported,$not_supported,$not_supported,$not_supported,$not_supported,$not_supported,$not_supported]
$not_supported
LINES
fi

finish
