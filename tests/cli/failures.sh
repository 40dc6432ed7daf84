#!/bin/sh
# Tests failures that tracers report by th_tracer_failed(), and th_attach_pending() during an attempt to attach.
. tests/cli/lib/assertions.sh
. tests/cli/lib/control_hosts.sh

cat >"$work/two.jsonl" <<'LINES'
{"tracee":"<0.1.0>","tag":"receive","term":"a"}
{"tracee":"<0.1.0>","tag":"exit","term":"b"}
LINES
failing() {
    "$tracehost" replay -L "$tracers" "$@"
}
expect 'a tracer that fails during its attach is not attached' failing -t failing=attach -t text "$work/two.jsonl" <<'LINES'
attach: status, pending
unload
-- stderr
tracehost replay: cannot attach tracer 'failing'
  it shall not be attached
-- status 1
LINES
expect 'a replay ends when its only tracer fails in an event' failing -t failing=event "$work/two.jsonl" <<'LINES'
event: status, pending
event: status, for good
event: 'receive'
unload
-- stderr
tracehost replay: tracer 'failing' failed: it has seen enough
-- status 1
LINES
expect 'other tracers continue when one tracer fails in an event' failing -t failing=event -t text -t failing=none "$work/two.jsonl" <<'LINES'
event: status, pending
none: status, pending
event: status, for good
none: status, for good
event: 'receive'
<0.1.0>    receive a
none: 'receive'
<0.1.0>    exit b
none: exit
unload
-- stderr
tracehost replay: tracer 'failing' failed: it has seen enough
-- status 1
LINES
expect 'a failure in unload sets status 1' failing -t failing=unload --max-events=1 "$work/two.jsonl" <<'LINES'
unload: status, pending
unload: status, for good
unload: 'receive'
unload
-- stderr
tracehost replay: tracer 'failing' failed: it cannot end
-- status 1
LINES
head -c 70 "$work/two.jsonl" >"$work/torn.jsonl"
expect 'a failed tracer sets status 1 although the stream is truncated' failing -t failing=unload "$work/torn.jsonl" <<'LINES'
unload: status, pending
unload: status, for good
unload: 'receive'
unload
-- stderr
tracehost replay: WORK/torn.jsonl: record 2 at byte 48 (line 2) is truncated
  column 22: premature end of input near '"t'; the line is incomplete
tracehost replay: WORK/torn.jsonl: recovered 1 record
tracehost replay: tracer 'failing' failed: it cannot end
-- status 1
LINES
expect 'a tracer gets trace_status and unload if the stream is missing' failing -t failing "$work/none.jsonl" <<'LINES'
#{}: status, pending
unload
-- stderr
tracehost replay: cannot read WORK/none.jsonl
  No such file or directory
-- status 3
LINES
in_statistics() {
    failing -t failing=event --stats "$work/two.jsonl" 2>&1 >/dev/null | grep "^tracer 'failing'"
}
expect '--stats shows that a tracer has failed' in_statistics <<'LINES'
tracer 'failing', detached, as it failed
LINES
cat >"$work/calls.jsonl" <<'LINES'
{"tracee":"<0.1.0>","tag":"call","term":"{m,f,[]}"}
{"tracee":"<0.1.0>","tag":"call","term":"{m,f,[]}"}
LINES
expect 'a meta tracer that fails is removed, and other tracers continue' failing -t text -p m:f/0 -p m:f/0 --kind=meta --meta-tracer=failing=event "$work/calls.jsonl" <<'LINES'
event: status, pending
event: status, for good
<0.1.0>    call m:f()
event: call
<0.1.0>    call m:f()
unload
-- stderr
tracehost replay: tracer 'failing' failed: it has seen enough
tracehost replay: tracer 'text': breakpoints whose meta tracer is gone, as it answered 'remove': 1
-- status 1
LINES

controlled() {
    begin "$tracehost" run --control="$socket" -L "$tracers" --schedulers=2 spec_example 'timer:sleep(3600000).'
    ctl attach failing=attach
    ctl attach text --flags=ports
    ctl replace text failing=attach
    ctl attach failing=unload --flags=ports
    ctl detach failing
    end >"$work/ended"
    uniq "$work/ended" # what is shown of a session asks for its status, too
}
expect 'ctl reports failures in attach, replace and detach' controlled <<'LINES'
session 1, tracer 'text': flags -
session 2, tracer 'failing': flags -
attach: status, pending
unload
attach: status, for good
unload
unload: status, pending
unload: status, for good
unload
stderr: tracehost run: tracer 'failing' failed: it cannot end
stderr: tracehost run: received a request to stop
status 1
-- stderr
tracehost ctl: cannot attach tracer 'failing'
  it shall not be attached
tracehost ctl: cannot replace the tracer: the session keeps its tracer
  cannot attach tracer 'failing'
  it shall not be attached
tracehost ctl: tracer 'failing' failed: it cannot end
LINES
# late: detaches a tracer that has failed before.
late() {
    begin "$tracehost" run --control="$socket" --schedulers=2 bank 'bank:start(), bank:open(alice, 100).' \
        'F = fun Again() -> bank:balance(alice), timer:sleep(1), Again() end, F().'
    ctl attach jsonl,output=/dev/full -p bank:_/_ >"$work/attached"
    has_failed() {
        ctl sessions | grep failed
    }
    until_so has_failed
    ctl sessions | sed 's/  *[0-9]*  *[0-9]*  *0  */  /'
    ctl --json sessions | conforms sessions
    ctl detach jsonl
    echo "status $?"
    ctl sessions
    end
}
expect 'ctl sessions and detach report a tracer that has failed' late <<'LINES'
session  tracer  traced  discarded  breakpoints  is
      1  jsonl  15  failed
sessions conforms
status 1
no sessions
ok
stderr: tracehost run: tracer 'jsonl' failed: cannot write /dev/full: No space left on device
stderr: tracehost run: received a request to stop
status 1
-- stderr
tracehost ctl: tracer 'jsonl' failed: cannot write /dev/full: No space left on device
LINES
finish
