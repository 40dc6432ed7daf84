#!/bin/sh
# Tests the tracer `flame`: own times by stack, against a computation of the test; repairs of stacks; its picture in a
# browser.
. tests/cli/lib/assertions.sh
. tests/shipped/browser

expect 'a tail call replaces its caller on the stack' "$tracehost" replay -t flame,by=calls \
    "$recordings/s01_seed_local_caller.trace" <<'LINES'
<0.79.0>;ex:foo/0 1
<0.79.0>;ex:foo/0;ex:lots/0 1
<0.79.0>;ex:foo/0;ex:'of'/0 1
<0.79.0>;ex:foo/0;ex:indirections/0 1
<0.79.0>;ex:foo/0;ex:bar/1 11
LINES
expect 'own times are summed by stack' "$tracehost" replay -t flame "$recordings/s03_exceptions_return_to.trace" <<'LINES'
<0.89.0>;ex:mid/1 21000
<0.89.0>;ex:mid/1;ex:caught/1 13000
<0.89.0>;ex:mid/1;ex:caught/1;ex:b1/1 10000
<0.89.0>;ex:mid/1;ex:caught/1;ex:b1/1;ex:b2/1 9000
<0.89.0>;ex:mid/1;ex:caught/1;ex:b1/1;ex:b2/1;ex:b3/1 10000
<0.89.0>;ex:mid/1;ex:caught/1;ex:b1/1;ex:b2/1;ex:b3/1;ex:b4/1 18000
<0.89.0>;ex:mid/1;ex:caught/1;ex:b1/1;ex:b2/1;ex:b3/1;ex:b4/1;ex:c4/1 6000
<0.89.0>;ex:n1/1 3000
<0.89.0>;ex:n1/1;ex:n2/1 3000
<0.89.0>;ex:n1/1;ex:n2/1;ex:n3/1 1000
<0.89.0>;lists:nth/2 3000
<0.89.0>;lists:nth/2;lists:nth/2 1000
<0.89.0>;erlang:list_to_atom/1 2000
LINES

# Returns and exceptions, return_to, callers, scheduling, two processes of one recording.
same_times() {
    "$tracehost" replay -t flame "$1" 2>/dev/null | sort >"$work/drawn" &&
        "$tracehost" dump --format=jsonl "$1" | python3 tests/shipped/own_times | sort >"$work/summed" &&
        [ -s "$work/summed" ] && cmp "$work/drawn" "$work/summed"
}
for stream in "$recordings"/s03_* "$recordings"/s04_* "$recordings"/s09_* "$recordings"/s15_* "$recordings"/s17_* \
    "$large"/l1_* "$large"/l2_*; do
    case $stream in
    *.counts.txt | *.term.txt) ;;
    *\*) skip "own times equal an independent computation: $stream" 'this recording is not here' ;;
    *) check "own times equal an independent computation: $(basename "$stream" .trace)" same_times "$stream" ;;
    esac
done

# Calls without a recorded end are deeper than a picture; each belongs to its process, and to no other.
flat_times() {
    "$tracehost" replay -t flame "$1" 2>/dev/null | sort >"$work/drawn" &&
        "$tracehost" dump --format=jsonl "$1" | python3 tests/shipped/own_times |
        awk '{ own = $NF; sub(/ [0-9]*$/, ""); n = split($0, names, ";"); sum[names[1] ";" names[n]] += own }
            END { for (name in sum) print name, sum[name] }' | sort >"$work/summed" && cmp "$work/drawn" "$work/summed"
}
check 'own times by function are correct without recorded ends' flat_times "$recordings/s11_mnesia_arity.trace"

# event TIME TAG TERM [MEMBERS]: of <0.1.0>.
event() {
    case $2 in
    return_from) set -- "$1" "$2" "$3" ',"extra":"ok"' ;;
    esac
    printf '{"ts":%s,"tracee":"<0.1.0>","tag":"%s","term":"%s"%s}\n' "$1" "$2" "$3" "${4:-}"
}
caller() {
    printf ',"match_spec_result":"%s"' "$1"
}

# a calls b, which calls c last, which calls d last: three returns come, and then e is called by a.
{
    event 100 call '{m,a,0}' "$(caller undefined)"
    event 110 call '{m,b,0}' "$(caller '{m,a,0}')"
    event 130 call '{m,c,0}' "$(caller '{m,a,0}')"
    event 170 call '{m,d,0}' "$(caller '{m,a,0}')"
    event 250 return_from '{m,d,0}'
    event 251 return_from '{m,c,0}'
    event 252 return_from '{m,b,0}'
    event 260 call '{m,e,0}' "$(caller '{m,a,0}')"
    event 290 return_from '{m,e,0}'
    event 300 return_from '{m,a,0}'
} >"$work/tail.jsonl"
expect 'several returns end a chain of tail calls' "$tracehost" replay -t flame "$work/tail.jsonl" <<'LINES'
<0.1.0>;m:a/0 30
<0.1.0>;m:a/0;m:b/0 20
<0.1.0>;m:a/0;m:c/0 40
<0.1.0>;m:a/0;m:d/0 80
<0.1.0>;m:a/0;m:e/0 30
LINES

# main calls parse last, which calls parse1 last, for an untraced function, which then calls print. The recording does not show
# that these are tail calls: flame takes them for tail calls, and reports a doubtful return.
{
    event 0 call '{m,main,0}'
    event 10 call '{m,parse,0}'
    event 20 call '{m,parse1,0}'
    event 30 return_to '{u,forms,0}'
    event 40 call '{m,print,0}'
    event 130 return_to '{u,forms,0}'
} >"$work/untraced.jsonl"
expect 'a return to an untraced function is reported as doubtful' "$tracehost" replay -t flame "$work/untraced.jsonl" <<'LINES'
<0.1.0>;m:main/0 10
<0.1.0>;m:main/0;m:parse/0 10
<0.1.0>;m:main/0;m:parse/0;m:parse1/0 10
<0.1.0>;m:print/0 90
-- stderr
flame: returns that end an unknown number of calls: 1, the first to u:forms/0; record callers and ends of calls: --match-spec=cx, or dbg:tpl(MODULE, cx)
LINES
doubtful_picture() {
    "$tracehost" replay -t flame,format=svg "$work/untraced.jsonl" 2>/dev/null | grep -o '<span id="doubt"[^/]*</span>\|class="f[^"]*doubtful' | sed 's/ k[0-9]* h[0-9]*//'
}
expect 'a picture marks calls whose end is doubtful, and no others' doubtful_picture <<'LINES'
class="f doubtful
class="f doubtful
class="f doubtful
<span id="doubt" class="note bad" title="returns that end an unknown number of calls; record callers and ends of calls: --match-spec=cx, or dbg:tpl(MODULE, cx)">⚠ doubtful returns: 1 (dashed edges)</span>
LINES

# Time off the scheduler belongs to no call. A registered name is shown; a register event whose term is no name is ignored.
{
    event 0 in '{m,a,0}'
    event 10 register server
    event 11 register '{no,name}'
    event 100 call '{m,a,0}'
    event 110 out '{m,a,0}'
    event 5000 in '{m,a,0}'
    event 5003 return_from '{m,a,0}'
    event 6000 call '{m,a,1}'
    event 6001 out_exited 0
    event 7000 exit killed
} >"$work/scheduled.jsonl"
expect 'time off the scheduler is not counted' "$tracehost" replay -t flame "$work/scheduled.jsonl" <<'LINES'
server <0.1.0>;m:a/0 13
server <0.1.0>;m:a/1 1
LINES

{
    event 0 return_from '{m,before,0}'
    event 10 call '{m,a,0}'
    event 20 call '{m,b,0}'
    event 30 call '{m,c,0}'
    event 40 return_from '{m,a,0}'
    event 50 call "{'a;b','c d',0}"
    event 55 out '{m,a,0}'
    event 60 exception_from "{'a;b','c d',0}" ',"extra":"{error,badarg}"'
    printf '{"tracee":"<0.1.0>","tag":"call","term":"{m,untimed,0}"}\n'
    event 90 call '{m,[],0}'
} >"$work/repaired.jsonl"
repaired() {
    "$tracehost" replay -t flame,output="$work/repaired" "$work/repaired.jsonl" && grep -v untimed "$work/repaired"
}
expect 'repairs of stacks are reported' repaired <<'LINES'
<0.1.0>;m:a/0 10
<0.1.0>;m:a/0;m:b/0 10
<0.1.0>;m:a/0;m:b/0;m:c/0 10
<0.1.0>;'a,b':'c d'/0 5
-- stderr
flame: calls ended by the return of a caller: 2
flame: returns of unknown calls: 1
flame: calls and returns of processes that were not scheduled in: 1
flame: times between events of different clocks, not counted: 1
flame: events without a time stamp, which got the time of their arrival: 1
LINES

expect 'without recorded ends, a call lasts until the next one' "$tracehost" replay -t flame -p supervisor:_ --max-records=12 "$recordings/s05_supervisor_restarts.trace" <<'LINES'
<0.101.0>;supervisor:init/1 1643
<0.101.0>;supervisor:init_state/4 1392
-- stderr
flame: the events contain no ends of calls: each call lasts until the next one
LINES

# many N LAST: a call and its return, N calls one in the other, and, if LAST is return_from, their returns.
many() {
    python3 - "$@" <<'END'
import sys
count, last = int(sys.argv[1]), sys.argv[2]
call = '{"ts":%d,"tracee":"<0.1.0>","tag":"call","term":"{m,f,0}"}\n'
back = '{"ts":%d,"tracee":"<0.1.0>","tag":"return_from","term":"{m,f,0}","extra":"ok"}\n'
if last == 'return_from':
    sys.stdout.write(call % 0 + back % 0)
for i in range(count):
    sys.stdout.write(call % i)
for i in range(count if last == 'return_from' else 0):
    sys.stdout.write(back % (count + i))
END
}
endless() {
    many 100000 none | "$tracehost" replay -t flame -
}
expect 'calls that never end make one frame' endless <<'LINES'
<0.1.0>;m:f/0 99999
-- stderr
flame: the events contain no ends of calls: each call lasts until the next one
LINES
# Only the outer ones have frames of their own; no time is lost.
deep() {
    many 20000 return_from | "$tracehost" replay -t flame - | awk '{ sum += $NF } END { print NR, sum }'
}
expect 'calls beyond the depth limit keep their time' deep <<'LINES'
512 39999
-- stderr
flame: calls too deep to follow: 3616
LINES

# A function that is not traced is returned to when all frames have their returns to come, and no room is left.
full() {
    python3 - <<'END' | "$tracehost" replay -t flame -
event = '{"ts":%d,"tracee":"<0.1.0>","tag":"%s","term":"{m,%s,0}"%s}'
for i in range(16384):
    print(event % (i, 'call', 'f', ',"match_spec_result":"{m,g,0}"'))
for i, function in enumerate('gh'):
    print(event % (16384 + i, 'return_to', function, ''))
END
}
expect 'a full stack makes room for a return' full <<'LINES'
<0.1.0>;m:f/0 16384
LINES

whole() {
    "$tracehost" replay -t flame,output="$work/whole" "$recordings/s03_exceptions_return_to.trace" && [ -s "$work/whole" ] &&
        [ "$(echo "$work"/whole*)" = "$work/whole" ]
}
check 'the setting output names the file that is written' whole
# a calls b, which calls a, which calls c and itself. Each nanosecond has one function: own times stay the same in sum.
{
    event 0 call '{m,a,0}'
    event 1 call '{m,b,0}'
    event 3 call '{m,a,0}'
    event 7 call '{m,c,0}'
    event 15 return_from '{m,c,0}'
    event 16 call '{m,a,0}'
    event 32 return_from '{m,a,0}'
    event 33 return_from '{m,a,0}'
    event 35 return_from '{m,b,0}'
    event 40 return_from '{m,a,0}'
} >"$work/recursive.jsonl"
expect 'recursion=one merges calls of a function inside its own calls' "$tracehost" replay -t flame,recursion=one "$work/recursive.jsonl" <<'LINES'
<0.1.0>;m:a/0 28
<0.1.0>;m:a/0;m:b/0 4
<0.1.0>;m:a/0;m:c/0 8
LINES
expect 'calls of a recursion are counted together' "$tracehost" replay -t flame,recursion=one,by=calls "$work/recursive.jsonl" <<'LINES'
<0.1.0>;m:a/0 3
<0.1.0>;m:a/0;m:b/0 1
<0.1.0>;m:a/0;m:c/0 1
LINES
expect 'calls deeper than depth count for their callers' "$tracehost" replay -t flame,depth=2 "$work/recursive.jsonl" <<'LINES'
<0.1.0>;m:a/0 6
<0.1.0>;m:a/0;m:b/0 34
LINES
expect 'an unknown value of a setting is refused' "$tracehost" replay -t flame,format=png,by=size "$work/tail.jsonl" <<'LINES'
-- stderr
tracehost replay: cannot attach tracer 'flame'
  tracer 'flame': the setting 'by' cannot be 'size'
  the setting must be time or calls
-- status 2
LINES

# --- the picture ---

printf '%s\n' '{"ts":1,"tracee":"<0.1.0>","tag":"call","term":"{'\''<&\"'\'',f,0}"}' \
    '{"ts":9,"tracee":"<0.1.0>","tag":"return_from","term":"{'\''<&\"'\'',f,0}","extra":"ok"}' >"$work/odd.jsonl"
printf '%s\n' '{"ts":1,"tracee":"<0.1.0>","tag":"in","term":"0"}' >"$work/empty.jsonl"
well_formed() {
    "$tracehost" replay -t flame,format=svg "$1" >"$work/picture.svg" &&
        python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$work/picture.svg" &&
        ! grep -E '(href|src)=|url\(|@import' "$work/picture.svg"
}
for stream in "$recordings"/s09_*.trace "$recordings"/s15_*.trace "$work/odd.jsonl" "$work/empty.jsonl"; do
    check "the picture is well-formed and loads nothing: $(basename "$stream")" well_formed "$stream"
done

if [ "$browser" = none ]; then
    skip 'a browser zooms, searches and moves by keys' 'no chromium here'
    finish
fi
in_picture() {
    "$tracehost" replay -t flame,format=svg,output="$work/picture.svg" "$work/tail.jsonl" &&
        in_browser "$work/picture.svg" '
            var frames = Array.from(document.querySelectorAll(".f")), told = document.getElementById("told");
            var search = document.getElementById("search");
            function find(name) { return frames.find(f => f.querySelector("title").textContent.startsWith(name)); }
            function shown() { return frames.filter(f => getComputedStyle(f).display !== "none").length; }
            function pixels(f) { return +f.querySelector("rect").getAttribute("width"); }
            function width(f) { return Math.round(100 * pixels(f) / pixels(frames[0])) + "%"; }
            function type(words) { search.value = words; search.dispatchEvent(new Event("input", {bubbles: true})); }
            say("fits: " + (document.documentElement.scrollWidth <= innerWidth && pixels(frames[0]) > innerWidth - 60));
            say(frames.length + " frames, " + shown() + " shown");
            say(find("m:c/0").querySelector("title").textContent.replace(/\n/g, ": "));
            click(find("m:d/0").querySelector("rect"));
            say("clicked: " + shown() + " shown, m:d/0 is " + width(find("m:d/0")) + ", " + told.textContent);
            press(find("m:d/0"), "Escape");
            say("all: " + shown() + " shown, m:d/0 is " + width(find("m:d/0")));
            type("M:[BC]");
            say("searched: " + document.querySelectorAll(".hit").length + " marked, " + told.textContent);
            press(search, "Enter"); press(search, "Enter");
            say("Enter: " + told.textContent + ", marked " + (document.querySelector(".current") === find("m:c/0")));
            press(frames[0], "n");
            say("n: " + told.textContent);
            type("m:(");
            say("no expression: " + told.textContent + ", " + document.querySelectorAll(".hit").length);
            click(document.getElementById("clear"));
            say("reset: " + search.value.length + " letters, " + document.querySelectorAll(".hit").length);
            press(frames[0], "/");
            say("/ leads to " + document.activeElement.id);
            frames[0].focus(); press(frames[0], "ArrowUp"); press(document.activeElement, "ArrowUp");
            press(document.activeElement, "ArrowUp");
            say("arrows lead to " + told.textContent.split(" ")[0]);
            press(document.activeElement, "Enter");
            say("Enter: m:d/0 is " + width(find("m:d/0")));'
}
expect 'a browser zooms, searches and moves by keys' in_picture <<'LINES'
fits: true
7 frames, 7 shown
m:c/0: 40 ns, 20.0 % of all: 40 ns own, 1 call
clicked: 4 shown, m:d/0 is 100%, m:d/0  80 ns, 40.0 % of all  80 ns own, 1 call
all: 7 shown, m:d/0 is 40%
searched: 2 marked, 2 found, 30.0 % of all
Enter: 2 of 2 found, 30.0 % of all: m:c/0, marked true
n: 1 of 2 found, 30.0 % of all: m:b/0
no expression: not a regular expression, 0
reset: 0 letters, 0
/ leads to search
arrows lead to m:d/0
Enter: m:d/0 is 100%
LINES

# A picture that is higher than the window opens at its roots, which are at its bottom.
seq -f '{"ts":%g,"tracee":"<0.1.0>","tag":"call","term":"{m,f,0}"}' 300 >"$work/deep.jsonl"
seq -f '{"ts":%g,"tracee":"<0.1.0>","tag":"return_from","term":"{m,f,0}","extra":"ok"}' 301 600 >>"$work/deep.jsonl"
at_roots() {
    "$tracehost" replay -t "flame,format=svg,$1,output=$work/picture.svg" "$work/deep.jsonl" &&
        in_browser "$work/picture.svg" '
            var root = document.querySelector(".f").getBoundingClientRect();
            say("higher: " + (document.documentElement.scrollHeight > innerHeight));
            say("root is seen: " + (root.top >= 0 && root.bottom <= innerHeight));'
}
for order in flame icicle; do
    expect "a browser shows the roots of a high picture: $order" at_roots "order=$order" <<'LINES'
higher: true
root is seen: true
LINES
done

# The button merges as the setting does, and back.
merged() {
    "$tracehost" replay -t flame,format=svg,output="$work/picture.svg" "$work/recursive.jsonl" &&
        in_browser "$work/picture.svg" '
            function all() { return Array.from(document.querySelectorAll(".f")).filter(f => !f.classList.contains("away"))
                .map(f => f.querySelector("title").textContent.replace(/\n/g, " ")).join("; "); }
            var before = all(), button = document.getElementById("recursion");
            click(button); say(all()); click(button); say("as before: " + (all() === before));'
}
expect 'a button merges recursion' merged <<'LINES'
all 40 ns, 100.0 % of all; <0.1.0> 40 ns, 100.0 % of all; m:a/0 40 ns, 100.0 % of all 28 ns own, 3 calls; m:b/0 4 ns, 10.0 % of all 4 ns own, 1 call; m:c/0 8 ns, 20.0 % of all 8 ns own, 1 call
as before: true
LINES

finish
