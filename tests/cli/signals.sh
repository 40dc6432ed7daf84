#!/bin/sh
# Tests signals: records read so far count, output is complete, no partial file is left.
. tests/cli/lib/assertions.sh

calls=$recordings/s01_seed_local_caller.trace
long=$recordings/s22_killed_vm.trace
signalled=tests/cli/lib/send_signals.py

# --- while the program waits for input ---

expect 'SIGINT during replay: tracers write their remaining output' \
    $signalled INT "$calls" 500 "$tracehost" replay -t text -t count - <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
<0.79.0>   call ex:indirections() [result {ex,foo,0}]
<0.79.0>   call ex:bar(10) [result {ex,foo,0}]
<0.79.0>   call ex:bar(9) [result {ex,foo,0}]
      events       %  tag
           6  100.00  call
           6  100.00  all

       calls       %  function
           2   33.33  ex:bar/1
           1   16.67  ex:foo/0
           1   16.67  ex:indirections/0
           1   16.67  ex:lots/0
           1   16.67  ex:'of'/0
-- stderr
tracehost replay: stdin: received SIGINT after 6 records
-- status 130
EOF
expect 'SIGTERM ends replay with the records read so far' $signalled TERM "$calls" 100 "$tracehost" replay - <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
-- stderr
tracehost replay: stdin: received SIGTERM after 1 record
-- status 143
EOF
expect 'SIGHUP ends dump with the records read so far' $signalled HUP "$calls" 200 "$tracehost" dump - <<'EOF'
{trace,<0.79.0>,call,{ex,foo,[]},{rec,w,0}}.
{trace,<0.79.0>,call,{ex,lots,[]},{ex,foo,0}}.
-- stderr
tracehost dump: stdin: received SIGHUP after 2 records
-- status 129
EOF
expect 'SIGINT ends info with the records read so far' $signalled INT "$calls" 200 "$tracehost" info - <<'EOF'
stream      stdin (trace-port)
node        nonode@nohost
records     2, 162 bytes
time        none recorded

   records  tag
         2  trace call/5

   records  tracee (1)
         2  <0.79.0>

     calls  function (2 calls of 2 functions)
         1  ex:foo/0
         1  ex:lots/0
-- stderr
tracehost info: stdin: received SIGINT after 2 records
-- status 130
EOF
expect 'SIGINT ends convert to stdout with the records read so far' $signalled INT "$calls" 200 "$tracehost" convert --to=jsonl - - <<'EOF'
{"tracehost":1,"node":"nonode@nohost","creation":0}
{"tracee":"<0.79.0>","tag":"call","term":"{ex,foo,[]}","match_spec_result":"{rec,w,0}"}
{"tracee":"<0.79.0>","tag":"call","term":"{ex,lots,[]}","match_spec_result":"{ex,foo,0}"}
-- stderr
tracehost convert: stdin: received SIGINT after 2 records
-- status 130
EOF
expect 'SIGTERM before the first byte ends dump' $signalled TERM "$calls" 0 "$tracehost" dump - <<'EOF'
-- stderr
tracehost dump: stdin: received SIGTERM after 0 records
-- status 143
EOF
mkfifo "$work/pipe"
expect 'SIGINT ends the wait for a writer of a pipe' $signalled INT "$calls" 0 "$tracehost" dump "$work/pipe" <<'EOF'
-- stderr
tracehost dump: WORK/pipe: received SIGINT after 0 records
-- status 130
EOF

# no_reader COMMAND...: the command waits until a reader opens FIFO.
mkfifo "$work/unread"
no_reader() {
    $signalled INT "$calls" 0 "$tracehost" "$@"
    status=$?
    test -p "$work/unread" && return $status
}
for command in 'dump -o FIFO CALLS' 'convert --to=jsonl CALLS FIFO' 'report -o FIFO CALLS'; do
    expect "SIGINT ends the wait for a reader: $command" no_reader $(echo "$command" | sed "s|CALLS|$calls|; s|FIFO|$work/unread|") <<EOF
-- stderr
tracehost ${command%% *}: cannot write WORK/unread: no reader has opened it
-- status 130
EOF
done
for command in "replay $calls" 'run fib fib:fib(2).'; do
    for options in '' "--control=$work/unread.socket"; do
        expect "SIGINT ends the wait for a reader: ${command%% *} $options" \
            no_reader ${command%% *} -t text,output="$work/unread" $options ${command#* } <<EOF
-- stderr
tracehost ${command%% *}: cannot attach tracer 'text'
  cannot write WORK/unread: no reader has opened it
-- status 130
EOF
    done
done
expect 'SIGINT in the first stream ends the replay of all streams' $signalled INT "$calls" 0 "$tracehost" replay - "$calls" "$calls" <<'EOF'
-- stderr
tracehost replay: stdin: received SIGINT after 0 records
-- status 130
EOF
lines() {
    "$tracehost" convert "$calls" "$work/calls.jsonl"
    $signalled INT "$work/calls.jsonl" 200 "$tracehost" replay -
}
expect 'SIGINT in the middle of a JSON line ends replay before the line' lines <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
-- stderr
tracehost replay: stdin: received SIGINT after 1 record
-- status 130
EOF

# --- files ---

files() {
    mkdir "$work/files"
    echo old >"$work/files/old"
    $signalled INT "$calls" 200 "$tracehost" dump -o "$work/files/old" -
    $signalled TERM "$calls" 200 "$tracehost" convert --to=jsonl - "$work/files/new"
    echo "status $?"
    ls "$work/files"
    cat "$work/files/old"
}
expect 'a file is written whole or not at all' files <<'EOF'
status 143
old
old
-- stderr
tracehost dump: stdin: received SIGINT after 2 records
tracehost dump: WORK/files/old was not written: received SIGINT
tracehost convert: stdin: received SIGTERM after 2 records
tracehost convert: WORK/files/new was not written: received SIGTERM
EOF

# --- while it works ---

# The tracer gets exactly the records that were read.
endless() {
    $signalled INT "$calls" endless "$tracehost" replay -t count - >"$work/out" 2>"$work/err"
    echo "status $?"
    read=$(sed -n 's/^tracehost replay: stdin: received SIGINT after \([0-9]*\) records$/\1/p' "$work/err")
    counted=$(sed -n 's/^ *\([0-9]*\) .* all$/\1/p' "$work/out")
    if [ "$read" -gt 1000 ] && [ "$read" = "$counted" ]; then echo 'the same number'; else cat "$work/err"; fi
}
expect 'SIGINT during endless input: each record read is delivered' endless <<'EOF'
status 130
the same number
EOF
expect 'the second SIGINT ends a tracer that hangs' \
    $signalled INT,INT "$calls" 200 "$tracehost" replay -L "$samples" -t crash_tracer=hang - <<'EOF'
-- status 130
EOF

# --- ignored signals ---

ignored() {
    (
        trap '' HUP
        $signalled HUP "$calls" 200 "$tracehost" replay -
    )
}
expect 'a signal that the parent ignores stays ignored' ignored <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
-- stderr
tracehost replay: stdin: record 3 at byte 162 is truncated
  the input ends after 33 of the record's 75 bytes
tracehost replay: stdin: recovered 2 records
-- status 4
EOF

# --- SIGPIPE ---

# to_head COMMAND...: prints the status and stderr of a command whose reader has ended.
to_head() {
    {
        "$tracehost" "$@" 2>"$work/err"
        echo "status $?" >"$work/status"
    } | head -n 1
    cat "$work/status" "$work/err"
}
expect 'dump to a closed pipe ends by SIGPIPE' to_head dump "$long" <<'EOF'
{trace_ts,<0.79.0>,call,{wl,id,[{1,<<"some payload">>}]},{1795,233755,505065}}.
status 141
EOF
expect 'convert to a closed pipe ends by SIGPIPE' to_head convert --to=jsonl "$recordings/s09_collections_return.trace" - <<'EOF'
{"tracehost":1,"node":"nonode@nohost","creation":0}
status 141
EOF
expect 'replay to a closed pipe ends by SIGPIPE' to_head replay "$recordings/s09_collections_return.trace" <<'EOF'
0.000000 <0.129.0>  call lists:seq(1,20) [result {wl,coll,0}]
status 141
EOF

# A flush by a tracer's thread fails, as the reader ends after the thread has looked for it: with this library
# poll() of stdout returns after the reader has ended. poll() of stdin always finds input, so that the main
# thread does not flush.
cat >"$work/reader_ends.c" <<'EOF'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>

int poll(struct pollfd *items, nfds_t count, int timeout)
{
    int (*real)(struct pollfd *, nfds_t, int) = (int (*)(struct pollfd *, nfds_t, int))dlsym(RTLD_NEXT, "poll");
    int ready = real(items, count, timeout);
    struct pollfd ended = {.fd = 1};

    if (count == 1 && items->fd == 0 && timeout == 0) {
        items->revents = POLLIN;
        return 1;
    }
    if (count == 1 && items->fd == 1 && items->events == POLLOUT) {
        open(getenv("LOOKED"), O_CREAT | O_WRONLY, 0600);
        real(&ended, 1, -1);
    }
    return ready;
}
EOF
"${CC:-cc}" -shared -fPIC -o "$work/reader_ends.so" "$work/reader_ends.c"

# until_exists FILE
until_exists() {
    while [ ! -e "$1" ]; do
        sleep 0.02
    done
}
flushed_to_closed() {
    rm -f "$work/status" "$work/looked"
    {
        cat "$calls"
        until_exists "$work/status"
    } | {
        env --default-signal=PIPE LOOKED="$work/looked" LD_PRELOAD="$work/reader_ends.so" \
            timeout -s KILL 60 "$tracehost" "$@" 2>"$work/err"
        echo "status $?" >"$work/status"
    } | until_exists "$work/looked"
    cat "$work/status"
    sed '/^ERROR: ld.so: /d' "$work/err" # an emulator's own loader cannot load the library
}
case ${BUILD_DIR:-} in
*/asan | */tsan) echo "# skipped: a library loaded before the sanitizer's" ;;
*)
    expect 'the flush of a thread to a closed pipe ends by SIGPIPE' flushed_to_closed replay -t chrome - <<'EOF'
status 141
EOF
    ;;
esac

# --- tracers whose unload() takes long ---

# A tracer whose unload() begins a file and never returns.
cat >"$work/draws.c" <<'EOF'
#include <erl_tracer.h>
#include <nif_module.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, discard);
}

TH_TRACER_TRACE(generic)
{
}

TH_TRACER_LOAD()
{
    fprintf(stderr, "loaded\n");
    return 0;
}

TH_TRACER_UNLOAD()
{
    close(creat(HALF, 0600));
    th_file_unfinished(HALF, 1);
    for (;;)
        pause();
}
EOF
"$CC" -fPIC -shared -Iplugin_api -DHALF="\"$work/half\"" -o "$work/draws.so" "$work/draws.c"
# drawing SIGNAL: sends SIGTERM, and SIGNAL after the message about the remaining output; reports a partial file.
drawing() {
    rm -f "$work/endless" "$work/told"
    mkfifo "$work/endless" "$work/told"
    exec 3<>"$work/endless" # somebody may write to it
    "$tracehost" replay -t "$work/draws.so" "$work/endless" 2>"$work/told" 3>&- &
    drawer=$!
    while read -r line; do
        case $line in
        loaded) kill -TERM $drawer ;;
        *'another signal'*)
            echo "$line"
            [ -e "$work/half" ] && echo 'it draws'
            kill -"$1" $drawer
            ;;
        esac
    done <"$work/told"
    exec 3>&-
    wait $drawer 2>"$work/killed"
    status=$?
    [ ! -e "$work/half" ] || echo 'half of a file is left'
    return $status
}
expect 'another signal ends unload(), and no partial file is left' drawing HUP <<'EOF'
tracehost replay: received SIGTERM; tracers write their remaining output; another signal ends the program at once
it draws
-- status 129
EOF
expect 'the same signal again ends unload(), and no partial file is left' drawing TERM <<'EOF'
tracehost replay: received SIGTERM; tracers write their remaining output; another signal ends the program at once
it draws
-- status 143
EOF

finish
