#!/bin/sh
# Tests `tracehost diff`: what differs, conditions and exit statuses, outputs, damaged streams, bisection.
. tests/cli/lib/assertions.sh

cd "$work" || exit 1
# calls NAME <<EOF: writes a recording from lines "PID TIME CALL", "PID TIME FUNCTION -> VALUE", "PID TIME FUNCTION ! EXCEPTION",
# or "PID TIME TAG TERM EXTRA" behind a "+". TIME is in microseconds; 0: none.
calls() {
    sed -e 's/^+ \([^ ]*\) \([^ ]*\) \([^ ]*\) \([^ ]*\) \([^ ]*\)$/{"ts":\2000,"tracee":"\1","tag":"\3","term":"\4","extra":"\5"}/' \
        -e 's/^\([^ ]*\) \([0-9]*\) \([^ ]*\) -> \(.*\)$/{"ts":\2000,"tracee":"\1","tag":"return_from","term":"\3","extra":"\4"}/' \
        -e 's/^\([^ ]*\) \([0-9]*\) \([^ ]*\) ! \(.*\)$/{"ts":\2000,"tracee":"\1","tag":"exception_from","term":"\3","extra":"\4"}/' \
        -e 's/^\([^ ]*\) \([0-9]*\) \([^ {"]*{[^ ]*\)$/{"ts":\2000,"tracee":"\1","tag":"call","term":"\3"}/' \
        -e 's/"ts":0*,//' >"$1"
}
calls a <<'END'
<0.7.0> 1 {shop,order,[tea,2]}
<0.7.0> 2 {shop,price,[tea]}
<0.7.0> 4 {shop,price,1} -> 3
<0.7.0> 5 {shop,stock,[tea]}
<0.7.0> 6 {shop,stock,1} -> many
<0.7.0> 7 {shop,order,2} -> {ok,6}
END
# changed NAME SED: the recording a, changed.
changed() {
    sed -e "$2" a >"$1"
}

# lines FILE N...: prints these lines of FILE, in this order.
lines() {
    file=$1
    shift
    for line; do sed -n "${line}p" "$file"; done
}

# --- Kinds of differences ---

changed pids 's/0\.7\.0/0.77.0/'
expect 'a recording of other pids does not differ' "$tracehost" diff a pids <<'END'
no difference: 3 calls, times of 3 functions (3: too few calls)
END
expect 'a recording does not differ from itself' "$tracehost" diff a a <<'END'
no difference: 3 calls, times of 3 functions (3: too few calls)
END
changed dropped '/price/d'
expect 'a missing call is shown with its callers' "$tracehost" diff a dropped <<'END'
1 difference of calls: 1 dropped

a call is missing
  process    <0.7.0> -> <0.7.0>
  called by  shop:order(tea,2)
  before     shop:price(tea) -> 3
  after      no such call

   calls    after    p50 us     after    p90 us     after    p99 us     after    total us       after  change          function
       1        0         2         -         2         -         2         -           2           -  unknown         shop:price/1

times without a certain change: 3 functions (2: too few calls; 1: no times)
END
# first STREAM STREAM: prints the first difference.
first() {
    "$tracehost" diff "$1" "$2" | sed -n '3,/^$/ { /^$/!p; }'
}
expect 'a new call is shown' first dropped a <<'END'
a call is new
  process    <0.7.0> -> <0.7.0>
  called by  shop:order(tea,2)
  before     no such call
  after      shop:price(tea) -> 3
END
changed arguments 's/stock,\[tea\]/stock,[milk]/; s/{ok,6}/{ok,7}/'
expect 'other arguments come before another result of the caller' first a arguments <<'END'
a call has other arguments
  process    <0.7.0> -> <0.7.0>
  called by  shop:order(tea,2)
  before     shop:stock(tea) -> many
  after      shop:stock(milk) -> many
END
changed result 's/"extra":"many"/"extra":"few"/; s/{ok,6}/{ok,7}/'
expect 'the result of a call comes before that of its caller' first a result <<'END'
a call has another result
  process    <0.7.0> -> <0.7.0>
  called by  shop:order(tea,2)
  before     shop:stock(tea) -> many
  after      shop:stock(tea) -> few
END
changed exception '/stock,1/ s/return_from/exception_from/; s/many/{error,none}/'
expect 'an exception is shown' first a exception <<'END'
a call ends with another exception, or with an exception on one side
  process    <0.7.0> -> <0.7.0>
  called by  shop:order(tea,2)
  before     shop:stock(tea) -> many
  after      shop:stock(tea) ! {error,none}
END
lines a 1 4 5 2 3 6 >order
expect 'another order is one difference' first a order <<'END'
a call has another place among the calls of its caller
  process    <0.7.0> -> <0.7.0>
  called by  shop:order(tea,2)
  before     shop:stock(tea) -> many
  after      shop:stock(tea) -> many
END
# A server calls itself by tail calls, which never return: each call contains the next one.
for i in 1 2 3 4 5; do echo "<0.7.0> $i {m,loop,[$i]}"; done | calls loop
echo '<0.8.0> 9 {m,x,1} -> y' | calls end
cat end >>loop
sed '/\[3\]/d' loop >short
sed 's/\[5\]/[6]/' short >shorter
two_changes() {
    "$tracehost" diff loop shorter 2>/dev/null | head -n 1
}
expect 'another change further on does not hide a missing tail call' two_changes <<'END'
2 differences of calls: 1 dropped, 1 with other arguments
END
expect 'a missing tail call is no change of all that follow' first loop short <<'END'
a call is missing
  process    <0.7.0> -> <0.7.0>
  called by  m:loop(1)
  called by  m:loop(2)
  before     m:loop(3) (its end is unknown)
  after      no such call
-- stderr
diff: before: ends of unknown calls: 1
diff: after: ends of unknown calls: 1
END
calls flat <<'END'
<0.7.0> 1 {m,f,[1]}
<0.7.0> 2 {m,g,[2]}
<0.7.0> 3 {m,f,[3]}
END
sed 2d flat >flatter
expect 'without ends of calls, nesting is not compared' "$tracehost" diff --top=1 flat flatter <<'END'
1 difference of calls: 1 dropped

a call is missing
  process    <0.7.0> -> <0.7.0>
  before     m:g(2) (its end is unknown)
  after      no such call

   calls    after    p50 us     after    p90 us     after    p99 us     after    total us       after  change          function
       1        0         -         -         -         -         -         -           -           -  unknown         m:g/1

times without a certain change: 2 functions (2: no times)
-- stderr
diff: one of the recordings has no ends of calls: nesting, results and times are not compared
END

# --- Processes ---

# family A B C: a process A starts B and C, and calls functions with their pids; the events of B and C are in this order.
family() {
    calls "$4" <<END
+ $1 1 spawn $2 {m,work,[]}
+ $1 2 spawn $3 {m,work,[]}
$1 3 {m,tell,[$2,$3,#Ref<0.1.2.$5>]}
$1 4 {m,tell,3} -> #{$2=>$5}
$2 5 {m,work,[]}
$2 6 {m,work,0} -> ok
$3 7 {m,work,[]}
$3 8 {m,work,0} -> ok
END
}
family '<0.7.0>' '<0.8.0>' '<0.9.0>' family 5
sed 's/=>5/=>1/' family >family1
family '<0.17.0>' '<0.29.0>' '<0.28.0>' other 6
sed -i 's/=>6/=>1/' other && lines other 1 2 3 4 7 8 5 6 >family2
expect 'children are matched in the order in which they were started, and references are equal' \
    "$tracehost" diff family1 family2 <<'END'
no difference: 3 calls, times of 2 functions (2: too few calls)
END
sed 's/tell,\[<0.29.0>,<0.28.0>/tell,[<0.28.0>,<0.29.0>/' family2 >family3
expect 'a pid of another process is another argument' first family1 family3 <<'END'
a call has other arguments
  process    <0.7.0> -> <0.17.0>
  before     m:tell(<0.8.0>,<0.9.0>,#Ref<0.1.2.5>) -> #{<0.8.0> => 1}
  after      m:tell(<0.28.0>,<0.29.0>,#Ref<0.1.2.6>) -> #{<0.29.0> => 1}
END
# siblings A B X Y: a process starts A and then B, whose events come first; A calls with X, B with Y.
siblings() {
    calls "$5" <<END
+ $2 1 spawned <0.7.0> {m,work,[]}
$2 2 {m,work,[$4]}
$2 3 {m,work,1} -> ok
+ $1 4 spawned <0.7.0> {m,work,[]}
$1 5 {m,work,[$3]}
$1 6 {m,work,1} -> ok
+ <0.7.0> 7 spawn $1 {m,work,[]}
+ <0.7.0> 8 spawn $2 {m,work,[]}
END
}
siblings '<0.8.0>' '<0.9.0>' a b sib
siblings '<0.8.0>' '<0.9.0>' c d sibling
lines sibling 4 5 6 1 2 3 7 8 >siblings
expect 'the order of children is that in which their parent has started them' first sib siblings <<'END'
a call has other arguments
  process    <0.9.0> -> <0.9.0>
  before     m:work(b) -> ok
  after      m:work(d) -> ok
END
# Two processes do the same; a third one has told them apart.
calls alike <<'END'
<0.7.0> 1 {m,work,[]}
<0.7.0> 2 {m,work,0} -> ok
<0.8.0> 3 {m,work,[]}
<0.8.0> 4 {m,work,0} -> ok
<0.9.0> 5 {m,tell,[<0.7.0>,<0.8.0>]}
<0.9.0> 6 {m,tell,2} -> ok
END
lines alike 3 4 1 2 5 6 >unlike
expect 'equal processes are matched by the terms that have their pids' "$tracehost" diff alike unlike <<'END'
no difference: 3 calls, times of 2 functions (2: too few calls)
END
calls named <<'END'
+ <0.7.0> 1 register left none
+ <0.8.0> 1 register right none
<0.7.0> 3 {m,f,[1]}
<0.7.0> 4 {m,f,1} -> ok
<0.8.0> 3 {m,f,[2]}
<0.8.0> 4 {m,f,1} -> ok
<0.9.0> 5 {m,g,[1]}
<0.9.0> 6 {m,g,1} -> ok
END
sed -i 's/,"extra":"none"//' named
sed 's/0.7.0/0.0.1/; s/0.8.0/0.7.0/; s/0.0.1/0.8.0/; /0.9.0/d' named >named2
expect 'processes are matched by name; those of one side are listed' "$tracehost" diff --top=1 named named2 <<'END'
processes only before: 1
  <0.9.0>: 1 call, first m:g(1)

   calls    after    p50 us     after    p90 us     after    p99 us     after    total us       after  change          function
       1        0         1         -         1         -         1         -           1           -  unknown         m:g/1

times without a certain change: 2 functions (1: too few calls; 1: no times)
END

# --- Times ---

# timed NAME F G: 40 calls each of f and g, which last F and G microseconds, and up to 4 more.
timed() {
    awk -v f="$2" -v g="$3" 'BEGIN { for (i = 0; i < 40; i++) {
        print "<0.7.0>", t += 1, "{m,f,[" i "]}"; print "<0.7.0>", t + 1, "{m,g,[" i "]}"
        print "<0.7.0>", t += 1 + g + i % 5, "{m,g,1} -> ok"; print "<0.7.0>", t += f, "{m,f,1} -> ok" } }' | calls "$1"
}
timed quick 50 100
timed noisy 51 101
timed slow 50 130
expect 'a small change of times is none' "$tracehost" diff quick noisy <<'END'
no difference: 80 calls, times of 2 functions
END
expect 'a function that is slower comes before its caller' "$tracehost" diff quick slow <<'END'
   calls    after    p50 us     after    p90 us     after    p99 us     after    total us       after  change          function
      40       40       102       132       104       134       104       134        4080        5280  slower          m:g/1
      40       40       153       183       155       185       155       185        6120        7320  slower callees  m:f/1

times without a certain change: 0 functions
END
# The last call of f lasts longer.
sed '$ s/"ts":[0-9]*/"ts":99999000/' quick >once
expect 'a single slow call is shown, but is no certain change' "$tracehost" diff quick once <<'END'
slowest calls by own time; a single call makes no change certain:
  51.000 us  m:f(0) -> 93890.000 us  m:f(39)

times without a certain change: 2 functions
END
sed 's/"ts":[0-9]*,//' quick >untimed
expect 'recordings without times have no change of times' "$tracehost" diff quick untimed <<'END'
no difference: 80 calls, times of 2 functions (2: no times)
END

# --- Conditions ---

# holds CONDITION...: tries each one, quick against slow.
holds() {
    for condition; do
        "$tracehost" diff --fail-if="$condition" -o out quick slow 2>&1 || echo "-- status $?"
    done
}
expect 'conditions that hold' holds 'p99(m:g/1) > +10%' 'p50(m:_) >= +20us' 'total(m:g) != 0%' 'max(m:g/1) > 100us' 'calls(m:f)==40' \
    'own(m:g/1) > +1.1ms' 'p90(m:g)>+0' 'calls(_:_) >= 40' <<'END'
tracehost diff: p99(m:g/1) > +10% holds: m:g/1 104.000 us -> 134.000 us
-- status 1
tracehost diff: p50(m:_) >= +20us holds: m:g/1 102.000 us -> 132.000 us
-- status 1
tracehost diff: total(m:g) != 0% holds: m:g/1 4080.000 us -> 5280.000 us
-- status 1
tracehost diff: max(m:g/1) > 100us holds: m:g/1 104.000 us -> 134.000 us
-- status 1
tracehost diff: calls(m:f)==40 holds: m:f/1 40 -> 40
-- status 1
tracehost diff: own(m:g/1) > +1.1ms holds: m:g/1 4080.000 us -> 5280.000 us
-- status 1
tracehost diff: p90(m:g)>+0 holds: m:g/1 104.000 us -> 134.000 us
-- status 1
tracehost diff: calls(_:_) >= 40 holds: m:g/1 40 -> 40
-- status 1
END
expect 'conditions that do not hold' holds 'p99(m:g/1) > +50%' 'calls(m:g/1) != 0%' 'errors(m:_) > 0' 'max(m:g/1) > 5ms' differs \
    'p99(m:g) < -10%' </dev/null
expect 'conditions that cannot be decided' holds 'p99(m:h/1) > +50%' 'calls(x:_) != 0%' 'errors(m:g) > +10%' <<'END'
tracehost diff: p99(m:h/1) > +50% cannot be decided: neither recording has calls of such functions
-- status 4
tracehost diff: calls(x:_) != 0% cannot be decided: neither recording has calls of such functions
-- status 4
END
no_times() {
    "$tracehost" diff --fail-if='p99(m:g/1) > +10%' -o out quick untimed
}
expect 'a condition on times that are not recorded cannot be decided' no_times <<'END'
-- stderr
tracehost diff: p99(m:g/1) > +10% cannot be decided: m:g/1 104.000 us -> unknown
-- status 4
END
several() {
    "$tracehost" diff --fail-if='calls(x:_) > 0' --fail-if=differs --fail-if='calls(shop:price) < -50%' -o out a dropped
}
expect 'a condition that holds is stronger than one that cannot be decided' several <<'END'
-- stderr
tracehost diff: calls(x:_) > 0 cannot be decided: neither recording has calls of such functions
tracehost diff: differs holds: 1 difference of calls and processes
tracehost diff: calls(shop:price) < -50% holds: shop:price/1 1 -> 0
-- status 1
END
elixir() {
    sed 's/{shop,/{\x27Elixir.My.Shop\x27,/' a >ex && "$tracehost" diff -o out --fail-if='calls(My.Shop.price/1) > 0' ex ex
}
expect 'functions have names of Elixir, too' elixir <<'END'
-- stderr
tracehost diff: calls(My.Shop.price/1) > 0 holds: 'Elixir.My.Shop':price/1 1 -> 1
-- status 1
END
refused_conditions() {
    for condition in '' 'p97(m:f) > 1ms' 'p99 > 1ms' 'p99(m:f > 1ms' 'p99(M:f) > 1ms' 'p99(m:f) ~ 1ms' 'p99(m:f) > 7' 'p99(m:f) > +x' 'calls(m:f) > 1ms' \
        'calls(m:f) > 1%%' 'calls(m:f) >'; do
        "$tracehost" diff --fail-if="$condition" a a 2>&1 && echo taken
        [ $? = 2 ] || echo "status $?"
    done | sort | uniq -c | sed 's/^ *//' | grep -v cannot.read
}
expect 'other conditions are refused' refused_conditions <<'END'
2   functions must be M:F/A, M:F/_, M:_/_ or _:_/_, such as lists:reverse/1 or Elixir's Enum.sort/1
3   the condition must be `differs`, or begin with calls(, errors(, total(, own(, p50(, p90(, p99( or max(
1   the functions must be followed by <, <=, >, >=, == or !=
3   the value must be a number such as 7, a change such as +2, or a percentage such as +10%
2   the value must be a time such as 5ms, a change of a time such as +2ms, or a percentage such as +10%
END

# --- Outputs ---

to_file() {
    "$tracehost" diff -o out --flame=flame.svg quick slow && wc -l <out && python3 -c 'import xml.etree.ElementTree as tree
for frame in tree.parse("flame.svg").iter("{http://www.w3.org/2000/svg}g"):
    if frame.get("data-b"):
        print(frame[0].text, frame.get("data-b"), frame.get("data-w"), frame[1].get("style"))'
}
expect 'output and flame graph are files' to_file <<'END'
5
all 6120000 7320000 fill:hsl(5,85%,84%)
all processes 6120000 7320000 fill:hsl(5,85%,84%)
m:f/1 6120000 7320000 fill:hsl(5,85%,84%)
m:g/1 4080000 5280000 fill:hsl(5,85%,82%)
END
as_json() {
    "$tracehost" diff --format=json a dropped | python3 -c 'import json, sys
found = json.load(sys.stdin)
print(found["summary"][0]["dropped"], found["differences"], len(found["functions"]))'
}
expect 'JSON has the differences' as_json <<'END'
1 [{'kind': 'dropped', 'callers': 'shop:order(tea,2)', 'process_before': '<0.7.0>', 'process_after': '<0.7.0>', 'before': 'shop:price(tea)', 'after': None, 'outcome_before': '-> 3', 'outcome_after': None}] 3
END
coloured() {
    "$tracehost" diff --color=always a dropped | grep -c "$(printf '\033')\[31m" &&
        "$tracehost" diff a dropped | grep -c "$(printf '\033')"
}
expect 'colours by --color' coloured <<'END'
1
0
-- status 1
END
untouched() {
    echo old >kept
    "$tracehost" diff -o kept a none
    "$tracehost" diff -o kept --flame=none/x a a
    "$tracehost" diff -o a a a
    "$tracehost" diff --flame=pids a pids
    cat kept
}
expect 'files stay as they are if nothing is compared' untouched <<'END'
old
-- stderr
tracehost diff: cannot read none
  No such file or directory
tracehost diff: cannot write none/x: No such file or directory
tracehost diff: the output would overwrite the stream a: choose another file
tracehost diff: the output would overwrite the stream pids: choose another file
END
full() {
    "$tracehost" diff a dropped >/dev/full
}
expect 'a full disk is reported' full <<'END'
-- stderr
tracehost diff: cannot write to stdout: an earlier write failed
-- status 1
END

# --- Streams ---

piped() {
    "$tracehost" diff - a <a | cut -d , -f 1
    "$tracehost" diff a - <a | cut -d , -f 1
    cat a | "$tracehost" diff a - | cut -d , -f 1
    "$tracehost" diff - - <a
}
expect 'one of the streams may be stdin' piped <<'END'
no difference: 3 calls
no difference: 3 calls
no difference: 3 calls
-- stderr
tracehost diff: stdin can be read only once, so it cannot be both streams
-- status 2
END
refused() {
    "$tracehost" diff a
    "$tracehost" diff a a a
    "$tracehost" diff a node:n@h
    "$tracehost" diff none a
}
expect 'other streams are refused' refused <<'END'
-- stderr
tracehost diff: two streams are compared, but 1 is given
tracehost diff: two streams are compared, but 3 are given
tracehost diff: node:n@h is a running node: make a recording first, as `tracehost replay -t trace_port,output=FILE` does
tracehost diff: cannot read none
  No such file or directory
-- status 3
END
head -c 290 a >torn
: >empty
damaged() {
    "$tracehost" diff a torn 2>&1 | head -n 3
    "$tracehost" diff --allow-partial torn a >out 2>&1
    echo "status $?"
    "$tracehost" diff torn a >out 2>&1
    echo "status $?"
    "$tracehost" diff empty empty
}
expect 'damaged and empty recordings are compared as far as they go' damaged <<'END'
tracehost diff: torn: record 4 at byte 233 (line 4) is truncated
  column 57: premature end of input near '"{shop,'; the line is incomplete
tracehost diff: torn: recovered 3 records
status 0
status 4
no difference: 0 calls, times of 0 functions
-- stderr
tracehost diff: warning: there are no records in empty
tracehost diff: warning: there are no records in empty
END
selected() {
    "$tracehost" diff -p shop:stock --exception a dropped
}
expect 'patterns select calls of both recordings' selected <<'END'
no difference: 1 call, times of 1 function (1: too few calls)
END
samples=$(cd "$OLDPWD" && echo "$PWD/$recordings")
of_nodes() {
    "$tracehost" diff "$samples/s04_genserver_pingpong.trace" "$samples/s04_genserver_pingpong.trace" | cut -d , -f 1
}
expect 'a recording of a node does not differ from itself' of_nodes <<'END'
no difference: 437 calls
END

# --- Sides that are kept ---

sides() {
    "$tracehost" replay -t diff,keep=side a && "$tracehost" replay -t diff,before=side pids | cut -d , -f 1
    "$tracehost" replay -t diff a
    "$tracehost" replay -t diff,before=a a
    head -c 400 side >half && "$tracehost" replay -t diff,before=half a
    for at in 40 48 420 440 460; do
        cp side bad && printf '\377\377\377\377' | dd of=bad bs=1 seek=$at conv=notrunc 2>/dev/null
        "$tracehost" replay -t diff,before=bad a >out 2>&1
        status=$?
        [ $status -le 1 ] || echo "byte $at: status $status"
    done
}
expect 'a side is kept, and damaged sides are refused' sides <<'END'
no difference: 3 calls
-- stderr
diff: nothing is compared: set keep=FILE for one recording, and before=FILE for the other
tracehost replay: tracer 'diff' failed: cannot compare with a: the file was not written by this tracer's setting `keep`
tracehost replay: tracer 'diff' failed: cannot compare with half: the file is damaged
END

# --- Bisection ---

mkdir history
for i in 1 2 3 4 5 6 7 8 9; do
    if [ $i -lt 6 ]; then cp a history/r$i; else cp dropped history/r$i; fi
done
expect 'the search finds where a condition began to hold' "$tracehost" diff --bisect --fail-if='calls(shop:price) < 1' history <<'END'
history/r5: the condition does not hold
history/r6: the condition holds
-- stderr
tracehost diff: 9 recordings, in the order of their names
tracehost diff: history/r1: the condition does not hold
tracehost diff: history/r9: the condition holds
tracehost diff: history/r5: the condition does not hold
tracehost diff: history/r7: the condition holds
tracehost diff: history/r6: the condition holds
tracehost diff: 5 comparisons of 9 recordings; this is the only beginning if the condition goes on to hold once it has begun
END
# Times of day: the older one has the later name.
sed 's/"ts":/"ts_kind":"timestamp","ts":179523376000000/' a >at_z
sed 's/"ts":/"ts_kind":"timestamp","ts":179523377000000/; /price/d' a >at_a
by_time() {
    "$tracehost" diff --bisect --fail-if=differs at_a at_z 2>&1 | head -n 2
}
expect 'the order is that of the first times, if all are system times' by_time <<'END'
tracehost diff: 2 recordings, in the order of their first times
tracehost diff: at_z: the condition does not hold
END
no_beginning() {
    "$tracehost" diff --bisect --fail-if=differs a a
    "$tracehost" diff --bisect --fail-if='calls(shop:price) > 0' a dropped
    "$tracehost" diff --bisect --fail-if='calls(no:body) > 0' a dropped
    "$tracehost" diff --bisect --fail-if=differs history/r1
    "$tracehost" diff --bisect history
    "$tracehost" diff --bisect --fail-if=differs a - <a
    "$tracehost" diff --bisect --fail-if=differs -o out history
}
expect 'a search without a beginning or an end is refused' no_beginning <<'END'
-- stderr
tracehost diff: 2 recordings, in the order of their names
tracehost diff: a: the condition does not hold
tracehost diff: a: the condition does not hold
tracehost diff: the condition does not hold for the last recording, a: there is no beginning to be found
tracehost diff: 2 recordings, in the order of their names
tracehost diff: a: the condition holds
tracehost diff: the condition holds for the first recording, a, itself
tracehost diff: 2 recordings, in the order of their names
tracehost diff: calls(no:body) > 0 cannot be decided: neither recording has calls of such functions
tracehost diff: the search ends at a
tracehost diff: --bisect needs two recordings at least, but there is 1
tracehost diff: --bisect needs a condition: --fail-if=differs, or --fail-if='p99(m:f/1) > +10%'
tracehost diff: --bisect reads recordings several times, but stdin can be read only once
tracehost diff: --bisect writes neither differences nor a flame graph: compare the two recordings that it finds
-- status 2
END
finish
