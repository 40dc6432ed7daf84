#!/bin/sh
# Tests the plugin `spec_example`: the results of its functions in tracehost and in a real BEAM.
. tests/cli/lib/assertions.sh
. tests/shipped/answers

answers spec_example "$plugins/spec_example"

expect 'calls return their results or raise badarg' "$tracehost" call --check spec_example 'spec_example:rfoo().' \
    '[spec_example:rlots(), spec_example:rbar(0), spec_example:rbar(100000)].' 'spec_example:rbar(-1).' <<'LINES'
ok
[done,done,done]
-- stderr
** exception error: bad argument
     in function  spec_example:rbar/1
        called as spec_example:rbar(-1)
-- status 1
LINES

in_beam() {
    echo '[spec_example:rfoo(), spec_example:rlots(), spec_example:rbar(0), spec_example:rbar(1)].' >"$work/external.calls"
    escript tests/shipped/calls.escript plugins/spec_example/spec_example.erl "$plugins/spec_example" "$work/external.calls"
}
if [ -n "$sanitized" ] || ! command -v escript >/dev/null; then
    skip 'in a BEAM, external calls return not_supported' 'there is none, or there are sanitizers'
else
    expect 'in a BEAM, external calls return not_supported' in_beam <<'LINES'
[{error,not_supported},{error,not_supported},done,{error,not_supported}]
LINES
fi

finish
