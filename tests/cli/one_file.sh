#!/bin/sh
# Tests that two tracers cannot write one file, under whatever names: the second is refused before any file is opened.
. tests/cli/lib/assertions.sh
. tests/cli/lib/control_hosts.sh

one=$recordings/s01_seed_local_caller.trace
ln -s k "$work/link"
ln -s nowhere/../k "$work/astray"
mkdir "$work/folder"
ln -s ../k "$work/folder/link"

# both FILE FILE: replays into two files by tracers of two libraries.
both() {
    (cd "$work" && "$tracehost" replay -t "count,output=$1" -t "text,output=$2" "$OLDPWD/$one")
    status=$?
    if [ -e "$work/k" ]; then echo 'the file was written'; fi
    return $status
}
refused() {
    cat <<LINES
-- stderr
tracehost replay: cannot attach tracer 'text'
  the file $2 is written by tracer 'count', as $1
  give each tracer an output of its own
-- status 2
LINES
}
for names in 'k k' 'k ./k' 'k link' 'folder/link link' "$work/k folder/../k"; do
    refused $names | sed "s|$work|WORK|g" >"$work/wanted"
    expect "two tracers that would create one file are refused: $names" both $names <"$work/wanted"
done
there() {
    echo old >"$work/k"
    "$tracehost" replay -t trace_port,output="$work/k" -t trace_port,output="$work/folder/link" "$one"
    status=$?
    cat "$work/k"
    rm "$work/k"
    return $status
}
expect 'two tracers of one library on an existing file are refused' there <<'LINES'
old
-- stderr
tracehost replay: cannot attach tracer 'trace_port'
  the file WORK/folder/link is written by tracer 'trace_port', as WORK/k
  give each tracer an output of its own
-- status 2
LINES

# Devices, FIFOs and stdout lose no data if two tracers write.
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
expect 'devices, FIFOs and stdout may be shared by tracers' shared <"$work/wanted"

# Patterns with the same meta tracer and the same state share the tracer.
meta() {
    "$tracehost" run -t "$1" --flags=call -p fib:fib/1 -p fib:fib/1 --kind=meta --meta-tracer="$2" -p fib:depth/1 --kind=meta \
        --meta-tracer="$3" fib 'fib:fib(3), fib:depth(2).'
    status=$?
    if [ -e "$work/m" ]; then wc -l <"$work/m"; fi
    return $status
}
expect 'two patterns share one meta tracer and its file' meta count,output=/dev/null text,output="$work/m" text,output="$work/m" <<'LINES'
2
6
LINES
rm -f "$work/m"
expect 'two meta tracers on one file are refused' meta count,output=/dev/null text,output="$work/m" jsonl,output="$work/m" <<'LINES'
-- stderr
tracehost run: cannot set -p fib:depth/1
  cannot attach tracer 'jsonl'
  the file WORK/m is written by tracer 'text', as WORK/m
  give each tracer an output of its own
-- status 2
LINES
expect 'a meta tracer on the file of a tracer is refused' meta text,output="$work/m" text,output="$work/n" jsonl,output="$work/m" <<'LINES'
-- stderr
tracehost run: cannot set -p fib:depth/1
  cannot attach tracer 'jsonl'
  the file WORK/m is written by tracer 'text', as WORK/m
  give each tracer an output of its own
-- status 2
LINES

# The same checks apply to commands of ctl during a run.
under_control() {
    a_bank -t text,output="$work/k" -p bank:open/2
    ctl attach count,output="$work/link" -p bank:open/2
    ctl attach count,output="$work/kept" -p bank:deposit/2
    ctl pattern bank:deposit/2 --kind=meta --meta-tracer=jsonl,output="$work/folder/link" --session=1
    ctl detach 1 | grep -v ^events
    ctl attach count,output="$work/link" -p bank:open/2
    end
}
expect 'ctl attach and pattern refuse a file until its tracer is detached' under_control <<'LINES'
session 2, tracer 'count': flags call, 1 breakpoint
session 1, tracer 'text' has ended
session 3, tracer 'count': flags call, 1 breakpoint
ok
stderr: tracehost run: received a request to stop
status 0
-- stderr
tracehost ctl: cannot attach tracer 'count'
  the file WORK/link is written by tracer 'text', as WORK/k
  give each tracer an output of its own
tracehost ctl: cannot set -p bank:deposit/2
  cannot attach tracer 'jsonl'
  the file WORK/folder/link is written by tracer 'text', as WORK/k
  give each tracer an output of its own
LINES

# A stream that the replay reads, now or later, is not overwritten, either.
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
expect 'ctl attach refuses to overwrite a stream of the replay' over_stream <<'LINES'
-- stderr
tracehost ctl: cannot attach tracer 'text'
  the output would overwrite the stream WORK/stream
LINES

# The file of stdin, stdout or stderr is not overwritten, either.
# as_was COMMAND: runs the command in a folder with the recording `s`, and checks that `s` stays the same.
as_was() {
    cp "$OLDPWD/$one" s
    (
        ulimit -f 100 # a command that reads its own output would never end
        eval "$1"
    )
    echo "status $?"
    cmp "$OLDPWD/$one" s
}
standard() {
    cd "$work" || return
    as_was '"$tracehost" replay -t count,output=other -t text,output=./s - <s'
    as_was '"$tracehost" report -o s - <s'
    as_was '"$tracehost" report -o - s 1<>s'
    as_was '"$tracehost" replay s 1<>s'
    as_was '"$tracehost" replay -t text,output=other "$OLDPWD/$one" - <s >>s'
    as_was '"$tracehost" dump s >>s'
    as_was '"$tracehost" dump - <s >>s'
    as_was '"$tracehost" convert --to=trace s - >>s'
    as_was '"$tracehost" info --format=json - <s >>s'
    as_was '"$tracehost" replay -t text,output=k -t jsonl "$OLDPWD/$one" >k'
    as_was '"$tracehost" replay -t text,output="$work/folder/link" "$OLDPWD/$one" 2>k'
    cat k
    rm k
    ls other 2>&1
    cd "$OLDPWD" || return
}
expect 'a command does not overwrite the file of stdin, stdout or stderr' standard <<'LINES'
status 2
status 2
status 2
status 2
status 2
status 2
status 2
status 2
status 2
status 2
status 2
tracehost replay: cannot attach tracer 'text'
  stderr is redirected to the file WORK/folder/link
  give the tracer another output, or - for stdout
ls: cannot access 'other': No such file or directory
-- stderr
tracehost replay: cannot attach tracer 'text'
  the output would overwrite the stream stdin
tracehost report: the page would overwrite the stream stdin: choose another file with -o FILE
tracehost report: the page would overwrite the stream s: choose another file with -o FILE
tracehost replay: cannot read s
  stdout is redirected to the same file
tracehost replay: cannot read stdin
  stdout is redirected to the same file
tracehost dump: cannot read s
  stdout is redirected to the same file
tracehost dump: cannot read stdin
  stdout is redirected to the same file
tracehost convert: cannot read s
  stdout is redirected to the same file
tracehost info: cannot read stdin
  stdout is redirected to the same file
tracehost replay: cannot attach tracer 'text'
  stdout is redirected to the file k
  give the tracer another output, or - for stdout
LINES

# --- tracers that are replaced ---

# deposit: the state of a tracer calls bank:deposit/2.
deposit() {
    ctl attach 'as_state=begin bank:deposit(alice, 1), trace end' -p bank:open/2 --session=deposit >/dev/null
    ctl detach deposit >/dev/null
}
calls() {
    sed 's/.*\(bank:deposit(.*)\).*/\1/' "$1"
}
replaced() {
    a_bank -L "$tracers" -t text,output="$work/old" -p bank:deposit/2
    deposit
    ctl replace 1 text
    ctl replace 1 count
    ctl replace 1 "jsonl,output=$work/folder/../old"
    deposit
    ctl replace 1 "text,output=$work/new"
    deposit
    end
    calls "$work/old"
    echo then
    calls "$work/new"
}
expect 'a new tracer without upgrade() cannot take over the file of the old tracer' replaced <<'LINES'
session 1, tracer 'text': flags call, 1 breakpoint
ok
stderr: tracehost run: received a request to stop
status 0
bank:deposit(alice,1)
bank:deposit(alice,1)
then
bank:deposit(alice,1)
-- stderr
tracehost ctl: cannot replace the tracer: the session keeps its tracer
  cannot attach tracer 'text'
  the file WORK/old is written by tracer 'text', as WORK/old
  the new tracer has no upgrade(), so it cannot take over the file: detach the old tracer first, or give the new one another output
tracehost ctl: cannot replace the tracer: the session keeps its tracer
  cannot attach tracer 'count'
  the file WORK/old is written by tracer 'text', as WORK/old
  the new tracer has no upgrade(), so it cannot take over the file: detach the old tracer first, or give the new one another output
tracehost ctl: cannot replace the tracer: the session keeps its tracer
  cannot attach tracer 'jsonl'
  the file WORK/folder/../old is written by tracer 'text', as WORK/old
  the new tracer has no upgrade(), so it cannot take over the file: detach the old tracer first, or give the new one another output
LINES

# A tracer with upgrade() takes the file over; another tracer does not.
cat >"$work/keeps.c" <<'CODE'
#include <erl_tracer.h>
const struct th_tracer_setting th_tracer_settings[] = {{"output", TH_SETTING_OUTPUT}, {0}};
TH_TRACER_LOAD()
{
    return 0;
}
TH_TRACER_UPGRADE()
{
    return 0;
}
TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, trace);
}
TH_TRACER_TRACE(generic)
{
}
CODE
"$CC" -w -fPIC -shared -Iplugin_api -o "$work/keeps.so" "$work/keeps.c"
takes_over() {
    a_bank -t "$work/keeps.so,output=$work/kept" -p bank:deposit/2
    ctl replace 1 "$work/keeps.so"
    ctl replace 1 count
    end
}
expect 'a new tracer with upgrade() takes over the file of the old tracer' takes_over <<'LINES'
session 1, tracer 'WORK/keeps.so': flags call, 1 breakpoint
ok
stderr: tracehost run: received a request to stop
stderr: tracehost run: warning: tracer 'WORK/keeps.so': no event matches -p bank:deposit/2
status 0
-- stderr
tracehost ctl: cannot replace the tracer: the session keeps its tracer
  cannot attach tracer 'count'
  the file WORK/kept is written by tracer 'WORK/keeps.so', as WORK/kept
  the new tracer has no upgrade(), so it cannot take over the file: detach the old tracer first, or give the new one another output
LINES

watched() {
    cp "$BUILD_DIR/lib/tracehost/tracers/text.so" "$work/text.so"
    cp "$work/text.so" "$work/next.so"
    a_bank -L "$tracers" --watch -t "$work/text.so,output=$work/seen" -p bank:deposit/2
    deposit
    mv "$work/next.so" "$work/text.so"
    until_so grep -q upgrade "$work/host.err"
    deposit
    end
    calls "$work/seen"
}
expect 'a watched tracer stays if the new tracer cannot take over its file' watched <<'LINES'
ok
stderr: tracehost run: cannot use the new WORK/text.so: the old one stays in use
stderr:   cannot attach tracer 'WORK/text.so'
stderr:   the file WORK/seen is written by tracer 'WORK/text.so', as WORK/seen
stderr:   the new tracer has no upgrade(), so it cannot take over the file: detach the old tracer first, or give the new one another output
stderr: tracehost run: received a request to stop
status 0
bank:deposit(alice,1)
bank:deposit(alice,1)
LINES

# --- FIFOs ---

# A FIFO without a reader is refused at once, so that ctl does not wait. A reader gets the whole output.
unread() {
    a_bank -L "$tracers" -t count,output=/dev/null -p bank:open/2
    ctl attach text,output="$work/fifo" -p bank:deposit/2
    ctl pattern bank:deposit/2 --kind=meta --meta-tracer=jsonl,output="$work/fifo" --session=1
    ctl replace 1 time,output="$work/fifo"
    cat "$work/fifo" >"$work/through" &
    reader=$!
    until_so ctl attach text,output="$work/fifo" -p bank:deposit/2 --session=read
    deposit
    ctl detach read | grep -v ^events
    wait $reader
    calls "$work/through"
    end
}
expect 'ctl refuses a FIFO without a reader' unread <<'LINES'
session 2 'read', tracer 'text' has ended
bank:deposit(alice,1)
ok
stderr: tracehost run: received a request to stop
status 0
-- stderr
tracehost ctl: cannot attach tracer 'text'
  cannot write WORK/fifo: no reader has opened it
tracehost ctl: cannot set -p bank:deposit/2
  cannot attach tracer 'jsonl'
  cannot write WORK/fifo: no reader has opened it
tracehost ctl: cannot replace the tracer: the session keeps its tracer
  cannot attach tracer 'time'
  cannot write WORK/fifo: no reader has opened it
LINES

finish
