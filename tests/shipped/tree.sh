#!/bin/sh
# Tests the tracer `tree`: lines and settings, what is held and folded, and that its sums are those of `time`.
. tests/cli/lib/assertions.sh

# of SETTINGS FILE: the trees of a recording.
of() {
    "$tracehost" replay -t "tree$1" "$2"
}

# events FILE: makes a recording of lines of milliseconds, process, event, term and more JSON.
events() {
    while read -r at tracee tag function extra; do
        case $tag$extra in
        return_from) extra='"extra":"ok"' ;;
        exception_from) extra='"extra":"{error,badarg}"' ;;
        esac
        printf '{"ts":%s000000,"tracee":"<0.%s.0>","tag":"%s","term":"%s"%s}\n' "$at" "$tracee" "$tag" "$function" "${extra:+,$extra}"
    done >"$work/$1.jsonl"
}

# Recursion (f), a tail call (t to u), a call without a recorded end (v, in w), an open call (x), calls of two processes
# at once (p, q), an exception (e), one whose process ends (y), and an end without a call (z).
events cases <<'LINES'
10 1 call {m,f,[2]}
12 1 call {m,f,[1]}
15 1 call {m,g,[]}
16 1 return_from {m,g,0}
19 1 return_from {m,f,1} "extra":"{1,<<\"a\">>}"
20 1 return_from {m,f,1} "extra":"two"
30 1 call {m,t,[a]}
31 1 call {m,u,[a]}
35 1 return_from {m,u,1}
35 1 return_from {m,t,1}
40 1 call {m,w,[]}
41 1 call {m,v,[]}
42 1 call {m,g,[]}
44 1 return_from {m,g,0}
45 1 return_from {m,w,0}
50 1 call {m,p,[]}
51 2 call {m,q,0}
52 1 call {m,e,[7]}
53 1 exception_from {m,e,1}
54 2 return_from {m,q,0}
55 1 return_from {m,p,0}
56 2 call {m,y,[]}
57 2 exit normal
58 1 return_from {m,z,0}
60 1 call {m,x,[]}
61 1 call {m,g,[]}
62 1 return_from {m,g,0}
LINES
expect 'a tree has durations, and marks exceptions, open and untold calls' of '' "$work/cases.jsonl" <<'LINES'
   duration  process    call
  10.000 ms  <0.1.0>    m:f(2)
   7.000 ms  <0.1.0>      m:f(1)
   1.000 ms  <0.1.0>        m:g()
   5.000 ms  <0.1.0>    m:t(a)
   4.000 ms  <0.1.0>      m:u(a)
   5.000 ms  <0.1.0>    m:w()
     untold  <0.1.0>      m:v()
   2.000 ms  <0.1.0>      m:g()
   3.000 ms  <0.2.0>    m:q/0
   5.000 ms  <0.1.0>    m:p()
   1.000 ms  <0.1.0>      m:e(7) ! error:badarg
     untold  <0.2.0>    m:y()
       open  <0.1.0>    m:x()
   1.000 ms  <0.1.0>    m:g()
-- stderr
tree: calls shown beside open calls that may have ended, or contain them: 2
tree: ends of unknown calls: 1
LINES
expect 'own times, results, args=none and depth=2 for each process' of ,own=yes,results=yes,args=none,depth=2,by=process "$work/cases.jsonl" <<'LINES'
   duration          own  call
<0.1.0>:
  10.000 ms     3.000 ms  m:f/1
   7.000 ms     6.000 ms    m:f/1
   5.000 ms     1.000 ms  m:t/1
   4.000 ms     4.000 ms    m:u/1
   5.000 ms     3.000 ms  m:w/0
     untold       untold    m:v/0
   2.000 ms     2.000 ms    m:g/0
   5.000 ms     4.000 ms  m:p/0
   1.000 ms     1.000 ms    m:e/1 ! error
       open         open  m:x/0
   1.000 ms     1.000 ms  m:g/0

<0.2.0>:
   3.000 ms     3.000 ms  m:q/0
     untold       untold  m:y/0
-- stderr
tree: calls deeper than `depth`, not shown: 1
tree: calls shown beside open calls that may have ended, or contain them: 2
tree: ends of unknown calls: 1
LINES
expect 'results are shown as arguments are; only=m:f/1 and min=5ms' of ,results=yes,args=full,only=m:f/1,min=5ms "$work/cases.jsonl" <<'LINES'
   duration  process    call
  10.000 ms  <0.1.0>    m:f(2) -> two
   7.000 ms  <0.1.0>      m:f(1) -> {1,<<"a">>}
-- stderr
tree: calls outside of `only`, not shown: 11
tree: calls shorter than `min`, or inside of such calls, not shown: 1
tree: ends of unknown calls: 1
LINES
expect 'only=m:g shows the trees of an inner function' of ,only=m:g "$work/cases.jsonl" <<'LINES'
   duration  process    call
   1.000 ms  <0.1.0>    m:g()
   2.000 ms  <0.1.0>    m:g()
   1.000 ms  <0.1.0>    m:g()
-- stderr
tree: calls outside of `only`, not shown: 11
tree: ends of unknown calls: 1
LINES
expect 'only= of a function that is never called is reported' of ,only=mg "$work/cases.jsonl" <<'LINES'
-- stderr
tree: no call of mg is in the recording; `only` is written as names are shown: m:f or m:f/1
tree: calls outside of `only`, not shown: 14
tree: ends of unknown calls: 1
LINES
expect 'JSON has a line for each call' of ,format=json,only=m:f,results=yes "$work/cases.jsonl" <<'LINES'
{"process":"<0.1.0>","name":null,"function":"m:f/1","depth":0,"calls":1,"end":"told","start_ns":0,"duration_ns":10000000,"own_ns":3000000,"total_ns":10000000,"shortest_ns":10000000,"longest_ns":10000000,"on_ns":null,"off_ns":null,"own_on_ns":null,"own_off_ns":null,"error":false,"arguments":"(2)","outcome":" -> two"}
{"process":"<0.1.0>","name":null,"function":"m:f/1","depth":1,"calls":1,"end":"told","start_ns":2000000,"duration_ns":7000000,"own_ns":6000000,"total_ns":0,"shortest_ns":7000000,"longest_ns":7000000,"on_ns":null,"off_ns":null,"own_on_ns":null,"own_off_ns":null,"error":false,"arguments":"(1)","outcome":" -> {1,<<\"a\">>}"}
{"process":"<0.1.0>","name":null,"function":"m:g/0","depth":2,"calls":1,"end":"told","start_ns":5000000,"duration_ns":1000000,"own_ns":1000000,"total_ns":1000000,"shortest_ns":1000000,"longest_ns":1000000,"on_ns":null,"off_ns":null,"own_on_ns":null,"own_off_ns":null,"error":false,"arguments":"()","outcome":" -> ok"}
-- stderr
tree: calls outside of `only`, not shown: 11
tree: ends of unknown calls: 1
LINES

# Calls are printed as open when too many are held; their ends come later.
expect 'calls beyond held=2 are printed as open, and their ends later' of ,held=2,results=yes,own=yes "$work/cases.jsonl" <<'LINES'
   duration          own  process    call
       open         open  <0.1.0>    m:f(2)
       open         open  <0.1.0>    m:f(1)
       open         open  <0.1.0>    m:g()
   1.000 ms     1.000 ms  <0.1.0>    end of m:g/0 -> ok
   7.000 ms     6.000 ms  <0.1.0>    end of m:f/1 -> {1,<<"a">>}
  10.000 ms     3.000 ms  <0.1.0>    end of m:f/1 -> two
   5.000 ms     1.000 ms  <0.1.0>    m:t(a) -> ok
   4.000 ms     4.000 ms  <0.1.0>      m:u(a) -> ok
       open         open  <0.1.0>    m:w()
       open         open  <0.1.0>    m:v()
       open         open  <0.1.0>    m:g()
   2.000 ms     2.000 ms  <0.1.0>    end of m:g/0 -> ok
     untold       untold  <0.1.0>    end of m:v/0
   5.000 ms     3.000 ms  <0.1.0>    end of m:w/0 -> ok
   3.000 ms     3.000 ms  <0.2.0>    m:q/0 -> ok
   5.000 ms     4.000 ms  <0.1.0>    m:p() -> ok
   1.000 ms     1.000 ms  <0.1.0>      m:e(7) ! error:badarg
     untold       untold  <0.2.0>    m:y()
       open         open  <0.1.0>    m:x()
   1.000 ms     1.000 ms  <0.1.0>    m:g() -> ok
-- stderr
tree: calls printed before they ended, as more were held than `held` or `all`: 6
tree: calls shown beside open calls that may have ended, or contain them: 5
tree: ends of unknown calls: 1
LINES
expect 'all=2 limits the calls of all processes; frames=2 those that are remembered' of ,all=2,frames=2,args=none "$work/cases.jsonl" <<'LINES'
   duration  process    call
       open  <0.1.0>    m:f/1
       open  <0.1.0>    m:f/1
   1.000 ms  <0.1.0>    m:g/0
   7.000 ms  <0.1.0>    end of m:f/1
   5.000 ms  <0.1.0>    m:t/1
   4.000 ms  <0.1.0>      m:u/1
       open  <0.1.0>    m:w/0
       open  <0.1.0>    m:v/0
   2.000 ms  <0.1.0>    m:g/0
       open  <0.1.0>    m:p/0
       open  <0.1.0>    m:e/1
       open  <0.2.0>    m:q/0
   1.000 ms  <0.1.0>    end of m:e/1 ! error
   3.000 ms  <0.2.0>    end of m:q/0
   5.000 ms  <0.1.0>    end of m:p/0
     untold  <0.2.0>    m:y/0
       open  <0.1.0>    m:x/0
   1.000 ms  <0.1.0>    m:g/0
-- stderr
tree: calls printed before they ended, as more were held than `held` or `all`: 3
tree: calls shown beside open calls that may have ended, or contain them: 7
tree: open calls forgotten, as there were more than `frames`: 3
tree: ends of unknown calls: 3
LINES

# Repeated calls: a row of a (of which one is in another call), rows in rows, other shapes, exceptions and open calls stay apart.
{
    echo '1 1 call {m,top,[]}'
    for i in 2 6 10; do
        printf '%s 1 call {m,a,[%s]}\n%s 1 call {m,b,[x]}\n%s 1 return_from {m,b,1}\n' $i $i $((i + 1)) $((i + 2))
        [ $i != 6 ] || printf '8 1 call {m,b,[y]}\n9 1 return_from {m,b,1}\n'
        printf '%s 1 return_from {m,a,1}\n' $((i + 3))
    done
    cat <<'LINES'
20 1 call {m,c,[]}
21 1 return_from {m,c,0}
21 1 call {m,a,[1]}
22 1 return_from {m,a,1}
22 1 call {m,a,[2]}
25 1 return_from {m,a,1}
25 1 call {m,a,[3]}
26 1 exception_from {m,a,1}
26 1 call {m,a,[3]}
27 1 exception_from {m,a,1}
28 1 return_from {m,top,0}
29 1 call {m,c,[]}
30 1 return_from {m,c,0}
31 1 call {m,c,[]}
33 1 return_from {m,c,0}
34 1 call {m,c,[]}
LINES
} | events rows
expect 'repeated calls with the same calls inside become one line' of '' "$work/rows.jsonl" <<'LINES'
   duration  process    call
  27.000 ms  <0.1.0>    m:top()
   9.000 ms  <0.1.0>      m:a/1 x 3, 3.000 ms to 3.000 ms
   4.000 ms  <0.1.0>        m:b/1 x 4, 1.000 ms to 1.000 ms
   1.000 ms  <0.1.0>      m:c()
   4.000 ms  <0.1.0>      m:a/1 x 2, 1.000 ms to 3.000 ms
   1.000 ms  <0.1.0>      m:a(3) ! error:badarg
   1.000 ms  <0.1.0>      m:a(3) ! error:badarg
   1.000 ms  <0.1.0>    m:c()
   2.000 ms  <0.1.0>    m:c()
       open  <0.1.0>    m:c()
LINES
expect 'with by=process outermost calls become one line, too' of ,by=process,depth=1 "$work/rows.jsonl" <<'LINES'
<0.1.0>:
  27.000 ms  m:top()
   3.000 ms  m:c/0 x 2, 1.000 ms to 2.000 ms
       open  m:c()
-- stderr
tree: calls deeper than `depth`, not shown: 12
LINES
lines_of_all() {
    of ,fold=no "$work/rows.jsonl" | grep -c ' m:'
}
expect 'fold=no prints each call' lines_of_all <<'LINES'
16
LINES

# A call whose caller is not the open call: j has ended, as its caller k goes on, but its end is not recorded.
events doubts <<'LINES'
1 1 call {m,k,[]} "match_spec_result":"{x,run,0}"
2 1 call {m,i,[]} "match_spec_result":"{m,k,0}"
3 1 call {m,j,[]} "match_spec_result":"{m,i,0}"
4 1 call {m,l,[]} "match_spec_result":"{m,k,0}"
5 1 return_to {m,k,0}
9 1 return_to {x,run,0}
11 2 call {m,r,[]}
12 2 call {m,s,[]}
13 2 return_to {x,run,0}
14 2 call {m,s,[]}
16 2 return_to {x,run,0}
LINES
expect 'a call is never inside of one that may have ended' of '' "$work/doubts.jsonl" <<'LINES'
   duration  process    call
   8.000 ms  <0.1.0>    m:k()
   3.000 ms  <0.1.0>      m:i()
     untold  <0.1.0>        m:j()
   1.000 ms  <0.1.0>        m:l()
   2.000 ms  <0.2.0>    m:s()
       open  <0.2.0>    m:r()
   1.000 ms  <0.2.0>    m:s()
-- stderr
tree: calls shown beside open calls that may have ended, or contain them: 3
tree: returns that end an unknown number of calls: 1, the first to x:run/0; record callers and ends of calls: --match-spec=cx, or dbg:tpl(MODULE, cx)
LINES

# Calls in a call without a recorded end: a caller (k, i), a return_to (of process 2) shows that they are inside; nothing does
# about l, c and the later call of a, and about g, whose caller may be either call of f. Rows: calls in loop, of which one
# follows from the other, and towers of t and u.
events untold <<'LINES'
1 1 call {m,k,[]} "match_spec_result":"{x,run,0}"
2 1 call {m,i,[]} "match_spec_result":"{m,k,0}"
3 1 call {m,j,[]} "match_spec_result":"{m,i,0}"
4 1 call {m,l,[]} "match_spec_result":"{x,run,0}"
5 1 exit normal
11 2 call {m,k,[]}
12 2 call {m,a,[]}
13 2 call {m,b,[]}
14 2 return_to {m,k,0}
15 2 call {m,a,[]}
16 2 call {m,b,[]}
18 2 return_from {m,b,0}
19 2 return_from {m,a,0}
20 2 call {m,c,[]}
21 2 exit normal
31 3 call {m,f,[2]} "match_spec_result":"{x,run,0}"
32 3 call {m,f,[1]} "match_spec_result":"{m,f,1}"
33 3 call {m,g,[]} "match_spec_result":"{m,f,1}"
34 3 exit normal
41 4 call {m,loop,[1]} "match_spec_result":"{x,run,0}"
42 4 call {m,a,[]} "match_spec_result":"{m,loop,1}"
44 4 return_from {m,a,0}
45 4 call {m,loop,[2]} "match_spec_result":"{x,run,0}"
46 4 call {m,a,[]} "match_spec_result":"{m,loop,1}"
49 4 return_from {m,a,0}
50 4 call {m,t,[1]}
51 4 call {m,t,[2]}
52 4 call {m,u,[]}
53 4 exit normal
LINES
expect 'a call without an end contains those calls that events show to be inside' of '' "$work/untold.jsonl" <<'LINES'
   duration  process    call
     untold  <0.1.0>    m:k()
     untold  <0.1.0>      m:i()
     untold  <0.1.0>        m:j()
     untold  <0.1.0>    m:l()
     untold  <0.2.0>    m:k()
   2.000 ms  <0.2.0>      m:a()
   1.000 ms  <0.2.0>        m:b()
   4.000 ms  <0.2.0>    m:a()
   2.000 ms  <0.2.0>      m:b()
     untold  <0.2.0>    m:c()
     untold  <0.3.0>    m:f(2)
     untold  <0.3.0>      m:f(1)
     untold  <0.3.0>    m:g()
     untold  <0.4.0>    m:loop/1 x 2
   5.000 ms  <0.4.0>      m:a/0 x 2, 2.000 ms to 3.000 ms
     untold  <0.4.0>    m:t/1 x 2
     untold  <0.4.0>    m:u()
-- stderr
tree: calls shown beside open calls that may have ended, or contain them: 8
LINES
expect 'depth counts the calls around that are shown' of ,depth=1,by=process "$work/untold.jsonl" <<'LINES'
<0.1.0>:
     untold  m:k()
     untold  m:l()

<0.2.0>:
     untold  m:k()
   4.000 ms  m:a()
     untold  m:c()

<0.3.0>:
     untold  m:f(2)
     untold  m:g()

<0.4.0>:
     untold  m:loop/1 x 2
     untold  m:t/1 x 2
     untold  m:u()
-- stderr
tree: calls deeper than `depth`, not shown: 8
tree: calls shown beside open calls that may have ended, or contain them: 8
LINES
# A row on both sides of the last call with a caller; a call of k, which is wanted, in one of l, which is beside another k.
events rows <<'LINES'
1 1 call {m,p,[]}
2 1 call {m,a,[1]} "match_spec_result":"{m,p,0}"
3 1 return_from {m,a,1}
4 1 call {m,a,[2]}
6 1 return_from {m,a,1}
7 1 return_from {m,p,0}
11 2 call {m,k,[1]}
12 2 call {m,l,[]}
13 2 call {m,k,[2]} "match_spec_result":"{m,l,0}"
14 2 exit normal
LINES
expect 'a told end shows that all calls were inside' of ,only=m:p "$work/rows.jsonl" <<'LINES'
   duration  process    call
   6.000 ms  <0.1.0>    m:p()
   3.000 ms  <0.1.0>      m:a/1 x 2, 1.000 ms to 2.000 ms
-- stderr
tree: calls outside of `only`, not shown: 3
LINES
expect 'only= finds calls in calls that are beside' of ,only=m:k "$work/rows.jsonl" <<'LINES'
   duration  process    call
     untold  <0.2.0>    m:k/1 x 2
-- stderr
tree: calls outside of `only`, not shown: 4
tree: calls shown beside open calls that may have ended, or contain them: 1
LINES
expect 'only= leaves out calls beside a call of the function' of ,only=m:k,fold=no "$work/untold.jsonl" <<'LINES'
   duration  process    call
     untold  <0.1.0>    m:k()
     untold  <0.1.0>      m:i()
     untold  <0.1.0>        m:j()
     untold  <0.2.0>    m:k()
   2.000 ms  <0.2.0>      m:a()
   1.000 ms  <0.2.0>        m:b()
-- stderr
tree: calls outside of `only`, not shown: 14
tree: calls shown beside open calls that may have ended, or contain them: 3
LINES
expect 'calls printed as open contain calls that name them as caller' of ,held=1,depth=2,only=m:loop "$work/untold.jsonl" <<'LINES'
   duration  process    call
       open  <0.4.0>    m:loop(1)
       open  <0.4.0>      m:a()
   2.000 ms  <0.4.0>      end of m:a/0
       open  <0.4.0>    m:loop(2)
       open  <0.4.0>      m:a()
   3.000 ms  <0.4.0>      end of m:a/0
     untold  <0.4.0>    end of m:loop/1
     untold  <0.4.0>    end of m:loop/1
-- stderr
tree: calls outside of `only`, not shown: 16
tree: calls printed before they ended, as more were held than `held` or `all`: 4
tree: calls shown beside open calls that may have ended, or contain them: 2
LINES

# Thousands of calls without ends are moved in constant time each.
tower() {
    for i in $(seq 20000); do
        printf '%s 1 call {m,f%s,[]}\n' "$i" $((i % 3))
    done | events tower
    echo '{"ts":20001000000,"tracee":"<0.1.0>","tag":"exit","term":"normal"}' >>"$work/tower.jsonl"
    of ,depth=1 "$work/tower.jsonl" | sed -n '1,3p;$p'
}
expect 'a tower of 20,000 calls' tower <<'LINES'
   duration  process    call
     untold  <0.1.0>    m:f1()
     untold  <0.1.0>    m:f2()
     untold  <0.1.0>    m:f2()
-- stderr
tree: the events contain no ends of calls; record them by a match specification with {return_trace} or {exception_trace}, as --return or --exception of -p do, or by the flag return_to
tree: calls shown beside open calls that may have ended, or contain them: 19999
LINES

events named <<'LINES'
1 1 call {m,'a-b',[\"\\e[31m\",'\\e']}
2 1 register shop
3 1 call {m,g,[]}
4 1 return_from {m,g,0}
5 1 call {m,g,[]}
6 1 return_from {m,g,0}
7 1 exception_from {m,'a-b',2} "extra":"{exit,\"\\e[1m\"}"
8 1 register store
9 1 call {m,g,[]}
10 1 return_from {m,g,0}
11 123456 call {m,h,[]}
12 123456 return_from {m,h,0}
13 1 exit normal
14 1 register store
15 1 call {m,g,[]}
16 1 return_from {m,g,0}
17 2 call {m,open,[]}
LINES
expect 'names, colours and escapes' of ,color=always "$work/named.jsonl" <<'LINES'
   duration  process    call
[2m             <0.1.0>    shop[0m
[2m   6.000 ms[0m  <0.1.0>    [32mm:'a-b'[0m("\e[31m",'\e')[31m ! exit:"\e[1m"[0m
[2m   2.000 ms[0m  <0.1.0>      [32mm:g[0m/0[36m x 2, 1.000 ms to 1.000 ms[0m
[2m             <0.1.0>    store[0m
[2m   1.000 ms[0m  <0.1.0>    [32mm:g[0m()
[2m   1.000 ms[0m  <0.123456.0> [32mm:h[0m()
[2m             <0.1.0>    store[0m
[2m   1.000 ms[0m  <0.1.0>    [32mm:g[0m()
[33m       open[0m  <0.2.0>    [32mm:open[0m()
LINES

# Columns of times on and off schedulers begin when such events come: not for f, but for g, of which some is unknown.
events scheduled <<'LINES'
1 1 call {m,f,[]}
2 1 return_from {m,f,0}
3 1 call {m,g,[]}
5 1 out {m,g,0}
6 1 in {m,g,0}
7 1 call {m,h,[]}
8 1 out {m,h,0}
11 1 in {m,h,0}
12 1 return_from {m,h,0}
13 1 return_from {m,g,0}
14 2 call {m,g,[]}
15 2 return_from {m,g,0}
20 3 in 0
21 3 call {m,f,[]}
22 3 call {m,h,[]}
23 3 out {m,h,0}
25 3 in {m,h,0}
26 3 return_from {m,h,0}
26 3 call {m,h,[]}
27 3 return_from {m,h,0}
28 3 return_from {m,f,0}
LINES
expect 'times on and off schedulers have columns' of ,own=yes "$work/scheduled.jsonl" <<'LINES'
   duration          own  process    call
   1.000 ms     1.000 ms  <0.1.0>    m:f()
   duration           on          off          own       own on  process    call
  10.000 ms     4.000 ms     4.000 ms     5.000 ms     2.000 ms  <0.1.0>    m:g()
   5.000 ms     2.000 ms     3.000 ms     5.000 ms     2.000 ms  <0.1.0>      m:h()
   1.000 ms            -            -     1.000 ms            -  <0.2.0>    m:g()
   7.000 ms     5.000 ms     2.000 ms     2.000 ms     2.000 ms  <0.3.0>    m:f()
   5.000 ms     3.000 ms     2.000 ms     5.000 ms     3.000 ms  <0.3.0>      m:h/0 x 2, 1.000 ms to 4.000 ms
LINES
expect 'JSON has times on and off schedulers' of ,format=json,only=m:h "$work/scheduled.jsonl" <<'LINES'
{"process":"<0.1.0>","name":null,"function":"m:h/0","depth":0,"calls":1,"end":"told","start_ns":6000000,"duration_ns":5000000,"own_ns":5000000,"total_ns":5000000,"shortest_ns":5000000,"longest_ns":5000000,"on_ns":2000000,"off_ns":3000000,"own_on_ns":2000000,"own_off_ns":3000000,"error":false,"arguments":"()","outcome":null}
{"process":"<0.3.0>","name":null,"function":"m:h/0","depth":0,"calls":1,"end":"told","start_ns":21000000,"duration_ns":4000000,"own_ns":4000000,"total_ns":4000000,"shortest_ns":4000000,"longest_ns":4000000,"on_ns":2000000,"off_ns":2000000,"own_on_ns":2000000,"own_off_ns":2000000,"error":false,"arguments":"()","outcome":null}
{"process":"<0.3.0>","name":null,"function":"m:h/0","depth":0,"calls":1,"end":"told","start_ns":25000000,"duration_ns":1000000,"own_ns":1000000,"total_ns":1000000,"shortest_ns":1000000,"longest_ns":1000000,"on_ns":1000000,"off_ns":0,"own_on_ns":1000000,"own_off_ns":0,"error":false,"arguments":"()","outcome":null}
-- stderr
tree: calls outside of `only`, not shown: 4
LINES

# The sums of all lines are those of `time`, also if little is held, and if few open calls are remembered.
sums() {
    "$tracehost" replay -t "time,by=process,format=csv,output=$work/all" -t "time,by=process,format=csv,frames=4,output=$work/few" \
        -t "tree,format=json,output=$work/rows" -t "tree,format=json,fold=no,by=process,output=$work/apart" \
        -t "tree,format=json,held=5,all=7,output=$work/early" -t "tree,format=json,by=process,held=9,all=12,output=$work/titles" \
        -t "tree,format=json,frames=4,output=$work/forgotten" "$1" 2>"$work/remarks"
    tests/shipped/tree_sums "$work/all" "$work/rows" "$work/apart" "$work/early" "$work/titles" &&
        tests/shipped/tree_sums "$work/few" "$work/forgotten" && return
    echo "$1"
    return 1
}
all_sums() {
    for stream in "$work"/*.jsonl "$recordings"/*.trace; do
        sums "$stream" || return 1
    done
}
check 'sums equal those of time in all recordings' all_sums
if [ -n "${EMULATOR:-}" ]; then
    skip 'sums of large recordings' 'they take minutes in an emulator'
elif [ -d "$large" ]; then
    for stream in "$large"/*.trace; do
        check "sums equal those of time: ${stream##*/}" sums "$stream"
    done
else
    skip 'sums of large recordings' "$large is missing"
fi

# Live, on several schedulers.
on_schedulers() {
    "$tracehost" run --schedulers=4 -t "time,format=csv,by=process,output=$work/csv" -t "tree,format=json,output=$work/lines" -p bank:_/_ \
        --exception --flags=call,procs,monotonic_timestamp bank 'bank:start(), bank:open(left, 10), bank:open(right, 10).' \
        '[bank:transfer(left, right, 1), bank:transfer(right, left, 2), bank:audit(), bank:crash(left), bank:audit(), bank:stop()].' &&
        [ "$(wc -l <"$work/lines")" -gt 10 ]
}
check 'a live run on four schedulers gives lines' on_schedulers

finish
