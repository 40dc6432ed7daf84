#!/bin/sh
# Compares expressions in tracehost call with erl_eval of a real BEAM: the results are the same. Expressions whose
# results differ after OTP 25 are listed below, and in the table "OTP 27" of tracehost(7).
. tests/cli/lib/assertions.sh
nodes_of_machine

library=$BUILD_DIR/samples/counter.so
script=tests/oracle/expressions.escript

command -v escript >/dev/null || { echo 'no erl (Debian: erlang-base)'; exit 77; }
later=$(escript $script later)

# The text of a fun contains the module that made it.
plain() {
    sed 's/#Fun<[^>]*>/#Fun/g'
}

# Each answer with the expression that it is of.
named() {
    sed 's/^(fun() -> try //; s/ of Value -> {ok, Value} catch .*//' "$work/forms" | paste "$1" -
}

# compare NAME FEWEST WHAT... <<EOF: the forms that the script writes for WHAT, at least FEWEST. Standard input has the lines
# of the difference.
compare() {
    name=$1
    fewest=$2
    shift 2
    cat >"$work/differences"
    escript $script "$@" >"$work/forms" || echo 'not written' >>"$work/forms"
    escript $script evaluate "$work/forms" 2>&1 | plain >"$work/there"
    "$tracehost" call "$library" -f "$work/forms" 2>&1 | plain >"$work/here"
    check "$name: there are enough results" test "$(wc -l <"$work/there")" -ge "$fewest"
    named "$work/there" >"$work/named_there"
    named "$work/here" | diff "$work/named_there" - | grep '^[<>]' >"$work/differ"
    check "$name: the results equal those of a BEAM" diff "$work/differences" "$work/differ"
}

compare 'operators' 10000 operators </dev/null
if [ "$later" = true ]; then
    tr '@' '\t' <<'EOF'
< {ok,false}@0.0 * -1 =:= 0.0
> {ok,true}@0.0 * -1 =:= 0.0
< {ok,[1.5,2.5]}@[X || <<X:32/float>> <= <<1.5:32/float, 16#7fc00000:32, 2.5:32/float>>]
> {ok,[1.5]}@[X || <<X:32/float>> <= <<1.5:32/float, 16#7fc00000:32, 2.5:32/float>>]
EOF
fi >"$work/known"
compare 'chosen expressions' 280 wrap tests/oracle/expressions.txt <"$work/known"
if [ "$later" = true ]; then
    compare 'expressions of newer versions of OTP' 50 wrap tests/oracle/expressions_newer.txt </dev/null
    echo 'maybe ok ?= ok, 1 end.' >"$work/maybe"
    expect 'a BEAM accepts maybe' escript $script evaluate "$work/maybe" <<'EOF'
1
EOF
    expect 'tracehost refuses maybe' "$tracehost" call "$library" -f "$work/maybe" <<'EOF'
-- stderr
tracehost call: cannot read WORK/maybe
  line 1, column 7: expected an operator, ',' or a full stop, found "ok ?= ok, 1 end."
-- status 3
EOF
fi
for seed in 1 2 3; do
    compare "generated expressions, seed $seed" 4000 generate $seed 4000 </dev/null
done
finish
