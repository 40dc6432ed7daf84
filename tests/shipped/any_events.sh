#!/bin/sh
# Tests each shipped tracer with events that no node sends: none crashes, loses its output or violates its format.
# STRESS_SEEDS=N tries N streams instead of a few.
. tests/cli/lib/assertions.sh

# A program that reads each tracer's output, by its settings.
read_by() {
    case $1 in
    otlp) cat >"$work/spans" && tests/shipped/otlp_rules "$work/spans" ;;
    perfetto)
        cat >"$work/packets"
        [ ! -e "$SOURCE_DIR/build/npm/packages" ] ||
            NODE_PATH=$SOURCE_DIR/build/npm/node_modules node tests/shipped/perfetto_decode "$work/packets"
        ;;
    tree,*format=json*) python3 -c 'import json, sys; list(map(json.loads, sys.stdin))' ;;
    chrome | speedscope | *format=json*) python3 -c 'import json, sys; json.load(sys.stdin)' ;;
    jsonl) "$tracehost" info --allow-partial - ;;
    trace_port,* | nats,*) "$tracehost" info --allow-partial "$work/recorded" ;;
    *format=svg*) python3 -c 'import sys, xml.etree.ElementTree as tree; tree.parse(sys.stdin)' ;;
    *format=csv*) python3 -c 'import csv, sys; rows = list(csv.reader(sys.stdin)); sys.exit(len(set(map(len, rows))) != 1)' ;;
    *) python3 -c 'import sys; sys.stdin.read()' ;; # UTF-8
    esac
}

# survives TRACER SEED
survives() {
    "$tracehost" replay -t "$1" "$work/events$2.jsonl" >"$work/written" 2>"$work/told"
    status=$?
    if [ $status != 0 ] && [ $status != 4 ]; then
        echo "seed $2: status $status"
        cat "$work/told"
        return 1
    fi
    read_by "$1" <"$work/written" >"$work/read" 2>&1 || {
        echo "seed $2: not well-formed"
        tail -3 "$work/read"
        return 1
    }
}

seeds=$(seq 1 "${STRESS_SEEDS:-3}")
for seed in $seeds; do
    tests/shipped/any_events "$seed" 400 >"$work/events$seed.jsonl"
done
every_seed() {
    for seed in $seeds; do
        survives "$1" "$seed" || return 1
    done
}

# For a stream without events, the output replaces the old content of its file.
of_nothing() {
    for tracer in text msg count count,format=json count,by=process,format=csv time time,format=csv tree flame chrome perfetto speedscope sequence coverage \
        coverage,format=json trace_port jsonl; do
        echo "-- $tracer"
        echo left >"$work/output"
        "$tracehost" replay -t "$tracer,output=$work/output" "$recordings/s20_empty.trace" 2>"$work/errors" &&
            cat "$work/output"
        sed '/there are no records in/d' "$work/errors"
    done
}
expect 'a stream without events replaces the content of the output' of_nothing <<'END'
-- text
-- msg
-- count
-- count,format=json
{"tags":[
],
"functions":[
]}
-- count,by=process,format=csv
events,calls,errors,process,name
-- time
-- time,format=csv
calls,errors,open,untold,total_ns,own_ns,p50_ns,p90_ns,p99_ns,max_ns,function
-- tree
-- flame
-- chrome
[]
-- perfetto
-- speedscope
{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"tracehost","name":"calls","profiles":[
],"shared":{"frames":[
]}}
-- sequence
sequenceDiagram
-- coverage
-- coverage,format=json
{"modules":[
]}
-- trace_port
-- jsonl
{"tracehost":1,"node":"nonode@nohost","creation":0}
END

settings=",args=full,time=delta count,format=json count,by=process,format=csv time,format=json time,by=process,format=csv flame,format=svg"
settings="$settings tree,by=process,args=full,results=yes tree,held=3,all=5,args=shape,format=json"
settings="$settings flame,format=svg,by=calls sequence,format=svg coverage,format=json coverage,format=lcov trace_port,output=$work/recorded"
# The program that nats starts keeps what it should publish.
printf '#!/bin/sh\nexec cat >%s\n' "$work/recorded" >"$work/keep"
chmod +x "$work/keep"
settings="$settings nats,log=nats://x/y,program=$work/keep"
for tracer in $("$tracehost" tracers | awk '/NIF library/ { print $1 }') text$settings; do
    case $tracer in
    trace_port | nats) ;;
    *) check "$(echo "$tracer" | sed "s|$work|WORK|g"): random events give a well-formed output" every_seed "$tracer" ;;
    esac
done
finish
