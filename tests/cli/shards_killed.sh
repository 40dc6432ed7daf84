#!/bin/sh
# Tests that a replay in shares prints what a plain replay prints, although processes that play shares are killed: one
# of two, two of three, three of seven, at records that a seed decides. SHARDS_TRACERS=all in the environment kills in
# the replays of each tracer with each seed, not of one tracer with each; SHARDS_SEEDS is the number of seeds.
. tests/cli/lib/assertions.sh

killer=$tracers/killed.so
all='count,by=process coverage text jsonl trace_port time,by=process chrome otlp flame report'
set -- $all

# replay_killed SHARES SEED TRACER STREAM writes WORK/SHARES.out and WORK/SHARES.err, with the status.
replay_killed() {
    rm -f "$work"/killed*
    KILLED_COUNT=$(case $1 in 1) echo 0 ;; 2) echo 1 ;; 3) echo 2 ;; *) echo 3 ;; esac)
    export KILLED_COUNT KILLED_LOG="$work/killed" KILLED_SEED="$2"
    : >"$KILLED_LOG"
    timeout -s KILL 100 "$tracehost" replay --shards="$1" -t "$3" -t "$killer" "$4" >"$work/$1.out" 2>"$work/$1.err" </dev/null
    echo "status $?" >>"$work/$1.err"
    [ "$(wc -c <"$KILLED_LOG")" = "$KILLED_COUNT" ] || { echo "$KILLED_COUNT processes were not killed"; return 1; }
}

# unrepeatable TRACER STREAM: without time stamps the tracer reads the clock of the host.
unrepeatable() {
    replay_killed 1 1 "$1" "$2"
    cp "$work/1.out" "$work/again.out"
    replay_killed 1 1 "$1" "$2"
    ! cmp -s "$work/1.out" "$work/again.out"
}

survives() {
    for stream in "$recordings"/*.trace; do
        # No share of a damaged recording is saved: a share without events cannot be killed.
        case $stream in */trunc_* | */s20_empty* | */s22_*) continue ;; esac
        if unrepeatable "$2" "$stream"; then continue; fi
        for shares in 2 3 7; do
            replay_killed $shares "$1" "$2" "$stream" && cmp "$work/1.out" "$work/$shares.out" &&
                diff "$work/1.err" "$work/$shares.err" || { echo "$shares shares of $stream"; return 1; }
        done
    done
}

for seed in $(seq "${SHARDS_SEEDS:-10}"); do
    for tracer in $(if [ "${SHARDS_TRACERS:-}" = all ]; then echo $all; else echo "$1"; fi); do
        check "killed shares, seed $seed: $tracer" survives "$seed" "$tracer"
    done
    set -- "$@" "$1"
    shift
done

finish
