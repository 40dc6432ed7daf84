#!/bin/sh
# Tests the files of the shipped tracers: a file that cannot be opened or written is an error, no file is incomplete,
# and an existing one stays until the command is known to be possible.
. tests/cli/lib/assertions.sh
. tests/cli/lib/control_hosts.sh

one=$recordings/s04_genserver_pingpong.trace
as_they_go='text msg jsonl trace_port chrome perfetto otlp tree'
at_their_end='flame speedscope count time sequence report coverage'

# --- Outputs that cannot be written ---

# failure TRACER PATH REASON: its output cannot be written, and stdout gets nothing.
failure() {
    "$tracehost" replay -t "$1,output=$2" "$one" >"$work/stdout" 2>"$work/stderr"
    status=$?
    cat "$work/stderr"
    [ $status = 1 ] && [ ! -s "$work/stdout" ] &&
        grep -q "tracer '$1' failed\|cannot attach tracer '$1'" "$work/stderr" &&
        grep -q "cannot write $2: $3" "$work/stderr"
}
mkdir "$work/folder"
ln -s no/file "$work/astray"
for tracer in $as_they_go $at_their_end; do
    check "$tracer: a full disk is reported" failure $tracer /dev/full 'No space left on device'
    check "$tracer: an output in a missing folder is refused" failure $tracer "$work/no/file" 'No such file or directory'
    check "$tracer: a folder as output is refused" failure $tracer "$work/folder" 'Is a directory'
    check "$tracer: an output name that ends in a slash is refused" failure $tracer "$work/new/" 'Is a directory'
    check "$tracer: a link into a missing folder is refused" failure $tracer "$work/astray" 'No such file or directory'
done
# The error is reported before the first record is read: here the stream is missing.
long=$(printf '%0250d' 0)
for tracer in $at_their_end; do
    check "$tracer: an output name without room for a temporary suffix is refused" failure $tracer "$work/$long" 'File name too long'
done
at_the_beginning() {
    for tracer in $at_their_end; do
        for path in new/ no/file astray $long; do
            "$tracehost" replay -t "$tracer,output=$work/$path" "$work/none.trace" 2>&1 | sed "s/'$tracer'/T/; s/$long/LONG/"
        done
    done | sort | uniq -c | sed 's/^ *//'
}
expect 'an output that cannot be written is reported before the stream is read' at_the_beginning <<'LINES'
7   cannot write WORK/LONG: File name too long
7   cannot write WORK/astray: No such file or directory
7   cannot write WORK/new/: Is a directory
7   cannot write WORK/no/file: No such file or directory
28 tracehost replay: cannot attach tracer T
LINES

expect 'the error for a full disk names the path' "$tracehost" replay -t text,output=/dev/full "$one" <<'LINES'
-- stderr
tracehost replay: tracer 'text' failed: cannot write /dev/full: No space left on device
-- status 1
LINES
expect 'the error for a file that cannot be opened names the path' "$tracehost" replay -t text,output="$work/no/file" "$one" <<'LINES'
-- stderr
tracehost replay: cannot attach tracer 'text'
  cannot write WORK/no/file: No such file or directory
-- status 1
LINES
others_go_on() {
    "$tracehost" replay -t text,output=/dev/full -t jsonl,output="$work/whole.jsonl" "$one"
    [ $? = 1 ] && "$tracehost" replay -t jsonl "$one" | cmp - "$work/whole.jsonl"
}
check 'a tracer that fails takes no events from other tracers' others_go_on
of_a_run() {
    "$tracehost" run -p fib:fib/1 -t text,output=/dev/full fib 'fib:fib(2)' 2>"$work/stderr"
    status=$?
    cat "$work/stderr"
    [ $status = 1 ] && grep -q "cannot write /dev/full: No space left on device" "$work/stderr"
}
check 'a run with a full disk has exit status 1' of_a_run
read_only() {
    echo old >"$work/kept"
    chmod 444 "$work/kept"
    for tracer in $as_they_go $at_their_end; do
        failure $tracer "$work/kept" 'Permission denied' || return 1
    done
    echo old | cmp - "$work/kept"
}
if [ "$(id -u)" = 0 ]; then
    skip 'a read-only output is refused and unchanged' 'root is never refused'
else
    check 'a read-only output is refused and unchanged' read_only
fi

# --- Nothing torn ---

# A limit of 8 KB (of 16 blocks of 512 bytes, as POSIX has it) stands for a disk that gets full.
limited() {
    rm -rf "$work/small"
    mkdir "$work/small"
    (
        ulimit -f 16
        "$tracehost" replay -t "$1,output=$work/small/o" "$2" 2>"$work/stderr" >/dev/null
    )
    [ $? = 1 ] && grep -q "tracer '${1%%,*}' failed: cannot write $work/small/o: File too large" "$work/stderr"
}
# cut_back TRACER: the file is how the whole one begins, and ends with a whole record that leaves no room for another.
cut_back() {
    limited "$1" "$one" && "$tracehost" replay -t "$1" "$one" 2>/dev/null >"$work/all" &&
        size=$(stat -c %s "$work/small/o") && head -c "$size" "$work/all" | cmp - "$work/small/o" &&
        [ "$size" -gt 4096 ] && [ "$(ls -A "$work/small")" = o ]
}
whole_lines() {
    cut_back "$1" && [ "$(tail -c 1 "$work/small/o" | od -An -c | tr -d ' ')" = '\n' ] &&
        awk -v used="$(stat -c %s "$work/small/o")" -v lines="$(wc -l <"$work/small/o")" \
            'NR == lines + 1 { exit !(used + length($0) + 1 > 8192) }' "$work/all"
}
for tracer in text jsonl chrome tree,args=full; do
    check "$tracer: a full disk leaves only whole lines" whole_lines $tracer
done
whole_records() {
    cut_back trace_port && "$tracehost" info "$work/small/o" >"$work/info" &&
        "$tracehost" dump "$work/all" 2>/dev/null | head -n "$("$tracehost" dump "$work/small/o" | wc -l)" >"$work/wanted" &&
        "$tracehost" dump "$work/small/o" | cmp - "$work/wanted"
}
check 'trace_port: a full disk leaves only whole records' whole_records
# A line of otlp is longer than that.
nothing_of_it() {
    limited otlp "$one" && [ -e "$work/small/o" ] && [ ! -s "$work/small/o" ]
}
check 'otlp: a disk without room for one line leaves an empty file' nothing_of_it
old_one_stays() {
    limited "$1" "$2" && [ -z "$(ls -A "$work/small")" ] || return 1
    echo old >"$work/small/o"
    (
        ulimit -f 16
        "$tracehost" replay -t "$1,output=$work/small/o" "$2" >/dev/null 2>&1
    )
    [ $? = 1 ] && [ "$(cat "$work/small/o")" = old ] && [ "$(ls -A "$work/small")" = o ]
}
check 'report: a failed write keeps the old file' old_one_stays report "$one"
check 'speedscope: a failed write keeps the old file' old_one_stays speedscope "$one"
awk 'BEGIN { for (i = 0; i < 500; i++)
    printf "{\"tracee\":\"<0.%d.0>\",\"tag\":\"call\",\"term\":\"{some_module,function_%d,[]}\"}\n", i, i }' >"$work/many.jsonl"
check 'flame: a failed write keeps the old file' old_one_stays flame,by=calls "$work/many.jsonl"
check 'coverage: a failed write keeps the old file' old_one_stays coverage "$work/many.jsonl"
check 'count: a failed write keeps the old file' old_one_stays count,top=0 "$work/many.jsonl"
check 'time: a failed write keeps the old file' old_one_stays time,top=0 "$work/many.jsonl"

# --- A command that is not possible ---

# untouched COMMAND...: the command fails; existing files stay, and no new file is left.
untouched() {
    rm -rf "$work/there"
    mkdir "$work/there"
    echo old >"$work/there/n"
    for tracer in $as_they_go $at_their_end; do
        echo old >"$work/there/old_$tracer"
    done
    ls "$work/there" >"$work/names"
    "$tracehost" "$@" >"$work/stdout" 2>"$work/stderr" && return 1
    cat "$work/stderr" "$work/stdout"
    [ ! -s "$work/stdout" ] && ls -A "$work/there" | diff "$work/names" - &&
        for file in "$work"/there/*; do
            [ "$(cat "$file")" = old ] || return 1
        done
}
there=$work/there
all=
for tracer in $as_they_go $at_their_end; do
    all="$all -t $tracer,output=$there/old_$tracer -t $tracer,output=$there/new_$tracer"
done
check 'a missing tracer leaves all outputs unchanged' untouched replay $all -t ./none.so "$one"
check 'a missing stream leaves all outputs unchanged' untouched replay $all "$work/none.trace"
check 'a missing second stream leaves all outputs unchanged' untouched replay $all "$one" "$work/none.trace"
check 'an invalid second stream leaves all outputs unchanged' untouched replay $all "$one" tests/cli/lib/assertions.sh
check 'an output that cannot be opened leaves all others unchanged' untouched replay $all -t text,output="$work/no/file" "$one"
check 'an invalid stream leaves all outputs unchanged' untouched replay $all tests/cli/lib/assertions.sh
check 'a missing stream leaves stdout empty' untouched replay -t text -t count -t chrome -t jsonl -t sequence -t report "$work/none.trace"
check 'a missing tracer of a run leaves all outputs unchanged' untouched run $all -t ./none.so fib 'fib:fib(2)'
check 'a missing meta tracer of a run leaves all outputs unchanged' untouched run $all -p fib:fib/1 --kind=meta --meta-tracer=./none.so \
    fib 'fib:fib(2)'
check 'a missing library of a run leaves all outputs unchanged' untouched run $all ./none.so 'none:main().'

nothing_came() {
    rm -rf "$there"
    mkdir "$there"
    echo '{"tracehost":1}' >"$work/empty.jsonl"
    for tracer in $as_they_go $at_their_end; do
        echo old >"$there/old_$tracer"
    done
    "$tracehost" replay $all "$work/empty.jsonl" && for tracer in $as_they_go $at_their_end; do
        "$tracehost" replay -t $tracer "$work/empty.jsonl" >"$work/wanted" && cmp "$work/wanted" "$there/old_$tracer" &&
            cmp "$work/wanted" "$there/new_$tracer" || return 1
    done
}
check 'a stream without events replaces the old files' nothing_came

# --- Links, FIFOs, permissions ---

linked() {
    for tracer in $as_they_go $at_their_end; do
        rm -rf "$work/links"
        mkdir -p "$work/links/elsewhere"
        echo old >"$work/links/elsewhere/target"
        ln -s elsewhere/target "$work/links/link"
        ln -s elsewhere/none "$work/links/nowhere"
        ln -s "$work/links/elsewhere/deep" "$work/links/elsewhere/far"
        ln -s elsewhere/far "$work/links/further"
        "$tracehost" replay -t $tracer "$one" >"$work/wanted" 2>/dev/null
        for link in link nowhere further; do
            "$tracehost" replay -t $tracer,output="$work/links/$link" "$one" 2>/dev/null && [ -L "$work/links/$link" ] &&
                cmp "$work/wanted" "$work/links/$link" || return 1
        done
        [ "$(ls -A "$work/links/elsewhere" | tr '\n' ' ')" = 'deep far none target ' ] || return 1
    done
}
check 'a link to an output is followed and kept' linked
through_fifo() {
    mkfifo "$work/fifo"
    for tracer in $as_they_go $at_their_end; do
        "$tracehost" replay -t $tracer "$one" >"$work/wanted" 2>/dev/null
        cat "$work/fifo" >"$work/read" &
        "$tracehost" replay -t $tracer,output="$work/fifo" "$one" 2>/dev/null && wait $! &&
            cmp "$work/wanted" "$work/read" && [ -p "$work/fifo" ] || return 1
    done
}
check 'a FIFO as output is written and kept' through_fifo
permissions() {
    umask 027
    for tracer in $as_they_go $at_their_end; do
        rm -f "$work/new" "$work/old"
        echo old >"$work/old"
        chmod 604 "$work/old"
        "$tracehost" replay -t $tracer,output="$work/new" -t $tracer,output="$work/old" "$one" 2>/dev/null &&
            [ "$(stat -c %a "$work/new" "$work/old" | tr '\n' ' ')" = '640 604 ' ] || return 1
    done
}
check 'a new output obeys umask, an old one keeps its permissions' permissions

# --- While it runs ---

# The stream stays open; its events are in the file all the same, and SIGKILL takes none of them away.
as_it_goes() {
    rm -f "$work/stream" "$work/o"
    mkfifo "$work/stream"
    "$tracehost" replay -t "$1,output=$work/o" - <"$work/stream" &
    reader=$!
    exec 9>"$work/stream"
    cat "$one" >&9
    "$tracehost" replay -t "$1" "$one" >"$work/wanted"
    until_so cmp "$work/wanted" "$work/o" && kill -KILL $reader
    wait $reader
    exec 9>&-
    cmp "$work/wanted" "$work/o"
}
for tracer in text jsonl trace_port; do
    check "$tracer: events are written before the stream ends" as_it_goes $tracer
done

# has_calls COUNT FILE: the file is whole, and has so many calls.
has_calls() {
    case $(head -c 1 "$2") in
    '<') [ "$(tail -c 1 "$2" | od -An -c)" = '  \n' ] && [ "$(grep -c '^<0.1.4096> call bank:balance(abc)$' "$2")" -ge "$1" ] ;;
    *) [ "$("$tracehost" info --format=json "$2" | sed -n 's/.*"calls_total": \([0-9]*\).*/\1/p')" -ge "$1" ] &&
        "$tracehost" info "$2" >"$work/info" 2>&1 ;;
    esac
}
# banking TRACER EXPRESSION: a host in the background that traces bank:balance/1 into $work/live.
banking() {
    rm -f "$work/live"
    "$tracehost" run --schedulers=1 -t "$1,output=$work/live" -p bank:balance/1 bank 'bank:start(), bank:open(abc, 1).' \
        "$2" 'timer:sleep(120000).' >"$work/host.out" 2>&1 &
    host=$!
}
# All events are in the file while the host waits, also events that do not fill a buffer.
as_a_host_goes() {
    banking "$1" 'F = fun F(0) -> ok; F(N) -> bank:balance(abc), F(N - 1) end, F(300).'
    until_so has_calls 300 "$work/live"
    found=$?
    kill -KILL $host
    wait $host
    [ $found = 0 ] && has_calls 300 "$work/live"
}
# A buffer that is full ends within a record: at each moment whole ones are in the file.
never_torn() {
    banking "$1" 'F = fun F() -> bank:balance(abc), F() end, F().'
    for bytes in 10000 20000 100000; do
        until_so has_enough_bytes $bytes
        stop_process "$(worker_of "$host")" && has_calls 1 "$work/live" || torn=$bytes
        kill -CONT "$(worker_of "$host")"
    done
    kill -KILL $host
    wait $host
    [ ! "$torn" ] || { echo "torn after $torn bytes" && false; }
}
has_enough_bytes() {
    [ "$(wc -c <"$work/live")" -gt "$1" ]
}
for tracer in text jsonl trace_port; do
    torn=
    check "$tracer: events are written while the host waits" as_a_host_goes $tracer
    check "$tracer: a host that is killed leaves whole records" never_torn $tracer
done

echo old >"$work/n"
attach_fails() {
    ctl attach "text,output=$work/no/file" && return 1
    ctl attach "text,output=/dev/full" # it can be opened
    ctl attach "text,output=$work/n" -p nosuch:name/x && return 1
    ctl attach "text,output=$work/new_one" --processes='<0.9999.0>' && return 1
    [ "$(cat "$work/n")" = old ] && [ ! -e "$work/new_one" ]
}
attached() {
    a_bank -t count,output="$work/counted"
    attach_fails >"$work/answers" 2>&1
    echo "told: $?"
    grep -c 'cannot write .*no/file: No such file or directory' "$work/answers"
    ctl detach text >/dev/null 2>&1 # the one of /dev/full, which wrote nothing
    end >"$work/ended"
    cat "$work/ended"
    [ "$(cat "$work/n")" = old ] && [ ! -e "$work/new_one" ] && [ -s "$work/counted" ]
}
expect 'a failed attach leaves files unchanged' attached <<'LINES'
told: 0
1
ok
stderr: tracehost run: received a request to stop
status 0
LINES
finish
