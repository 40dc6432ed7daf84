#!/bin/sh
# A file that a tracer writes is no other tracer's, by whatever name: the second one is refused before anything is opened.
. tests/cli/report
. tests/cli/controlled

one=$recordings/s01_seed_local_caller.trace
ln -s k "$work/link"
ln -s nowhere/../k "$work/astray"
mkdir "$work/folder"
ln -s ../k "$work/folder/link"

# both FILE FILE: by tracers of two libraries.
both() {
    (cd "$work" && "$tracehost" replay -t "count,output=$1" -t "text,output=$2" "$OLDPWD/$one")
    status=$?
    if [ -e "$work/k" ]; then echo 'the file was written'; fi
    return $status
}
refused() {
    cat <<LINES
-- stderr
tracehost replay: tracer 'text' was not attached
  the file $2 is written by tracer 'count', as $1
  give each tracer an output of its own
-- status 2
LINES
}
for names in 'k k' 'k ./k' 'k link' 'folder/link link' "$work/k folder/../k"; do
    refused $names | sed "s|$work|WORK|g" >"$work/wanted"
    expect "not there yet: $names" both $names <"$work/wanted"
done
there() {
    echo old >"$work/k"
    "$tracehost" replay -t trace_port,output="$work/k" -t trace_port,output="$work/folder/link" "$one"
    status=$?
    cat "$work/k"
    rm "$work/k"
    return $status
}
expect 'one that is there, and one library' there <<'LINES'
old
-- stderr
tracehost replay: tracer 'trace_port' was not attached
  the file WORK/folder/link is written by tracer 'trace_port', as WORK/k
  give each tracer an output of its own
-- status 2
LINES

# Nothing of a file gets lost in these.
shared() {
    mkfifo "$work/fifo"
    cat "$work/fifo" >"$work/through" &
    "$tracehost" replay -t count,output=/dev/null -t text,output=/dev/null -t text -t count,output=- \
        -t text,output="$work/fifo" -t jsonl,output="$work/fifo" "$one" | wc -l
    wait $!
    wc -l <"$work/through"
}
alone() {
    for tracer in text count; do "$tracehost" replay -t $tracer "$one"; done | wc -l
    for tracer in text jsonl; do "$tracehost" replay -t $tracer "$one"; done | wc -l
}
alone >"$work/wanted"
expect 'devices, FIFOs and stdout are shared' shared <"$work/wanted"

# Breakpoints with the same meta tracer are one tracer's.
meta() {
    "$tracehost" run -t "$1" --flags=call -p fib:fib/1 -p fib:fib/1 --kind=meta --meta-tracer="$2" -p fib:depth/1 --kind=meta \
        --meta-tracer="$3" fib 'fib:fib(3), fib:depth(2).'
    status=$?
    if [ -e "$work/m" ]; then wc -l <"$work/m"; fi
    return $status
}
expect 'one meta tracer of two patterns' meta count,output=/dev/null text,output="$work/m" text,output="$work/m" <<'LINES'
2
6
LINES
rm -f "$work/m"
expect 'two meta tracers' meta count,output=/dev/null text,output="$work/m" jsonl,output="$work/m" <<'LINES'
-- stderr
tracehost run: -p fib:depth/1 cannot be set
  tracer 'jsonl' was not attached
  the file WORK/m is written by tracer 'text', as WORK/m
  give each tracer an output of its own
-- status 2
LINES
expect 'a tracer and a meta tracer' meta text,output="$work/m" text,output="$work/n" jsonl,output="$work/m" <<'LINES'
-- stderr
tracehost run: -p fib:depth/1 cannot be set
  tracer 'jsonl' was not attached
  the file WORK/m is written by tracer 'text', as WORK/m
  give each tracer an output of its own
-- status 2
LINES

# While it runs.
under_control() {
    a_bank -t text,output="$work/k" -p bank:open/2
    ctl attach count,output="$work/link" -p bank:open/2
    ctl attach count,output="$work/kept" -p bank:deposit/2
    ctl pattern bank:deposit/2 --kind=meta --meta-tracer=jsonl,output="$work/folder/link" --session=1
    ctl detach 1 | grep -v ^events
    ctl attach count,output="$work/link" -p bank:open/2
    end
}
expect 'under control' under_control <<'LINES'
session 2, tracer 'count': flags call, 1 breakpoint
session 1, tracer 'text' has ended
session 3, tracer 'count': flags call, 1 breakpoint
ok
stderr: tracehost run: a request to stop came
status 0
-- stderr
tracehost ctl: tracer 'count' was not attached
  the file WORK/link is written by tracer 'text', as WORK/k
  give each tracer an output of its own
tracehost ctl: -p bank:deposit/2 cannot be set
  tracer 'jsonl' was not attached
  the file WORK/folder/link is written by tracer 'text', as WORK/k
  give each tracer an output of its own
LINES

# Nor is a stream that is read, or will be.
over_stream() {
    cp "$one" "$work/stream"
    mkfifo "$work/first"
    exec 9<>"$work/first"
    begin "$tracehost" replay --control="$socket" -t count,output=/dev/null "$work/first" "$work/stream"
    ctl attach text,output="$work/folder/../stream"
    end >"$work/ended"
    exec 9>&-
    cmp "$one" "$work/stream"
}
expect 'a stream that is read later' over_stream <<'LINES'
-- stderr
tracehost ctl: tracer 'text' was not attached
  it would write over the stream WORK/stream
LINES

finish
