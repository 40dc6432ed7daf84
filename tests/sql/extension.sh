#!/bin/sh
# Tests tracehost_sql.so as an extension, in the program sqlite3 and in Python.
. tests/cli/lib/assertions.sh

extension=$BUILD_DIR/lib/tracehost/tracehost_sql
[ -e "$extension.so" ] || {
    echo 'tracehost_sql.so is not built here: it needs libsqlite3 (Debian: libsqlite3-dev)'
    exit 77
}
needs_machine 'the extension in sqlite3' 'the programs sqlite3 and python3 are of this machine'
case $BUILD_DIR in
*asan | *tsan)
    echo 'the sanitizer must be in the program that loads the extension'
    exit 77
    ;;
esac
command -v sqlite3 >/dev/null || {
    echo 'no program sqlite3 here (Debian: sqlite3)'
    exit 77
}

# in_sqlite LINE...: gives the lines to sqlite3, after the extension was loaded.
in_sqlite() {
    { echo ".load $extension" && printf '%s\n' "$@"; } | sqlite3 -bail
}

expect 'sqlite3 loads the extension, and tracehost_open makes all tables' \
    in_sqlite "select tracehost_open('$recordings/s13_procs.trace', '$recordings/s06_ports.trace');" \
    'select recording, count(*) from temp.events group by recording;' \
    "select count(*) from calls; select count(*) from messages where received is not null;" \
    'select kind, count(*) from processes group by kind; select count(*) from functions;' <<'EOF'
2
samples/recordings/s06_ports.trace|57
samples/recordings/s13_procs.trace|47
0
1
port|2
process|7
0
EOF
expect 'tables of one kind are made with options, and joined with those of a database' \
    in_sqlite "create virtual table temp.c using tracehost_calls('$recordings/s01_seed_local_caller.trace', recorded_callers, max_memory=2000000, scheduler_id);" \
    "create table names(name text); insert into names values('bar');" \
    'select caller, count(*) from temp.c join names on name = function group by caller;' <<'EOF'
ex:foo/0|11
EOF
expect 'names with quotes are found, and others are refused' in_sqlite \
    "create virtual table temp.e using tracehost_events('$recordings/it''s \"not\" there');" 'select * from e;' <<EOF
-- stderr
Runtime error near line 3: cannot read $recordings/it's "not" there: No such file or directory
-- status 1
EOF
expect 'unknown words are refused' in_sqlite 'create virtual table temp.e using tracehost_events(no_option);' <<'EOF'
-- stderr
Runtime error near line 2: no_option: neither the name of a recording, in quotes, nor scheduler_id, recorded_callers or max_memory=BYTES of at least 1048576
-- status 1
EOF
expect 'a table without recordings is refused' in_sqlite 'create virtual table temp.e using tracehost_events;' <<'EOF'
-- stderr
Runtime error near line 2: no recordings: create virtual table temp.events using tracehost_events('FILE', ...)
-- status 1
EOF
expect 'damage is in the log of SQLite' in_sqlite '.log stdout' \
    "create virtual table temp.e using tracehost_events('$recordings/trunc_body.trace');" 'select count(*) from e;' <<'EOF'
(28) tracehost: samples/recordings/trunc_body.trace: record 15 at byte 1172 is truncated
14
EOF

python() {
    /usr/bin/python3 - "$extension" "$recordings/s13_procs.trace" <<'PYTHON'
import sqlite3, sys, threading

def use(rows):
    db = sqlite3.connect(':memory:')
    db.enable_load_extension(True)
    db.load_extension(sys.argv[1])
    db.execute('create virtual table temp.e using tracehost_events(%s)' % ("'%s'" % sys.argv[2]))
    rows.append(db.execute('select count(*), min(tracee) from e').fetchall())
    db.close()

found = []
threads = [threading.Thread(target=use, args=(found,)) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert found == 4 * [[(47, '<0.169.0>')]], found
PYTHON
}
if /usr/bin/python3 -c 'import sqlite3; sqlite3.Connection.enable_load_extension' 2>/dev/null; then
    check 'Python loads the extension in several threads' python
else
    skip 'Python loads the extension' 'the sqlite3 of /usr/bin/python3 loads none'
fi

# The object has the host's code as its own: it must not need much static TLS, nor show more than its entries.
entries() {
    nm -D --defined-only "$extension.so" | sed 's/.* //' | sort
}
expect 'the object shows its two entries alone' entries <<'EOF'
sqlite3_tracehostsql_init
tracehost_sql
EOF
finish
