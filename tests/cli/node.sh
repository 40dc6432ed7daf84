#!/bin/sh
# Tests streams node:NAME@HOST: the request that options make, sessions, ends, and that a node is left as it was.
# tests/node tests the parts that speak with the node; tests/oracle/node.sh compares callbacks with those in a node.
. tests/cli/lib/assertions.sh

# --- the request, without a node

explain() {
    "$tracehost" replay --explain "$@" node:shop@host
}
expect 'patterns, flags and tracees are asked for' explain --flags=call,send,timestamp -p lists:sort/1 --return \
    -p wl:_ --kind=global -p send --match-spec="[{['_',go],[],[]}]" --processes="till,<0.12.0>,'new'" --ports=new <<'EOF'
EOF
expect 'a specification that would change the node is decided here' explain \
    -p a:b/1 --match-spec="[{'_',[],[{set_seq_token,label,1},{return_trace}]}]" \
    -p a:c/1 --match-spec="[{['\$1'],[{'==',{get_tcw},'\$1'}],[]}]" -p a:d/1 --match-spec="[{'_',[],[{message,{caller}}]}]" <<'EOF'
EOF
expect 'specifications of several sessions are decided here' explain --session=one -t text -p a:b/1 --exception \
    --session=two -t count -p a:_ <<'EOF'
EOF
expect 'limits are part of the request' explain -p a:b/1 --max-rate=0 --max-bytes=1MiB --sample=8 <<'EOF'
EOF
expect 'counts need no event, times need the flag call' explain -p a:b/1 --kind=count -p a:c/1 --kind=time <<'EOF'
EOF
expect 'dump, info, convert and report explain, too' sh -c '
    for command in "dump" "info" "convert" "report"; do
        [ $command != convert ] || set -- "$1" out.trace
        "$1" $command --explain -p a:b/1 node:shop $2 || echo "$command failed"
    done' sh "$tracehost" <<'EOF'
EOF

for arguments in 'replay' 'replay -p on_load' 'replay -p a:b --kind=meta' 'replay --flags=call' 'replay --flags=call,return_to' \
    'dump' 'convert -p a:b/1 --match-spec=[' 'info --session=x' 'replay -p a:b/1 --max-rate=-1' 'replay -p a:b/1 --sample=1' \
    'replay -p a:b/1 --for=0' 'replay --session=a -t text -p a:b --processes=new --session=b -t count -p a:c' 'replay -p a:b/1 --shards=2'; do
    echo "$arguments:"
    # shellcheck disable=SC2086 # words
    set -- $arguments
    [ "$1" != convert ] || set -- "$@" 'node:shop' out.trace
    [ "$1" = convert ] || set -- "$@" 'node:shop'
    "$tracehost" "$@" 2>&1 | grep -v '^Try \|^information'
done >"$work/refusals"
expect 'requests that a node cannot get are refused' cat "$work/refusals" <<'EOF'
EOF
expect 'options for nodes are for nodes' "$tracehost" dump -p a:b/1 "$recordings/s13_procs.trace" <<'EOF'
EOF
