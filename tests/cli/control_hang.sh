#!/bin/sh
# Tests --control with tracers that hang or crash while commands load, replace and unload them.
. tests/cli/lib/assertions.sh
. tests/cli/lib/control_hosts.sh

cat >"$work/bad.c" <<'EOF'
#include <erl_tracer.h>

#include <stdio.h>
#include <unistd.h>

TH_TRACER_LOAD()
{
#ifdef HANGS
    dprintf(1, "loading\n");
    for (;;)
        pause();
#endif
#ifdef CRASHES
    *(volatile int *)16 = 0;
#endif
    return 0;
}

#ifdef UPGRADE_HANGS
TH_TRACER_UPGRADE()
{
    dprintf(1, "upgrading\n");
    for (;;)
        pause();
    return 0;
}
#endif

TH_TRACER_UNLOAD()
{
    dprintf(1, "unloaded\n");
#ifdef UNLOAD_HANGS
    for (;;)
        pause();
#endif
}

TH_TRACER_ENABLED(generic)
{
#ifdef STATUS_HANGS
    if (enif_is_identical(tag, TH_TRACER_ATOM(env, trace_status))) {
        dprintf(1, "asked\n");
        for (;;)
            pause();
    }
#endif
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
}
EOF
for kind in GOOD HANGS CRASHES UNLOAD_HANGS STATUS_HANGS; do
    "$CC" -fPIC -shared -Iplugin_api -D$kind -o "$work/$kind.so" "$work/bad.c"
done
mkdir "$work/next"
"$CC" -fPIC -shared -Iplugin_api -DUPGRADE_HANGS -o "$work/next/GOOD.so" "$work/bad.c"
hangs() {
    begin timeout --foreground -s KILL "${PATIENCE:-60}" "$tracehost" run --control="$socket" --grace=300ms -t "$work/GOOD.so" bank \
        'bank:start().' 'timer:sleep(3600000).'
    ctl attach "$work/HANGS.so" >/dev/null 2>&1 &
    client=$!
    until_so grep loading "$work/host.out"
    kill -TERM "$host"
    ended
    wait "$client"
}
expect 'SIGTERM ends a host while a command hangs in load()' hangs <<'EOF'
loading
unloaded
ok
stderr: tracehost run: received SIGTERM
stderr: tracehost run: a command or the replacement of a tracer has not ended; the program ends without it
status 143
-- status 1
EOF
# others: lets a load(), an upgrade() and an unload() hang, and sends commands of other clients.
others() {
    begin timeout --foreground -s KILL "${PATIENCE:-60}" "$tracehost" run --control="$socket" --grace=300ms -t "$work/GOOD.so" bank \
        'bank:start().' 'timer:sleep(3600000).'
    ctl attach "$work/UNLOAD_HANGS.so" --session=hanging >/dev/null
    ctl attach "$work/HANGS.so" >/dev/null 2>&1 &
    clients=$!
    until_so grep loading "$work/host.out"
    ctl replace 1 "$work/next/GOOD.so" >/dev/null 2>&1 &
    clients="$clients $!"
    until_so grep upgrading "$work/host.out"
    ctl detach hanging >/dev/null 2>&1 &
    clients="$clients $!"
    until_so grep unloaded "$work/host.out"
    timeout 10 "$tracehost" ctl "$socket" attach "$work/GOOD.so" --session=another >/dev/null && echo attached
    timeout 10 "$tracehost" ctl "$socket" sessions | grep -c 'GOOD.so'
    timeout 10 "$tracehost" ctl "$socket" detach another >/dev/null && echo detached
    timeout 10 "$tracehost" ctl "$socket" stop
    ended
    wait $clients
}
expect 'other clients are answered while load(), upgrade() and unload() hang' others <<'EOF'
attached
2
detached
the host ends
loading
upgrading
unloaded
ok
stderr: tracehost run: received a request to stop
stderr: tracehost run: a command or the replacement of a tracer has not ended; the program ends without it
status 6
-- status 1
EOF
# asked COMMAND WORD...: sends a COMMAND that hangs in trace_status, then commands of other clients.
asked() {
    begin timeout --foreground -s KILL "${PATIENCE:-60}" "$tracehost" run --control="$socket" --grace=300ms -t "$work/GOOD.so" bank \
        'bank:start().' 'timer:sleep(3600000).'
    ctl "$@" >/dev/null 2>&1 &
    clients=$!
    until_so grep asked "$work/host.out"
    ctl attach "$work/GOOD.so" --session=another >/dev/null 2>&1 &
    clients="$clients $!"
    until_so another_is_there
    timeout 10 "$tracehost" ctl "$socket" info bank:start/0 >/dev/null && echo answered
    timeout 10 "$tracehost" ctl "$socket" stop
    ended
    wait $clients
}
another_is_there() {
    timeout 10 "$tracehost" ctl "$socket" sessions | grep another
}
for command in "attach $work/STATUS_HANGS.so" "replace 1 $work/STATUS_HANGS.so" \
    "pattern bank:start/0 --kind=meta --meta-tracer=$work/STATUS_HANGS.so"; do
    # shellcheck disable=SC2086 # words
    expect "other clients are answered while trace_status hangs: ${command%% *}" asked $command <<'EOF'
answered
the host ends
asked
ok
stderr: tracehost run: received a request to stop
stderr: tracehost run: a command or the replacement of a tracer has not ended; the program ends without it
status 6
-- status 1
EOF
done
# detach of a session whose meta tracer hangs in unload(), while other clients send commands.
unloaded() {
    begin "$tracehost" run --control="$socket" -t "$work/GOOD.so" bank 'bank:start().' 'timer:sleep(3600000).'
    ctl attach "$work/GOOD.so" --session=hanging -p bank:start/0 --kind=meta --meta-tracer="$work/UNLOAD_HANGS.so" >/dev/null
    ctl detach hanging >/dev/null 2>&1 &
    client=$!
    until_so grep unloaded "$work/host.out"
    timeout 10 "$tracehost" ctl "$socket" attach "$work/GOOD.so" --session=another >/dev/null && echo attached
    timeout 10 "$tracehost" ctl "$socket" sessions | grep -c 'GOOD.so'
    timeout 10 "$tracehost" ctl "$socket" detach another >/dev/null && echo detached
    kill -KILL "$host"
    wait "$host" 2>/dev/null
    wait $client
}
expect 'other clients are answered while a meta tracer hangs in unload()' unloaded <<'EOF'
attached
2
detached
EOF
# crashes COMMAND WORD...: prints the host's messages, without addresses.
crashes() {
    begin "$tracehost" run --control="$socket" -t "$work/GOOD.so" bank 'bank:start().' 'timer:sleep(3600000).'
    ctl "$@" >/dev/null 2>&1
    ended >"$work/ended"
    sed '/^stderr:   at .*+0x/d; /^stderr:   lines: addr2line/d' "$work/ended"
}
expect 'a crash in load() during attach is reported with the library' crashes attach "$work/CRASHES.so" <<'EOF'
stderr: tracehost: library 'WORK/CRASHES.so' crashed: SIGSEGV, a bad memory access at address 0x10, in load
status 6
EOF
expect 'a crash in load() during replace is reported with the library' crashes replace 1 "$work/CRASHES.so" <<'EOF'
stderr: tracehost: library 'WORK/CRASHES.so' crashed: SIGSEGV, a bad memory access at address 0x10, in load
status 6
EOF
finish
