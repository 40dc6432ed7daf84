#!/bin/sh
# Tests probes with the kernel's tracing, through bpftrace and perf. Skipped without the permission for these.
. tests/cli/lib/assertions.sh
needs_machine 'the kernel finds the probes' 'it would see the emulator'

# LeakSanitizer wants to be the one that traces. perf keeps a cache below HOME.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" HOME="$work"

# A program whose path has no blanks: neither bpftrace nor the kernel's tracing accepts blanks.
mkdir "$work/bin"
cp "$tracehost" "$work/bin"
ln -s "$BUILD_DIR/lib" "$work/lib"
ln -s "$BUILD_DIR/tests/plugins" "$work/plugins"
tracehost=$work/bin/tracehost
party=$work/plugins/party.so

# Without spaces or quotes, as bpftrace splits it by itself.
cat >"$work/script" <<'END'
party:sends(self(), [a,{b,c},[1,2]]).
END
hit="$tracehost run --schedulers=1 -f $work/script -t count --flags=exiting $party done."

# --- bpftrace ---

in_bpftrace() {
    timeout 120 bpftrace -c "$hit" "$@" 2>&1 | grep '^hit' | sed 's/<0\.[0-9]*\.[0-9]*>/PID/g'
}

# Succeeds if the kernel permits a uprobe.
bpftrace_may() {
    timeout 60 bpftrace -c /bin/true -e 'BEGIN { exit(); }' >"$work/why" 2>&1 &&
        timeout 60 bpftrace -c "$hit" -e "uprobe:$tracehost:main { exit(); }" >"$work/why" 2>&1
}

if ! command -v bpftrace >/dev/null; then
    skip 'bpftrace raises the semaphore and reads arguments' 'bpftrace is not installed'
elif ! bpftrace_may; then
    skip 'bpftrace raises the semaphore and reads arguments' "$(grep ERROR "$work/why" | tail -1)"
else
    expect 'bpftrace raises the semaphore and reads arguments' in_bpftrace \
        -e "usdt:$tracehost:erlang:message__send { printf(\"hit %s %s %d\\n\", str(arg0), str(arg1), arg2); }" <<'END'
hit PID PID 0
hit PID PID 3
hit PID PID 4
END
fi

# --- perf ---

# Sets $event to the name of a new event.
make_event() {
    perf buildid-cache --add "$tracehost" >"$work/why" 2>&1 &&
        perf probe -x "$tracehost" sdt_erlang:message__send >"$work/why" 2>&1 &&
        event=$(sed -n 's/^ *\(sdt_erlang:[a-z_0-9]*\) .*/\1/p' "$work/why" | head -1) && [ -n "$event" ]
}

in_perf() {
    # shellcheck disable=SC2086
    perf record -q -o "$work/data" -e "$event" $hit >"$work/said" 2>&1 || cat "$work/said"
    perf script -i "$work/data" -F event,trace 2>/dev/null | sed -n 's/.* \(arg3=[0-9a-fx]*\) .*/\1/p'
}

if ! command -v perf >/dev/null; then
    skip 'perf finds the probe, raises the semaphore and reads arguments' 'perf is not installed'
elif ! make_event; then
    skip 'perf finds the probe, raises the semaphore and reads arguments' "$(head -1 "$work/why")"
else
    trap 'perf probe -q -d "$event" 2>/dev/null; rm -rf "$work"' EXIT
    expect 'perf finds the probe, raises the semaphore and reads arguments' in_perf <<'END'
arg3=0
arg3=3
arg3=4
END
fi
finish
