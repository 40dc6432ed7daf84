#!/bin/sh
# Tests the tracer `perfetto`: its packets, decoded by protobufjs, against a computation of the test; clocks, nodes, data,
# continued files. TRACES=all takes the large recordings, too.
. tests/cli/lib/assertions.sh

npm=$SOURCE_DIR/build/npm
if [ ! -e "$npm/packages" ]; then
    skip 'the packets in another decoder' "$(tail -n 1 "$npm.log")"
    finish
fi
decode() {
    NODE_PATH=$npm/node_modules node tests/shipped/perfetto_decode "$@"
}
# shown SETTINGS ARGUMENT...: replays, and prints the trace.
shown() {
    settings=$1
    shift
    "$tracehost" replay -t "perfetto,output=$work/shown$settings" "$@" && decode "$work/shown" &&
        python3 tests/shipped/perfetto_check.py --show "$work/shown.json"
}

cat >"$work/events.jsonl" <<'LINES'
{"ts":1000000000,"tracee":"<0.1.0>","tag":"register","term":"server"}
{"ts":1000000001,"tracee":"<0.1.0>","tag":"receive","term":"early"}
{"ts":1000001234,"tracee":"<0.2.0>","tag":"call","term":"{m,'\"f\\\\',[secret,1]}"}
{"ts":1000002000,"tracee":"<0.2.0>","tag":"send","term":"secret","extra":"server"}
{"ts":1000002500,"tracee":"<0.2.0>","tag":"call","term":"{m,g,1}"}
{"ts":1000002600,"tracee":"<0.2.0>","tag":"exception_from","term":"{m,g,1}","extra":"{error,{badmatch,secret}}"}
{"ts":1000002700,"tracee":"<0.2.0>","tag":"return_from","term":"{m,'\"f\\\\',2}","extra":"{ok,secret}"}
{"ts":1000003000,"tracee":"<0.1.0>","tag":"receive","term":"secret"}
{"ts":1000003500,"tracee":"<0.1.0>","tag":"gc_minor_start","term":"[{heap_size,20},{old_heap_size,5}]"}
{"ts":1000004000,"tracee":"<0.1.0>","tag":"gc_minor_end","term":"[{heap_size,7}]"}
{"ts":1000004100,"tracee":"<0.2.0>","tag":"in","term":"{m,loop,0}","scheduler_id":3}
{"ts":1000004200,"tracee":"<0.2.0>","tag":"spawn","term":"<0.3.0>","extra":"{m,init,[secret]}"}
{"ts":1000004300,"tracee":"#Port<0.5>","tag":"open","term":"<0.2.0>","extra":"\"sh -c secret\""}
{"ts":1000004350,"tracee":"#Port<0.5>","tag":"in","term":"command"}
{"ts":1000004360,"tracee":"#Port<0.5>","tag":"out","term":"command"}
{"ts":1000004370,"tracee":"#Port<0.5>","tag":"out","term":"command"}
{"ts":1000004400,"tracee":"#Port<0.5>","tag":"closed","term":"normal"}
{"ts":1000004900,"tracee":"<0.2.0>","tag":"call","term":"{m,h,0}"}
{"ts":1000005000,"tracee":"<0.2.0>","tag":"exit","term":"{badarith,secret}"}
{"ts":1000006000,"tracee":"<0.2.0>","tag":"out_exited","term":"0"}
{"ts":1000007000,"tracee":"<0.1.0>","tag":"call","term":"{m,open,0}"}
LINES
expect 'each event has its place, and no data is shown' shown '' "$work/events.jsonl" <<'LINES'
node 1 nonode@nohost
clock monotonic
server <0.1.0> monotonic 0 instant process register name=server
server <0.1.0> monotonic 1 instant message receive
<0.2.0> monotonic 1234 slice_begin call m:'"f\\'/2
<0.2.0> monotonic 2000 instant message send to=server flow 1
server <0.1.0> monotonic 2000 counter queue 1
<0.2.0> monotonic 2500 slice_begin call m:g/1
<0.2.0> monotonic 2600 instant exception exception type=error:badmatch
<0.2.0> monotonic 2600 slice_end type=error:badmatch
<0.2.0> monotonic 2700 slice_end
server <0.1.0> monotonic 3000 instant message receive flow 1
server <0.1.0> monotonic 3000 counter queue 0
server <0.1.0> monotonic 3500 slice_begin gc gc minor
server <0.1.0> monotonic 3500 counter heap 25
server <0.1.0> monotonic 4000 slice_end
server <0.1.0> monotonic 4000 counter heap 7
<0.2.0> monotonic 4100 slice_begin running scheduling running function=m:loop/0 scheduler=3
<0.2.0> monotonic 4200 instant process spawn other=<0.3.0> function=m:init/1
#Port<0.5> monotonic 4300 instant process open other=<0.2.0>
#Port<0.5> monotonic 4350 slice_begin running scheduling running
#Port<0.5> monotonic 4360 slice_end running
#Port<0.5> monotonic 4400 instant process closed type=exit:normal
<0.2.0> monotonic 4900 slice_begin call m:h/0
<0.2.0> monotonic 5000 instant process exit type=exit:badarith
<0.2.0> monotonic 5000 slice_end
<0.2.0> monotonic 6000 slice_end running
server <0.1.0> monotonic 7000 slice_begin call m:open/0
-- stderr
perfetto: slices without an end: 1
perfetto: changes between running and waiting that repeat the one before: 1
LINES
with_data() {
    shown ",args=$1" "$work/events.jsonl" 2>/dev/null | grep secret
}
expect 'data is shown if args asks for it' with_data bounded <<'LINES'
<0.2.0> monotonic 1234 slice_begin call m:'"f\\'/2 arguments=[secret,1]
<0.2.0> monotonic 2000 instant message send to=server message=secret flow 1
<0.2.0> monotonic 2600 instant exception exception type=error:badmatch reason={badmatch,secret}
<0.2.0> monotonic 2600 slice_end type=error:badmatch reason={badmatch,secret}
<0.2.0> monotonic 2700 slice_end result={ok,secret}
server <0.1.0> monotonic 3000 instant message receive message=secret flow 1
<0.2.0> monotonic 4200 instant process spawn other=<0.3.0> function=m:init/1 arguments=[secret]
#Port<0.5> monotonic 4300 instant process open other=<0.2.0> driver="sh -c secret"
<0.2.0> monotonic 5000 instant process exit type=exit:badarith reason={badarith,secret}
LINES

# --- Clocks ---

# The first record is filtered out. <0.1.0> goes on by another clock, and comes back.
cat >"$work/clocks.jsonl" <<'LINES'
{"ts":-5000,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"call","term":"{m,f,[]}"}
{"ts":1795233760542290000,"ts_kind":"timestamp","tracee":"<0.2.0>","tag":"receive","term":"early"}
{"ts":1000,"ts_kind":"monotonic","tracee":"<0.1.0>","tag":"call","term":"{m,f,[]}"}
{"ts":2000,"ts_kind":"monotonic","tracee":"<0.1.0>","tag":"send","term":"a","extra":"<0.2.0>"}
{"ts":1795233760542293000,"ts_kind":"timestamp","tracee":"<0.2.0>","tag":"receive","term":"a"}
{"ts":1795233760542294000,"ts_kind":"timestamp","tracee":"<0.1.0>","tag":"call","term":"{m,g,[]}"}
{"ts":1795233760542296000,"ts_kind":"timestamp","tracee":"<0.1.0>","tag":"return_from","term":"{m,g,0}","extra":"ok"}
{"ts":9000,"ts_kind":"monotonic","tracee":"<0.1.0>","tag":"return_from","term":"{m,f,0}","extra":"ok"}
{"ts":9500,"ts_kind":"monotonic","tracee":"<0.1.0>","tag":"call","term":"{m,h,[]}"}
{"ts":9900,"ts_kind":"monotonic","tracee":"<0.1.0>","tag":"return_from","term":"{m,h,0}","extra":"ok"}
{"tracee":"<0.1.0>","tag":"exit","term":"normal"}
LINES
expect 'times of two clocks are on different tracks' shown '' --processes='<0.1.0>,<0.2.0>' "$work/clocks.jsonl" <<'LINES'
node 1 nonode@nohost
clock timestamp 1795233760542290000
clock monotonic
<0.2.0> system 0 instant message receive
<0.1.0> monotonic 6000 slice_begin call m:f/0
<0.1.0> monotonic 7000 instant message send to=<0.2.0> flow 1
<0.2.0> system 3000 instant message receive
<0.2.0> system 3000 counter queue 0
<0.1.0> monotonic 7000 slice_end
<0.1.0> system 4000 slice_begin call m:g/0
<0.1.0> system 6000 slice_end
<0.1.0> monotonic 14500 slice_begin call m:h/0
<0.1.0> monotonic 14900 slice_end
<0.1.0> monotonic 14900 instant process exit type=exit:normal
-- stderr
perfetto: slices ended as their process goes on by another clock: 1
perfetto: messages without a flow, received by another clock than sent: 1
perfetto: lengths of queues not drawn, known by another clock alone: 1
perfetto: events with another clock than the first, drawn relative to that clock's first record: 5
perfetto: events without a time stamp, drawn at the latest known time: 1
LINES
cat >"$work/far.jsonl" <<'LINES'
{"ts":100000000000,"tracee":"<0.1.0>","tag":"receive","term":"a"}
{"ts":39999999999,"tracee":"<0.2.0>","tag":"receive","term":"a"}
LINES
expect 'a time before those of the format is counted' shown '' "$work/far.jsonl" <<'LINES'
node 1 nonode@nohost
clock monotonic
<0.1.0> monotonic 0 instant message receive
<0.2.0> monotonic -60000000000 instant message receive
-- stderr
perfetto: times out of the range of the format: 1
LINES

# --- Nodes, doubts, odd names ---

of_nodes() {
    shown '' samples/two_nodes/north.trace samples/two_nodes/south.trace | sed 's/ monotonic -*[0-9]* .*//' | sort -u
}
expect 'each node is a process' of_nodes <<'LINES'
clock monotonic 1795904058825611550
node 1 shop@north
node 2 till@south
stock <0.83.0>
till <1.83.0>
LINES
cat >"$work/odd.jsonl" <<'LINES'
{"ts":1000,"tracee":"<0.1.0>","tag":"register","term":"'\u00e4\u4e16'"}
{"ts":1000,"tracee":"<0.1.0>","tag":"call","term":"{m,a,0}"}
{"ts":2000,"tracee":"<0.1.0>","tag":"call","term":"{m,'\u00e4\u4e16\\n',0}"}
{"ts":3000,"tracee":"<0.1.0>","tag":"return_to","term":"{u,f,0}"}
LINES
expect 'doubtful slices are labelled, and names are UTF-8' shown '' "$work/odd.jsonl" <<'LINES'
node 1 nonode@nohost
clock monotonic
'ä\x{4E16}' <0.1.0> monotonic 0 instant process register name='ä\x{4E16}'
'ä\x{4E16}' <0.1.0> monotonic 0 slice_begin call m:a/0
'ä\x{4E16}' <0.1.0> monotonic 1000 slice_begin call m:'ä\x{4E16}\n'/0
'ä\x{4E16}' <0.1.0> monotonic 2000 slice_end
'ä\x{4E16}' <0.1.0> monotonic 2000 slice_end
label doubtful: returns that end an unknown number of calls
-- stderr
perfetto: returns that end an unknown number of calls: 1, the first to u:f/0; record callers and ends of calls: --match-spec=cx, or dbg:tpl(MODULE, cx)
LINES
# More names than are interned: the others are written in full.
many_names() {
    awk 'BEGIN { for (i = 0; i < 66000; i++) {
        call = "{\"ts\":%d,\"ts_kind\":\"monotonic\",\"tracee\":\"<0.1.0>\",\"tag\":\"%s\",\"term\":\"{m,f%d,0}\"%s}\n"
        printf call, 2 * i, "call", i, ""
        printf call, 2 * i + 1, "return_from", i, ",\"extra\":\"ok\"" } }' >"$work/many.jsonl"
    "$tracehost" replay -t "perfetto,output=$work/many.pf" "$work/many.jsonl" && decode "$work/many.pf" &&
        python3 tests/shipped/perfetto_check.py "$work/many" && grep -c '"event_names"' "$work/many.pf.json"
}
if [ "${TRACES:-}" = all ]; then
    expect 'names beyond those that are interned are written in full' many_names <<'LINES'
many 66000 66000 0 0 0 0
65536
LINES
fi

# --- Files ---

# A full disk leaves whole packets, and a file of which the first packets are read.
whole_packets() {
    (
        ulimit -f 16
        "$tracehost" replay -t perfetto,output="$work/small" "$recordings/s04_genserver_pingpong.trace" 2>"$work/told"
    )
    [ $? = 1 ] && grep 'File too large' "$work/told" && [ "$(stat -c %s "$work/small")" -gt 8000 ] && decode "$work/small"
}
check 'a full disk leaves only whole packets' whole_packets

# A tracer that is loaded again, without what it knew, goes on in the file with names, tracks and flows of its own.
continued() {
    mkdir -p "$work/fatal"
    "$CC" -std=gnu11 -D_GNU_SOURCE -O1 -fPIC -shared -Iplugin_api -I. '-DNAME="perfetto"' -o "$work/fatal/perfetto.so" \
        tests/cli/isolate/fatal.c || return 1
    FATAL_TRACERS=$BUILD_DIR/lib/tracehost/tracers FATAL_EVERY=2 FATAL_SEED=1 FATAL_HOW=0 "$tracehost" replay --isolate \
        --max-crashes=1000 -L "$work/fatal" -t perfetto,output="$work/continued" --max-records=60 \
        "$recordings/s04_genserver_pingpong.trace" 2>/dev/null
    [ $? = 6 ] && decode "$work/continued" && python3 tests/shipped/perfetto_check.py --show "$work/continued.json" >"$work/read" &&
        [ "$(grep -c ^clock "$work/read")" -gt 3 ] && [ "$(grep -c slice_begin "$work/read")" -gt 5 ]
}
case ${EMULATOR:+emulated}$BUILD_DIR in
emulated*)
    skip 'a file that is continued has no number twice' 'the emulator maps no memory a second time, so the record of a crash is unknown'
    ;;
*san) skip 'a file that is continued has no number twice' 'a tracer that dies cannot be built with sanitizers' ;;
*) check 'a file that is continued has no number twice' continued ;;
esac

# --- Recordings: slices begun and ended, instants, counters, flows begun and ended ---

names=
for stream in "$recordings"/*.trace $([ "${TRACES:-}" != all ] || ls "$large"/*.trace); do
    name=$work/$(basename "$stream" .trace)
    names="$names $name"
    "$tracehost" replay -t "perfetto,output=$name.pf" "$stream" >/dev/null 2>&1
    "$tracehost" convert --to=jsonl "$stream" "$name.jsonl" >/dev/null 2>&1
done
compared() {
    decode $(printf '%s.pf ' $names) && python3 tests/shipped/perfetto_check.py $names | grep -v '^l[123]_'
}
expect 'all recordings equal an independent computation' compared <<'LINES'
file_open 0 0 32 0 9 0
s01_seed_local_caller 15 13 0 0 0 0
s02_seed_global_caller 9 6 0 0 0 0
s03_exceptions_return_to 34 34 18 0 0 0
s04_genserver_pingpong 437 437 176 125 64 63
s05_supervisor_restarts 136 133 86 15 11 10
s06_ports 13 11 33 3 5 0
s07_running_exiting 24 24 9 0 0 0
s08_gc 32 32 0 64 0 0
s09_collections_return 383 383 0 0 0 0
s10_seq_trace 0 0 0 0 0 0
s11_mnesia_arity 512 0 103 0 14 0
s12_fileio 164 164 37 0 16 0
s13_procs 0 0 47 5 6 3
s13b_procs_set_on_link 0 0 28 0 6 0
s14_cpu_timestamp 18 0 0 0 0 0
s15_kitchen_sink 151 151 100 44 18 15
s16_terms 54 0 0 0 0 0
s17_meta 18 18 0 0 0 0
s18_ms_messages 3 0 4 2 2 1
s19_dbg_server 23 23 7 0 0 0
s20_empty 0 0 0 0 0 0
s21_ip_drop_extract 23 0 0 0 0 0
s22_killed_vm 512 0 0 0 0 0
s23_exiting_yield 32 32 9 0 0 0
trunc_body 14 12 0 0 0 0
trunc_hdr 14 12 0 0 0 0
trunc_hdr_only 14 12 0 0 0 0
LINES
large_compared() {
    python3 tests/shipped/perfetto_check.py $(printf '%s\n' $names | grep '/l[123]_')
}
if [ "${TRACES:-}" = all ]; then
    expect 'large recordings equal an independent computation' large_compared <<'LINES'
l1_compile_compiler_arity 146395 146395 0 0 0 0
l2_mnesia_full 39218 39218 7504 7347 3083 3082
l3_sorts_args_return 7399 7058 0 0 0 0
LINES
fi

finish
