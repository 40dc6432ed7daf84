#!/bin/sh
# Tests changes of tracing at full load: a lasting session loses no event and gets none twice. Also tests misbehaving
# clients, which must not harm the host.
. tests/cli/lib/assertions.sh
. tests/cli/lib/control_hosts.sh

party=$BUILD_DIR/tests/plugins/party.so
[ -z "${EMULATOR:-}" ] || : "${STRESS_CHANGES:=20}"
rounds=${STRESS_CHANGES:-100}

# under_load: starts a host with four processes that call party:loop/1 without end.
under_load() {
    begin "$tracehost" run --control="$socket" --schedulers=2 -L "$tracers" "$party" \
        'party:spawns(4, party, loop, [4000000000000]).' 'timer:sleep(3600000).'
}

# changes: prints a script. One session stays; other sessions come and go, with breakpoints of all kinds at the function
# that the first session traces. One of the other sessions gets new tracers.
changes() {
    echo "attach numbered=0 -p party:loop/1 --session=stays"
    round=1
    while [ $round -le "$rounds" ]; do
        cat <<EOF
attach numbered=$round -p party:loop/1 --return --session=comes
attach count,output=$work/counts -p party:loop/1 --kind=count,time --session=counts
pattern party:_/_ --kind=local --session=counts
flags send,receive,procs on --session=counts
pattern party:loop/1 --kind=count,time --match-spec=restart --session=counts
flags call off all --session=counts
pattern party:loop/1 --match-spec=pause --kind=count,time --session=counts
info party:loop/1
replace comes count,output=$work/counted
replace comes numbered=$((round + rounds))
processes
pattern _:_/_ --match-spec=false --kind=local,count,time --session=counts
detach comes
detach counts
EOF
        round=$((round + 1))
    done
    echo "detach stays"
}
changed() {
    under_load
    changes | ctl >"$work/answers"
    end >"$work/end" # in no subshell, which could not wait for it
    # The returns of endless tail calls are traced: on a slow machine the limit of open calls is exceeded.
    grep -v -e '^stderr: numbered' -e 'too many calls were open' "$work/end"
    test "$(grep -c 'has ended' "$work/answers")" = $((2 * rounds + 1)) && echo 'all sessions have ended'
}
expect 'a session loses and doubles no event while other sessions change' changed <<'EOF'
numbered: many calls in several accounts, 0 lost, 0 doubled
4
stderr: tracehost run: received a request to stop
status 0
all sessions have ended
EOF

# --- clients that misbehave ---

misbehaved() {
    under_load
    ctl attach numbered=0 -p party:loop/1
    tests/cli/lib/bad_clients.py "$socket" 1000
    ctl sessions | tr -s ' ' | sed 's/[0-9]\{3,\} /N /'
    end >"$work/end" # in no subshell, which could not wait for it
    grep -v '^stderr: numbered' "$work/end"
}
expect 'a thousand misbehaving clients do not harm the host' misbehaved <<'EOF'
session 1, tracer 'numbered': flags call, 1 breakpoint
half_a_line 125, never_reads 13, no_request 125, noise 125, shuts_down 125, too_long 125, vanishes 237, wrong_words 125
session tracer traced discarded breakpoints flags
 1 numbered N 0 1 call
numbered: many calls in few accounts, 0 lost, 0 doubled
4
stderr: tracehost run: received a request to stop
status 0
EOF
finish
