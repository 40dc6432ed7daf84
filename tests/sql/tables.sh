#!/bin/sh
# Tests the tables of `tracehost sql` against tables that tests/sql/compare makes of `tracehost dump`: whole tables,
# the statements of the manual page, and random conditions, on all sample recordings, on damaged copies of them, and
# on several recordings at a time; and tests/sql/compare_packed with damaged packed recordings. With sanitizers,
# fewer recordings are compared, unless SQL_ALL=yes. DAMAGE is the number of copies of each kind, DAMAGES that of packed ones, SQL_SEED
# their seed.
. tests/cli/lib/assertions.sh

[ -e "$BUILD_DIR/lib/tracehost/tracehost_sql.so" ] || {
    echo 'tracehost_sql.so is not built here: it needs libsqlite3 (Debian: libsqlite3-dev)'
    exit 77
}
export TRACEHOST="$tracehost"
page=host/cli/manual/tracehost-sql.1.md
damage=${DAMAGE:-3}
damages=${DAMAGES:-3}
some=$(echo "$recordings"/*.trace)
made=20
case ${SQL_ALL:-no}$BUILD_DIR in
no*asan | no*tsan)
    made=5
    damage=${DAMAGE:-1}
    damages=${DAMAGES:-1}
    some=$(echo "$recordings"/s0[13579]*.trace "$recordings"/s1[0357]*.trace)
    ;;
esac

compare() {
    python3 tests/sql/compare --seed="${SQL_SEED:-1}" "$@"
}

# shellcheck disable=SC2086 # names without spaces
check 'all tables, the statements of the page and conditions have the rows of a full scan' \
    compare --page=$page --conditions=20 $some
check "rows of damaged copies are those of the records that dump reads ($damage of each kind)" \
    compare --damage="$damage" --conditions=3 "$recordings"/s0[1-8]*.trace "$recordings"/s1[03-57-9]*.trace "$recordings"/s23*.trace
for trace in s10_seq_trace s13_procs s04_genserver_pingpong; do
    "$tracehost" convert "$recordings/$trace.trace" "$work/$trace.jsonl" || fail "conversion of $trace"
done
check 'messages that are equal, names, aliases, losses, and identifiers that are used again' compare --made=$made --conditions=10
for trace in s05_supervisor_restarts s10_seq_trace s13_procs s15_kitchen_sink s04_genserver_pingpong; do
    "$tracehost" convert --index=700 "$recordings/$trace.trace" "$work/$trace.trace.zst" || fail "packing of $trace"
done
check 'packed recordings have the same tables' compare --page=$page --conditions=40 "$work"/*.trace.zst
check "damaged packed recordings give no wrong answer ($damages of each kind)" \
    python3 tests/sql/compare_packed --count="$damages" --seed="${SQL_SEED:-1}" "$recordings"/s0[13457]*.trace \
    "$recordings"/s1[1359]*.trace
check 'recordings in JSON lines have the same tables' compare --conditions=20 --damage="$damage" "$work"/*.jsonl

# A comparison that finds nothing may be broken.
spoilt() {
    ! compare --spoil="$1" "$recordings/s03_exceptions_return_to.trace" >"$work/spoilt" &&
        grep -q "$2" "$work/spoilt" && grep -q '1 recordings and copies compared, [1-9]' "$work/spoilt"
}
check 'the comparison finds a duration that is off by one' spoilt duration 'calls: missing'
check 'the comparison finds a function that is left out' spoilt function 'functions: not expected'
unindexed() {
    ! python3 tests/sql/compare_packed --spoil "$recordings/s09_collections_return.trace" >"$work/spoilt" &&
        grep -q "function = 'foldl_1'" "$work/spoilt" && grep -q '2 copies; 2 faults' "$work/spoilt"
}
check 'the comparison finds an index that leaves a function out' unindexed
finish
