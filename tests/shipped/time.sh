#!/bin/sh
# Tests the tracer `time`: tables, and the sums of recordings against another computation.
. tests/cli/lib/assertions.sh

measured() {
    "$tracehost" replay -t "time,$1" "$recordings/$2.trace"
}

# The tracer's figures for $1, as CSV by $2, equal those of times.py.
summed() {
    "$tracehost" replay -t "time,format=csv,by=$2,output=$work/csv" "$1" 2>"$work/remarks"
    "$tracehost" convert --to=jsonl "$1" - 2>/dev/null | python3 tests/shipped/times.py "$work/csv"
}
for name in s03_exceptions_return_to s04_genserver_pingpong s09_collections_return s11_mnesia_arity s14_cpu_timestamp \
    s15_kitchen_sink s17_meta s19_dbg_server s22_killed_vm; do
    for by in function process; do
        check "sums by $by equal an independent computation: $name" summed "$recordings/$name.trace" $by
    done
done
scheduled() {
    summed "$recordings/s15_kitchen_sink.trace" function && grep -q on_ns "$work/csv"
}
check 'the sums include times on schedulers' scheduled
if [ -e "$large/l2_mnesia_full.trace" ]; then
    check 'sums by process equal an independent computation: l2_mnesia_full' summed "$large/l2_mnesia_full.trace" process
else
    skip "sums by process equal an independent computation: $large" 'these recordings are not here'
fi

# Columns: milliseconds, process, event. Recursion (f), a tail call (t to u), a call without a recorded end (v, in w), an open
# call (x), a call whose process has ended (y), an exception (e), an end without a call (z), a clock that is put back (b).
while read -r at tracee tag function extra; do
    printf '{"ts":%s000000,"tracee":"<0.%s.0>","tag":"%s","term":"%s"%s}\n' "$at" "$tracee" "$tag" "$function" "${extra:+,\"extra\":\"$extra\"}"
done >"$work/cases.jsonl" <<'LINES'
10 1 call {m,f,[2]}
12 1 call {m,f,[1]}
15 1 call {m,g,[]}
16 1 return_from {m,g,0} ok
19 1 return_from {m,f,1} ok
20 1 return_from {m,f,1} ok
30 1 call {m,t,0}
31 1 call {m,u,0}
35 1 return_from {m,u,0} ok
35 1 return_from {m,t,0} ok
40 1 call {m,w,0}
41 1 call {m,v,0}
42 1 call {m,g,[]}
44 1 return_from {m,g,0} ok
45 1 return_from {m,w,0} ok
50 1 call {m,x,0}
51 2 call {m,y,0}
52 2 exit normal
53 2 call {m,y,0}
54 2 return_from {m,y,0} ok
60 1 call {m,e,0}
61 1 exception_from {m,e,0} {error,badarg}
62 1 return_from {m,z,0} ok
70 3 call {m,b,0}
60 3 return_from {m,b,0} ok
LINES
expect 'recursion, tail calls, exceptions and open calls are timed' "$tracehost" replay -t time "$work/cases.jsonl" <<'LINES'
     calls   errors     open   untold     total us       own us      %    p50 us    p90 us    p99 us    max us  function
         2        0        0        0        10000         9000  40.91      7000     10000     10000     10000  m:f/1
         1        0        0        0         4000         4000  18.18      4000      4000      4000      4000  m:u/0
         2        0        0        0         3000         3000  13.64      1000      2000      2000      2000  m:g/0
         1        0        0        0         5000         3000  13.64      5000      5000      5000      5000  m:w/0
         2        0        0        1         1000         1000   4.55      1000      1000      1000      1000  m:y/0
         1        1        0        0         1000         1000   4.55      1000      1000      1000      1000  m:e/0
         1        0        0        0         5000         1000   4.55      5000      5000      5000      5000  m:t/0
         1        0        0        0            0            0   0.00         0         0         0         0  m:b/0
         1        0        0        1            -            -   0.00         -         -         -         -  m:v/0
         1        0        1        0            -            -   0.00         -         -         -         -  m:x/0
-- stderr
time: ends of unknown calls: 1
LINES

# return_to ends calls with callers (1), without (2), and with return_from of one function alone (3): a call in a call
# (c), tail calls in it (t to u), a call in which code that is not traced calls others (o), and one that may be a tail call (d).
# In (4) r may have ended at its first return_to, and then k, which is between two calls of r, has ended, too.
while read -r at tracee tag function extra; do
    printf '{"ts":%s000000,"tracee":"<0.%s.0>","tag":"%s","term":"%s"%s}\n' "$at" "$tracee" "$tag" "$function" "${extra:+,$extra}"
done >"$work/returns.jsonl" <<'LINES'
10 1 call {m,c,0} "match_spec_result":"{x,run,0}"
11 1 call {m,t,0} "match_spec_result":"{m,c,0}"
12 1 call {m,u,0} "match_spec_result":"{m,c,0}"
15 1 return_to {m,c,0}
17 1 return_to {x,run,0}
20 1 call {m,o,0} "match_spec_result":"{x,run,0}"
21 1 call {m,g,0} "match_spec_result":"{lists,foreach,2}"
23 1 return_to {lists,foreach,2}
24 1 call {m,g,0} "match_spec_result":"{lists,foreach,2}"
27 1 return_to {lists,foreach,2}
30 1 return_to {x,run,0}
31 1 call {m,d,0} "match_spec_result":"{x,run,0}"
32 1 call {m,g,0} "match_spec_result":"{x,run,0}"
33 1 return_to {x,run,0}
34 1 return_to undefined
40 2 call {m,o,0}
41 2 call {m,g,0}
45 2 return_to {lists,foreach,2}
46 2 return_to {x,run,0}
50 2 call {m,c,0}
51 2 call {m,d,0}
52 2 call {m,g,0}
53 2 return_to {x,run,0}
54 2 return_to {x,main,0}
60 3 call {m,d,0}
61 3 call {m,o,0}
62 3 call {m,g,0}
63 3 return_to {lists,foreach,2}
64 3 return_from {m,o,0} "extra":"ok"
64 3 return_to {lists,foreach,2}
66 3 return_to {x,run,0}
70 4 call {m,r,0}
71 4 call {m,r,0}
72 4 call {m,k,0}
73 4 call {m,r,0}
74 4 call {m,g,0}
75 4 return_to {m,r,0}
76 4 return_to {m,r,0}
78 4 return_to {x,run,0}
LINES
expect 'return_to ends calls, and doubtful ends are reported' "$tracehost" replay -t time "$work/returns.jsonl" <<'LINES'
     calls     open   untold     total us       own us      %    p50 us    p90 us    p99 us    max us  function
         7        0        0        13000        13000  40.62      1000      4000      4000      4000  m:g/0
         3        0        0        19000         9000  28.12      6000     10000     10000     10000  m:o/0
         3        0        2         6000         3000   9.38      6000      6000      6000      6000  m:d/0
         2        1        0         7000         3000   9.38      7000      7000      7000      7000  m:c/0
         1        0        0         3000         3000   9.38      3000      3000      3000      3000  m:u/0
         1        0        0         4000         1000   3.12      4000      4000      4000      4000  m:t/0
         3        1        2            -            -   0.00         -         -         -         -  m:r/0
         1        0        1            -            -   0.00         -         -         -         -  m:k/0
-- stderr
time: returns that end an unknown number of calls: 8, the first to x:run/0; record callers and ends of calls: --match-spec=cx, or dbg:tpl(MODULE, cx)
LINES
check 'sums of calls that return_to ends equal an independent computation' summed "$work/returns.jsonl" process

# A server that never returns calls functions whose ends were not recorded, 10000 times: their calls are doubted.
{
    echo '10 call {m,loop,0}'
    seq -f '%g call {lists,foldl,3}' 11 10010
    echo '10011 return_to {x,y,0}'
    echo '10012 return_from {m,loop,0} "extra":"ok"'
} | while read -r at tag function extra; do
    printf '{"ts":%s000,"tracee":"<0.1.0>","tag":"%s","term":"%s"%s}\n' "$at" "$tag" "$function" "${extra:+,$extra}"
done >"$work/server.jsonl"
expect 'a call below many doubted ones is timed' "$tracehost" replay -t time,top=1 "$work/server.jsonl" <<'LINES'
     calls   untold     total us       own us      %    p50 us    p90 us    p99 us    max us  function
         1        0        10002        10001  99.99     10002     10002     10002     10002  m:loop/0
     10000     9999            -            1   0.01         -         -         -         -  1 more
-- stderr
time: returns that end an unknown number of calls: 1, the first to x:y/0; record callers and ends of calls: --match-spec=cx, or dbg:tpl(MODULE, cx)
LINES
check 'sums of a call below many doubted ones equal an independent computation' summed "$work/server.jsonl" process

expect 'by=process prints the functions of each process' "$tracehost" replay -t time,by=process,top=2 "$recordings/s04_genserver_pingpong.trace" <<'LINES'
     calls   untold     total us       own us      %    p50 us    p90 us    p99 us    max us  process     function
        21        0          462          462  41.81       225       402       462       462  <0.94.0>    wl:'-pingpong/1-lc$^0/1-0-'/2
        21        0          320          320  28.96        25        43       320       320  <0.94.0>    wl:'-pingpong/1-lc$^2/1-2-'/1
       395      331            -          323  29.23         -         -         -         -              28 more
LINES
expect 'calls without recorded ends have no times' measured top=2 s01_seed_local_caller <<'LINES'
     calls     open     total us       own us      %    p50 us    p90 us    p99 us    max us  function
        11       11            -            -   0.00         -         -         -         -  ex:bar/1
         1        1            -            -   0.00         -         -         -         -  ex:foo/0
         3        3            -            -   0.00         -         -         -         -  3 more
-- stderr
time: the events contain no ends of calls; record them by a match specification with {return_trace} or {exception_trace}, as --return or --exception of -p do, or by the flag return_to
time: events without a time stamp, which takes a flag such as monotonic_timestamp: 15
LINES
expect 'events without time stamps are counted and reported' measured top=2 s12_fileio <<'LINES'
     calls     total us       own us      %    p50 us    p90 us    p99 us    max us  function
       101            -            -   0.00         -         -         -         -  file:file_name_1/2
        19            -            -   0.00         -         -         -         -  file:check_args/1
        44            -            -   0.00         -         -         -         -  13 more
-- stderr
time: events without a time stamp, which takes a flag such as monotonic_timestamp: 328
LINES
expect 'format=json prints the table as JSON' "$tracehost" replay -t time,format=json,top=2 "$work/cases.jsonl" <<'LINES'
{"functions":[
{"calls":2,"errors":0,"open":0,"untold":0,"total_ns":10000000,"own_ns":9000000,"p50_ns":7000000,"p90_ns":10000000,"p99_ns":10000000,"max_ns":10000000,"function":"m:f/1"},
{"calls":1,"errors":0,"open":0,"untold":0,"total_ns":4000000,"own_ns":4000000,"p50_ns":4000000,"p90_ns":4000000,"p99_ns":4000000,"max_ns":4000000,"function":"m:u/0"}
]}
-- stderr
time: ends of unknown calls: 1
LINES
expect 'format=csv prints the table as CSV' "$tracehost" replay -t time,format=csv,by=process,top=1 "$work/cases.jsonl" <<'LINES'
calls,errors,open,untold,total_ns,own_ns,p50_ns,p90_ns,p99_ns,max_ns,process,name,function
2,0,0,0,10000000,9000000,7000000,10000000,10000000,10000000,<0.1.0>,,m:f/1
-- stderr
time: ends of unknown calls: 1
LINES
expect 'open calls beyond frames=2 are forgotten and reported' "$tracehost" replay -t time,frames=2,top=3 "$work/cases.jsonl" <<'LINES'
     calls   errors     open   untold     total us       own us      %    p50 us    p90 us    p99 us    max us  function
         2        0        1        0         7000         6000  37.50      7000      7000      7000      7000  m:f/1
         1        0        0        0         4000         4000  25.00      4000      4000      4000      4000  m:u/0
         2        0        0        0         3000         3000  18.75      1000      2000      2000      2000  m:g/0
         8        1        3        1            -         3000  18.75         -         -         -         -  7 more
-- stderr
time: open calls forgotten, as there were more than `frames`: 3
time: ends of unknown calls: 3
LINES
expect 'an empty recording gives no table' measured top=2 s20_empty <<'LINES'
-- stderr
tracehost replay: warning: there are no records in samples/recordings/s20_empty.trace
LINES
expect 'a recording without calls gives no table' measured top=2 file_open <<'LINES'
LINES

# Times on and off schedulers: before the first event about them (f), within calls that others make (g), a process without
# such events (2), recursion (r), a process that ended and one with its pid (3, 5), a missing `in` (4, in k).
while read -r at tracee tag function; do
    extra=
    [ "$tag" != return_from ] || extra=',"extra":"ok"'
    printf '{"ts":%s000000,"tracee":"<0.%s.0>","tag":"%s","term":"%s"%s}\n' "$at" "$tracee" "$tag" "$function" "$extra"
done >"$work/scheduled.jsonl" <<'LINES'
10 1 call {m,f,0}
12 1 out {m,f,0}
15 1 in {m,f,0}
16 1 call {m,g,0}
18 1 out {m,g,0}
20 1 in {m,g,0}
21 1 return_from {m,g,0}
22 1 return_from {m,f,0}
30 1 out 0
34 1 call {m,h,0}
36 1 out {m,h,0}
39 1 in {m,h,0}
40 1 return_from {m,h,0}
50 2 call {m,g,0}
54 2 return_from {m,g,0}
60 3 in 0
61 3 call {m,r,0}
62 3 call {m,r,0}
63 3 out {m,r,0}
67 3 in {m,r,0}
68 3 return_from {m,r,0}
69 3 return_from {m,r,0}
70 3 exit normal
71 3 out_exited 0
80 3 call {m,g,0}
81 3 return_from {m,g,0}
90 4 in 0
91 4 call {m,k,0}
92 4 out {m,k,0}
95 4 call {m,g,0}
96 4 return_from {m,g,0}
97 4 return_from {m,k,0}
100 5 in 0
101 5 call {m,g,0}
102 5 return_from {m,g,0}
103 5 out_exited 0
104 5 call {m,g,0}
105 5 return_from {m,g,0}
LINES
expect 'times on and off schedulers have columns' "$tracehost" replay -t time "$work/scheduled.jsonl" <<'LINES'
     calls     total us        on us       off us   unknown us       own us    own on us      %    p50 us    p90 us    p99 us    max us  function
         6        13000         5000         2000         6000        13000         5000  33.33      1000      5000      5000      5000  m:g/0
         2         8000         4000         4000            0         8000         4000  20.51      6000      8000      8000      8000  m:r/0
         1        12000         5000         5000         2000         7000         2000  17.95     12000     12000     12000     12000  m:f/0
         1         6000         3000         3000            0         6000         3000  15.38      6000      6000      6000      6000  m:h/0
         1         6000         3000            0         3000         5000         2000  12.82      6000      6000      6000      6000  m:k/0
LINES
scheduled_sums() {
    summed "$work/scheduled.jsonl" function && summed "$work/scheduled.jsonl" process && head -n 1 "$work/csv"
}
expect 'these times equal an independent computation' scheduled_sums <<'LINES'
calls,errors,open,untold,total_ns,on_ns,off_ns,unknown_ns,own_ns,own_on_ns,own_off_ns,p50_ns,p90_ns,p99_ns,max_ns,process,name,function
LINES
without_time() {
    grep '<0.1.0>' "$work/scheduled.jsonl" | sed '5s/"ts":[0-9]*,//' >"$work/timeless.jsonl"
    "$tracehost" replay -t time "$work/timeless.jsonl"
}
expect 'around an out without a time it is unknown where the time was spent' without_time <<'LINES'
     calls     total us        on us       off us   unknown us       own us    own on us      %    p50 us    p90 us    p99 us    max us  function
         1        12000         3000         3000         6000         7000         2000  38.89     12000     12000     12000     12000  m:f/0
         1         6000         3000         3000            0         6000         3000  33.33      6000      6000      6000      6000  m:h/0
         1         5000         1000            0         4000         5000         1000  27.78      5000      5000      5000      5000  m:g/0
-- stderr
time: events without a time stamp, which takes a flag such as monotonic_timestamp: 1
LINES
many() {
    {
        seq 1 70000 | awk '{ printf "{\"ts\":%d000,\"tracee\":\"<0.%d.0>\",\"tag\":\"in\",\"term\":\"0\"}\n", $1, $1 }'
        for process in 1 70000; do
            printf '{"ts":80000000,"tracee":"<0.%s.0>","tag":"call","term":"{m,f,0}"}\n' $process
            printf '{"ts":80003000,"tracee":"<0.%s.0>","tag":"return_from","term":"{m,f,0}","extra":"ok"}\n' $process
        done
    } >"$work/many.jsonl"
    "$tracehost" replay -t time "$work/many.jsonl"
}
expect 'the schedulers of too many processes are not remembered, which is counted' many <<'LINES'
     calls     total us        on us       off us   unknown us       own us    own on us      %    p50 us    p90 us    p99 us    max us  function
         2            6            3            0            3            6            3 100.00         3         3         3         3  m:f/0
-- stderr
time: times that a process was forgotten between its calls, as too many are scheduled; its times on schedulers are unknown until the next `in` or `out`: 4464
LINES
none_of_them() {
    "$tracehost" replay -t time,format=csv,by=process --flags=call,monotonic_timestamp "$work/scheduled.jsonl" | head -n 1
}
expect 'without events about schedulers there are no such columns' none_of_them <<'LINES'
calls,errors,open,untold,total_ns,own_ns,p50_ns,p90_ns,p99_ns,max_ns,process,name,function
LINES

# OTP's counts of calls by function, and of all exceptions.
as_otp_counted() {
    "$tracehost" replay -t time,format=csv "$1" 2>/dev/null | tail -n +2 >"$work/csv"
    # shellcheck disable=SC2016
    awk -F, '{ print $1, $NF; errors += $2 } END { print errors + 0, "errors" }' "$work/csv" | sort >"$work/counted"
    awk '/^call / { gsub(/\x27/, "", $2); print $3, $2 } $3 == "exception_from" { errors += $4 } END { print errors + 0, "errors" }' \
        "${1%.trace}.counts.txt" | sort >"$work/otp"
    tr -d \' <"$work/counted" | sort | comm -23 "$work/otp" - >"$work/missing"
    [ "$(wc -l <"$work/otp")" -gt 1 ] && diff /dev/null "$work/missing"
}
for name in s03_exceptions_return_to s04_genserver_pingpong s09_collections_return s11_mnesia_arity s12_fileio s15_kitchen_sink; do
    check "the counts include those of OTP: $name" as_otp_counted "$recordings/$name.trace"
done

# Live: fib(12) is 465 calls, all inside of the first one; and processes on several schedulers.
live() {
    "$tracehost" run -t "time,format=csv,by=process,output=$work/live" -p fib:fib/1 --return \
        --flags=call,monotonic_timestamp fib 'fib:fib(12)' &&
        awk -F, 'NR > 1 { print $1, $2, $3, $4, ($5 == $6 && $5 == $10 && $7 <= $8 && $8 <= $9 && $9 <= $10 ? "ok" : $0), $NF }' "$work/live"
}
expect 'recursive calls of a live run are timed' live <<'LINES'
144
465 0 0 0 ok fib:fib/1
LINES
on_schedulers() {
    "$tracehost" run --schedulers=4 -t "time,format=csv,by=$1,output=$work/timed" -t "count,format=csv,output=$work/counted" -p bank:_/_ \
        --exception --flags=call,procs,monotonic_timestamp bank 'bank:start(), bank:open(left, 10), bank:open(right, 10).' \
        '[bank:transfer(left, right, 1), bank:transfer(right, left, 2), bank:audit(), bank:crash(left), bank:audit(), bank:stop()].' &&
        awk -F, 'NR > 1 { calls[$NF] += $1 } END { for (name in calls) print calls[name], name }' "$work/timed" | sort >"$work/ours" &&
        awk -F, 'NR > 1 { print $1, $NF }' "$work/counted" | sort | diff - "$work/ours" && [ "$(wc -l <"$work/ours")" -gt 5 ]
}
check 'no call is lost on four schedulers' on_schedulers function
check 'no call is lost on four schedulers, by=process' on_schedulers process

finish
