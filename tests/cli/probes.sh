#!/bin/sh
# Tests tracehost probes, and run --probe.
. tests/cli/lib/assertions.sh

party=$BUILD_DIR/tests/plugins/party.so

# --- the probes of files ---

listed() {
    "$tracehost" probes "$@" >"$work/list" || return
    grep -o '^erlang:[a-z_0-9]*' "$work/list" | sed 's/erlang://' | LC_ALL=C sort >"$work/names"
    sed -n 's/^    X(\([a-z_0-9]*\), [a-z]*, ".*/\1/p' plugin_api/probe_table.h | LC_ALL=C sort |
        diff - "$work/names"
}
check 'the program has all probes of the table' listed
check 'the library libtracehost.so has all probes of the table' listed "$BUILD_DIR/lib/libtracehost.so"

own() {
    "$tracehost" probes | grep -e message__send'(' -e efile_drv__int_entry
}
expect 'arguments of own probes have names and types' own <<'END'
erlang:efile_drv__int_entry(int thread_id, int tag, int command)
erlang:message__send(char *sender, char *receiver, uint32_t size, int token_label, int token_previous, int token_current)
END

# A library with other probes: without semaphores, in two places, and with a name of the table but other arguments.
cat >"$work/mine.c" <<'END'
#include <sys/sdt.h>
void f(long a, short b)
{
    STAP_PROBE2(mine, two, a, b);
    STAP_PROBE1(mine, one, (unsigned char)b);
    STAP_PROBE1(mine, one, (unsigned char)a);
    STAP_PROBE(mine, none);
    STAP_PROBE2(erlang, copy__struct, a, b);
}
END
"$CC" -shared -fPIC -O1 -o "$work/mine.so" "$work/mine.c"
expect "probes of another library are listed" "$tracehost" probes "$work/mine.so" <<'END'
erlang:copy__struct(int64_t, int16_t)
mine:none()
mine:one(uint8_t) in 2 places
mine:two(int64_t, int16_t)
END
expect 'a library is found with -L' "$tracehost" probes -L "$work" mine <<'END'
erlang:copy__struct(int64_t, int16_t)
mine:none()
mine:one(uint8_t) in 2 places
mine:two(int64_t, int16_t)
END
expect 'a file without probes gives a warning' "$tracehost" probes "$party" <<'END'
-- stderr
tracehost probes: warning: BUILD/tests/plugins/party.so has no probes
END

as_json() {
    "$tracehost" probes --format=json "$@" >"$work/json" && python3 - "$work/json" <<'END'
import json, sys
for probe in json.load(open(sys.argv[1])):
    if probe['name'] in ('copy__struct', 'one', 'none'):
        print(probe['provider'], probe['name'], [(a['name'], a['type'], a['size']) for a in probe['arguments']],
              [(p['location'][:2], p['semaphore'] is not None, len(p['arguments'])) for p in probe['places']])
END
}
expect 'own probes as JSON' as_json <<'END'
erlang copy__struct [('size', 'uint32_t', 4)] [('0x', True, 1)]
END
expect "probes of another library as JSON" as_json "$work/mine.so" <<'END'
erlang copy__struct [(None, 'int64_t', -8), (None, 'int16_t', -2)] [('0x', False, 2)]
mine none [] [('0x', False, 0)]
mine one [(None, 'uint8_t', 1)] [('0x', False, 1), ('0x', False, 1)]
END

# --- files of other kinds ---

expect 'a file that is not ELF is refused' "$tracehost" probes tests/cli/lib/assertions.sh </dev/null <<'END'
-- stderr
tracehost probes: cannot read the probes of tests/cli/lib/assertions.sh
  the file is not an ELF file
-- status 3
END
expect 'a file that does not exist is refused' "$tracehost" probes ./nowhere <<'END'
-- stderr
tracehost probes: cannot read the probes of ./nowhere
  cannot open the file: No such file or directory
-- status 1
END

# The name of the first note loses its end.
damage() {
    python3 - "$work/mine.so" "$work/damaged" <<'END'
import sys
data = bytearray(open(sys.argv[1], 'rb').read())
at = data.index(b'stapsdt\0')
size = int.from_bytes(data[at - 8:at - 4], 'little')
content = at + 8
data[content + 24:content + size] = b'x' * (size - 24)
open(sys.argv[2], 'wb').write(data)
END
    "$tracehost" probes "$work/damaged"
}
expect 'a damaged note is skipped and counted' damage <<'END'
erlang:copy__struct(int64_t, int16_t)
mine:none()
mine:one(uint8_t) in 2 places
-- stderr
tracehost probes: 1 damaged note was skipped
-- status 4
END

# --- run --probe ---

run() {
    "$tracehost" run --schedulers=1 -t "text,output=$work/trace" "$@" | sed 's/<0\.[0-9]*\.[0-9]*>/PID/g'
}
expect 'run --probe prints the probes that match' run --probe=message__send --probe='nif__*' "$party" 'party:sends(self(), [a,{b}]).' <<'END'
nif__entry p=PID mfa=party:sends/2
message__send sender=PID receiver=PID size=0 token_label=0 token_previous=0 token_current=0
message__send sender=PID receiver=PID size=2 token_label=0 token_previous=0 token_current=0
nif__return p=PID mfa=party:sends/2
ok
END
expect 'run --probe refuses a pattern that matches no probe' "$tracehost" run --probe=message__sent "$party" 1 <<'END'
-- stderr
tracehost run: --probe: there is no probe 'message__sent'; did you mean 'message__send'?
Try `tracehost run --help' or `tracehost run --usage' for more information.
-- status 2
END
finish
