#!/bin/sh
# Tests tail calls with return requests, as in a loop that never returns: memory is bounded, and the number of dropped
# requests is reported.
. tests/cli/lib/assertions.sh

# tail_calls N: a call, N tail calls of two functions in turn, and their return, as JSON lines.
tail_calls() {
    python3 - "$1" <<'END'
import sys

def call(function, tail):
    return '{"tracee":"<0.1.0>","tag":"call","term":"{m,%s,1}","tail":%s}\n' % (function, tail)

turn = (call('g', 'true') + call('f', 'true')).encode() * 500
write = sys.stdout.buffer.write
write(b'{"tracehost":1}\n' + call('f', 'false').encode())
for _ in range(int(sys.argv[1]) // 1000):
    write(turn)
write(b'{"tracee":"<0.1.0>","tag":"return_from","term":"{m,f,1}","extra":"done"}\n')
END
}

# replayed N KIB OPTION...: replays N tail calls in at most KIB KiB of addresses.
replayed() {
    calls=$1
    limit=$2
    shift 2
    tail_calls "$calls" | (
        ulimit -v "$limit"
        # glibc sets 64 MiB of addresses aside for each thread's malloc(), if it happens to find them.
        MALLOC_ARENA_MAX=1 "$tracehost" replay -t count -p m:_ --return "$@" -
    )
}

expect '--max-frames keeps the latest return requests' replayed 100000 unlimited --max-frames=1000 --fail-on-loss <<'EOF'
      events       %  tag
      100001   99.01  call
        1000    0.99  return_from
      101001  100.00  all

       calls       %  function
       50001   50.00  m:f/1
       50000   50.00  m:g/1
-- stderr
tracehost replay: return frames not kept: 99001
-- status 4
EOF

needs_machine 'a million return requests of three million calls fit in 96 MiB' 'the addresses of a process are those of the emulator, too'
case $BUILD_DIR in
*release) ;;
*)
    skip 'a million return requests of three million calls fit in 96 MiB' 'takes too long, or too much memory, in this mode'
    finish
    ;;
esac
# A million return requests are kept; room for two million would be 112 MiB.
expect 'a million return requests of three million calls fit in 96 MiB' replayed 3000000 98304 <<'EOF'
      events       %  tag
     3000001   75.00  call
     1000000   25.00  return_from
     4000001  100.00  all

       calls       %  function
     1500001   50.00  m:f/1
     1500000   50.00  m:g/1
-- stderr
tracehost replay: return frames not kept: 2000001
EOF
finish
