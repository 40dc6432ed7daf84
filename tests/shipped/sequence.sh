#!/bin/sh
# Tests the tracer `sequence`: messages with senders and receivers, as Mermaid and as a picture, which a browser
# opens.
. tests/cli/lib/assertions.sh
. tests/shipped/browser

cat >"$work/messages.jsonl" <<'LINES'
{"ts":1000,"tracee":"<0.1.0>","tag":"send","term":"{early,1}","extra":"server"}
{"ts":2000,"tracee":"<0.2.0>","tag":"register","term":"server"}
{"ts":3000,"tracee":"<0.1.0>","tag":"send","term":"{\"a;b#c\",'<&%$'}","extra":"server"}
{"ts":3500,"tracee":"<0.2.0>","tag":"receive","term":"{early,1}"}
{"ts":4000,"tracee":"<0.2.0>","tag":"send","term":"ok","extra":"<0.1.0>"}
{"ts":5000,"tracee":"<0.1.0>","tag":"send_to_non_existing_process","term":"lost","extra":"<0.9.0>"}
{"ts":6000,"tracee":"<0.1.0>","tag":"send","term":"tick","extra":"<0.1.0>"}
{"ts":7000,"tracee":"<0.1.0>","tag":"send","term":"far","extra":"{name,'other@host'}"}
{"ts":8000,"tracee":"<0.2.0>","tag":"unregister","term":"server"}
{"ts":9000,"tracee":"<0.2.0>","tag":"exit","term":"normal"}
{"ts":10000,"tracee":"<0.1.0>","tag":"send_to_non_existing_process","term":"late","extra":"<0.2.0>"}
{"ts":11000,"tracee":"<0.1.0>","tag":"send","term":"far","extra":"{name,'other@host'}"}
LINES
expect 'names are shown, special characters escaped, lost messages marked' "$tracehost" replay -t sequence "$work/messages.jsonl" <<'LINES'
sequenceDiagram
    participant p1 as #60;0.1.0#62;
    participant p2 as server #60;0.2.0#62;
    participant p3 as #60;0.9.0#62;
    participant p4 as {name,other@host}
    p1->>p2: {early,1}
    p1->>p2: {"a#59;b#35;c",'#60;#38;#37;#36;'}
    p2->>p1: ok
    p1-xp3: lost
    p1->>p1: tick
    p1->>p4: far
    p1-xp2: late
    p1->>p4: far
LINES
expect 'participants=2 draws the two busiest and the others' "$tracehost" replay -t sequence,participants=2 "$work/messages.jsonl" <<'LINES'
sequenceDiagram
    participant p1 as #60;0.1.0#62;
    participant p2 as server #60;0.2.0#62;
    participant p3 as others (2)
    p1->>p2: {early,1}
    p1->>p2: {"a#59;b#35;c",'#60;#38;#37;#36;'}
    p2->>p1: ok
    p1-xp3: lost
    p1->>p1: tick
    p1->>p3: far
    p1-xp2: late
    p1->>p3: far
LINES
expect 'messages=2 draws the first two and counts the others' "$tracehost" replay -t sequence,messages=2 "$work/messages.jsonl" <<'LINES'
sequenceDiagram
    participant p1 as #60;0.1.0#62;
    participant p2 as server #60;0.2.0#62;
    p1->>p2: {early,1}
    p1->>p2: {"a#59;b#35;c",'#60;#38;#37;#36;'}
    Note over p1,p2: 6 more messages
-- stderr
sequence: messages counted, but not drawn: 6; the settings messages and characters limit them
LINES
expect 'a picture is limited by messages alone' "$tracehost" replay -t "sequence,format=svg,messages=2,output=$work/two.svg" \
    "$work/messages.jsonl" <<'LINES'
-- stderr
sequence: messages counted, but not drawn: 6; the setting messages limits them
LINES
# A pid, a name without a recorded registration, and {Name, Node} of this node are one process: the next receipt of the message
# shows the owner of the name, unless an equal message was sent to two names, or to that process. A registration is stronger.
cat >"$work/names.jsonl" <<'LINES'
{"tracehost":1,"node":"n1@h.x","creation":3}
{"ts":1000,"tracee":"<0.1.0>","tag":"send","term":"a","extra":"{server,'n1@h.x'}"}
{"ts":2000,"tracee":"<0.2.0>","tag":"receive","term":"a"}
{"ts":3000,"tracee":"<0.2.0>","tag":"send","term":"b","extra":"<0.1.0>"}
{"ts":4000,"tracee":"<0.1.0>","tag":"send","term":"c","extra":"server"}
{"ts":5000,"tracee":"<0.1.0>","tag":"send","term":"d","extra":"{server,'n2@h.x'}"}
{"ts":6000,"tracee":"<0.1.0>","tag":"send","term":"e","extra":"one"}
{"ts":7000,"tracee":"<0.1.0>","tag":"send","term":"e","extra":"two"}
{"ts":8000,"tracee":"<0.3.0>","tag":"receive","term":"e"}
{"ts":9000,"tracee":"<0.1.0>","tag":"send","term":"f","extra":"<0.3.0>"}
{"ts":9100,"tracee":"<0.1.0>","tag":"send","term":"f","extra":"three"}
{"ts":9200,"tracee":"<0.3.0>","tag":"receive","term":"f"}
{"ts":9300,"tracee":"<0.4.0>","tag":"register","term":"four"}
{"ts":9400,"tracee":"<0.1.0>","tag":"send","term":"g","extra":"{four,'n1@h.x'}"}
{"ts":9500,"tracee":"<0.3.0>","tag":"receive","term":"g"}
LINES
expect 'a pid and its names share one column' "$tracehost" replay -t sequence "$work/names.jsonl" <<'LINES'
sequenceDiagram
    participant p1 as #60;0.1.0#62;
    participant p2 as server #60;0.2.0#62;
    participant p3 as {server,'n2@h.x'}
    participant p4 as one
    participant p5 as two
    participant p6 as #60;0.3.0#62;
    participant p7 as three
    participant p8 as four #60;0.4.0#62;
    p1->>p2: a
    p2->>p1: b
    p1->>p2: c
    p1->>p3: d
    p1->>p4: e
    p1->>p5: e
    p1->>p6: f
    p1->>p7: f
    p1->>p8: g
LINES

# The undrawn message to <0.3.0> equals the message to `server`, so that the receipt does not show the owner of the name.
cat >"$work/counted.jsonl" <<'LINES'
{"ts":500,"tracee":"<0.3.0>","tag":"send","term":"x","extra":"<0.1.0>"}
{"ts":1000,"tracee":"<0.1.0>","tag":"send","term":"a","extra":"server"}
{"ts":2000,"tracee":"<0.1.0>","tag":"send","term":"a","extra":"<0.3.0>"}
{"ts":3000,"tracee":"<0.3.0>","tag":"receive","term":"a"}
LINES
expect 'a message beyond the limit keeps an ambiguous name unresolved' "$tracehost" replay -t sequence,messages=2 "$work/counted.jsonl" <<'LINES'
sequenceDiagram
    participant p1 as #60;0.3.0#62;
    participant p2 as #60;0.1.0#62;
    participant p3 as server
    p1->>p2: x
    p2->>p3: a
    Note over p1,p3: 1 more messages
-- stderr
sequence: messages counted, but not drawn: 1; the settings messages and characters limit them
LINES

# Mermaid draws 50000 characters and not one more.
for i in $(seq 1 1000); do
    printf '{"ts":%s,"tracee":"<0.1.0>","tag":"send","term":"[%s,%s]","extra":"<0.2.0>"}\n' "$i" "$i" "'\\\\x{20ac}aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'"
done >"$work/long.jsonl"
bounded() {
    "$tracehost" replay -t "sequence$1" "$work/long.jsonl" >"$work/long.mmd" && python3 - "$work/long.mmd" <<'SCRIPT'
import re, sys
text = open(sys.argv[1], encoding='utf-8').read()
drawn, more = text.count('->>'), re.search(r'(\d+) more messages\n$', text)
print(len(text) <= 50000, len(text) + 160 > 50000, drawn + int(more.group(1) if more else 0))
SCRIPT
}
expect 'the text is as long as Mermaid allows' bounded <<'LINES'
True True 1000
-- stderr
sequence: messages counted, but not drawn: 353; the settings messages and characters limit them
LINES
expect 'characters=0 removes the limit' bounded ,characters=0 <<'LINES'
False True 1000
LINES

# Names alone are longer than the text may be: half of it is for them.
awk 'BEGIN { for (i = 0; i < 3000; i++)
    printf "{\"ts\":%d,\"tracee\":\"<0.%d.0>\",\"tag\":\"send\",\"term\":\"a\",\"extra\":\"<0.%d.0>\"}\n", i, i, (i + 1) % 3000 }' \
    >"$work/crowd.jsonl"
crowd() {
    "$tracehost" replay -t "sequence,participants=$1,messages=100000" "$work/crowd.jsonl" >"$work/crowd.mmd" &&
        python3 - "$work/crowd.mmd" <<'SCRIPT'
import re, sys
text = open(sys.argv[1], encoding='utf-8').read()
named = set(re.findall(r'participant (p\d+) as', text))
met = set(re.findall(r'(p\d+)->>', text)) | set(re.findall(r'->>(p\d+)', text))
more = {what: int(count) for count, what in re.findall(r'(\d+) more (\w+)\n', text)}
print(len(text) <= 50000, met <= named, len(named) + more['participants'], text.count('->>') + more['messages'])
SCRIPT
}
for participants in 0 2900; do
    expect "participants beyond the limit of Mermaid are counted: participants=$participants" crowd $participants <<'LINES'
True True 3000 3000
-- stderr
sequence: messages counted, but not drawn: 2371; the settings messages and characters limit them
sequence: participants counted, but not drawn: 2370
LINES
done

expect 'an unknown value of a setting is refused' "$tracehost" replay -t sequence,format=png,messages=few --max-events=1 \
    "$work/messages.jsonl" <<'LINES'
-- stderr
tracehost replay: cannot attach tracer 'sequence'
  tracer 'sequence': the setting 'format' cannot be 'png'
  the setting must be mermaid or svg
-- status 2
LINES
expect 'a stream without messages gives an empty diagram' "$tracehost" replay -t sequence --flags=call "$recordings/s01_seed_local_caller.trace" <<'LINES'
sequenceDiagram
LINES

# Calls of a gen_server, whose replies go to aliases.
expect 'a reply to an alias goes to the caller' "$tracehost" replay -t sequence,messages=4 "$recordings/s04_genserver_pingpong.trace" <<'LINES'
sequenceDiagram
    participant p1 as #60;0.95.0#62;
    participant p2 as #60;0.94.0#62;
    p1->>p2: {ack,#60;0.95.0#62;,{ok,#60;0.95.0#62;}}
    p2->>p1: {'#36;gen_call',{#60;0.94.0#62;,[alias|#35;Ref]},{ping,1}}
    p1->>p2: {[alias|#35;Ref],{pong,1}}
    p2->>p1: {'#36;gen_call',{#60;0.94.0#62;,[alias|#35;Ref]},{ping,2}}
    Note over p1,p2: 80 more messages
-- stderr
sequence: messages counted, but not drawn: 80; the settings messages and characters limit them
LINES
cat >"$work/aliases.jsonl" <<'LINES'
{"ts":1,"tracee":"<0.1.0>","tag":"send","term":"{#Ref<0.1.2.3>,{a,{b,{#Ref<0.1.2.4>}}}}","extra":"<0.2.0>"}
{"ts":2,"tracee":"<0.2.0>","tag":"send","term":"{pass,#Ref<0.1.2.3>}","extra":"<0.3.0>"}
{"ts":3,"tracee":"<0.3.0>","tag":"send","term":"\"#Ref<0.1>#Ref<x>#Ref<\"","extra":"#Ref<0.1.2.3>"}
{"ts":4,"tracee":"<0.3.0>","tag":"send","term":"lost","extra":"#Ref<0.1.2.5>"}
LINES
expect 'an alias belongs to the process that first sent it' "$tracehost" replay -t sequence "$work/aliases.jsonl" <<'LINES'
sequenceDiagram
    participant p1 as #60;0.1.0#62;
    participant p2 as #60;0.2.0#62;
    participant p3 as #60;0.3.0#62;
    participant p4 as an alias
    p1->>p2: {#35;Ref,{a,{b,{#35;Ref}}}}
    p2->>p3: {pass,#35;Ref}
    p3->>p1: "#35;Ref#35;Ref#60;x#62;#35;Ref#60;"
    p3->>p4: lost
LINES

# The script reads as many arrows of each sender as messages were recorded.
same_arrows() {
    "$tracehost" replay -t sequence,messages=1000000,participants=0 "$1" >"$work/drawn" 2>/dev/null &&
        "$tracehost" dump --format=jsonl "$1" | python3 -c 'import collections, json, re, sys
drawn = open(sys.argv[1], encoding="utf-8").read().split("\n")
assert drawn[0] == "sequenceDiagram" and drawn.pop() == "", drawn[0]
names, arrows = {}, collections.Counter()
for line in drawn[1:]:
    participant = re.fullmatch(r"    participant (p\d+) as (.+)", line)
    arrow = re.fullmatch(r"    (p\d+)(->>|-x)(p\d+): (.+)", line)
    text = (participant or arrow).groups()[-1]
    assert not re.search(r"[<>&%$]|#(?!\d+;)", text) and ";" not in re.sub(r"#\d+;", "", text), line
    if participant:
        names[participant[1]] = text
    else:
        assert arrow[1] in names and arrow[3] in names, line
        arrows[re.sub(r"#(\d+);", lambda mark: chr(int(mark[1])), names[arrow[1]]).split(" ")[-1], arrow[2]] += 1
wanted = collections.Counter()
for line in sys.stdin:
    event = json.loads(line)
    if event.get("tag", "").startswith("send"):
        wanted[event["tracee"], "->>" if event["tag"] == "send" else "-x"] += 1
assert wanted == arrows and wanted, (wanted, arrows)' "$work/drawn"
}
for stream in "$recordings"/s04_*.trace "$recordings"/s05_*.trace "$recordings"/s06_*.trace "$recordings"/s15_*.trace; do
    check "each recorded message has an arrow: $(basename "$stream" .trace)" same_arrows "$stream"
done

of_bank() {
    "$tracehost" run --flags=send,procs --schedulers=1 -t sequence bank 'bank:start(), bank:open(alice, 100), bank:balance(alice).' |
        sed 's/as #60;.*/as the customer/; s/ #60;[0-9.]*#62;//; s/#60;[0-9.]*#62;/PID/g'
}
expect 'messages of a live run are drawn' of_bank <<'LINES'
sequenceDiagram
    participant p1 as the customer
    participant p2 as bank
    participant p3 as alice
    p1->>p2: {{open,alice,100},PID,#35;Ref}
    p2->>p1: {#35;Ref,{ok,ok}}
    p1->>p3: {balance,PID,#35;Ref}
    p3->>p1: {#35;Ref,{ok,100}}
100
LINES
whole() {
    "$tracehost" replay -t sequence,output="$work/whole" "$work/messages.jsonl" && [ -s "$work/whole" ] && [ "$(echo "$work"/whole*)" = "$work/whole" ]
}
check 'the setting output names the file that is written' whole

# --- the picture ---

cat >"$work/odd.jsonl" <<LINES
{"ts":1,"tracee":"<0.1.0>","tag":"send","term":"'\\\\x{1}\\\\x{85}\\\\x{20ac}<&>'","extra":"'odd\\\\n\\\\x{1}<name>'"}
{"ts":2,"tracee":"<0.1.0>","tag":"send","term":"[$(seq -s, 1000 2000)]","extra":"<0.2.0>"}
LINES
well_formed() {
    "$tracehost" replay -t sequence,format=svg "$1" >"$work/picture.svg" 2>/dev/null &&
        python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$work/picture.svg" &&
        ! grep -E '(href|src)=|url\(|@import' "$work/picture.svg"
}
for stream in "$recordings"/s04_*.trace "$recordings"/s15_*.trace "$recordings"/s01_*.trace "$work/messages.jsonl" "$work/odd.jsonl"; do
    check "the picture is well-formed and loads nothing: $(basename "$stream")" well_formed "$stream"
done

# The tooltip has less than 400 bytes, with the dots that stand for the rest.
cut() {
    "$tracehost" replay -t sequence,format=svg "$work/odd.jsonl" | sed -n 's/.*data-a="0" data-b="2">.*<title>\([^<]*\).*/\1/p' |
        awk '{ print length($0), substr($0, length($0) - 7) }' && "$tracehost" replay -t sequence "$work/odd.jsonl"
}
expect 'odd names are escaped, a long message is cut' cut <<'LINES'
399 1078,...
sequenceDiagram
    participant p1 as #60;0.1.0#62;
    participant p2 as 'odd\n\001#60;name#62;'
    participant p3 as #60;0.2.0#62;
    p1->>p2: '\001\205\x{20AC}#60;#38;#62;'
    p1->>p3: [1000,1001,1002,1003,1004,1005,1006,1007,1008,1009,1010,1011...
LINES

# Bars: <0.1.0> is scheduled; <0.2.0> is in calls, also in the unknown part before the first message; the call of <0.3.0>
# does not end, and that of <0.4.0> ends doubtfully. The last message comes after a gap.
event() {
    printf '{"ts":%s,"tracee":"<0.%s.0>","tag":"%s","term":"%s"%s}\n' "$@"
}
{
    event 500 2 call '{m,early,0}' ''
    event 1000 1 send a ',"extra":"<0.2.0>"'
    event 1100 1 in '{m,f,0}' ''
    event 1200 1 call '{m,f,0}' ''
    event 1300 1 out '{m,f,0}' ''
    event 1400 3 call '{m,open,0}' ''
    event 1500 2 return_from '{m,early,0}' ',"extra":"ok"'
    event 1600 2 call '{m,g,0}' ''
    event 1650 2 call '{m,h,0}' ''
    event 1700 2 return_from '{m,h,0}' ',"extra":"ok"'
    event 2000 2 send b ',"extra":"<0.3.0>"'
    event 2100 2 call '{m,h,0}' ''
    event 2200 2 return_from '{m,g,0}' ',"extra":"ok"'
    event 2300 4 call '{m,x,0}' ''
    event 2310 4 call '{m,y,0}' ''
    event 2320 4 return_to '{u,u,0}' ''
    event 3000 3 send c ',"extra":"<0.4.0>"'
    for i in $(seq 4 30); do event "${i}000" 3 send x ',"extra":"<0.1.0>"'; done
    event 61000 3 send d ',"extra":"<0.1.0>"'
} >"$work/activity.jsonl"
bars() {
    "$tracehost" replay -t sequence,format=svg "$work/activity.jsonl" >"$work/picture.svg" &&
        sed -n 's/^<path class="\(b[^"]*\)" data-c="\([^"]*\)" d="M[0-9]*,\(.*\)"><title>\([^<]*\).*/\2 \1 \3 \4/p; s/^<g class="gap"><title>\([^<]*\)<.*M0,\([0-9]*\).*/\1, at \2/p' "$work/picture.svg" &&
        sed -n 's/^<g class="m".* d="M[0-9]*,\([0-9]*\).*/last message at \1/p' "$work/picture.svg" | tail -n 1
}
expect 'bars show the time on a scheduler, or in calls whose end is known' bars <<'LINES'
1 b calls 128.0v13.0 500 ns in calls: m:early/0
0 b 130.6v5.2 200 ns running: m:f/0
1 b calls 143.6v15.6 600 ns in calls: m:g/0 and 2 more calls
31.0 µs without a message, at 908
last message at 934
-- stderr
sequence: times with no known end, not drawn: 2
LINES
no_calls() {
    "$tracehost" replay -t sequence,format=svg "$1" 2>/dev/null | grep -c '<path class="b[^"]*" data-c="[0-9]'
}
expect 'a recording without ends of calls has no bars of calls' no_calls "$recordings/s11_mnesia_arity.trace" <<'LINES'
0
-- status 1
LINES

if [ "$browser" = none ]; then
    skip 'a browser selects, searches and moves by keys' 'no chromium here'
    finish
fi
in_picture() {
    "$tracehost" replay -t sequence,format=svg,participants=2,output="$work/picture.svg" "$work/messages.jsonl" &&
        in_browser "$work/picture.svg" '
            var people = Array.from(document.querySelectorAll(".p")), told = document.getElementById("told");
            var messages = Array.from(document.querySelectorAll(".m")), search = document.getElementById("search");
            function plain() { return messages.filter(m => +getComputedStyle(m).opacity === 1).length; }
            function x(e) { var box = e.getBoundingClientRect(); return box.x + box.width / 2; }
            function y(e) { return e.getBoundingClientRect().y; }
            function type(words) { search.value = words; search.dispatchEvent(new Event("input", {bubbles: true})); }
            say(people.length + " participants, " + messages.length + " messages, " + told.textContent);
            say(people.map(p => p.querySelector("title").textContent).join(", "));
            say(messages[1].querySelector("title").textContent + " " + messages[1].querySelector(".w").textContent);
            say("in order: " + messages.every((m, i) => i === 0 || y(m) > y(messages[i - 1])));
            say("in place: " + messages.every(m => { var box = m.querySelector("path").getBoundingClientRect();
                var a = x(people[m.dataset.a].querySelector("rect")), b = x(people[m.dataset.b].querySelector("rect"));
                return box.left <= Math.min(a, b) + 1 && box.right >= Math.max(a, b) - 1; }));
            say("as wide as the window: " + (document.documentElement.getBoundingClientRect().width === innerWidth &&
                people[2].getBoundingClientRect().right > innerWidth - 20));
            click(people[2].querySelector("rect"));
            say("clicked: " + plain() + " plain, " + told.textContent);
            press(people[2], "Escape");
            say("Esc: " + plain() + " plain, " + told.textContent);
            press(people[1], "Enter");
            say("Enter: " + plain() + " plain, " + people[1].getAttribute("aria-pressed"));
            press(people[1], "Enter");
            press(people[1], "/");
            say("/ leads to " + document.activeElement.id);
            type("^FA.$");
            say("searched: " + document.querySelectorAll(".hit").length + " marked, " + told.textContent);
            press(search, "Enter"); press(people[1], "n");
            say("next: " + told.textContent + ", marked " + messages[7].classList.contains("current"));
            press(people[1], "N");
            say("before: " + told.textContent);'
}
expect 'a browser selects, searches and moves by keys' in_picture <<'LINES'
3 participants, 8 messages, 8 messages
<0.1.0>, server <0.2.0>, others (2)
{&quot;a;b#c&quot;,'<&%$'} {&quot;a;b#c&quot;,'<&%$'}
in order: true
in place: true
as wide as the window: true
clicked: 3 plain, 3 messages of others (2)
Esc: 8 plain, 8 messages
Enter: 4 plain, true
/ leads to search
searched: 2 marked, 2 found
next: 2 of 2 found: far, marked true
before: 1 of 2 found: far
LINES

# Hits that are not in the window are counted, the bar and the names stay in view.
jumps() {
    "$tracehost" replay -t sequence,format=svg,output="$work/picture.svg" "$work/long.jsonl" &&
        in_browser "$work/picture.svg" '
            var search = document.getElementById("search"), messages = document.querySelectorAll(".m");
            function say_all() {
                say(["up", "down"].map(id => document.getElementById(id)).map(b => b.hidden ? "none" : b.textContent).join(", "));
            }
            function seen(e) { var box = e.getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight; }
            search.value = "^.[0-9]00,"; search.dispatchEvent(new Event("input", {bubbles: true}));
            say_all();
            for (var i = 0; i < 3; i++) press(search, "Enter");
            say("at the third: " + seen(messages[299]) + seen(document.querySelector(".p")) + seen(search));
            window.dispatchEvent(new Event("scroll"));
            say_all();
            click(document.getElementById("up"));
            say("above: " + seen(messages[199]));'
}
expect 'jumps lead to hits outside of the window, which are counted' jumps <<'LINES'
none, ▼ 9
at the third: truetruetrue
▲ 2, ▼ 6
above: true
LINES

finish
