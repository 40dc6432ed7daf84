#!/bin/sh
# Tests the tracer `report`: its data, against a computation of the test; kept and dropped events; its page as a file.
. tests/cli/lib/assertions.sh
large=../shared/recordings/large

# data [MEMBER...] -- STREAM...: of the page of these.
data() {
    members=
    while [ "$1" != -- ]; do
        members="$members $1"
        shift
    done
    shift
    "$tracehost" report -o "$work/page.html" "$@" &&
        python3 tests/shipped/page_data "$work/page.html" $members
}
expect 'the page contains all data of a recording' data -- tests/shipped/report_made.jsonl <<'EOF'
{
  "version": 1,
  "title": "report_made.jsonl",
  "streams": [
    {"name": "tests/shipped/report_made.jsonl", "records": 19, "lost": 7, "gaps": 0, "damaged": 0}
  ],
  "interrupted": false,
  "time": {"kind": "monotonic", "first": 0, "last": 410, "unix": null},
  "summary": {"events": 18, "calls": 2, "errors": 1, "sent": 4, "received": 2, "processes": 2, "ports": 0, "ended": 2, "functions": 2},
  "tags": [
    ["send", 3],
    ["call", 2],
    ["receive", 2],
    ["register", 2],
    ["return_from", 2],
    ["exception_from", 1],
    ["exit", 1],
    ["gc_minor_end", 1],
    ["gc_minor_start", 1],
    ["send_to_non_existing_process", 1],
    ["spawn", 1],
    ["spawned", 1]
  ],
  "functions": [
    [0, 1, 0, 0, 0, 370, 370, 370, 370, 370, 370],
    [1, 1, 1, 0, 0, 20, 20, 20, 20, 20, 20]
  ],
  "processes": [
    {"id": "<0.10.0>", "name": "client", "kind": "process", "entry": null, "parent": null, "born": null, "died": null, "reason": null, "events": 8, "calls": 1, "own": 370, "running": null, "sent": 3, "received": 0, "collections": 0, "collecting": null},
    {"id": "<0.11.0>", "name": "server", "kind": "process", "entry": "ex:loop/1", "parent": 0, "born": 10, "died": 110, "reason": "{shutdown,\"<&>\"}", "events": 10, "calls": 1, "own": 20, "running": null, "sent": 1, "received": 2, "collections": 1, "collecting": 5}
  ],
  "others": {"events": 0, "calls": 0, "errors": 0, "sent": 0, "received": 0, "processes": 0, "ports": 0},
  "flame": {
    "unit": "ns",
    "nodes": [
      [0, -1, 0],
      [0, -2, 0],
      [1, 0, 370],
      [0, -3, 0],
      [3, 1, 20]
    ],
    "narrow": 0
  },
  "timeline": {
    "unit": "calls",
    "width": 1,
    "bins": 411,
    "most": null,
    "rows": [
      [0, 30, "oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo"],
      [1, 60, "oooooooooooooooooooo"]
    ]
  },
  "messages": [
    {"from": 0, "to": 1, "sent": 3, "matched": 2, "p50": 15, "p90": 50, "p99": 50, "max": 50, "total": 65},
    {"from": 1, "to": -1, "sent": 1, "matched": 0, "p50": null, "p90": null, "p99": null, "max": null, "total": null}
  ],
  "slowest": [
    {"name": 0, "process": 0, "at": 30, "took": 370, "own": 370, "error": false, "args": "[\"</script>\",<<\"\\\\ <b>\">>]", "outcome": "ok"},
    {"name": 1, "process": 1, "at": 60, "took": 20, "own": 20, "error": true, "args": null, "outcome": "{error,'<oops>'}"}
  ],
  "requests": [
    {
      "name": 0,
      "process": 0,
      "at": 30,
      "took": 370,
      "own": 370,
      "error": false,
      "args": "[\"</script>\",<<\"\\\\ <b>\">>]",
      "outcome": "ok",
      "nodes": [
        [-1, 0, 1, 370, 0, 0]
      ]
    },
    {
      "name": 1,
      "process": 1,
      "at": 60,
      "took": 20,
      "own": 20,
      "error": true,
      "args": null,
      "outcome": "{error,'<oops>'}",
      "nodes": [
        [-1, 1, 1, 20, 0, 0]
      ]
    }
  ],
  "names": ["'odd \"<name>':call/2", "ex:handle/1"],
  "repairs": [
    ["ends of calls that are not in the recording", 1, null],
    ["returns from calls that are not in the recording", 1, null]
  ]
}
-- stderr
tracehost report: tests/shipped/report_made.jsonl: the recorder dropped 7 events
EOF
expect 'a recording without times is shown by calls' data time functions flame timeline slowest names repairs -- "$recordings/s01_seed_local_caller.trace" <<'EOF'
{"kind": "none", "first": 0, "last": 0, "unix": null}
[
  [0, 11, 0, 11, 0, null, null, null, null, null, null],
  [1, 1, 0, 1, 0, null, null, null, null, null, null],
  [2, 1, 0, 1, 0, null, null, null, null, null, null],
  [3, 1, 0, 1, 0, null, null, null, null, null, null],
  [4, 1, 0, 1, 0, null, null, null, null, null, null]
]
{
  "unit": "calls",
  "nodes": [
    [0, -1, 0],
    [0, -2, 0],
    [1, 1, 1],
    [2, 3, 1],
    [2, 4, 1],
    [2, 2, 1],
    [2, 0, 11]
  ],
  "narrow": 0
}
{
  "unit": "events",
  "width": 1,
  "bins": 0,
  "most": null,
  "rows": []
}
[]
["ex:bar/1", "ex:foo/0", "ex:indirections/0", "ex:lots/0", "ex:'of'/0"]
[]
EOF
expect 'ports have owners, running times and messages' data processes timeline messages -- "$recordings/s06_ports.trace" <<'EOF'
[
  {"id": "<0.111.0>", "name": null, "kind": "process", "entry": null, "parent": null, "born": null, "died": null, "reason": null, "events": 15, "calls": 0, "own": null, "running": 0, "sent": 2, "received": 7, "collections": 0, "collecting": null},
  {"id": "#Port<0.11>", "name": "wlport", "kind": "port", "entry": "cat", "parent": 0, "born": 0, "died": 6381000, "reason": "normal", "events": 29, "calls": 0, "own": null, "running": 79000, "sent": 2, "received": 3, "collections": 0, "collecting": null},
  {"id": "#Port<0.12>", "name": null, "kind": "port", "entry": "'sh -c \\'exit 3\\''", "parent": 0, "born": 6416000, "died": 10245000, "reason": "normal", "events": 13, "calls": 0, "own": null, "running": 109000, "sent": 2, "received": 1, "collections": 0, "collecting": null},
  {"id": "<0.32767.8191>", "name": null, "kind": "process", "entry": null, "parent": null, "born": null, "died": null, "reason": null, "events": 0, "calls": 0, "own": null, "running": 0, "sent": 0, "received": 0, "collections": 0, "collecting": null},
  {"id": "<0.9.0>", "name": null, "kind": "process", "entry": null, "parent": null, "born": null, "died": null, "reason": null, "events": 0, "calls": 0, "own": null, "running": 0, "sent": 0, "received": 0, "collections": 0, "collecting": null}
]
{
  "unit": "running",
  "width": 32768,
  "bins": 313,
  "most": null,
  "rows": [
    [1, 0, "i40000000F1000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000JG0000000000A"],
    [2, 195, "8W000000=000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000009R0000000000000nY"]
  ]
}
[
  {"from": 1, "to": 0, "sent": 2, "matched": 2, "p50": null, "p90": null, "p99": null, "max": null, "total": null},
  {"from": 0, "to": 1, "sent": 1, "matched": 1, "p50": null, "p90": null, "p99": null, "max": null, "total": null},
  {"from": 0, "to": 4, "sent": 1, "matched": 0, "p50": null, "p90": null, "p99": null, "max": null, "total": null},
  {"from": 2, "to": 0, "sent": 1, "matched": 1, "p50": null, "p90": null, "p99": null, "max": null, "total": null},
  {"from": 2, "to": 3, "sent": 1, "matched": 0, "p50": null, "p90": null, "p99": null, "max": null, "total": null}
]
EOF

# --- against another computation ---

same_figures() {
    "$tracehost" report --allow-partial -o "$work/page.html" "$1" &&
        "$tracehost" dump --format=jsonl --allow-partial "$1" | python3 tests/shipped/report_check.py "$work/page.html"
}
for stream in "$recordings"/*.trace tests/shipped/report_made.jsonl "$large"/l1_*.trace "$large"/l2_*.trace "$large"/l3_*.trace; do
    case $stream in
    *\**) skip "the data equal an independent computation: $stream" 'this recording is not here' ;;
    *) check "the data equal an independent computation: $(basename "$stream")" same_figures "$stream" ;;
    esac
done

# --- limits ---

limited() {
    kind=$1
    shift
    python3 tests/shipped/report_limits "$kind" >"$work/$kind.jsonl" && data "$@" -- "$work/$kind.jsonl"
}
# If there are too many processes, the busiest are kept, and all are counted.
many_processes() {
    limited processes summary repairs && python3 - "$work/page.html" <<'PYTHON'
import sys
sys.path.insert(0, 'tests/shipped')
from importlib.machinery import SourceFileLoader
data = SourceFileLoader('page_data', 'tests/shipped/page_data').load_module().read(sys.argv[1])
living = sum(process['died'] is None for process in data['processes'])
busiest = max(data['processes'], key=lambda process: process['events'])
print(len(data['processes']), living, busiest['id'], busiest['received'], sum(pair['sent'] for pair in data['messages']),
      sum(pair['matched'] for pair in data['messages']), sum(process['events'] for process in data['processes']))
PYTHON
}
expect 'processes beyond the limit are shown as others' many_processes <<'EOF'
{"events": 29900, "calls": 0, "errors": 0, "sent": 10000, "received": 10000, "processes": 10001, "ports": 0, "ended": 0, "functions": 0}
[
  ["processes and ports shown as others, as there are too many", 8001, null]
]
2000 1 <0.1.0> 10000 10000 10000 13998
EOF
expect 'events of living processes beyond the limit are counted' limited living summary repairs <<'EOF'
{"events": 5000, "calls": 5000, "errors": 0, "sent": 0, "received": 0, "processes": 4096, "ports": 0, "ended": 0, "functions": 1}
[
  ["processes and ports shown as others, as there are too many", 2096, null],
  ["events of processes beyond the maximum number", 904, "select less, with -p, --processes, --from or --to"]
]
EOF
# The limit of 10 seconds of CPU time would be exceeded if each new process had all others searched.
crowded() {
    (ulimit -t 10 && limited crowd summary repairs)
}
expect '50000 living receivers take less than 10 seconds of CPU time' crowded <<'EOF'
{"events": 50000, "calls": 0, "errors": 0, "sent": 50000, "received": 0, "processes": 1, "ports": 0, "ended": 0, "functions": 0}
[]
EOF
many_pairs() {
    limited pairs summary repairs messages | sed -n 1,9p
}
expect 'pairs of processes beyond the limit are shown as one' many_pairs <<'EOF'
{"events": 5194, "calls": 0, "errors": 0, "sent": 5194, "received": 0, "processes": 72, "ports": 0, "ended": 0, "functions": 0}
[
  ["pairs of sender and receiver shown as one, as there are too many", 3185, null]
]
[
  {"from": -1, "to": -1, "sent": 3185, "matched": 0, "p50": null, "p90": null, "p99": null, "max": null, "total": null},
  {"from": 0, "to": 1, "sent": 11, "matched": 0, "p50": null, "p90": null, "p99": null, "max": null, "total": null},
  {"from": 0, "to": 0, "sent": 1, "matched": 0, "p50": null, "p90": null, "p99": null, "max": null, "total": null},
  {"from": 0, "to": 6, "sent": 1, "matched": 0, "p50": null, "p90": null, "p99": null, "max": null, "total": null},
EOF
expect 'messages beyond the limit are not matched with their receipt' limited messages messages repairs <<'EOF'
[
  {"from": 0, "to": 1, "sent": 5000, "matched": 2, "p50": 1001, "p90": 4000, "p99": 4000, "max": 4000, "total": 5001}
]
[
  ["messages forgotten before their receipt, as too many were waiting", 904, "trace with the flag receive, too"]
]
EOF
many_functions() {
    limited functions summary repairs && python3 tests/shipped/page_data "$work/page.html" functions | sed -n '2p;5001,$p'
}
expect 'functions beyond the limit are shown as one' many_functions <<'EOF'
{"events": 42000, "calls": 21000, "errors": 0, "sent": 0, "received": 0, "processes": 1, "ports": 0, "ended": 21000, "functions": 20000}
[
  ["functions shown as one, as there are too many", 15000, null],
  ["calls of functions beyond the maximum number", 1000, "select less, with -p, --processes, --from or --to"]
]
  [0, 1, 0, 0, 0, 2, 2, 2, 2, 2, 2],
  [4999, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1],
  [-1, 16000, 0, 0, 0, null, 16000, 1, 1, 1, 1]
]
EOF
deep_calls() {
    limited deep repairs flame slowest >"$work/deep" && grep -c '^  {"name"' "$work/deep" && grep -c '^    \[' "$work/deep" &&
        grep -n . "$work/deep" | sed -n '1,2p;/"took": 2000/p' && tail -n 2 "$work/deep"
}
expect 'calls beyond the depth limit are timed' deep_calls <<'EOF'
200
514
1:[]
2:{
523:  {"name": 0, "process": 0, "at": 0, "took": 2000, "own": 2, "error": false, "args": "[0]", "outcome": "0"},
  {"name": 0, "process": 0, "at": 199, "took": 1602, "own": 2, "error": false, "args": "\"\u00c7\"", "outcome": "199"}
]
EOF

odd() {
    python3 tests/shipped/report_odd >"$work/odd.jsonl" && data summary time repairs -- --allow-partial "$work/odd.jsonl" 2>/dev/null
}
expect 'malformed events are counted and reported' odd <<'EOF'
{"events": 789, "calls": 10, "errors": 88, "sent": 212, "received": 11, "processes": 2, "ports": 1, "ended": 1, "functions": 1}
{"kind": "monotonic", "first": 0, "last": 2305843009213693952, "unix": null}
[
  ["events without a time stamp", 293, "trace all processes and ports with a flag like monotonic_timestamp"],
  ["events with a time stamp of another clock, which was ignored", 206, "trace all processes and ports with the same time stamps"],
  ["events older than the first one, counted at the time of the first one", 125, "trace with monotonic_timestamp, which does not go back"],
  ["ends of calls that are not in the recording", 38, null],
  ["returns from calls that are not in the recording", 26, null]
]
EOF

# --- the page ---

# The scripts of the page, as a browser finds them: the data, and the page's own.
scripts() {
    "$tracehost" report --title="$(printf '\377 "</script><b>\\ \001')" -o "$work/odd.html" tests/shipped/report_made.jsonl 2>/dev/null &&
        python3 - "$work/odd.html" <<'PYTHON'
import glob
import html.parser
import json
import pathlib
import sys


class Page(html.parser.HTMLParser):
    found, inside = [], None

    def handle_starttag(self, tag, attrs):
        self.inside = dict(attrs) if tag == 'script' else self.inside
        if tag == 'script':
            self.found.append([dict(attrs).get('type'), ''])

    def handle_endtag(self, tag):
        self.inside = None if tag == 'script' else self.inside

    def handle_data(self, text):
        if self.inside is not None:
            self.found[-1][1] += text


page = Page()
with open(sys.argv[1], encoding='utf-8') as file:
    page.feed(file.read())
(kind, data), own = page.found[0], page.found[1:]
print(kind, len(own), json.dumps(json.loads(data)['title']))
assert '<' not in data
wanted = ''.join(pathlib.Path(path).read_text(encoding='utf-8') for path in
                 sorted(glob.glob('tracers/kit/picture/[nu]*.js')) + sorted(glob.glob('tracers/report/page/*.js')))
assert own[0][1].strip() == wanted.strip()
PYTHON
}
expect 'markup in the data does not end the script element' scripts <<'EOF'
application/json 1 "\ufffd \"</script><b>\\ \ufffd"
EOF

# --- memory and threads ---

# memory_of STREAM...: the most that it took, in KB.
memory_of() {
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$tracehost" report -o "$work/page.html" "$@"
}
same_memory() {
    two=$(memory_of "$1" "$1") && four=$(memory_of "$1" "$1" "$1" "$1") && echo "$two KB, $four KB" &&
        [ "$four" -lt $((two * 11 / 10)) ]
}
case $BUILD_DIR in
*asan | *tsan) skip 'memory does not grow with the recording' 'a sanitizer has its own' ;;
*)
    if [ -e "$large/l1_compile_compiler_arity.trace" ]; then
        check 'memory does not grow with the recording' same_memory "$large/l1_compile_compiler_arity.trace"
    else
        skip 'memory does not grow with the recording' 'the recording is not here'
    fi
    ;;
esac

# Several schedulers at once: the page has all the calls that `count` has, and every message. (Which events come last of all
# may differ from session to session.)
live() {
    "$tracehost" run --schedulers=4 -t "report,output=$work/live.html" -t "count,format=json,output=$work/counted" -p bank:_/_ \
        --exception --flags=call,send,receive,procs,running,garbage_collection,monotonic_timestamp \
        bank 'bank:start(), bank:open(left, 10), bank:open(right, 10).' \
        '[bank:transfer(left, right, 1), bank:transfer(right, left, 2), bank:audit(), bank:crash(left), bank:audit(), bank:stop()].' &&
        python3 - "$work/live.html" "$work/counted" <<'PYTHON'
import json
import sys
sys.path.insert(0, 'tests/shipped')
from importlib.machinery import SourceFileLoader
data = SourceFileLoader('page_data', 'tests/shipped/page_data').load_module().read(sys.argv[1])
with open(sys.argv[2], encoding='utf-8') as file:
    counted = json.load(file)
assert sum(events for _, events in data['tags']) == data['summary']['events']
assert {data['names'][row[0]]: (row[1], row[2]) for row in data['functions']} == {
    row['function']: (row['calls'], row['errors']) for row in counted['functions']}
assert data['summary']['sent'] == sum(pair['sent'] for pair in data['messages']) > 0
assert data['time']['unix'] and data['timeline']['unit'] == 'running' and data['timeline']['rows']
PYTHON
}
check 'no call and no message of a run on four schedulers is lost' live

finish
