#!/bin/sh
# Tests the plugin `json`: the same results in tracehost and in a real BEAM; generated cases against jiffy.
. tests/cli/lib/assertions.sh
. tests/shipped/answers

answers json "$plugins/json"

# For generated texts, whole and damaged, this host's results equal the BEAM's.
generated() {
    jiffy=no
    [ -n "$(erl -noshell -eval 'code:which(jiffy) =/= non_existing andalso io:put_chars("there"), halt().')" ] && jiffy=yes
    escript tests/shipped/json.escript plugins/json/json.erl "$plugins/json" $jiffy "$work/generated" &&
        [ "$(wc -l <"$work/generated.results")" = 6000 ] &&
        "$tracehost" call -f "$work/generated" json | cmp - "$work/generated.results"
}
if [ -n "$sanitized" ] || ! command -v escript >/dev/null; then
    skip 'generated texts give the same results as in a BEAM' 'they need a BEAM, which does not load libraries with sanitizers'
else
    check 'generated texts give the same results as in a BEAM' generated
fi

# Jansson keeps nothing for a thread or for all.
at_once() {
    "$tracehost" call --check --threads=4 --repeat=50 json \
        'Text = <<"{\"a\":[1,2.5,12345678901234567890,\"\\u0001\"],\"b\":null}">>.' \
        'Text = json:encode(json:decode(Text), [sort_keys]).' 2>&1 | tail -1
}
expect 'concurrent processes encode and decode without errors' at_once <<'LINES'
tracehost call: 200 rounds in 4 processes, 0 evaluations failed
LINES

finish
