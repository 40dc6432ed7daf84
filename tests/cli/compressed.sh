#!/bin/sh
# Tests compressed recordings: each is read as the plain one, from files, pipes and the spool; convert
# writes them; torn and damaged ones give what they have.
. tests/cli/lib/assertions.sh

calls=$recordings/s01_seed_local_caller.trace
long=$recordings/s09_collections_return.trace

# text STREAM: what two tracers say of it.
text() {
    "$tracehost" replay -t text -t count "$@" 2>&1
}
# alike PLAIN PACKED: both are read alike, by name and through a pipe, by one process and by two.
alike() {
    text "$1" | sed "s|$1|NAME|g" >"$work/plain"
    text "$2" | sed "s|$2|NAME|g" >"$work/packed"
    diff "$work/plain" "$work/packed" || return 1
    for how in '' --isolate; do
        text $how - <"$1" >"$work/plain"
        text $how - <"$2" >"$work/packed"
        diff "$work/plain" "$work/packed" || return 1
        # shellcheck disable=SC2002
        cat "$2" | text $how - >"$work/packed"
        diff "$work/plain" "$work/packed" || return 1
    done
}
for trace in "$recordings"/*.trace; do
    name=$(basename "$trace")
    case ${EMULATOR:+emulator}$slow:$name in
    :s2[0-9]* | :trunc* | :s0[1-9]* | yes:trunc* | yes:s0[1-3]* | *:s03* | *:s22* | *:trunc_body*) ;;
    *) continue ;;
    esac
    gzip -c "$trace" >"$work/$name.gz"
    zstd -qc "$trace" >"$work/$name.zst"
    check "gzip: $name" alike "$trace" "$work/$name.gz"
    check "zstd: $name" alike "$trace" "$work/$name.zst"
done
in_parts() {
    head -c 100000 "$long" | "$1" -c >"$work/parts"
    tail -c +100001 "$long" | "$1" -c >>"$work/parts"
    alike "$long" "$work/parts"
}
check 'two members of gzip are one stream' in_parts gzip
check 'two frames of zstd are one stream' in_parts zstd

wrapped() {
    for file in "$recordings"/wrap/w[1-4].log; do gzip -c "$file" >"$work/$(basename "$file").gz"; done
    text "$recordings/wrap/w*.log" >"$work/plain"
    text "$work/w*.log.gz" >"$work/packed"
    diff "$work/plain" "$work/packed" && "$tracehost" replay -t count "$work/w1.log.gz" 2>&1 | grep 'the wrap set'
}
expect 'a wrap set may be of compressed files' wrapped <<'OUT'
tracehost replay: the wrap set WORK/w*.log.gz is read: 4 files, WORK/w1.log.gz first
OUT

# there_and_back SUFFIX: convert writes what gzip and zstd, and convert, read again.
there_and_back() {
    "$tracehost" convert "$long" "$work/back.$1" || return 1
    case $1 in *.gz) gzip -dc "$work/back.$1" >"$work/plain" ;; *) zstd -qdc "$work/back.$1" >"$work/plain" ;; esac
    case $1 in trace*) cmp "$long" "$work/plain" || return 1 ;; esac
    "$tracehost" convert "$work/back.$1" "$work/back.trace" && cmp "$long" "$work/back.trace"
}
for suffix in trace.gz trace.zst jsonl.gz jsonl.zst; do
    check "convert writes .$suffix" there_and_back $suffix
done
to_stdout() {
    "$tracehost" convert --to=trace.zst "$long" - | zstd -qdc | cmp - "$long" &&
        "$tracehost" convert --to=trace "$long" "$work/as.gz" && gzip -dc "$work/as.gz" | cmp - "$long" &&
        "$tracehost" convert --to=trace.gz --level=9 "$long" - | gzip -dc | cmp - "$long"
}
check 'convert --to names a compression, or the file does' to_stdout
level() {
    "$tracehost" convert --level=19 "$long" "$work/small.trace.zst" && "$tracehost" convert "$long" "$work/usual.trace.zst" &&
        [ "$(wc -c <"$work/small.trace.zst")" -lt "$(wc -c <"$work/usual.trace.zst")" ]
}
check 'a higher level makes a smaller file' level
wrong_levels() {
    "$tracehost" convert --level=10 "$long" "$work/x.trace.gz"
    "$tracehost" convert --level=1 "$long" "$work/x.trace"
    "$tracehost" convert --to=trace.xz "$long" "$work/x"
    "$tracehost" convert "$long" "$work/x.zst"
    ls "$work"/x*
}
expect 'levels and formats that do not exist' wrong_levels <<'OUT'
-- stderr
tracehost convert: --level is at most 9 for this compression
tracehost convert: --level needs an output with .gz or .zst
tracehost convert: there is no format 'trace.xz': the formats are jsonl and trace, plain or with .gz or .zst behind
tracehost convert: the output's format is not known from the name 'WORK/x.zst': give --to=jsonl or --to=trace
ls: cannot access 'WORK/x*': No such file or directory
-- status 2
OUT

# The records of a torn file, or of one with a changed byte, are the first ones of the whole file.
cat "$recordings"/s0*.trace "$recordings"/s1*.trace >"$work/longer"
long=$work/longer
torn() {
    "$1" -c "$long" >"$work/whole"
    size=$(($(wc -c <"$work/whole") * $2 / 100))
    head -c $size "$work/whole" >"$work/torn"
    "$tracehost" convert --to=trace "$work/torn" - >"$work/records" 2>"$work/complaints"
    status=$?
    cmp -n "$(wc -c <"$work/records")" "$work/records" "$long" && grep -o "cannot read the input: .*" "$work/complaints" && return $status
}
for how in gzip zstd; do
    for part in 20 50 99; do
        expect "$how: a file of which $part % are left" torn $how $part <<OUT
cannot read the input: the compressed data ($how) are cut off
-- status 4
OUT
    done
done
changed() {
    "$1" -c "$long" >"$work/whole"
    printf '\377\377\377' | dd of="$work/whole" bs=1 seek=$(($(wc -c <"$work/whole") * 9 / 10)) conv=notrunc 2>/dev/null
    "$tracehost" replay -t count "$work/whole" >"$work/counts" 2>"$work/complaints"
    echo "status $?"
    grep -q 'is damaged\|are lost' "$work/complaints" && grep -q recovered "$work/complaints"
}
for how in gzip zstd; do
    expect "$how: a file with changed bytes" changed $how <<'OUT'
status 4
OUT
done
shares() {
    zstd -qc "$long" >"$work/sound.zst"
    "$tracehost" replay -t count --shards=2 "$work/sound.zst"
}
expect 'shares need a file that can be read at several places' shares <<'OUT'
-- stderr
tracehost replay: --shards needs a plain file, which can be read at several places: decompress the file
-- status 2
OUT

# Few bytes become many, in one record: memory does not grow with them.
bomb() {
    {
        printf '\0\13\353\302\0\203h\4d\0\5trace'
        head -c 199999989 /dev/zero
    } | "$1" -c >"$work/bomb"
    python3 - "$tracehost" "$work/bomb" <<'PY'
import resource, subprocess, sys
done = subprocess.run([sys.argv[1], 'replay', '-t', 'count', '--max-memory=8M', sys.argv[2]], stderr=subprocess.PIPE, text=True)
print(done.stderr.replace(sys.argv[2], 'FILE'), end='')
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print('at most 64 MiB' if most < 65536 else 'KiB: %d' % most)
PY
}
for how in gzip zstd; do
    case $BUILD_DIR in
    *asan | *tsan)
        skip "$how: a record of 200 MB in a small file takes no memory" 'sanitizers take more'
        continue
        ;;
    esac
    expect "$how: a record of 200 MB in a small file takes no memory" bomb $how <<'OUT'
tracehost replay: FILE: record 1 at byte 0 is damaged
  the event needs more memory than the limit of 8388608 bytes (--max-memory)
tracehost replay: FILE: recovered 0 records, skipped 1
at most 64 MiB
OUT
done

finish
