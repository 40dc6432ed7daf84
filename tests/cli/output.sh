#!/bin/sh
# Tests outputs: files that appear completely or not at all, devices, a full disk.
. tests/cli/lib/assertions.sh

calls=$recordings/s01_seed_local_caller.trace
long=$recordings/s09_collections_return.trace

# --- files ---

new_file() {
    umask 027
    "$tracehost" dump -o "$work/new" "$calls" && cmp "$work/new" "${calls%.trace}.term.txt" && stat -c %a "$work/new"
}
expect 'a new file has the usual permissions' new_file <<'EOF'
640
EOF
old_file() {
    echo old >"$work/old"
    chmod 604 "$work/old"
    "$tracehost" dump -o "$work/old" "$calls" && cmp "$work/old" "${calls%.trace}.term.txt" && stat -c %a "$work/old"
}
expect 'an existing file keeps its permissions' old_file <<'EOF'
604
EOF
links() {
    mkdir "$work/elsewhere"
    echo old >"$work/elsewhere/target"
    ln -s elsewhere/target "$work/link"
    "$tracehost" convert "$calls" --to=jsonl "$work/link" && readlink "$work/link" && head -n 1 "$work/elsewhere/target"
}
expect 'output through a link replaces the target, not the link' links <<'EOF'
elsewhere/target
{"tracehost":1,"node":"nonode@nohost","creation":0}
EOF
links_that_lead_nowhere() {
    ln -s elsewhere/none "$work/nowhere"
    ln -s "$work/nowhere" "$work/elsewhere/chain"
    "$tracehost" convert "$calls" --to=jsonl "$work/elsewhere/chain" && readlink "$work/elsewhere/chain" "$work/nowhere" &&
        head -n 1 "$work/elsewhere/none"
    ln -sf missing/none "$work/nowhere"
    "$tracehost" convert "$calls" --to=jsonl "$work/nowhere"
}
expect 'output through a dangling link creates the target' links_that_lead_nowhere <<'EOF'
WORK/nowhere
elsewhere/none
{"tracehost":1,"node":"nonode@nohost","creation":0}
-- stderr
tracehost convert: cannot write WORK/nowhere: No such file or directory
-- status 1
EOF
onto_itself() {
    cp "$calls" "$work/itself.trace"
    "$tracehost" convert "$work/itself.trace" "$work/itself.trace" && cmp "$calls" "$work/itself.trace"
}
check 'convert may replace its own input' onto_itself
part_onto_itself() {
    cp "$calls" "$work/itself.trace"
    "$tracehost" convert --max-records=3 "$work/itself.trace" "$work/itself.trace"
    echo "status $?"
    cmp "$calls" "$work/itself.trace"
}
expect 'convert does not replace its own input by a part of it' part_onto_itself <<'EOF'
status 2
-- stderr
tracehost convert: the output would overwrite the stream WORK/itself.trace: choose another file
EOF
dump_onto_itself() {
    cp "$calls" "$work/itself.trace"
    ln -s itself.trace "$work/other_name"
    for format in term jsonl; do
        "$tracehost" dump --format=$format -o "$work/other_name" "$work/itself.trace"
        echo "status $?"
        cmp "$calls" "$work/itself.trace"
    done
}
expect 'dump does not replace its own input' dump_onto_itself <<'EOF'
status 2
status 2
-- stderr
tracehost dump: the output would overwrite the stream WORK/itself.trace: choose another file
tracehost dump: the output would overwrite the stream WORK/itself.trace: choose another file
EOF
expect 'dump into a folder that does not exist fails' "$tracehost" dump -o "$work/no/file" "$calls" <<'EOF'
-- stderr
tracehost dump: cannot write WORK/no/file: No such file or directory
-- status 1
EOF
expect 'dump onto a folder fails' "$tracehost" dump -o "$work" "$calls" <<'EOF'
-- stderr
tracehost dump: cannot write WORK: Is a directory
-- status 1
EOF
expect 'convert into a folder that does not exist fails' "$tracehost" convert "$calls" "$work/no/file.jsonl" <<'EOF'
-- stderr
tracehost convert: cannot write WORK/no/file.jsonl: No such file or directory
-- status 1
EOF
not_ours() {
    echo old >"$work/kept"
    chmod 444 "$work/kept"
    "$tracehost" dump -o "$work/kept" "$calls"
    echo "status $?"
    cat "$work/kept"
}
if [ "$(id -u)" = 0 ]; then
    skip 'a file without write permission is not replaced' 'root may write all'
else
    expect 'a file without write permission is not replaced' not_ours <<'EOF'
status 1
old
-- stderr
tracehost dump: cannot write WORK/kept: Permission denied
EOF
fi
unreadable() {
    echo old >"$work/safe"
    "$tracehost" dump -o "$work/safe" "$work/none"
    echo "status $?"
    cat "$work/safe"
}
expect 'a stream that cannot be read replaces no file' unreadable <<'EOF'
status 3
old
-- stderr
tracehost dump: cannot read WORK/none
  No such file or directory
EOF
damaged() {
    "$tracehost" dump -o "$work/part" "$recordings/trunc_body.trace" 2>"$work/err"
    echo "status $?"
    cmp "$work/part" "$recordings/trunc_body.term.txt"
}
expect 'dump writes the recovered part of a damaged stream' damaged <<'EOF'
status 4
EOF

# --- stdout and devices ---

standard() {
    "$tracehost" dump -o - --max-events=1 "$calls" && "$tracehost" convert --to=jsonl --max-events=1 "$calls" -
}
expect 'the output - is stdout' standard <<'EOF'
{trace,<0.79.0>,call,{ex,foo,[]},{rec,w,0}}.
{"tracehost":1,"node":"nonode@nohost","creation":0}
{"tracee":"<0.79.0>","tag":"call","term":"{ex,foo,[]}","match_spec_result":"{rec,w,0}"}
EOF
expect 'dump writes to /dev/null' "$tracehost" dump -o /dev/null "$calls" <<'EOF'
EOF
expect 'convert writes to /dev/null' "$tracehost" convert --to=trace "$calls" /dev/null <<'EOF'
EOF
to_pipe() {
    mkfifo "$work/pipe"
    "$tracehost" dump -o "$work/pipe" --max-events=1 "$calls" &
    cat "$work/pipe"
    wait $!
}
expect 'dump writes to a named pipe' to_pipe <<'EOF'
{trace,<0.79.0>,call,{ex,foo,[]},{rec,w,0}}.
EOF

# --- a full disk ---

# full COMMAND...: runs the command with a full disk as stdout.
full() {
    "$tracehost" "$@" >/dev/full
}
expect 'dump reports a full disk' full dump "$calls" <<'EOF'
-- stderr
tracehost dump: cannot write to stdout: No space left on device
-- status 1
EOF
expect 'dump of much output reports a full disk' full dump "$long" <<'EOF'
-- stderr
tracehost dump: cannot write to stdout: No space left on device
-- status 1
EOF
expect 'dump of JSON lines reports a full disk' full dump --format=jsonl "$calls" <<'EOF'
-- stderr
tracehost dump: cannot write to stdout: No space left on device
-- status 1
EOF
for option in --help --usage --version -V; do
    expect "dump $option reports a full disk" full dump $option <<'EOF'
-- stderr
tracehost dump: cannot write to stdout: No space left on device
-- status 1
EOF
done
expect 'help dump reports a full disk' full help dump <<'EOF'
-- stderr
tracehost dump: cannot write to stdout: No space left on device
-- status 1
EOF
expect 'dump onto a full device reports the device' "$tracehost" dump -o /dev/full "$calls" <<'EOF'
-- stderr
tracehost dump: cannot write /dev/full: No space left on device
-- status 1
EOF
expect 'convert reports a full disk' full convert --to=trace "$calls" - <<'EOF'
-- stderr
tracehost convert: cannot write to stdout: No space left on device
-- status 1
EOF
expect 'info reports a full disk' full info "$calls" <<'EOF'
-- stderr
tracehost info: cannot write to stdout: No space left on device
-- status 1
EOF
expect 'info as JSON reports a full disk' full info --format=json "$calls" <<'EOF'
-- stderr
tracehost info: cannot write to stdout: No space left on device
-- status 1
EOF
expect 'replay reports a full disk' full replay "$calls" <<'EOF'
-- stderr
tracehost replay: cannot write to stdout: No space left on device
-- status 1
EOF
expect 'replay of much output reports a full disk' full replay "$long" <<'EOF'
-- stderr
tracehost replay: cannot write to stdout: No space left on device
-- status 1
EOF
expect 'tracehost tracers reports a full disk' full tracers <<'EOF'
-- stderr
tracehost tracers: cannot write to stdout: No space left on device
-- status 1
EOF
expect '--version reports a full disk' full --version <<'EOF'
-- stderr
tracehost --version: cannot write to stdout: No space left on device
-- status 1
EOF
full_for_tracer() {
    "$tracehost" replay -t text,output=/dev/full "$calls"
}
expect 'a tracer reports a full disk' full_for_tracer <<'EOF'
-- stderr
tracehost replay: tracer 'text' failed: cannot write /dev/full: No space left on device
-- status 1
EOF

# limited COMMAND...: runs the command with files limited to 4 KiB.
limited() {
    mkdir -p "$work/limited"
    echo old >"$work/limited/file"
    (
        trap '' XFSZ
        ulimit -f 8
        "$tracehost" "$@"
    )
    echo "status $?"
    ls "$work/limited"
    cat "$work/limited/file"
}
expect 'dump whose file becomes too large keeps the old file' limited dump -o "$work/limited/file" "$long" <<'EOF'
status 1
file
old
-- stderr
tracehost dump: cannot write WORK/limited/file: File too large
EOF
expect 'convert whose file becomes too large keeps the old file' limited convert --to=jsonl "$long" "$work/limited/file" <<'EOF'
status 1
file
old
-- stderr
tracehost convert: cannot write WORK/limited/file: File too large
EOF

# --- closed files ---

closed() {
    "$tracehost" dump "$calls" >&-
    echo "status $?"
    "$tracehost" replay "$calls" >&-
    echo "status $?"
    "$tracehost" dump -o "$work/closed" "$recordings/trunc_body.trace" 2>&-
    echo "status $?"
    cmp "$work/closed" "$recordings/trunc_body.term.txt"
}
expect 'closed standard streams are reported' closed <<'EOF'
status 1
status 1
status 4
-- stderr
tracehost dump: cannot write to stdout: Bad file descriptor
tracehost replay: cannot write to stdout: Bad file descriptor
EOF
closed_stdin() {
    "$tracehost" dump - <&-
}
if [ -n "${EMULATOR:-}" ]; then
    skip 'a closed stdin is reported' 'the kernel opens the program for the emulator as the first free descriptor'
else
    expect 'a closed stdin is reported' closed_stdin <<'EOF'
-- stderr
tracehost dump: cannot read stdin
  Bad file descriptor
-- status 3
EOF
fi

finish
