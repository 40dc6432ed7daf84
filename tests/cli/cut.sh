#!/bin/sh
# Tests cut: which records a part has, that Erlang reads it, and that a packed recording gives the same part.
. tests/cli/lib/assertions.sh

long=$recordings/s15_kitchen_sink.trace
"$tracehost" convert --index=1KiB "$long" "$work/packed.trace.zst"

# The part, computed from the JSON lines.
cat >"$work/own" <<'PY'
import json, re, sys
from_, to, tracees, modules, first, last = 0.0, 1e9, None, None, 1, 10 ** 9
for word in sys.argv[1:]:
    name, value = word.split('=', 1)
    if name == '--from': from_ = float(value)
    if name == '--to': to = float(value)
    if name == '--processes': tracees = (tracees or []) + value.split(',')
    if name == '--pattern': modules = (modules or []) + [value.split(':')[0]]
    if name == '--records': first, last = (int(x) if x else y for x, y in zip(value.split('..'), (1, 10 ** 9)))
zero, number = None, 0
for line in sys.stdin:
    event = json.loads(line)
    if 'tracehost' in event:
        print(line, end='')
        continue
    number += 1
    zero = event['ts'] if zero is None else zero
    at = (event['ts'] - zero) / 1e9
    module = re.match(r'\{([a-z_]+),[^,]+,', str(event.get('term')))
    if (from_ <= at <= to and first <= number <= last and (not tracees or event['tracee'] in tracees) and
            (not modules or (event['tag'] in ('call', 'return_from', 'exception_from', 'return_to') and module and module[1] in modules))):
        print(line, end='')
PY
part() {
    "$tracehost" convert --to=jsonl "$long" - | python3 "$work/own" "$@" >"$work/expected"
    "$tracehost" cut "$@" "$long" "$work/got.jsonl" && diff "$work/expected" "$work/got.jsonl" || return 1
    [ "$(wc -l <"$work/expected")" -gt 1 ] || return 1
    "$tracehost" cut "$@" "$long" "$work/plain.trace" && "$tracehost" cut "$@" "$work/packed.trace.zst" "$work/part.trace.zst" &&
        zstd -qdc "$work/part.trace.zst" | cmp - "$work/plain.trace"
}
for options in --records=5..20 --records=..3 --records=370.. --from=0.001 --to=0.0001 '--from=0.0001 --to=0.036' \
    '--processes=<0.189.0>' '--processes=<0.189.0>,<0.190.0>' '--pattern=wl:_/_' '--pattern=lists:_/_ --pattern=wl:_/_ --to=0.036'; do
    # shellcheck disable=SC2086
    check "cut $options" part $options
done

reads() {
    "$tracehost" cut --records=1.. "$1" "$work/all.trace" && escript tests/shipped/dbg_reads.escript "$1" "$work/all.trace"
}
if command -v escript >/dev/null; then
    check 'dbg:trace_client reads the part' reads "$long"
else
    skip 'dbg:trace_client reads the part' 'escript is not installed'
fi
onto_itself() {
    cp "$long" "$work/itself.trace"
    "$tracehost" cut --records=1..2 "$work/itself.trace" "$work/itself.trace"
    cmp "$long" "$work/itself.trace"
}
expect 'a part does not replace its recording' onto_itself <<'OUT'
-- stderr
tracehost cut: the output would overwrite the stream WORK/itself.trace: choose another file
OUT
nothing() {
    "$tracehost" cut --from=30s "$long" "$work/empty.trace"
    wc -c <"$work/empty.trace"
    "$tracehost" cut --from=1s "$recordings/s13_procs.trace" - | wc -c
}
expect 'an empty part, and records without a time' nothing <<'OUT'
0
5189
-- stderr
tracehost cut: warning: no record of samples/recordings/s15_kitchen_sink.trace is in the part
tracehost cut: warning: records without a time, written despite --from and --to: 47
OUT
wrong() {
    for option in --records=5 --records=b.. --records=9..3 --processes=foo '--processes=<0.1.0' --pattern=_:x --from=@x; do
        "$tracehost" cut $option "$long" "$work/x.trace"
    done
    "$tracehost" cut --from=2 --to=1 "$long" "$work/x.trace"
    "$tracehost" cut "$long" "$work/x.txt"
}
expect 'wrong choices' wrong <<'OUT'
-- stderr
tracehost cut: --records must be two numbers, such as 100..200, not '5'
tracehost cut: --records must be two numbers, such as 100..200, not 'b..'
tracehost cut: --records must be two numbers, such as 100..200, not '9..3'
tracehost cut: 'foo' is no process or port, such as <0.80.0> or #Port<0.5>
tracehost cut: '<0.1.0' is no process or port, such as <0.80.0> or #Port<0.5>
tracehost cut: '_:x' is no pattern; the patterns are M:F/A, M:F/_, M:_/_ or _:_/_, such as lists:reverse/1 or Elixir's Enum.sort/1
tracehost cut: --from must be a time of the recording's clock in seconds, such as @1795233754.349 (`date -d TIME +@%s` prints a system time), not '@x'
Try `tracehost cut --help' or `tracehost cut --usage' for more information.
tracehost cut: --from is after --to: no event is between them
Try `tracehost cut --help' or `tracehost cut --usage' for more information.
tracehost cut: the output's format is not known from the name 'WORK/x.txt': let it end in .trace or .jsonl
-- status 2
OUT
damaged() {
    "$tracehost" cut --records=1.. "$recordings/trunc_body.trace" "$work/torn.trace"
}
expect 'a damaged recording' damaged <<'OUT'
-- stderr
tracehost cut: samples/recordings/trunc_body.trace: record 15 at byte 1172 is truncated
  the input ends after 72 of the record's 79 bytes
tracehost cut: samples/recordings/trunc_body.trace: recovered 14 records
-- status 4
OUT

finish
