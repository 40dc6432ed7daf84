#!/bin/sh
# Tests the summary of the benchmarks, tests/bench/aims.py: the verdicts for a file of figures, and the table of the README.
. tests/cli/lib/assertions.sh

# Runs aims.py with a table of its own: aims COMMAND ARGUMENT...
cat >"$work/aims.py" <<'PYTHON'
import os
import sys
sys.path.insert(0, 'tests/bench')
import aims
from aims import Row, Rows
aims.GROUPS = (
    ('calls', 'Calls', [
        Row('a', 'at most', 'ns', '<= 26'), Row('b', 'below', 'us', '< 50'), Row('c', 'at least', '', '>= 0.95'),
        Row('d', 'without an aim', 'ns')]),
    ('peers', 'Peers', [
        Row('e', 'ratio', 'ns', 'ratio <= 1.2', 'XRay'), Row('f', 'faster', 'ns', 'ratio <= 1/12', 'dbg')]),
    ('nif', 'Many', [Rows(['nif/x', 'nif/y', 'nif/z, of 2'], 'functions', 'ns', 'BEAM', 1.05)]),
)
if 'FEW' in os.environ:
    aims.GROUPS = (('nif', 'Many', [Rows(['nif/x', 'nif/y', 'nif/z, of 2'], 'functions', 'ns', 'BEAM', 1.05, 1, 1.5)]),)
command, *arguments = sys.argv[1:]
if command == 'readme':
    aims.write_readme(aims.figures.read(arguments[0]), arguments[1])
else:
    aims.main(command, *arguments)
PYTHON

# summary LINE...: the summary of these figures, in which | stands for a tab.
summary() {
    printf '%s\n' "$@" | tr '|' '\t' >"$work/figures"
    python3 -B "$work/aims.py" summary "$work/figures" | sed 's/  *$//; s/   */  /g'
}

expect 'figures at their bounds meet <=, >= and miss <' summary 'a|26' 'b|50' 'c|0.95' 'd|1234.5' 'e|12|10|1.2' 'f|100|1200|0.0833' \
    'nif/x|1|1|1.05' 'nif/y|2|2|1' 'nif/z, of 2|1|3|0.33' <<'LINES'
== Summary
  figure  tracehost  peer  ratio  aim
Calls
  at most  26 ns  <= 26  met
  below  50 us  < 50  missed
  at least  0.950  >= 0.95  met
  without an aim  1,234 ns
Peers
  ratio  12 ns  XRay 10 ns  1.200  ratio <= 1.2  met
  faster  100 ns  dbg 1,200 ns  1/12.0  ratio <= 1/12  met
Many
  functions  0 of 3 above  BEAM  ratio <= 1.05 each  met
Aims: 5 met, 1 missed. Figures: 0 missing or malformed
LINES
expect 'figures beyond their bounds miss; the worst function comes first' summary 'a|26.1' 'b|49.9' 'c|0.949' 'd|0' 'e|13|10|1.3' \
    'f|100|1100|0.0909' 'nif/x|1.06|1|1.06' 'nif/y|9|1|9' 'nif/z, of 2|1|3|0.33' <<'LINES'
== Summary
  figure  tracehost  peer  ratio  aim
Calls
  at most  26.1 ns  <= 26  missed
  below  49.9 us  < 50  met
  at least  0.949  >= 0.95  missed
  without an aim  0 ns
Peers
  ratio  13 ns  XRay 10 ns  1.300  ratio <= 1.2  missed
  faster  100 ns  dbg 1,100 ns  1/11.0  ratio <= 1/12  missed
Many
  functions  2 of 3 above  BEAM  ratio <= 1.05 each  missed
  y: 9 ns, BEAM 1 ns, ratio 9.000
  x: 1.06 ns, BEAM 1 ns, ratio 1.060
Aims: 1 met, 5 missed. Figures: 0 missing or malformed
LINES
few() {
    FEW=1 summary "$@" | sed '1,3d'
}
expect 'some functions may be slower' few 'nif/x|1.5|1|1.5' 'nif/y|2|2|1' 'nif/z, of 2|1|3|0.33' <<'LINES'
  functions  1 of 3 above  BEAM  ratio <= 1.05 each, but 1 <= 1.5  met
  x: 1.50 ns, BEAM 1 ns, ratio 1.500
Aims: 1 met, 0 missed. Figures: 0 missing or malformed
LINES
expect 'no function may be much slower' few 'nif/x|1.51|1|1.51' 'nif/y|2|2|1' 'nif/z, of 2|1|3|0.33' <<'LINES'
  functions  1 of 3 above  BEAM  ratio <= 1.05 each, but 1 <= 1.5  missed
  x: 1.51 ns, BEAM 1 ns, ratio 1.510
Aims: 0 met, 1 missed. Figures: 0 missing or malformed
LINES
expect 'no more functions may be slower' few 'nif/x|1.1|1|1.1' 'nif/y|2.2|2|1.1' 'nif/z, of 2|1|3|0.33' <<'LINES'
  functions  2 of 3 above  BEAM  ratio <= 1.05 each, but 1 <= 1.5  missed
  x: 1.10 ns, BEAM 1 ns, ratio 1.100
  y: 2.20 ns, BEAM 2 ns, ratio 1.100
Aims: 0 met, 1 missed. Figures: 0 missing or malformed
LINES
expect 'missing figures are shown, with the reason' summary 'a|-|no valgrind' 'c|-' 'e|-|there is no clang' 'f|7|-|no erl' \
    'nif/x|1|1|1' 'nif/y|-|no erl' <<'LINES'
== Summary
  figure  tracehost  peer  ratio  aim
Calls
  at most  -  <= 26  missing: no valgrind
  below  -  < 50  missing
  at least  -  >= 0.95  missing: no reason given
  without an aim  -  missing
Peers
  ratio  -  XRay -  -  ratio <= 1.2  missing: there is no clang
  faster  7 ns  dbg -  -  ratio <= 1/12  missing: no erl
Many
  functions  0 of 3 above  BEAM  ratio <= 1.05 each  2 missing or malformed
  missing: no erl: y
  missing: z, of 2
Aims: 0 met, 0 missed. Figures: 7 missing or malformed
LINES
expect 'malformed figures are shown, and figures without a row' summary 'a|many' 'b|1|2' 'c|nan' 'd|1|2|3|4' 'e|10' 'f|1|0|1' 'nif/x|1' \
    'nif/y|' 'nif/z, of 2|1|1|1' 'nif/z, of 2|1|1|1' 'g|5' 'a b' <<'LINES'
== Summary
  figure  tracehost  peer  ratio  aim
Calls
  at most  -  <= 26  malformed: many
  below  -  < 50  malformed: 1 2
  at least  -  >= 0.95  malformed: nan
  without an aim  -  malformed: 1 2 3 4
Peers
  ratio  -  XRay -  -  ratio <= 1.2  malformed: no peer
  faster  -  dbg -  -  ratio <= 1/12  malformed: 1 0 1
Many
  functions  0 of 3 above  BEAM  ratio <= 1.05 each  3 missing or malformed
  malformed: no peer: x
  malformed: no value: y
  malformed: given twice: z, of 2
Figures without a row here
  g: 5
  a b: malformed: no value
Aims: 0 met, 0 missed. Figures: 7 missing or malformed
LINES

without_peer() {
    summary 'nif/x|1|-|no erl' 'nif/y|2|-|no erl' 'nif/z, of 2|-|no erl' | sed -n '/^Many/,$p'
}
expect 'if the peer is missing, so are all functions' without_peer <<'LINES'
Many
  functions  -  BEAM -  -  ratio <= 1.05 each  missing: no erl
Aims: 0 met, 0 missed. Figures: 7 missing or malformed
LINES

of_one_group() {
    printf 'a\t26\n' >"$work/figures"
    python3 -B "$work/aims.py" summary "$work/figures" calls | sed 's/  *$//; s/   */  /g'
}
expect 'the summary of a group has no other group' of_one_group <<'LINES'
== Summary
  figure  tracehost  peer  ratio  aim
Calls
  at most  26 ns  <= 26  met
  below  -  < 50  missing
  at least  -  >= 0.95  missing
  without an aim  -  missing
Aims: 1 met, 0 missed. Figures: 3 missing or malformed
LINES

written() {
    printf '# Page\n<!-- figures -->\nold\n<!-- end of figures -->\nrest\n' >"$work/README.md"
    printf 'a\t30\nf\t100\t1300\t0.0769\nnif/x\t2\t1\t2\n' >"$work/figures"
    python3 -B "$work/aims.py" readme "$work/figures" "$work/README.md" && cat "$work/README.md"
    printf '# Page\n' >"$work/README.md"
    python3 -B "$work/aims.py" readme "$work/figures" "$work/README.md" 2>&1 | sed "s|$work/||"
    cat "$work/README.md"
}
expect 'the table of a page is replaced, between its marks' written <<'LINES'
# Page
<!-- figures -->
Aims: 1 met, 1 missed. Figures: 5 missing or malformed.

| Calls | tracehost | peer | ratio | aim | |
|---|---|---|---|---|---|
| at most | 30 ns |  |  | <= 26 | missed |
| below | - |  |  | < 50 | missing |
| at least | - |  |  | >= 0.95 | missing |
| without an aim | - |  |  |  | missing |

| Peers | tracehost | peer | ratio | aim | |
|---|---|---|---|---|---|
| ratio | - | XRay - | - | ratio <= 1.2 | missing |
| faster | 100 ns | dbg 1,300 ns | 1/13.0 | ratio <= 1/12 | met |

| Many | tracehost | peer | ratio | aim | |
|---|---|---|---|---|---|
| functions | 1 of 3 above | BEAM |  | ratio <= 1.05 each | 2 missing or malformed |

Above or missing: x: 2 ns, BEAM 1 ns, ratio 2.000; missing: y; z, of 2.
<!-- end of figures -->
rest
aims.py: README.md has no lines <!-- figures --> and <!-- end of figures -->
# Page
LINES

# The table itself: without figures, each row is missing, and the README has a place for the table.
complete() {
    python3 -B tests/bench/aims.py summary "$work/none" >"$work/table"
    rows=$(python3 -B -c 'import sys; sys.path.insert(0, "tests/bench"); import aims; print(sum(len(rows) for _, _, rows in aims.GROUPS))')
    sed -n "\$s/: $rows missing/: all missing/p" "$work/table"
    python3 -B tests/bench/aims.py summary "$work/none" none >/dev/null 2>"$work/err" || sed -n 3p "$work/err"
    grep -cx -e '<!-- figures -->' -e '<!-- end of figures -->' tests/bench/README.md
}
expect 'without figures, each row of the summary is missing' complete <<'LINES'
Aims: 0 met, 0 missed. Figures: all missing or malformed
  aims.py summary FIGURES [GROUP...]   prints them; with GROUPs, only those
2
LINES
finish
