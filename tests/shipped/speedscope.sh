#!/bin/sh
# Tests the tracer `speedscope`: its profiles against a computation of the test, as they are and as speedscope imports
# them. TRACES=all takes the large recordings, too.
. tests/cli/lib/assertions.sh
. tests/shipped/browser

cat >"$work/calls.jsonl" <<'LINES'
{"ts":1000000000,"tracee":"<0.9.0>","tag":"register","term":"idle"}
{"ts":1000001000,"tracee":"<0.1.0>","tag":"call","term":"{m,'\"f\\\\',0}"}
{"ts":1000002000,"tracee":"<0.1.0>","tag":"call","term":"{m,g,1}"}
{"ts":1000002500,"tracee":"<0.1.0>","tag":"exception_from","term":"{m,g,1}","extra":"{error,badarg}"}
{"ts":1000002600,"tracee":"<0.1.0>","tag":"call","term":"{m,g,1}"}
{"ts":1000002700,"tracee":"<0.1.0>","tag":"register","term":"server"}
{"ts":1000003000,"tracee":"<0.1.0>","tag":"exit","term":"normal"}
{"ts":1000004000,"tracee":"<0.2.0>","tag":"call","term":"{m,g,1}"}
{"ts":1000004500,"tracee":"<0.2.0>","tag":"call","term":"{m,h,1}"}
{"ts":1795233760542294000,"ts_kind":"timestamp","tracee":"<0.2.0>","tag":"return_from","term":"{m,h,1}","extra":"ok"}
{"ts":1000005000,"tracee":"<0.2.0>","tag":"call","term":"{m,i,1}"}
LINES
expect 'calls are strictly nested, and those without an end are counted' "$tracehost" replay -t speedscope "$work/calls.jsonl" <<'LINES'
{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"tracehost","name":"calls","profiles":[
{"type":"evented","name":"server <0.1.0>","unit":"nanoseconds","startValue":1000,"endValue":3000,"events":[
{"type":"O","frame":0,"at":1000},
{"type":"O","frame":1,"at":2000},
{"type":"C","frame":1,"at":2500},
{"type":"O","frame":1,"at":2600},
{"type":"C","frame":1,"at":3000},
{"type":"C","frame":0,"at":3000}]},
{"type":"evented","name":"<0.2.0>","unit":"nanoseconds","startValue":4000,"endValue":5000,"events":[
{"type":"O","frame":1,"at":4000},
{"type":"O","frame":2,"at":4500},
{"type":"O","frame":3,"at":5000},
{"type":"C","frame":3,"at":5000},
{"type":"C","frame":2,"at":5000},
{"type":"C","frame":1,"at":5000}]}],"shared":{"frames":[
{"name":"m:'\"f\\\\'/0"}
,{"name":"m:g/1"}
,{"name":"m:h/1"}
,{"name":"m:i/1"}
]}}
-- stderr
speedscope: calls without an end, drawn to the last event of their process: 3
speedscope: events with another clock than the first, which were left out: 1
LINES
bounded() {
    "$tracehost" replay -t speedscope,events=3 "$work/calls.jsonl" | grep -c '"at"'
}
expect 'calls beyond the setting events are left out and counted' bounded <<'LINES'
4
-- stderr
speedscope: calls left out, as there are more than the setting 'events' keeps: 4
speedscope: events with another clock than the first, which were left out: 1
LINES
cat >"$work/untraced.jsonl" <<'LINES'
{"ts":1000,"tracee":"<0.1.0>","tag":"call","term":"{m,a,0}"}
{"ts":2000,"tracee":"<0.1.0>","tag":"call","term":"{m,b,0}"}
{"ts":3000,"tracee":"<0.1.0>","tag":"return_to","term":"{u,f,0}"}
LINES
doubtful() {
    "$tracehost" replay -t speedscope "$work/untraced.jsonl" | grep -o '"name":"doubtful[^"]*"'
}
expect 'the file says if calls are doubtful' doubtful <<'LINES'
"name":"doubtful: returns that end an unknown number of calls"
-- stderr
speedscope: returns that end an unknown number of calls: 1, the first to u:f/0; record callers and ends of calls: --match-spec=cx, or dbg:tpl(MODULE, cx)
LINES

# --- Recordings: profiles, calls, nanoseconds ---

paths=
for stream in "$recordings"/*.trace; do
    name=$work/$(basename "$stream" .trace)
    "$tracehost" replay -t "speedscope,output=$name.speedscope" "$stream" >/dev/null 2>&1
    "$tracehost" convert --to=jsonl "$stream" "$name.jsonl" >/dev/null 2>&1
    if grep -q '"tag":"call"' "$name.jsonl"; then
        paths="$paths $name.jsonl"
        tr -d '\n' <"$name.speedscope" >>"$work/files"
        echo >>"$work/files"
    fi
done
cat >"$work/calls_of_all" <<'LINES'
s01_seed_local_caller 1 15 0
s02_seed_global_caller 1 9 0
s03_exceptions_return_to 1 34 117000
s04_genserver_pingpong 2 437 2026000
s05_supervisor_restarts 7 136 20151415
s09_collections_return 1 383 1051622
s11_mnesia_arity 1 512 1958000
s12_fileio 1 164 0
s14_cpu_timestamp 1 18 36000
s15_kitchen_sink 10 94 40142000
s16_terms 1 54 0
s17_meta 1 18 52000
s18_ms_messages 1 3 25000
s19_dbg_server 1 23 137000
s21_ip_drop_extract 2 23 0
s22_killed_vm 1 512 1417000
trunc_body 1 14 0
trunc_hdr 1 14 0
trunc_hdr_only 1 14 0
LINES
expect 'all recordings equal an independent computation' \
    python3 tests/shipped/speedscope_check.py "$work/files" $paths <"$work/calls_of_all"
large_equal() {
    for name in l1_compile_compiler_arity l2_mnesia_full l3_sorts_args_return; do
        "$tracehost" replay -t speedscope "$large/$name.trace" 2>/dev/null | tr -d '\n' >"$work/file"
        echo >>"$work/file"
        "$tracehost" convert --to=jsonl "$large/$name.trace" "$work/$name.jsonl" 2>/dev/null
        python3 tests/shipped/speedscope_check.py "$work/file" "$work/$name.jsonl"
    done
}
if [ "${TRACES:-}" = all ]; then
    expect 'large recordings equal an independent computation' large_equal <<'LINES'
l1_compile_compiler_arity 2 146395 445586000
l2_mnesia_full 1 35888 259862222
l3_sorts_args_return 1 7399 0
LINES
fi

# speedscope imports each file as its own command does, and exports what it has understood.
app=$SOURCE_DIR/build/npm/node_modules/speedscope/dist/release/index.html
steps() {
    echo 'window 100 100'
    echo 'wait !!window.speedscope'
    echo 'run window.saved = ""; URL.createObjectURL = blob => { blob.text().then(text => { window.saved = text; }); return "blob:none"; }'
    for path in $paths; do
        echo "run window.before = window.saved; speedscope.loadFileFromBase64('file.json', '$(base64 -w 0 "${path%.jsonl}.speedscope")')"
        echo 'wait (() => { window.dispatchEvent(new KeyboardEvent("keydown", {key: "s", ctrlKey: true}));
            return window.saved !== window.before; })()' | tr -d '\n'
        printf '\nsay window.saved\n'
    done
}
imported() {
    : >"$work/nothing.js"
    steps >"$work/steps"
    on_page "$app#localProfilePath=$work/nothing.js" <"$work/steps" >"$work/happened"
    grep '^thrown\|^never' "$work/happened"
    grep '^{"exporter":"speedscope@' "$work/happened" >"$work/exported"
    python3 tests/shipped/speedscope_check.py --imported "$work/files" "$work/exported"
}
if [ ! -e "$SOURCE_DIR/build/npm/packages" ]; then
    skip 'speedscope imports the same calls' "$(tail -n 1 "$SOURCE_DIR/build/npm.log")"
elif [ "$browser" = none ]; then
    skip 'speedscope imports the same calls' 'no chromium here'
else
    expect 'speedscope imports the same calls' imported <<'LINES'
19 files, 36 profiles
LINES
fi

finish
