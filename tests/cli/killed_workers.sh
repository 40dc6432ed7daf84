#!/bin/sh
# Tests that a replay prints what a plain replay prints, although workers are killed at records that a seed decides: of
# the processes that play shares one of two, two of three, three of seven; and three tracers that are isolated beside all
# those that can be merged. There are ten seeds, with sanitizers three, in an emulator one, or $WORKER_SEEDS. WORKERS=all in the environment kills shares of each
# tracer with each seed, not of one tracer with each, and replays each recording with each seed, not a third of them.
. tests/cli/lib/assertions.sh
. tests/cli/isolate/tracers.sh

killer=$tracers/killed.so
all='count,by=process coverage text jsonl trace_port time,by=process chrome perfetto otlp flame report'

# --- shares ---

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

shares_survive() {
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

# --- isolated tracers ---

tracers_with_files=
for tracer in $all; do tracers_with_files="$tracers_with_files -t $tracer,output=${tracer%%,*}"; done

remarks() {
    grep -v '^tracehost\|^  \|^Killed' "$work/$1/stderr" || true
}

# isolated_survives SEED STREAM
isolated_survives() {
    replayed plain $tracers_with_files "$2"
    replayed again $tracers_with_files "$2"
    events=$(grep -c '"tag"' "$work/plain/jsonl")
    set -- "$2" $(awk -v seed="$1" -v events="$events" \
        'BEGIN { srand(seed); for (i = 0; i < 3; i++) print 1 + int(events * rand()) }')
    replayed isolated --isolate --on-crash=stop -L "$work/lib" $tracers_with_files -t "dying,output=one,at=$2,how=9" \
        -t "dying,output=two,at=$3,how=9" -t "dying,output=three,at=$4,how=9" "$1"
    [ "$(cat "$work/isolated/one" "$work/isolated/two" "$work/isolated/three" | wc -l)" = $(($2 + $3 + $4)) ] &&
        [ "$(cat "$work/isolated/status")" = "$(sed 's/^0$/137/' "$work/plain/status")" ] || { cat "$work/isolated/stderr"; return 1; }
    for tracer in $all; do
        file=${tracer%%,*}
        if cmp -s "$work/plain/$file" "$work/again/$file"; then
            cmp "$work/plain/$file" "$work/isolated/$file" || return 1
        fi
    done
    [ "$(remarks plain | sort)" = "$(remarks isolated | sort)" ] || { cat "$work/isolated/stderr"; return 1; }
}

# The recordings whose number, with that of the seed, is divided by three; without damage, whose remarks each tracer has.
some_survive() {
    number=0
    for stream in "$recordings"/*.trace; do
        case $stream in */trunc_* | */s20_empty*) continue ;; esac
        number=$((number + 1))
        [ "${WORKERS:-}" = all ] || [ $(((number + $1) % 3)) = 0 ] || continue
        isolated_survives "$1" "$top/$stream" || { echo "$stream"; return 1; }
    done
}

set -- $all
[ -z "$slow" ] || : "${WORKER_SEEDS:=1}"
for seed in $(seq "${WORKER_SEEDS:-10}"); do
    for tracer in $(if [ "${WORKERS:-}" = all ]; then echo $all; else echo "$1"; fi); do
        check "killed shares, seed $seed: $tracer" shares_survive "$seed" "$tracer"
    done
    check "killed tracers, seed $seed" some_survive "$seed"
    set -- "$@" "$1"
    shift
done

finish
