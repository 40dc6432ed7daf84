#!/bin/sh
# Tests notes, records {tracehost, Key, Value} in a recording: no tracer gets them, all commands know
# them, and they tell names, clocks, and that the node has stopped tracing.
. tests/cli/lib/assertions.sh

cat >"$work/notes.jsonl" <<'EOF'
{"other":"{tracehost,node,{<0.9.0>,<<\"25\">>,<<\"123\">>}}"}
{"other":"{tracehost,clock,{-576460751866416210,1795887988299880704}}"}
{"other":"{tracehost,names,[{<0.9.0>,shop},{<0.44.0>,kernel_sup},{#Port<0.3>,tty},nonsense,{<0.1.0>,\"text\"}]}"}
{"other":"{tracehost,initial_calls,[{<0.9.0>,{shop,init,1}}]}"}
{"ts":-576460751866415210,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"call","term":"{lists,sort,[[1,2]]}"}
{"ts":-576460751866414210,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"return_from","term":"{lists,sort,1}","extra":"[1,2]"}
{"ts":-576460751866414200,"ts_kind":"monotonic","tracee":"<0.77.0>","tag":"call","term":"{lists,map,[f,[]]}"}
{"other":"{tracehost,off,{max_rate,3,<<\"more than 10000 events a second\">>}}"}
{"other":"{tracehost,future,42}"}
EOF
cd "$work" || exit 1

expect 'convert writes notes, and its result reads like the original' sh -c '
    "$1" convert notes.jsonl notes.trace && "$1" convert notes.trace again.jsonl && sed 1d again.jsonl | cmp - notes.jsonl
' sh "$tracehost" </dev/null

expect 'info counts notes, and tells the time of the node' "$tracehost" info notes.trace <<'EOF'
stream      notes.trace (trace-port)
node        nonode@nohost
records     9, 806 bytes
time        0.000001 s by monotonic_timestamp, from 2026-11-28 17:46:28 UTC
note        the node has ended the tracing: more than 10000 events a second; --max-rate=N allows more, --sample=N goes on with fewer processes

   records  tag
         2  trace_ts call/5
         1  trace_ts return_from/6
         1  note clock/3
         1  note future/3
         1  note initial_calls/3
         1  note names/3
         1  note node/3
         1  note off/3

   records  tracee (2)
         2  <0.9.0>
         1  <0.77.0>

     calls  function (2 calls of 2 functions)
         1  lists:map/2
         1  lists:sort/1
EOF

expect 'dump prints notes as they are' "$tracehost" dump --max-records=2 notes.trace <<'EOF'
{tracehost,node,{<0.9.0>,<<"25">>,<<"123">>}}.
{tracehost,clock,{-576460751866416210,1795887988299880704}}.
EOF

for stream in notes.trace notes.jsonl; do
    expect "replay of $stream: no tracer gets a note, and the user is told that tracing ended" \
        sh -c '"$1" replay "$2" 2>&1' sh "$tracehost" $stream <<EOF
0.000000 shop <0.9.0> call lists:sort([1,2])
0.000001 shop <0.9.0> return lists:sort/1 -> [1,2]
0.000001 <0.77.0>     call lists:map(f,[])
tracehost replay: $stream: the node has ended the tracing: more than 10000 events a second; --max-rate=N allows more, --sample=N goes on with fewer processes
EOF
    expect "replay of $stream: a name of a note names a process" \
        sh -c '"$1" replay --processes=shop "$2" 2>/dev/null' sh "$tracehost" $stream <<'EOF'
0.000000 shop <0.9.0> call lists:sort([1,2])
0.000001 shop <0.9.0> return lists:sort/1 -> [1,2]
EOF
done
expect 'replay --isolate tells once that tracing ended' \
    sh -c '"$1" replay --isolate -t count,output=/dev/null -t text,output=/dev/null notes.trace 2>&1' sh "$tracehost" <<'EOF'
tracehost replay: notes.trace: the node has ended the tracing: more than 10000 events a second; --max-rate=N allows more, --sample=N goes on with fewer processes
EOF
{ sed -n 1,4p notes.jsonl; sed -n 8p notes.jsonl; sed -n 5,7p notes.jsonl; } >early.jsonl
"$tracehost" convert early.jsonl early.trace
expect 'each share knows the clocks that a note tells, and one of them tells that tracing ended' \
    sh -c '"$1" replay --shards=3 -t text,time=absolute early.trace 2>&1' sh "$tracehost" <<'EOF'
tracehost replay: early.trace: the node has ended the tracing: more than 10000 events a second; --max-rate=N allows more, --sample=N goes on with fewer processes
2026-11-28T17:46:28.299881Z shop <0.9.0> call lists:sort([1,2])
2026-11-28T17:46:28.299882Z shop <0.9.0> return lists:sort/1 -> [1,2]
2026-11-28T17:46:28.299882Z <0.77.0>     call lists:map(f,[])
EOF
limits() {
    for note in 'off,{memory,3,<<\"the queue\">>}' 'off,{stopped,3,<<\"stopped\">>}' 'off,{memory,3}' 'sampled,{max_rate,3,8}' \
        'sampled,{max_rate,3,many}'; do
        echo "{\"other\":\"{tracehost,$note}\"}" >limit.jsonl
        "$tracehost" replay limit.jsonl 2>&1
    done
}
expect 'the options against a limit are named, and samples are reported' limits <<'EOF'
tracehost replay: limit.jsonl: the node has ended the tracing: the queue; -p and --processes ask for fewer events, --flags=call,arity for events without arguments
tracehost replay: limit.jsonl: the node has ended the tracing: stopped
tracehost replay: limit.jsonl: beyond a limit, the node goes on with one of 8 processes
EOF
unmatched() {
    for note in '{shop,sel,1},[local],[{sell,1},{work,1},{sell,2}]' '{shop,sell,1},[global],[{sell,1}]' \
        '{shop,sell,2},[global],[{sell,1}]' "{shop,sale,'_'},[local,call_count],[{sell,1},nonsense|sell]" \
        "{'_','_','_'},[],[]" '{shop,sell,-1},[],[]' '{shop,sell},[],[]' '{shop,sell,1},[]'; do
        echo "{\"other\":\"{tracehost,unmatched,{$note}}\"}"
    done >unmatched.jsonl
    sed -n 5,6p notes.jsonl >>unmatched.jsonl
    "$tracehost" replay "$@" -t count,output=/dev/null unmatched.jsonl
}
expect 'a pattern that has no function in the node is reported' unmatched <<'EOF'
-- stderr
tracehost replay: unmatched.jsonl: -p shop:sel/1: the node has no such function; did you mean 'shop:sell/1'?
tracehost replay: unmatched.jsonl: -p shop:sell/1: the node does not export this function
tracehost replay: unmatched.jsonl: -p shop:sell/2: the node has no such function; did you mean 'shop:sell/1'?
tracehost replay: unmatched.jsonl: -p shop:sale/_: the node has no such function; did you mean 'shop:sell/_'?
tracehost replay: unmatched.jsonl: -p _:_/_: the node has no such function
EOF
expect 'it is reported once' sh -c '"$@" 2>&1 | grep -v "jsonl: -p"' sh "$tracehost" replay -p shop:sel/1 -p shop:sel/_ \
    -p shop:sale -t count,output=/dev/null unmatched.jsonl <<'EOF'
tracehost replay: warning: -p shop:sel/_: no such function was called
EOF
expect 'tracers get the time of the node from a monotonic time' \
    sh -c '"$1" replay -t otlp notes.trace 2>/dev/null | grep -o "startTimeUnixNano\":\"[0-9]*" | sort -u' sh "$tracehost" <<'EOF'
startTimeUnixNano":"1795887988299881704
EOF

# Names that the recording begins with are names for tracers, also if no registration is delivered.
cat >named.jsonl <<'EOF'
{"other":"{tracehost,node,{<0.9.0>,<<\"25\">>,<<\"123\">>}}"}
{"other":"{tracehost,names,[{<0.9.0>,shop},{<0.44.0>,till}]}"}
{"ts":1000,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"call","term":"{lists,sort,[[1,2]]}"}
{"ts":2000,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"send","term":"sorted","extra":"till"}
{"ts":3000,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"return_from","term":"{lists,sort,1}","extra":"[1,2]"}
{"ts":4000,"ts_kind":"monotonic","tracee":"<0.44.0>","tag":"receive","term":"sorted"}
EOF
expect 'flame names processes' sh -c '"$1" replay -t flame named.jsonl 2>/dev/null' sh "$tracehost" <<'EOF'
shop <0.9.0>;lists:sort/1 2000
EOF
expect 'sequence names processes, and knows the receiver of a message to a name' \
    sh -c '"$1" replay -t sequence named.jsonl 2>/dev/null' sh "$tracehost" <<'EOF'
sequenceDiagram
    participant p1 as shop #60;0.9.0#62;
    participant p2 as till #60;0.44.0#62;
    p1->>p2: sorted
EOF
expect 'chrome names processes' \
    sh -c '"$1" replay -t chrome named.jsonl 2>/dev/null | grep thread_name' sh "$tracehost" <<'EOF'
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"shop <0.9.0>"}}
,{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"till <0.44.0>"}}
EOF
expect 'otlp names processes' \
    sh -c '"$1" replay -t otlp named.jsonl 2>/dev/null | grep -o "registered_name[^}]*" | sort -u' sh "$tracehost" <<'EOF'
registered_name","value":{"stringValue":"shop"
EOF

# Processes without a name have their first functions as labels: <0.45.0>. A name is stronger: <0.9.0>. A process that was
# started with a fun has none: <0.46.0>. Odd values are ignored: <0.47.0>.
cat >first.jsonl <<'EOF'
{"other":"{tracehost,node,{<0.9.0>,<<\"25\">>,<<\"123\">>}}"}
{"other":"{tracehost,names,[{<0.9.0>,shop}]}"}
{"other":"{tracehost,initial_calls,[{<0.9.0>,{shop,init,1}},{<0.45.0>,{old,init,1}},{<0.45.0>,{queue,init,1}},{<0.46.0>,{erlang,apply,2}}]}"}
{"other":"{tracehost,initial_calls,[{<0.47.0>,{m,f,-1}},{<0.47.0>,{m,f,256}},{<0.47.0>,{m,\"f\",1}},{<0.47.0>,{m,f}},{{shop,node},{m,f,1}},nonsense|improper]}"}
{"ts":1000,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"call","term":"{lists,sort,[[1,2]]}"}
{"ts":2000,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"return_from","term":"{lists,sort,1}","extra":"[1,2]"}
{"ts":3000,"ts_kind":"monotonic","tracee":"<0.45.0>","tag":"call","term":"{lists,sort,[[1,2]]}"}
{"ts":6000,"ts_kind":"monotonic","tracee":"<0.45.0>","tag":"return_from","term":"{lists,sort,1}","extra":"[1,2]"}
{"ts":7000,"ts_kind":"monotonic","tracee":"<0.45.0>","tag":"send","term":"sorted","extra":"<0.46.0>"}
{"ts":8000,"ts_kind":"monotonic","tracee":"<0.46.0>","tag":"receive","term":"sorted"}
{"ts":9000,"ts_kind":"monotonic","tracee":"<0.47.0>","tag":"exit","term":"normal"}
EOF
"$tracehost" convert first.jsonl first.trace
of_first() {
    "$tracehost" replay --shards="$shares" -t "$1" first.trace 2>/dev/null
}
# In shares, of which the first may have no more than the notes, the tracers know as much.
for shares in 1 3; do
    expect "$shares shares: text shows names and first functions" of_first text <<'EOF'
0.000000 shop <0.9.0> call lists:sort([1,2])
0.000001 shop <0.9.0> return lists:sort/1 -> [1,2]
0.000002 queue:init/1 <0.45.0> call lists:sort([1,2])
0.000005 queue:init/1 <0.45.0> return lists:sort/1 -> [1,2]
0.000006 queue:init/1 <0.45.0> send sorted -> <0.46.0>
0.000007 <0.46.0>              receive sorted
0.000008 <0.47.0>              exit normal
EOF
    expect "$shares shares: text,names=no shows pids alone" of_first text,names=no <<'EOF'
0.000000 <0.9.0>    call lists:sort([1,2])
0.000001 <0.9.0>    return lists:sort/1 -> [1,2]
0.000002 <0.45.0>   call lists:sort([1,2])
0.000005 <0.45.0>   return lists:sort/1 -> [1,2]
0.000006 <0.45.0>   send sorted -> <0.46.0>
0.000007 <0.46.0>   receive sorted
0.000008 <0.47.0>   exit normal
EOF
    expect "$shares shares: count,by=process shows them" of_first count,by=process <<'EOF'
      events       %        calls  process
           3   42.86            1  queue:init/1 <0.45.0>
           2   28.57            1  shop <0.9.0>
           1   14.29            0  <0.46.0>
           1   14.29            0  <0.47.0>
           7  100.00            2  all
EOF
    expect "$shares shares: count has them in a member of its JSON" of_first count,by=process,format=json,top=3 <<'EOF'
{"processes":[
{"events":3,"calls":1,"errors":0,"process":"<0.45.0>","name":"queue:init/1"},
{"events":2,"calls":1,"errors":0,"process":"<0.9.0>","name":"shop"},
{"events":1,"calls":0,"errors":0,"process":"<0.46.0>","name":null}
]}
EOF
    expect "$shares shares: count has them in a column of its CSV" of_first count,by=process,format=csv,top=3 <<'EOF'
events,calls,errors,process,name
3,1,0,<0.45.0>,queue:init/1
2,1,0,<0.9.0>,shop
1,0,0,<0.46.0>,
EOF
    expect "$shares shares: time,by=process shows them" of_first time,by=process <<'EOF'
     calls     total us       own us      %    p50 us    p90 us    p99 us    max us  process                function
         1            3            3  75.00         3         3         3         3  queue:init/1 <0.45.0>  lists:sort/1
         1            1            1  25.00         1         1         1         1  shop <0.9.0>           lists:sort/1
EOF
    expect "$shares shares: time has them in a column of its CSV" of_first time,by=process,format=csv <<'EOF'
calls,errors,open,untold,total_ns,own_ns,p50_ns,p90_ns,p99_ns,max_ns,process,name,function
1,0,0,0,3000,3000,3000,3000,3000,3000,<0.45.0>,queue:init/1,lists:sort/1
1,0,0,0,1000,1000,1000,1000,1000,1000,<0.9.0>,shop,lists:sort/1
EOF
    expect "$shares shares: flame shows them" of_first flame <<'EOF'
shop <0.9.0>;lists:sort/1 1000
queue:init/1 <0.45.0>;lists:sort/1 3000
EOF
    expect "$shares shares: chrome shows them" \
        sh -c '"$1" replay --shards=$2 -t chrome first.trace 2>/dev/null | grep thread_name' sh "$tracehost" $shares <<'EOF'
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"shop <0.9.0>"}}
,{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"queue:init/1 <0.45.0>"}}
,{"ph":"M","pid":1,"tid":3,"name":"thread_name","args":{"name":"<0.46.0>"}}
,{"ph":"M","pid":1,"tid":4,"name":"thread_name","args":{"name":"<0.47.0>"}}
EOF
    expect "$shares shares: report has first functions as entries" \
        sh -c '"$1" replay --shards=$2 -t report first.trace 2>/dev/null | grep -o "u003c.*\"entry\":[^,]*"' sh "$tracehost" $shares <<'EOF'
u003c0.9.0>","name":"shop","kind":"process","entry":"shop:init/1"
u003c0.45.0>","name":null,"kind":"process","entry":"queue:init/1"
u003c0.46.0>","name":null,"kind":"process","entry":null
u003c0.47.0>","name":null,"kind":"process","entry":null
EOF
done
expect 'sequence shows names and first functions' sh -c '"$1" replay -t sequence first.jsonl 2>/dev/null' sh "$tracehost" <<'EOF'
sequenceDiagram
    participant p1 as queue:init/1 #60;0.45.0#62;
    participant p2 as #60;0.46.0#62;
    p1->>p2: sorted
EOF
expect 'otlp has the first function of a process without a name' \
    sh -c '"$1" replay -t otlp first.jsonl 2>/dev/null | grep -oE "erlang.(registered_name|initial_call)[^}]*\""' sh "$tracehost" <<'EOF'
erlang.registered_name","value":{"stringValue":"shop"
erlang.initial_call","value":{"stringValue":"queue:init/1"
EOF

# Births tell first functions, too, of the modules of behaviours as proc_lib:translate_initial_call/1 does, until an exit.
{
    echo '{"other":"{tracehost,node,{<0.9.0>,<<\"25\">>,<<\"123\">>}}"}'
    n=20
    while read -r function; do
        n=$((n + 1))
        echo "{\"tracee\":\"<0.$n.0>\",\"tag\":\"spawned\",\"term\":\"<0.9.0>\",\"extra\":\"$function\"}"
    done <<'EOF'
{shop,loop,[0]}
{shop,loop,[]}
{erlang,apply,[f,[]]}
{proc_lib,init_p,[p,[],shop,work,[a,b]]}
{proc_lib,init_p,[p,[],f]}
{proc_lib,init_p,[p,[],gen,init_it,[gen_server,p,p,till,[],[]]]}
{proc_lib,init_p,[p,[],gen,init_it,[gen_statem,p,p,{local,x},door,[],[]]]}
{proc_lib,init_p,[p,[],gen,init_it,[gen_event,p,p,{local,x},gen_event,[],[]]]}
{proc_lib,init_p,[p,[],gen,init_it,[gen_server,p,p,supervisor,{self,shop_sup,[]},[]]]}
{proc_lib,init_p,[p,[],gen,init_it,[gen_server,p,p,supervisor,self,[]]]}
{proc_lib,init_p,[p,[],gen,init_it,[few]]}
{shop,loop,[0|1]}
{shop,loop,nothing}
nothing
EOF
    echo '{"tracee":"<0.9.0>","tag":"spawn","term":"<0.40.0>","extra":"{shop,loop,[0]}"}'
    echo '{"tracee":"<0.40.0>","tag":"exit","term":"normal"}'
    echo '{"tracee":"<0.40.0>","tag":"link","term":"<0.9.0>"}'
} >births.jsonl
"$tracehost" convert births.jsonl births.trace
births() {
    "$tracehost" replay --shards="$1" births.trace | sed -E 's/ +(spawned|spawn|exit|link) .*//'
}
for shares in 1 3; do
    expect "$shares shares: births tell first functions" births $shares <<'EOF'
shop:loop/1 <0.21.0>
shop:loop/0 <0.22.0>
<0.23.0>
shop:work/2 <0.24.0>
<0.25.0>
till:init/1 <0.26.0>
door:init/1 <0.27.0>
gen_event:init_it/6 <0.28.0>
supervisor:shop_sup/1 <0.29.0>
<0.30.0>
gen:init_it/1 <0.31.0>
<0.32.0>
<0.33.0>
<0.34.0>
<0.9.0>
shop:loop/1 <0.40.0>
<0.40.0>
EOF
done
expect 'births tell no first functions in other recordings' sh -c 'sed 1d births.jsonl | "$1" replay - | cut -c-20 | sed -n "1p;6p"' sh "$tracehost" <<'EOF'
<0.21.0>   spawned b
<0.26.0>   spawned b
EOF

# Counts that the node has made, of calls of which the recording has some, one or none.
cat >counts.jsonl <<'EOF'
{"other":"{tracehost,node,{<0.9.0>,<<\"25\">>,<<\"123\">>}}"}
{"ts":1000,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"call","term":"{lists,sort,[[1,2]]}"}
{"ts":3000,"ts_kind":"monotonic","tracee":"<0.9.0>","tag":"return_from","term":"{lists,sort,1}","extra":"[1,2]"}
{"other":"{tracehost,counts,[{{lists,sort,1},call_count,40},{{lists,map,2},call_count,7},{{maps,get,2},call_count,3},{{lists,sort,1},call_time,[{<0.9.0>,30,0,15},{<0.10.0>,10,1,500}]},{{lists,map,2},call_time,[{<0.9.0>,7,0,9}]},{{lists,map,2},call_time,[{<0.9.0>,7,99999999999999999,9},nonsense]},nonsense]}"}
EOF
expect 'counts of the node are those of the patterns' "$tracehost" replay -p lists:_ --kind=count,time counts.jsonl <<'EOF'
       calls       seconds  function
          40      1.000515  lists:sort/1
           7      0.000009  lists:map/2
EOF
expect 'counts of another kind are not taken' "$tracehost" replay -p lists:sort/1 --kind=time counts.jsonl <<'EOF'
       calls       seconds  function
          40      1.000515  lists:sort/1
EOF

sed 's/call_time,\[{<0.9.0>,30,0,15},{<0.10.0>,10,1,500}\]/call_time,[{<0.9.0>,40,0,5}]/' counts.jsonl >slow.jsonl
expect 'counts with times begin with the longest time' "$tracehost" replay -p lists:_ --kind=count,time slow.jsonl <<'EOF'
       calls       seconds  function
           7      0.000009  lists:map/2
          40      0.000005  lists:sort/1
EOF

# A note that lies, and one that is damaged.
cat >odd.jsonl <<'EOF'
{"other":"{tracehost,clock,{9223372036854775807,-9223372036854775808}}"}
{"other":"{tracehost,names,[{<0.9.0>,shop}|improper]}"}
{"other":"{tracehost,\"no key\",1}"}
EOF
expect 'a record that only looks like a note is damage; a note with odd values tells nothing' \
    sh -c '"$1" replay odd.jsonl 2>&1; echo $?' sh "$tracehost" <<'EOF'
tracehost replay: odd.jsonl: record 3 at byte 129 was skipped
  the record is not a trace message
tracehost replay: odd.jsonl: recovered 2 records, skipped 1
4
EOF

finish
