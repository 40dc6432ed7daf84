#!/bin/sh
# Tests the tracer `coverage`: functions called and not called, in three formats; and disarming.
. tests/cli/lib/assertions.sh

expect 'called functions are listed by module' "$tracehost" replay -t coverage "$recordings/s03_exceptions_return_to.trace" <<'LINES'
called   erlang:list_to_atom/1
         1 function of erlang
called   ex:b1/1
called   ex:b2/1
called   ex:b3/1
called   ex:b4/1
called   ex:c4/1
called   ex:caught/1
called   ex:mid/1
called   ex:n1/1
called   ex:n2/1
called   ex:n3/1
         10 functions of ex
called   lists:nth/2
         1 function of lists
LINES

# The called functions are those in the output of `count`.
as_counted() {
    "$tracehost" replay -t coverage "$1" | sed -n 's/^called   //p' >"$work/called" &&
        "$tracehost" replay -t count,by=function,top=0 "$1" | sed '1d; s/^ *[0-9]* *[0-9.]*  //; s/^ *[0-9]* *[0-9.]* *[0-9]*  //' |
        sort >"$work/counted" && [ -s "$work/counted" ] && cmp "$work/called" "$work/counted"
}
for stream in "$recordings"/s0[15]_*.trace "$recordings"/s15_*.trace; do
    check "the called functions are those of count: $(basename "$stream" .trace)" as_counted "$stream"
done

# The names with which lines begin.
cat >"$work/functions" <<'LINES'
functions: 4
  ex:bar/1    local, global  ex.c:19
	ex:'un used'/0
ex:'of'/0
ex:never/12
lists:map/2
not:this/one
nor:this
'nor this:f/0
no ex:that/0
ex:f/0x
LINES
listed() {
    "$tracehost" replay -t "coverage,functions=$work/functions,$1" -p 'ex:_/_' "$recordings/s01_seed_local_caller.trace"
}
expect 'listed functions that were not called are marked never' listed format=text <<'LINES'
called   ex:'of'/0
never    ex:'un used'/0
called   ex:bar/1
called   ex:foo/0
called   ex:indirections/0
called   ex:lots/0
never    ex:never/12
         5 of 7 functions of ex
never    lists:map/2
         0 of 1 function of lists
LINES
sed '/lists/d' "$work/functions" >"$work/some"
expect 'a module that the list does not name has null for never' "$tracehost" replay -t "coverage,functions=$work/some,format=json" \
    --max-events=4 "$recordings/s09_collections_return.trace" <<'LINES'
{"modules":[
{"module":"ex","called":[],"never":["ex:'of'/0","ex:'un used'/0","ex:bar/1","ex:never/12"]},
{"module":"lists","called":["lists:seq/2","lists:seq_loop/3"],"never":null}
]}
LINES
expect 'format=lcov prints called and uncalled functions' listed format=lcov <<'LINES'
TN:
SF:ex
FN:1,ex:'of'/0
FN:2,ex:'un used'/0
FN:3,ex:bar/1
FN:4,ex:foo/0
FN:5,ex:indirections/0
FN:6,ex:lots/0
FN:7,ex:never/12
FNDA:1,ex:'of'/0
FNDA:0,ex:'un used'/0
FNDA:1,ex:bar/1
FNDA:1,ex:foo/0
FNDA:1,ex:indirections/0
FNDA:1,ex:lots/0
FNDA:0,ex:never/12
FNF:7
FNH:5
DA:1,1
DA:2,0
DA:3,1
DA:4,1
DA:5,1
DA:6,1
DA:7,0
LF:7
LH:5
end_of_record
TN:
SF:lists
FN:1,lists:map/2
FNDA:0,lists:map/2
FNF:1
FNH:0
DA:1,0
LF:1
LH:0
end_of_record
LINES
cat >"$work/odd.jsonl" <<'LINES'
{"tracee":"<0.1.0>","tag":"call","term":"{'a\"b\\\\:/','f\\n',[x]}"}
{"tracee":"<0.1.0>","tag":"call","term":"{m,f,[x|y]}"}
{"tracee":"<0.1.0>","tag":"return_from","term":"{m,g,0}","extra":"ok"}
LINES
json_reads() {
    "$tracehost" replay -t coverage,format=json "$work/odd.jsonl" | python3 -c 'import json, sys
modules = json.load(sys.stdin)["modules"]
print(modules[0]["module"], modules[0]["called"][0], len(modules))'
}
expect 'special characters of names are escaped in JSON' json_reads <<'LINES'
'a"b\\:/' 'a"b\\:/':'f\n'/1 1
LINES
expect 'a stream without calls gives an empty JSON list' "$tracehost" replay -t coverage,format=json --flags=send "$recordings/s01_seed_local_caller.trace" <<'LINES'
{"modules":[
]}
-- stderr
tracehost replay: warning: tracer 'coverage': no event matches --flags=send; there are call events
LINES
missing() {
    "$tracehost" replay -t "coverage,functions=$work/none" --max-events=1 "$recordings/s01_seed_local_caller.trace"
    echo "status $?"
    echo 'enif_alloc enif_free' >"$work/empty"
    "$tracehost" replay -t "coverage,functions=$work/empty" --max-events=1 "$recordings/s01_seed_local_caller.trace"
}
expect 'a missing list is refused, a list without functions is reported' missing <<'LINES'
status 2
called   ex:foo/0
         1 function of ex
-- stderr
tracehost replay: cannot attach tracer 'coverage'
  tracer 'coverage' needs the file of its setting 'functions'
  cannot read WORK/none: No such file or directory
coverage: WORK/empty has no line that begins with a function such as lists:map/2
LINES

# --- live ---

"$tracehost" plugins bank >"$work/bank.functions"
of_bank() {
    "$tracehost" run "$@" bank 'bank:start(), bank:open(alice, 100), bank:balance(alice), bank:balance(alice).'
}
expect 'a live run shows called and uncalled functions of a plugin' of_bank -t "coverage,functions=$work/bank.functions" <<'LINES'
called   bank:account/3
never    bank:audit/0
called   bank:balance/1
never    bank:close/1
never    bank:crash/1
never    bank:deposit/2
never    bank:freeze/2
never    bank:names/0
called   bank:open/2
called   bank:run/0
never    bank:run/1
called   bank:start/0
never    bank:stop/0
never    bank:transfer/3
never    bank:withdraw/2
         5 of 15 functions of bank
100
LINES
if command -v lcov >/dev/null; then
    read_by_lcov() {
        of_bank -t "coverage,functions=$work/bank.functions,format=lcov,output=$work/bank.info" >/dev/null &&
            lcov --summary "$work/bank.info" 2>&1 | sed -n 's/.*functions\.*: *//p'
    }
    expect 'lcov reads the output' read_by_lcov <<'LINES'
33.3% (5 of 15 functions)
LINES
else
    skip 'lcov reads the output' 'no lcov here'
fi

# fib(33) calls fib 11405773 times. How many of these come before the change is made depends; not all do.
few_are_asked() {
    "$tracehost" run --stats -t coverage "$@" fib 'fib:fib(33).' >"$work/fib" 2>&1
    asked=$(sed -n 's/^ *\([0-9]*\)  calls of its enabled callbacks$/\1/p' "$work/fib")
    echo "asked $asked times"
    grep -x 'called   fib:fib/1' "$work/fib" && [ "$asked" -ge 1 ] && [ "$asked" -lt 11405773 ]
}
check 'a called function is disarmed' few_are_asked
check 'a called function is disarmed if the pattern has --return' few_are_asked -p fib:fib/1 --return

finish
