#!/bin/sh
# Tests `tracehost report`: path and name of the page, refusals, damaged streams.
. tests/cli/lib/assertions.sh

wrapped=$PWD/$recordings/wrap
calls=$work/s01_seed_local_caller.trace
killed=$work/s22_killed_vm.trace
cp "$recordings/s01_seed_local_caller.trace" "$recordings/s22_killed_vm.trace" "$work"
page_data=$PWD/tests/shipped/page_data
mkdir "$work/here" && cd "$work/here" || exit 1

# of FILE MEMBER...: prints members of the data of a page.
of() {
    python3 "$page_data" "$@"
}
# named STREAM...: runs a report, and lists the files that exist afterwards.
named() {
    "$tracehost" report "$@" && ls && rm -f -- *.html
}
expect 'the page is named after the stream, and the name is reported' named "$calls" <<'EOF'
s01_seed_local_caller.html
-- stderr
tracehost report: the page was written to s01_seed_local_caller.html
EOF
copies() {
    mkdir "$work/odd" && cp "$calls" "$work/odd/a.b.trace" && cp "$calls" "$work/odd/.hidden" && cp "$calls" "$work/odd/bare" &&
        named "$work/odd/a.b.trace" && named "$work/odd/bare" && "$tracehost" report "$work/odd/.hidden" && ls -A && rm .hidden.html
}
expect "only the last suffix of the stream's name is replaced" copies <<'EOF'
a.b.html
bare.html
.hidden.html
-- stderr
tracehost report: the page was written to a.b.html
tracehost report: the page was written to bare.html
tracehost report: the page was written to .hidden.html
EOF
expect "the page of a wrap set has the set's prefix as its name" named "$wrapped/w*.log" <<'EOF'
w.html
-- stderr
tracehost report: the page was written to w.html
EOF
from_stdin() {
    "$tracehost" report - <"$calls" && of report.html title streams && rm report.html
}
expect 'the page of stdin is report.html' from_stdin <<'EOF'
"stdin"
[
  {"name": "-", "records": 15, "lost": 0, "gaps": 0, "damaged": 0}
]
-- stderr
tracehost report: the page was written to report.html
EOF
to_stdout() {
    "$tracehost" report --title=calls -o - "$calls" >"$work/page" && of "$work/page" title && ls
}
expect 'the page may be written to stdout' to_stdout <<'EOF'
"calls"
EOF
to_device() {
    "$tracehost" report -o /dev/null "$calls" && ls -l /dev/null | cut -c1
}
expect 'the page may be written to a device' to_device <<'EOF'
c
EOF
old_page() {
    echo old >page.html && chmod 604 page.html && "$tracehost" report -o page.html "$calls" && of page.html title && stat -c %a page.html && ls
}
expect 'an existing page is replaced, and keeps its permissions' old_page <<'EOF'
"s01_seed_local_caller.trace"
604
page.html
EOF
parts() {
    "$tracehost" report -o page.html --max-events=5 --flags=call "$calls" && of page.html summary &&
        "$tracehost" report -o page.html -p ex:bar/1 "$calls" && of page.html summary names
}
expect '--max-events, --flags and -p select the events of the page' parts <<'EOF'
{"events": 5, "calls": 5, "errors": 0, "sent": 0, "received": 0, "processes": 1, "ports": 0, "ended": 0, "functions": 5}
{"events": 11, "calls": 11, "errors": 0, "sent": 0, "received": 0, "processes": 1, "ports": 0, "ended": 0, "functions": 1}
["ex:bar/1"]
EOF

# --- refusals ---

onto_stream() {
    cp "$calls" "$work/here/copy.trace"
    ln -s copy.trace link.html
    "$tracehost" report -o copy.trace copy.trace
    echo "status $?"
    "$tracehost" report -o link.html "$calls" copy.trace
    echo "status $?"
    cp copy.trace set0.trace
    cp copy.trace set1.trace
    "$tracehost" report -o set1.trace 'set*.trace'
    echo "status $?"
    cmp "$calls" copy.trace && cmp "$calls" set1.trace && rm copy.trace link.html set?.trace
}
expect 'a page that would overwrite its stream is refused' onto_stream <<'EOF'
status 2
status 2
status 2
-- stderr
tracehost report: the page would overwrite the stream copy.trace: choose another file with -o FILE
tracehost report: the page would overwrite the stream copy.trace: choose another file with -o FILE
tracehost report: the page would overwrite the stream set*.trace: choose another file with -o FILE
EOF
expect 'a stream that does not exist is refused' "$tracehost" report -o page.html "$work/none" <<'EOF'
-- stderr
tracehost report: cannot read WORK/none
  No such file or directory
-- status 3
EOF
kept() {
    of page.html summary && ls
}
expect 'a refusal keeps the old page' kept <<'EOF'
{"events": 11, "calls": 11, "errors": 0, "sent": 0, "received": 0, "processes": 1, "ports": 0, "ended": 0, "functions": 1}
page.html
EOF
expect 'a page in a folder that does not exist is refused' "$tracehost" report -o no/page.html "$calls" <<'EOF'
-- stderr
tracehost report: cannot write no/page.html: No such file or directory
-- status 1
EOF
expect 'a report without a stream is refused' "$tracehost" report <<'EOF'
-- stderr
tracehost report: argument STREAM is missing
Try `tracehost report --help' or `tracehost report --usage' for more
information.
-- status 2
EOF
expect 'the option -t is refused' "$tracehost" report -t text "$calls" <<'EOF'
-- stderr
tracehost report: invalid option -- 't'
Try `tracehost report --help' or `tracehost report --usage' for more
information.
-- status 2
EOF
expect 'a pattern that is not M:F/A is refused' "$tracehost" report -p '1' "$calls" <<'EOF'
-- stderr
tracehost report: -p must be M:F/A, M:F/_, M:_/_ or _:_/_, such as lists:reverse/1 or Elixir's Enum.sort/1, or on_load, send or receive, not '1'
Try `tracehost report --help' or `tracehost report --usage' for more
information.
-- status 2
EOF
no_room() {
    (
        ulimit -f 64 # 32 KiB: less than the page, and enough for the /proc/self/maps that an emulator writes as a file
        trap '' XFSZ
        "$tracehost" report -o page.html "$killed" >"$work/said" 2>&1
        echo "status $?"
    )
    cat "$work/said"
    kept
}
expect 'a page that becomes too large is reported, and the old page stays' no_room <<'EOF'
status 1
tracehost report: WORK/s22_killed_vm.trace: record 1157 at byte 131019 is truncated
  the input ends after 48 of the record's 109 bytes
tracehost report: WORK/s22_killed_vm.trace: recovered 1156 records
tracehost report: tracer 'report' failed: cannot write page.html: File too large
tracehost report: cannot write page.html: the page is not complete
{"events": 11, "calls": 11, "errors": 0, "sent": 0, "received": 0, "processes": 1, "ports": 0, "ended": 0, "functions": 1}
page.html
EOF

expect 'a full device is reported' "$tracehost" report -o /dev/full "$calls" <<'EOF'
-- stderr
tracehost report: tracer 'report' failed: cannot write /dev/full: No space left on device
-- status 1
EOF

# --- damage ---

damaged() {
    "$tracehost" report -o page.html "$killed"
    echo "status $?"
    of page.html streams summary
}
expect 'the page of a truncated stream has the recovered events' damaged <<'EOF'
status 4
[
  {"name": "WORK/s22_killed_vm.trace", "records": 1156, "lost": 0, "gaps": 0, "damaged": 1}
]
{"events": 1156, "calls": 1156, "errors": 0, "sent": 0, "received": 0, "processes": 1, "ports": 0, "ended": 0, "functions": 1}
-- stderr
tracehost report: WORK/s22_killed_vm.trace: record 1157 at byte 131019 is truncated
  the input ends after 48 of the record's 109 bytes
tracehost report: WORK/s22_killed_vm.trace: recovered 1156 records
EOF
one_missing() {
    echo old >old.html
    "$tracehost" report -o old.html "$calls" "$work/none"
    echo "status $?"
    cat old.html
}
expect 'a missing stream among others is refused, and the old page stays' one_missing <<'EOF'
status 3
old
-- stderr
tracehost report: cannot read WORK/none
  No such file or directory
EOF
partial() {
    "$tracehost" report -o page.html "$killed" 2>/dev/null
    echo "status $?"
    "$tracehost" report --allow-partial -o page.html "$killed" 2>/dev/null
    echo "status $?"
}
expect '--allow-partial gives status 0 for a truncated stream' partial <<'EOF'
status 4
status 0
EOF
: >"$work/empty.trace"
empty() {
    "$tracehost" report -o page.html "$work/empty.trace" && of page.html streams summary functions
}
expect 'the page of a stream without events is empty' empty <<'EOF'
[
  {"name": "WORK/empty.trace", "records": 0, "lost": 0, "gaps": 0, "damaged": 0}
]
{"events": 0, "calls": 0, "errors": 0, "sent": 0, "received": 0, "processes": 0, "ports": 0, "ended": 0, "functions": 0}
[]
-- stderr
tracehost report: warning: there are no records in WORK/empty.trace
EOF

# --- an interrupted reading ---

cd "$SOURCE_DIR" || exit 1
old_ones() {
    rm -f "$work"/here/*
    echo old >"$work/here/page.html"
}
# Files can be read again, so an interrupted report writes no page. The files take longer to read than the signal to arrive.
of_files() {
    old_ones
    for _ in $(seq 200); do cat "$recordings/s04_genserver_pingpong.trace"; done >"$work/long.trace"
    set --
    for _ in $(seq 70); do set -- "$@" "$work/long.trace"; done
    tests/cli/lib/interrupt.py "$tracehost" report -o "$work/here/page.html" "$@" 2>"$work/said"
    echo "status $?"
    sed 's/after [0-9]* records*/after N records/' "$work/said"
    ls -A "$work/here" && cat "$work/here/page.html"
}
expect 'an interrupted reading of files keeps the old page' of_files <<'EOF'
status 130
tracehost report: WORK/long.trace: received SIGINT after N records
tracehost report: WORK/here/page.html was not written: received SIGINT
page.html
old
EOF
of_a_pipe() {
    old_ones
    tests/cli/lib/send_signals.py INT "$calls" 500 "$tracehost" report -o "$work/here/page.html" -
    echo "status $?"
    ls -A "$work/here"
    of "$work/here/page.html" interrupted streams
    "$tracehost" report -o "$work/here/page.html" - <"$calls" && of "$work/here/page.html" interrupted
}
expect 'an interrupted reading of stdin writes a page that is marked' of_a_pipe <<'EOF'
status 130
page.html
true
[
  {"name": "-", "records": 6, "lost": 0, "gaps": 0, "damaged": 0}
]
false
-- stderr
tracehost report: stdin: received SIGINT after 6 records
EOF
finish
