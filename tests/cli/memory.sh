#!/bin/sh
# Tests that memory does not grow with the stream: fifty copies of a recording take no more than one, and 32 MiB
# suffice.
. tests/cli/lib/assertions.sh
needs_machine 'memory does not grow' 'the memory of a process is that of the emulator, too'

recording=$recordings/s11_mnesia_arity.trace
for i in 0 1 2 3 4 5 6 7 8 9; do
    cat "$recording" "$recording" "$recording" "$recording" "$recording"
done >"$work/long.trace"
"$tracehost" convert "$recording" "$work/short.jsonl"
"$tracehost" convert "$work/long.trace" "$work/long.jsonl"

# peak COMMAND...: prints the peak memory of the command, in KiB.
peak() {
    python3 -c '
import os, sys
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ,
                        file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
_, status, usage = os.wait4(child, 0)
print(usage.ru_maxrss if status == 0 else "failed")' "$tracehost" "$@"
}

# flat SHORT LONG COMMAND...: succeeds if LONG needs at most 2 MiB more memory than SHORT, and at most 32 MiB.
flat() {
    short=$1
    long=$2
    shift 2
    once=$(peak "$@" "$short") && often=$(peak "$@" "$long")
    echo "once $once KiB, fifty times $often KiB"
    [ "$often" -le $((once + 2048)) ] && [ "$often" -le 32768 ]
}

case $BUILD_DIR in
*asan | *tsan)
    skip 'memory does not grow' 'sanitizers keep what was freed'
    finish
    ;;
esac
for command in 'replay -t count' 'replay -t text' dump info; do
    # shellcheck disable=SC2086
    check "$command of a long trace-port file needs no more memory" flat "$recording" "$work/long.trace" $command
    # shellcheck disable=SC2086
    check "$command of long JSON lines needs no more memory" flat "$work/short.jsonl" "$work/long.jsonl" $command
done
# --- no memory ---

# A record of ten million characters, as a list: 160 MB, which is more than the limit of memory.
python3 - >"$work/huge.jsonl" <<'EOF'
event = '{"tracee":"<0.94.0>","tag":"send","term":"%s","extra":"<0.95.0>"}'
print('{"tracehost":1,"node":"nonode@nohost","creation":0}')
print(event % 'small')
print(event % (r'\"' + 'x' * 10000000 + r'\"'))
EOF
# starved COMMAND...: runs the command with 120 MB of addresses.
starved() {
    (ulimit -v 120000 && MALLOC_ARENA_MAX=1 "$tracehost" "$@") 2>"$work/err"
    status=$?
    sed 's/([0-9]* bytes/(N bytes/' "$work/err" >&2
    return $status
}
expect 'a replay that is out of memory blames no tracer' starved replay "$work/huge.jsonl" <<'EOF'
<0.94.0>   send small -> <0.95.0>
-- stderr
tracehost: out of memory (N bytes wanted)
-- status 1
EOF
converted() {
    mkdir "$work/folder"
    starved convert "$work/huge.jsonl" "$work/folder/out.trace"
    echo "status $?"
    ls "$work/folder"
}
expect 'a convert that is out of memory leaves no file' converted <<'EOF'
status 1
-- stderr
tracehost: out of memory (N bytes wanted)
EOF

finish
