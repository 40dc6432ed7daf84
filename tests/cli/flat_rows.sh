#!/bin/sh
# Tests the flat rows of `tracehost dump`: csv, jsonl-flat and table. DuckDB, Python's csv and json modules read them.
. tests/cli/lib/assertions.sh
[ -z "${EMULATOR:-}" ] || large=
: "${SOURCE_DIR:=$PWD}"

# forms NAME STREAM...: writes the rows and the lines of the streams, and the figures of `count` and `time`.
forms() {
    name=$1
    shift
    "$tracehost" dump --allow-partial --format=csv -o "$name.rows.csv" "$@" 2>"$name.csv.told" &&
        "$tracehost" dump --allow-partial --format=jsonl-flat -o "$name.rows.jsonl" "$@" 2>"$name.jsonl.told" &&
        "$tracehost" dump --allow-partial --format=jsonl -o "$name.lines.jsonl" "$@" 2>/dev/null &&
        "$tracehost" replay --allow-partial -t count,format=json,top=0 "$@" >"$name.count.json" 2>/dev/null &&
        "$tracehost" replay --allow-partial -t time,format=json,top=0 "$@" >"$name.time.json" 2>/dev/null &&
        cmp "$name.csv.told" "$name.jsonl.told"
}

mkdir "$work/all" "$work/made"
for trace in "$recordings"/*.trace; do
    forms "$work/all/$(basename "$trace" .trace)" "$trace" || fail "rows of $trace"
done

duckdb() {
    NODE_PATH=$SOURCE_DIR/build/npm/node_modules node tests/cli/lib/flat_rows.js "$@"
}

if [ -e "$SOURCE_DIR/build/npm/packages" ]; then
    check 'DuckDB groups the rows of all recordings by function as count and time do' duckdb "$work/all"
    if [ -e "$large/l1_compile_compiler_arity.trace" ]; then
        mkdir "$work/large"
        forms "$work/large/l1" "$large/l1_compile_compiler_arity.trace"
        check 'DuckDB groups the rows of a large recording as count and time do' duckdb "$work/large"
    else
        skip 'DuckDB groups the rows of a large recording' 'the large recordings are not here, or would take minutes in an emulator'
    fi
else
    skip 'DuckDB groups rows by function' "$(tail -n 1 "$SOURCE_DIR/build/npm.log" 2>/dev/null || echo no packages)"
fi

# Recordings in which each call has an end, or none.
for name in s09_collections_return s13_procs s08_gc s10_seq_trace s12_fileio s16_terms \
    s21_ip_drop_extract s22_killed_vm; do
    check "python reads the rows of $name" python3 tests/cli/lib/flat_rows.py \
        "$work/all/$name.rows.csv" "$work/all/$name.rows.jsonl" "$work/all/$name.lines.jsonl"
done

cat >"$work/made.jsonl" <<'LINES'
{"tracehost":1,"node":"a@h","creation":1}
{"ts":1795233753912926000,"ts_kind":"timestamp","tracee":"<0.9.0>","tag":"call","term":"{'Elixir.A,b','say \"hi\"',[[],<<1,255>>,\"a\\r\\nb\",\"x,y\"]}"}
{"ts":9007199254740993,"tracee":"<0.9.0>","tag":"call","term":"{'','f\\n\\e',2}"}
{"ts":9007199254740999,"tracee":"<0.9.0>","tag":"return_from","term":"{'','f\\n\\e',2}","extra":"<<\"Zoë\"/utf8>>"}
{"drop":7}
{"ts":9007199254741999,"tracee":"<0.9.0>","tag":"return_from","term":"{'Elixir.A,b','say \"hi\"',4}","extra":"ok"}
{"ts":9007199254742000,"tracee":"<0.9.0>","tag":"send","term":"\"a\\\"b\"","extra":"'Ünï code'"}
{"ts":9007199254742001,"tracee":"#Port<0.5>","tag":"open","term":"<0.9.0>","extra":"tcp_inet"}
{"ts":9007199254742002,"tracee":"<0.9.0>","tag":"in","term":"0"}
{"ts":9007199254742003,"tracee":"<0.9.0>","tag":"in","term":"{m,f,1}"}
{"other":"{what,1}"}
LINES
"$tracehost" dump --format=csv --allow-partial "$work/made.jsonl" >"$work/made.csv" 2>"$work/made.told"
cat >"$work/expected.csv" <<'ROWS'
ts_ns,node,tracee,tag,module,function,arity,args,to,result,duration_ns,term
1795233753912926000,a@h,<0.9.0>,call,"Elixir.A,b","say ""hi""",4,"[[],<<1,255>>,""a\r\nb"",""x,y""]",,,,
9007199254740993,a@h,<0.9.0>,call,"",'f\n\e',2,,,,6,
9007199254740999,a@h,<0.9.0>,return_from,"",'f\n\e',2,,,"<<""ZoÃ«"">>",,
,a@h,,drop,,,,,,,,7
9007199254741999,a@h,<0.9.0>,return_from,"Elixir.A,b","say ""hi""",4,,,ok,,
9007199254742000,a@h,<0.9.0>,send,,,,,'Ünï code',,,"""a\""b"""
9007199254742001,a@h,#Port<0.5>,open,,,,,<0.9.0>,,,tcp_inet
9007199254742002,a@h,<0.9.0>,in,,,,,,,,0
9007199254742003,a@h,<0.9.0>,in,m,f,1,,,,,
,a@h,,other,,,,,,,,"{what,1}"
ROWS
check 'csv quotes what must be quoted' cmp "$work/expected.csv" "$work/made.csv"
forms "$work/made/made" "$work/made.jsonl"
check 'python reads odd names and times above 2^53' python3 - "$work/made/made.rows.csv" "$work/made/made.rows.jsonl" <<'PYTHON'
import csv, json, sys
table = list(csv.DictReader(open(sys.argv[1], newline='', encoding='utf-8'), strict=True))
flat = [json.loads(line) for line in open(sys.argv[2], encoding='utf-8')]
assert [row['function'] for row in table[:2]] == ['say "hi"', "'f\\n\\e'"], table[:2]
assert [row['ts_ns'] for row in flat[:2]] == ['1795233753912926000', '9007199254740993']
assert flat[1]['module'] == '' and flat[3]['module'] is None
assert [row['duration_ns'] for row in flat if row['duration_ns']] == [6]
assert not any(ord(c) < 32 for row in flat for cell in row.values() for c in str(cell))
PYTHON

check 'missing durations are counted' sh -c "grep -q 'made.jsonl: ends whose calls were not recorded, or are forgotten: 1$' \
    '$work/made.told' && grep -q 'calls without a duration, as no record shows their end: 1$' '$work/made.told'"

# Several nodes: a column tells them apart, and each has calls of its own.
for node in a b; do
    cat >"$work/$node.jsonl" <<LINES
{"tracehost":1,"node":"$node@h","creation":1}
{"ts":1795233753000100000,"ts_kind":"timestamp","tracee":"<0.9.0>","tag":"call","term":"{m,$node,[]}"}
{"ts":1795233753000300000,"ts_kind":"timestamp","tracee":"<0.9.0>","tag":"return_from","term":"{m,$node,0}","extra":"ok"}
LINES
    [ $node = a ] || sed -i 's/300000,/700000,/' "$work/b.jsonl"
    "$tracehost" convert "$work/$node.jsonl" "$work/$node.trace" || exit 1
done
merged() {
    "$tracehost" dump --format=csv "$work/a.trace" "$work/b.trace" 2>/dev/null |
        awk -F, '$4 == "call" { print $2, $6, $11 }' >"$work/merged"
    printf 'a@h a 200000\nb@h b 600000\n' | diff - "$work/merged"
}
check 'rows of several nodes have their node and their durations' merged

# Doubt: the inner call of f may have been passed by an exception that left no record.
cat >"$work/doubt.jsonl" <<'LINES'
{"ts":1000,"tracee":"<0.9.0>","tag":"call","term":"{m,g,[]}"}
{"ts":2000,"tracee":"<0.9.0>","tag":"return_from","term":"{m,g,0}","extra":"ok"}
{"ts":3000,"tracee":"<0.9.0>","tag":"call","term":"{m,f,[1]}"}
{"ts":4000,"tracee":"<0.9.0>","tag":"call","term":"{m,f,[2]}"}
{"ts":5000,"tracee":"<0.9.0>","tag":"call","term":"{m,h,[]}"}
{"ts":6000,"tracee":"<0.9.0>","tag":"return_to","term":"{u,catches,0}"}
{"ts":9000,"tracee":"<0.9.0>","tag":"return_from","term":"{m,f,1}","extra":"ok"}
LINES
doubted() {
    "$tracehost" dump --format=csv "$work/doubt.jsonl" 2>"$work/doubt.told" | cut -d, -f4,11 |
        grep call >"$work/doubted"
    printf 'call,1000\ncall,\ncall,\ncall,\n' | diff - "$work/doubted" &&
        grep -q ': calls without a duration, as several calls may have ended: 2$' "$work/doubt.told"
}
check 'a call with a doubtful end has no duration, and is counted' doubted

# Recordings whose durations are known from their making.
made_durations() {
    mkdir "$work/durations" &&
        python3 tests/cli/lib/call_durations.py make 60 "$work/durations" || return
    for lines in "$work"/durations/*.jsonl; do
        "$tracehost" dump --format=jsonl-flat -o "${lines%.jsonl}.rows" "$lines" 2>/dev/null || return
    done
    python3 tests/cli/lib/call_durations.py compare "$work/durations"
}
check 'calls have their durations, also if a return_to alone ends them' made_durations

s15=$recordings/s15_kitchen_sink.trace
"$tracehost" dump --format=csv "$s15" >"$work/s15.csv" 2>"$work/s15.told"

# as_file NAME STREAM: the rows of STREAM, called NAME in messages, are those of the file, and the messages, too.
as_file() {
    "$tracehost" dump --format=csv "$2" >"$work/way.csv" 2>"$work/way.told" &&
        cmp "$work/s15.csv" "$work/way.csv" &&
        sed "s|: $1: |: $s15: |" "$work/way.told" | diff "$work/s15.told" -
}
from_pipe() {
    mkfifo "$work/pipe"
    grep -q 'several calls may have ended: 41$' "$work/s15.told" && cat "$s15" | as_file stdin - &&
        as_file stdin - <"$s15" || return
    timeout 20 sh -c "cat '$s15' >'$work/pipe'" &
    as_file "$work/pipe" "$work/pipe"
}
check 'stdin and a pipe are read twice, too' from_pipe

limited() {
    "$tracehost" dump --format=csv --max-records=300 "$s15" 2>"$work/limited.told" >"$work/limited.csv" &&
        head -n 301 "$work/s15.csv" | cmp - "$work/limited.csv" &&
        ! grep -q 'no record shows their end' "$work/limited.told"
}
check '--max-records leaves the durations of the whole stream' limited

# Damage is reported once, and loses no call after it.
damaged() {
    { sed 2q "$work/doubt.jsonl" && echo '{"tracee":"<0.9.0>","tag":"call","term":"{m,g"}' && echo '{' &&
        sed 1,2d "$work/doubt.jsonl" && sed 2q "$work/doubt.jsonl"; } >"$work/damaged.jsonl"
    "$tracehost" dump --format=csv "$work/damaged.jsonl" >"$work/damaged.csv" 2>"$work/damaged.told"
    [ $? = 4 ] && [ "$(grep -c ': record [34] at' "$work/damaged.told")" = 2 ] &&
        [ "$(grep -c 'call,m,g,0,\[\],,,1000,' "$work/damaged.csv")" = 2 ]
}
check 'damage is reported once' damaged

unreadable() {
    "$tracehost" dump --format=csv "$work/none" 2>"$work/none.told"
    [ $? = 3 ] && [ "$(grep -c none "$work/none.told")" = 1 ]
}
check 'a stream that is not there is reported once' unreadable

# Two pipes cannot be read twice: no duration, and their number.
two_pipes() {
    mkfifo "$work/a.pipe" "$work/b.pipe"
    timeout 20 sh -c "cat '$work/a.trace' >'$work/a.pipe'" &
    timeout 20 sh -c "cat '$work/b.trace' >'$work/b.pipe'" &
    "$tracehost" dump --format=csv "$work/a.pipe" "$work/b.pipe" >"$work/pipes.csv" 2>"$work/pipes.told" &&
        ! grep -q '00000,[^,]*$' "$work/pipes.csv" && [ "$(wc -l <"$work/pipes.csv")" = 5 ] &&
        grep -q 'calls without a duration, as the streams cannot be read twice: 2$' "$work/pipes.told"
}
check 'calls of streams that cannot be read twice are counted' two_pipes

# The examples of the manual page.
page=$SOURCE_DIR/host/cli/manual/tracehost-dump.1.md
example() { # LANGUAGE: the lines of its first block
    sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" $page | sed '/^```/d'
}
if [ -e "$SOURCE_DIR/build/npm/packages" ]; then
    sql() {
        cp "$work/all/s09_collections_return.rows.csv" "$work/rows.csv"
        (cd "$work" && NODE_PATH=$SOURCE_DIR/build/npm/node_modules node "$SOURCE_DIR/tests/cli/lib/flat_rows.js" \
            --sql "$(example sql)") >"$work/found" && example text | diff - "$work/found"
    }
    check 'the example of the manual page gives its rows in DuckDB' sql
fi
if command -v jq >/dev/null; then
    with_jq() {
        cp "$recordings/s09_collections_return.trace" "$work"
        (cd "$work" && PATH=$(cd "$(dirname "$tracehost")" && pwd):$PATH && eval "$(example sh)") >"$work/found" &&
            example json | diff - "$work/found"
    }
    check 'the example of the manual page works in jq' with_jq
else
    skip 'the example of the manual page works in jq' 'no jq here'
fi

table() {
    "$tracehost" dump --format=table --allow-partial "$work/made.jsonl" 2>/dev/null >"$work/table" &&
        head -n 1 "$work/table" | grep -q '^ts_ns  *node  *tracee  *tag' &&
        [ "$(wc -l <"$work/table")" = 11 ] &&
        ! LC_ALL=C.UTF-8 grep -q '.\{184\}\|[[:cntrl:]]' "$work/table" &&
        grep -q '4 \[\[\],<<1,255>>,"a\\\.\.\.$' "$work/table"
}
check 'a table has a line a row, of bounded width' table
finish
