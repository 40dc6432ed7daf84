#!/bin/sh
# Expressions by tracehost call and by the erl_eval of a real BEAM: they end alike.
. tests/cli/report

library=$BUILD_DIR/samples/counter.so
script=tests/oracle/expressions.escript

command -v escript >/dev/null || { echo 'no erl (Debian: erlang-base)'; exit 77; }

# A fun's text tells who made it.
plain() {
    sed 's/#Fun<[^>]*>/#Fun/g'
}

# compare NAME FEWEST WHAT...: the forms that the script writes for WHAT, at least FEWEST.
compare() {
    name=$1
    fewest=$2
    shift 2
    escript $script "$@" >"$work/forms" || echo 'not written' >>"$work/forms"
    escript $script evaluate "$work/forms" 2>&1 | plain >"$work/there"
    "$tracehost" call "$library" -f "$work/forms" 2>&1 | plain >"$work/here"
    check "$name: enough of them" test "$(wc -l <"$work/there")" -ge "$fewest"
    check "$name: as by a BEAM" diff "$work/there" "$work/here"
}

compare 'operators' 10000 operators
compare 'chosen ones' 280 wrap tests/oracle/expressions.txt
for seed in 1 2 3; do
    compare "generated ones, seed $seed" 4000 generate $seed 4000
done
finish
