#!/bin/sh
# Tests outputs whose names end in .gz: they contain what plain ones do, and are sound after a full disk, a killed
# tracer and a tracer that crashed.
. tests/cli/lib/assertions.sh
. tests/cli/isolate/tracers.sh

as_they_go='text msg jsonl trace_port chrome perfetto otlp tree'
at_their_end='flame speedscope count time sequence report coverage'
tracers="$as_they_go $at_their_end"
long=$top/$recordings/s09_collections_return.trace

# unpack FOLDER: gzip unpacks each output there.
unpack() {
    for file in "$work/$1"/*.gz; do gzip -d "$file" || return 1; done
}
# as_plain OPTION... STREAM: a replay into compressed files gives what one into plain files does.
as_plain() {
    replayed plain "$@" $(printf -- '-t %s,output=%s ' $(printf '%s\n' $tracers | sed p))
    replayed packed "$@" $(printf -- '-t %s,output=%s.gz ' $(printf '%s\n' $tracers | sed p))
    unpack packed && diff -r "$work/plain" "$work/packed" && cat "$work/packed/status"
}
for stream in "$pingpong" "$long" "$top/$recordings/s20_empty.trace"; do
    [ -e "$stream" ] || exit 1
    check "compressed outputs of $(basename "$stream")" as_plain "$stream"
done
check 'compressed outputs of tracers in processes of their own' as_plain --isolate "$long"
# in_shares: of tracers that can be merged.
in_shares() {
    tracers='text jsonl trace_port chrome perfetto otlp flame count time report coverage'
    as_plain --shards=3 "$long"
}
check 'compressed outputs of shares' in_shares
smaller() {
    replayed plain -t jsonl,output=plain -t jsonl,output=packed.gz "$long" "$long" "$long"
    ls -l "$work/plain"
    [ $((8 * $(wc -c <"$work/plain/packed.gz"))) -lt "$(wc -c <"$work/plain/plain")" ]
}
check 'a compressed output has less than an eighth of the bytes' smaller
to_fifo() {
    mkfifo "$work/pipe.gz"
    gzip -dc <"$work/pipe.gz" >"$work/read" &
    "$tracehost" replay -t text,output="$work/pipe.gz" "$pingpong" || return 1
    wait $!
    "$tracehost" replay -t text "$pingpong" | cmp - "$work/read"
}
check 'a FIFO' to_fifo
of_a_run() {
    "$tracehost" run -p fib:fib/1 --return -t text,output="$work/run.gz" fib "fib:fib(9)" >/dev/null || return 1
    gzip -dc "$work/run.gz" >"$work/run" && [ "$(wc -l <"$work/run")" -gt 20 ]
}
check 'a live run' of_a_run

# --- Nothing torn ---

# limited TRACER STREAM: a limit of 32 KB (of 64 blocks of 512 bytes, as POSIX has it) stands for a disk that gets full.
limited() {
    rm -rf "$work/small"
    mkdir "$work/small"
    (
        ulimit -f 64
        "$tracehost" replay -t "$1,output=$work/small/o.gz" $2 2>"$work/stderr" >/dev/null
    )
    [ $? = 1 ] && grep -q "tracer '$1' failed: cannot write $work/small/o.gz: File too large" "$work/stderr"
}
# cut_back TRACER: what is left are whole gzip members, with whole lines.
cut_back() {
    limited "$1" "$long $long $long $long" && "$tracehost" replay -t "$1" "$long" "$long" "$long" "$long" >"$work/all" &&
        gzip -dc "$work/small/o.gz" >"$work/left" || return 1
    ls -l "$work/small" "$work/left"
    [ "$(wc -c <"$work/left")" -gt 60000 ] && head -c "$(wc -c <"$work/left")" "$work/all" | cmp - "$work/left" &&
        [ "$(tail -c 1 "$work/left" | od -An -c | tr -d ' ')" = '\n' ] && [ "$(ls -A "$work/small")" = o.gz ]
}
check 'a full disk leaves only whole members: text' cut_back text
check 'a full disk leaves only whole members: jsonl' cut_back jsonl
old_one_stays() {
    mkdir "$work/old"
    echo old >"$work/old/o.gz"
    (
        ulimit -f 16
        "$tracehost" replay -t report,output="$work/old/o.gz" "$pingpong" >/dev/null 2>&1
    )
    [ $? = 1 ] && [ "$(cat "$work/old/o.gz")" = old ] && [ "$(ls -A "$work/old")" = o.gz ]
}
check 'a failed write keeps the old file' old_one_stays

# dies HOW OPTION...: the tracer ends at its 300th event; its output has 300 lines, which the host has written out.
dies() {
    how=$1
    shift
    replayed died -L "$work/lib" "$@" -t "dying,output=o.gz,at=300,how=$how" "$pingpong"
    cat "$work/died/stderr" "$work/died/status"
    unpack died && [ "$(wc -l <"$work/died/o")" = 300 ]
}
check 'SIGSEGV of a tracer' dies 11
check 'SIGKILL of a tracer' dies 9
check '_exit() of a tracer' dies 0
check 'SIGSEGV of a tracer in a process of its own' dies 11 --isolate --on-crash=stop
# goes_on: the output is that of a plain file.
goes_on() {
    for output in o o.gz; do
        replayed "$output" --isolate --on-crash=continue -L "$work/lib" -t "dying,every=100,seed=1,how=11,output=$output" "$pingpong"
    done
    [ "$(cat "$work/o.gz/status")" = 6 ] && gzip -dc "$work/o.gz/o.gz" | cmp "$work/o/o" - && [ "$(wc -l <"$work/o/o")" -gt 300 ]
}
check 'a tracer that goes on after its death appends' goes_on
finish
