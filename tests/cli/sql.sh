#!/bin/sh
# Tests `tracehost sql`: options, formats, statements from stdin and at a prompt, errors. tests/sql has the tables.
. tests/cli/lib/assertions.sh

if [ ! -e "$BUILD_DIR/lib/tracehost/tracehost_sql.so" ]; then
    echo 'tracehost_sql.so is not built here: it needs libsqlite3 (Debian: libsqlite3-dev)'
    exit 77
fi
s13=$recordings/s13_procs.trace

sql() {
    "$tracehost" sql "$@"
}

expect 'the last word with white space is the statement' sql $s13 'select count(*) from events' <<'EOF'
count(*)
      47
EOF
expect '-e gives a statement without white space' sql -e 'values(1)' $s13 <<'EOF'
column1
      1
EOF
cp $s13 "$work/a recording"
expect 'a word that names a file is a recording' sql $s13 "$work/a recording" \
    -e "select substr(recording, -11) as name, count(*) as n from events group by name" <<'EOF'
name          n
a recording  47
procs.trace  47
EOF
values="select 1 as a, null as b, 'x,\"y\"' as \"c\"\"d\", x'00ff' as e, 9007199254740993 as f, 0.5 as g, '' as h"
expect 'a table has numbers on the right, and no control characters' \
    sql $s13 "$values, 'é' || char(27) || char(10) as i" <<'EOF'
a  b  c"d    e                    f    g  h  i
1     x,"y"  00FF  9007199254740993  0.5     é??
EOF
expect 'CSV is quoted, and tells an empty text from NULL' sql --format=csv $s13 "$values" <<'EOF'
a,b,"c""d",e,f,g,h
1,,"x,""y""",00FF,9007199254740993,0.5,""
EOF
expect 'JSON has exact integers' sql --format=json $s13 "$values; select 1 where 0; select 2 as a union select 3" <<'EOF'
[
{"a":1,"b":null,"c\"d":"x,\"y\"","e":"00FF","f":"9007199254740993","g":0.5,"h":""}
]
[]
[
{"a":2},
{"a":3}
]
EOF
expect 'a table cuts long texts' sql $s13 "select replace(hex(zeroblob(31)), '0', 'é') as a, 1 as b" <<'EOF'
a                                                             b
ééééééééééééééééééééééééééééééééééééééééééééééééééééééééé...  1
EOF
many() {
    sql $s13 'with recursive n(v) as (select 1 union all select v + 1 from n where v < 1200) select v from n' >"$work/many" &&
        seq 1200 | awk 'BEGIN { print "  v" } { printf "%3d\n", $1 }' | diff - "$work/many"
}
check 'a table of many rows has the widths of the first ones' many

to_file() {
    sql -o "$work/out.csv" --format=csv $s13 'select tag from events limit 1' && printf 'tag\nreceive\n' | diff - "$work/out.csv" &&
        ! sql -o "$work/none.csv" $s13 'select nothing from events' 2>/dev/null && [ ! -e "$work/none.csv" ] &&
        ! sql -o "$work/a recording" "$work/a recording" 'select 1' 2>/dev/null && cmp $s13 "$work/a recording"
}
check '-o writes a file once the output is complete, and no recording' to_file

typed() {
    printf '%s\n' '.tables' '' 'select' "  'a;b' as x;" '-- a comment' 'select 1 as y; select 2 as z' | sql "$@"
}
expect 'statements from stdin have several lines; the last one needs no end' typed $s13 <<'EOF'
name
calls
events
functions
messages
processes
x
a;b
y
1
z
2
EOF
stdin_fails() {
    printf 'select 1 as x;\nselect y;\nselect 2 as z;\n' | sql $s13
}
expect 'statements from stdin end with the first that fails' stdin_fails <<'EOF'
x
1
-- stderr
tracehost sql: no such column: y
-- status 1
EOF
no_command() {
    echo .open x | sql $s13
}
expect 'an unknown command of the prompt is an error' no_command <<'EOF'
-- stderr
tracehost sql: there is no command .open; .help lists them
-- status 1
EOF

# plan CONDITION: prints how the rows of events are found: the columns, then a pair of characters for each constraint.
plan() {
    sql --format=csv $s13 "explain query plan select record from events where $1" | sed -n 's/.*,"*\([A-Z].*\)/\1/p'
}
plans() {
    plan "tracee = '<0.1.0>' and tag in ('send', 'call') and module = 'm' and function = 'f' and arity = 1"
    plan 'time between 1 and 2 and record > 3 order by record'
    plan "tracee = '<0.1.0>' collate nocase and term = 'x' order by record desc"
}
expect 'conditions are handed down to the scan, and records are in order' plans <<'EOF'
SCAN events VIRTUAL TABLE INDEX 0:3e2:4=5i6=7=8=
SCAN events VIRTUAL TABLE INDEX 0:6:2>3]3[
SCAN events VIRTUAL TABLE INDEX 0:2022:
USE TEMP B-TREE FOR ORDER BY
EOF

# --- errors

expect 'no recording' sql <<'EOF'
-- stderr
tracehost sql: argument RECORDING is missing
Try `tracehost sql --help' or `tracehost sql --usage' for more information.
-- status 2
EOF
expect 'a recording that is not there' sql "$work/none" 'select 1' <<'EOF'
-- stderr
tracehost sql: cannot read WORK/none
  No such file or directory
-- status 3
EOF
expect 'a stream that can be read once' sql - 'select 1' <<'EOF'
-- stderr
tracehost sql: stdin can be read only once: write a file first, by tracehost convert
-- status 2
EOF
expect 'a statement that is wrong' sql $s13 'select * frm events' <<'EOF'
-- stderr
tracehost sql: near "frm": syntax error
-- status 1
EOF
expect 'a text that is no term' sql $s13 "select term_json('{')" <<'EOF'
-- stderr
tracehost sql: this is not the text of a term
-- status 1
EOF
expect 'a statement that would write' sql $s13 "attach 'x' as y" <<'EOF'
-- stderr
tracehost sql: not authorized
-- status 1
EOF

expect 'damage is reported once for several uses of a table, with its number' sql "$recordings/trunc_body.trace" \
    'select (select count(*) from events) as a, (select count(*) from calls) as b, (select count(*) from events) as c' <<'EOF'
 a   b   c
14  14  14
-- stderr
tracehost sql: samples/recordings/trunc_body.trace: record 15 at byte 1172 is truncated
  the input ends after 72 of the record's 79 bytes
tracehost sql: samples/recordings/trunc_body.trace: damaged records: 0, damaged places: 1; rows are of what is sound
-- status 4
EOF
partial() {
    sql --allow-partial "$recordings/trunc_body.trace" 'select count(*) from events' 2>/dev/null
}
expect '--allow-partial' partial <<'EOF'
count(*)
      14
EOF
{ cat "$recordings/s10_seq_trace.trace" && printf '\000\000\000\000\002\203\141' && cat $s13; } >"$work/damaged.trace"
damaged_once() {
    sql "$work/damaged.trace" 'select tag, term from events where record > 10 limit 2; select count(*) from processes' \
        >"$work/damaged.rows" 2>"$work/damaged.told"
    [ $? = 4 ] && grep -q 'damaged records: 1, damaged places: 0' "$work/damaged.told"
}
check 'a damaged record is skipped and counted' damaged_once

without() {
    mkdir -p "$work/installed/bin" && cp "$tracehost" "$work/installed/bin/tracehost" &&
        "$work/installed/bin/tracehost" sql $s13 'select 1'
}
expect 'without tracehost_sql.so' without <<'EOF'
-- stderr
tracehost sql: SQL is not available
  there is no file WORK/installed/lib/tracehost/tracehost_sql.so: this tracehost was built without SQLite (Debian: libsqlite3-dev)
-- status 5
EOF

# --- signals and terminals

for statement in 'with recursive n(v) as (select 1 union all select v + 1 from n) select count(*) from n' \
    "select count(*) from events a, events b, events c, events d, events e, events f where a.tag = 'none of them' or f.time = 0"; do
    interrupted() {
        tests/cli/lib/interrupt.py "$tracehost" sql $s13 "$statement"
    }
    expect 'Ctrl-C ends a statement' interrupted <<'EOF'
-- status 130
EOF
done

prompted() {
    TERM=xterm tests/cli/lib/type_at_terminal.py '' 'select count(*)\nfrom events;\nselect x;\n.tab\n.quit\n' \
        "$tracehost" sql $s13 | tr -d '\r' >"$work/prompt"
    grep -q 'sql> ' "$work/prompt" && grep -q '\.\.\.> ' "$work/prompt" && grep -q '^ *47$' "$work/prompt" &&
        grep -q 'no such column: x' "$work/prompt" && grep -q '^processes$' "$work/prompt"
}
if has_terminals; then
    check 'the prompt takes statements of several lines, and goes on after an error' prompted
else
    skip 'the prompt' "$no_terminals"
fi
finish
