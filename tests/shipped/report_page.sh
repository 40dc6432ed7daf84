#!/bin/sh
# Tests the page of `report` in a browser: its content, sorting, searching, zooming, by keys and by the mouse. The
# page loads nothing else, and no text of a recording becomes markup. With a sanitizer, which looks at what makes a page, pages
# are only made: they are the same in each build.
. tests/cli/lib/assertions.sh
. tests/shipped/browser

if [ "$browser" = none ]; then
    skip 'the page in a browser' 'no chromium here'
    finish
fi

# For all steps: functions that describe the page in words.
cat >"$work/words" <<'STEPS'
wait document.documentElement.dataset.drawn !== undefined
run window.all = (selector) => Array.from(document.querySelectorAll(selector))
run window.text = (selector) => all(selector).map((e) => e.textContent.trim()).join(' | ')
run window.rows = (id) => all('#' + id + ' .tabled tbody tr')
run window.column = (id, n, most = 3) => rows(id).slice(0, most).map((r) => r.cells[n].textContent.trim()).join(' | ')
run window.tip = () => document.getElementById('tip').hidden ? 'no tip' : text('#tip div')
run window.focused = () => document.activeElement.textContent.trim() || document.activeElement.id
run window.data = JSON.parse(document.getElementById('data').textContent)
STEPS
opened=yes
case $BUILD_DIR in
*san)
    opened=
    on_page() {
        cat >"$work/steps"
        cat "$work/told" >&2
        ! grep -qe 'Sanitizer' -e 'runtime error' "$work/told" && tail -c 20 "$1" | grep -q '</html>'
    }
    expect() { cat >"$work/lines" && check "$@"; } # the lines are those of a browser
    ;;
esac

# on STREAM [OPTION...]: does the steps of standard input on its page.
on() {
    rm -f "$work/page.html"
    "$tracehost" report -o "$work/page.html" "$@" >"$work/told" 2>&1
    cat "$work/words" - | on_page "$work/page.html"
}

whole() {
    on "$recordings/s04_genserver_pingpong.trace" <<'STEPS'
say document.title
say text('h2')
say text('.tile')
say text('.when')
say text('.note')
say column('functions', 0) + '; ' + column('functions', 1) + '; ' + rows('functions').length
say text('#functions th')
say all('.lane:not(.head)').length + ' rows: ' + text('.lane .who')
say text('.matrix tbody tr')
say column('messages', 0) + '; ' + column('messages', 1) + '; ' + column('messages', 2) + '; ' + column('messages', 4)
say column('slowest', 0, 1) + '; ' + column('slowest', 1) + '; ' + column('slowest', 3) + '; ' + column('slowest', 5, 1)
say text('#slowest .more button:not([hidden])')
say document.querySelector('meta[http-equiv]').content
STEPS
}
expect 'the page shows all sections of a recording' whole <<'LINES'
s04_genserver_pingpong.trace
Summary | Functions | Flame graph | Timeline | Messages | Slowest calls | Call trees | Keys
1.04 msfrom first to last | 719events | 437calls | 30functions | 2processes | 84messages sent | 86received
System time, from 2026-11-21 04:02:33.942463 UTC
⚠ This page is not exact or not completecalls ended by the return of a caller: 102 – record callers and ends of calls: --match-spec=cx, or dbg:tpl(MODULE, cx)
wl:'-pingpong/1-lc$^0/1-0-'/2 21 slow | wl:'-pingpong/1-lc$^2/1-2-'/1 21 slow | wl:'-pingpong/1-lc$^1/1-1-'/2 21 slow; 21 | 21 | 21; 30
function | calls | errors | unended | own | total | p50 | p90 | p99 | max
3 rows: process | <0.94.0> | <0.95.0> | <0.9.0>
<0.94.0>411 | <0.95.0>42 | <0.9.0>
<0.95.0> | <0.94.0> | <0.94.0>; <0.94.0> | <0.95.0> | <0.9.0>; 42 | 41 | 1; 9.00 µs | 12.0 µs | –
wl:pingpong/1; 1.03 ms | 462 µs | 427 µs; 0.000009 s | 0.000049 s | 0.000083 s; [20]
Show the other 76
default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'
LINES

# The number of frames is that of frames wide enough by the data.
frames() {
    on "$1" <<'STEPS'
run window.totals = data.flame.nodes.map((node) => node[2])
run for (let i = totals.length - 1; i > 0; i--) totals[data.flame.nodes[i][0]] += totals[i]
run window.wide = totals.filter((total) => total / totals[0] * document.querySelector('.flames').clientWidth >= 1.5).length
say all('.frame').length === wide && wide > 3
say all('.frame[aria-level="2"]').reduce((sum, f) => sum + parseFloat(f.style.width), 0).toFixed(1)
STEPS
}
for stream in s03_exceptions_return_to s04_genserver_pingpong s09_collections_return s15_kitchen_sink; do
    expect "the flame graph has all frames that are wide enough: $stream" frames "$recordings/$stream.trace" <<'LINES'
true
100.0
LINES
done

# All functions with their exact times, as in the output of `time`.
figures() {
    "$tracehost" replay -t time,format=csv,top=0 "$1" 2>"$work/told" >"$work/times.csv"
    on "$1" >"$work/figures" <<'STEPS' || return 1
run document.querySelector('#functions .more button:last-child').click()
run window.titles = text('#functions th').split(' | ')
run window.cell = (r, title) => r.cells[titles.indexOf(title)]
run window.exact = (r, title) => cell(r, title).title.replace(/ ns|,|unknown/g, '')
say rows('functions').map((r) => [r.querySelector('button').textContent, ...['calls', 'errors'].map((title) => cell(r, title).textContent), ...['total', 'own', 'p50', 'max'].map((title) => exact(r, title))].join(';')).join('\n')
STEPS
    python3 - "$work/times.csv" <<'END' | sort >"$work/expected_figures"
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    print(';'.join([row['function'], row['calls'], row['errors'], row['total_ns'], row['own_ns'], row['p50_ns'], row['max_ns']]))
END
    sort "$work/figures" | diff "$work/expected_figures" - && [ "$(wc -l <"$work/figures")" -gt 5 ]
}
for stream in ${opened:+s04_genserver_pingpong s09_collections_return s15_kitchen_sink}; do
    check "functions have exact times: $stream" figures "$recordings/$stream.trace"
done


sorted() {
    on "$recordings/s09_collections_return.trace" <<'STEPS'
say column('functions', 0) + '; ' + text('#functions th[aria-sort]')
click #functions th:nth-child(2) button
say column('functions', 0) + '; ' + column('functions', 1) + '; ' + document.querySelector('#functions th[aria-sort]').ariaSort
key Enter
say column('functions', 1) + '; ' + document.querySelector('#functions th[aria-sort]').ariaSort + '; ' + focused()
click #functions th:nth-child(1) button
say column('functions', 0)
say text('#told')
say rows('functions').length
click #functions .more button
say rows('functions').length + '; ' + focused() + '; ' + text('#functions .more:not([hidden])')
STEPS
}
expect 'a click on a column sorts the table' sorted <<'LINES'
sets:add_element/2 24 slow | lists:foldl_1/3 31 slow | sets:fold_seg/4 16 slow; own
lists:foldl_1/3 31 slow | sets:add_element/2 24 slow | sets:get_bucket/2 24 slow; 35 | 24 | 24; descending
1 | 1 | 1; ascending; calls
gb_trees:empty/0 | gb_trees:insert/3 3 slow | gb_trees:insert_1/4 3 slow
sorted by function, least first
30
45; sets:fold/3; 
LINES

searched() {
    on "$recordings/s04_genserver_pingpong.trace" <<'STEPS'
key /
type TERMINATE
say focused() + ': ' + text('.found-count')
say column('functions', 0, 9)
say all('.frame.found').map((f) => f.getAttribute('aria-label')).sort()[0]
say rows('slowest').length + ', ' + all('.lane').length
key Enter
say focused().slice(0, 9)
key /
type x
say text('#functions .why:not([hidden])') + ' ' + text('.found-count')
key Escape
say document.getElementById('search').value + rows('functions').length + text('.found-count') + all('.frame.found').length
key Escape
key /
type 0.95
say text('.found-count')
say text('.lane .who')
key Escape
key Escape
say document.activeElement === document.body
STEPS
}
expect 'a search filters all sections' searched <<'LINES'
search:  | 6 of 30 | 6 frames, 1.04 % | 0 of 3 | 0 of 3 | 1 of 106 | 0 of 1
wl:terminate/2 1 slow | gen_server:system_terminate/4 | gen_server:terminate/8 | gen_server:terminate/10 | gen_server:terminate_reason/3 | gen_server:try_terminate/3
gen_server:system_terminate/4, 21.0 µs, 1.04 % of all, 84.0 % of gen_server:decode_msg/9, own: 5.00 µs, 0.25 %
1, 4
Functions
No row matches the search.  | 0 of 30 | 0 frames, 0.00 % | 0 of 3 | 0 of 3 | 0 of 106 | 0 of 1
30 |  |  |  |  |  | 0
 | 0 of 30 | 1 frame, 48.9 % | 1 of 3 | 2 of 3 | 84 of 106 | 0 of 1
process | <0.95.0>
true
LINES

# A function leads to its frames and its slow calls, a call to the timeline.
followed() {
    on "$recordings/s09_collections_return.trace" <<'STEPS'
run rows('functions')[0].querySelector('button').focus()
key ArrowDown
key ArrowDown
key ArrowUp
say focused()
key ArrowRight
say focused()
key ArrowLeft
key Enter
say document.activeElement.id + ': ' + document.getElementById('search').value + ': ' + text('.found-count')
run rows('functions')[0].querySelector('.chip').focus()
key Enter
say document.activeElement.id + ': ' + column('slowest', 0, 2)
run rows('slowest')[20].querySelector('button').focus()
key Enter
say document.activeElement.className + ': ' + text('.shown')
key 0
say text('.shown')
key +
key +
say text('.shown')
key ArrowRight
say text('.shown')
key -
key -
say text('.shown')
STEPS
}
expect 'a function leads to its frames, a slow call to the timeline' followed <<'LINES'
lists:foldl_1/3
31 slow
flame: lists:foldl_1/3:  | 1 of 45 | 2 frames, 53.0 % | 0 of 1 | 31 of 200 | 4 of 10
slowest: lists:foldl_1/3 | lists:foldl_1/3
lane: 121 µs from 0.000462 s
All 1.05 ms
263 µs from 0.000394 s
263 µs from 0.000460 s
All 1.05 ms
LINES

interrupted() {
    tests/cli/lib/send_signals.py INT "$recordings/s01_seed_local_caller.trace" 500 "$tracehost" report -o "$work/page.html" - \
        2>"$work/told"
    on_page "$work/page.html" <<'STEPS'
wait document.documentElement.dataset.drawn !== undefined
say document.querySelector('main .note').textContent
STEPS
}
expect 'the page of an interrupted command shows a note' interrupted <<'LINES'
⚠ `report` was interrupted: this page shows only the first 6 records.
LINES

flame() {
    on "$recordings/s03_exceptions_return_to.trace" <<'STEPS'
run window.label = () => document.activeElement.getAttribute('aria-label')
run window.shown = () => all('.frame:not(.around)').length + ' frames, ' + text('.path li')
run document.querySelector('.frame').focus()
say label()
key ArrowDown
key ArrowDown
say label()
key ArrowRight
say label()
key ArrowLeft
key ArrowDown
key Enter
say shown() + '; ' + all('.frame.around').length + ' around, it is ' + document.activeElement.style.width
key Backspace
say shown()
key Escape
say shown()
click .frame:nth-child(4)
say shown()
click .path button
say shown()
click #flame input
say all('.frame').length
point .frame:nth-child(3)
say tip()
STEPS
}
expect 'clicks and keys zoom the flame graph' flame <<'LINES'
all, 100 µs, 100.0 % of all, own: 0 ns, 0.00 %
ex:mid/1, 87.0 µs, 87.0 % of all, 87.0 % of <0.89.0>, own: 21.0 µs, 21.0 %
ex:n1/1, 7.00 µs, 7.00 % of all, 7.00 % of <0.89.0>, own: 3.00 µs, 3.00 %
6 frames, all | <0.89.0> | ex:mid/1 | ex:caught/1; 3 around, it is 100%
7 frames, all | <0.89.0> | ex:mid/1
15 frames, all
2 frames, all | <0.89.0> | lists:nth/2
15 frames, all
14
erlang:list_to_atom/1 | 2.00 µs, 2.00 % of all | 2.00 % of <0.89.0> | own: 2.00 µs, 2.00 %
LINES

timeline() {
    on "$recordings/s15_kitchen_sink.trace" <<'STEPS'
say text('.lanes .who')
say text('#timeline .why') + '; ' + text('.lane .amount')
run document.querySelector('#timeline select').value = 'busiest'
run document.querySelector('#timeline select').dispatchEvent(new Event('change'))
say text('.lanes .who')
drag .lanes .lane:nth-child(2) canvas 0.25 0.5
say text('.shown').match(/^[0-9]+/)[0] + text('.shown').replace(/.* from/, ' ms from').slice(0, 14)
point .lanes .lane:nth-child(1) canvas
say tip().replace(/[0-9.]+ s:/, '... s:')
point .lanes .lane:nth-child(2) .who
say tip()
run document.querySelector('.lane[tabindex="0"]').focus()
key ArrowDown
say document.activeElement.querySelector('.who').textContent
key Escape
say text('.shown')
key End
key Enter
say document.getElementById('search').value + ': ' + text('.lanes .who')
STEPS
}
expect 'the timeline is sorted, zoomed and searched' timeline <<'LINES'
wlme <0.189.0> | <0.190.0> | <0.191.0> | <0.192.0> | <0.193.0> | <0.194.0> | <0.195.0> | <0.196.0> | <0.197.0> | <0.198.0> | <0.9.0>
Bars: the share of the time on a scheduler.  life of the process,  one of the slowest calls.; running | 379 µs | 15.0 µs | 5.00 µs | 36.0 µs | 8.00 µs | 30.0 µs | 176 µs | 50.0 µs | 11.0 µs | 10.0 µs | 0 ns
wlme <0.189.0> | <0.195.0> | <0.196.0> | <0.192.0> | <0.194.0> | <0.190.0> | <0.197.0> | <0.198.0> | <0.193.0> | <0.191.0> | <0.9.0>
9 ms from 0.009
wlme <0.189.0> | ... s: 0 % running | wl:running/0, 24.5 ms
<0.195.0> | runs proc_lib:init_p/5 | parent wlme <0.189.0> | born 0.011746 s, died 0.012085 s | ended normal | 117 events, 50 calls | in traced functions 165 µs | running 176 µs | 8 sent, 7 received | 4 collections of 15.0 µs
<0.196.0>
All 36.7 ms
<0.9.0>: <0.9.0>
LINES

# Times count from the recording's first record, also if events are left out.
left_out() {
    on "$recordings/s04_genserver_pingpong.trace" --from=400us <<'STEPS'
say text('.tile:first-child') + '; ' + text('.when')
say column('slowest', 3)
say text('.scale span')
STEPS
}
expect 'times count from the first record, also with --from' left_out <<'LINES'
645 µsfrom first to last; System time, from 2026-11-21 04:02:33.942863 UTC
0.000671 s | 0.000512 s | 0.000518 s
0.4 ms | 0.5 ms | 0.6 ms | 0.7 ms | 0.8 ms | 0.9 ms | 1.0 ms
LINES

matrix() {
    on "$recordings/s15_kitchen_sink.trace" <<'STEPS'
say text('.matrix tr')
run window.cells = all('.matrix [role=gridcell]'); window.full = cells.find((cell) => cell.textContent); full.focus()
say full.getAttribute('aria-label')
key ArrowDown
key ArrowRight
key Home
say document.activeElement.cellIndex + ' ' + document.activeElement.parentElement.sectionRowIndex
run full.focus()
key Enter
say text('.chosen') + '; ' + rows('messages').length
key Escape
say text('.chosen:not([hidden])') + rows('messages').length
say cells.reduce((sum, cell) => sum + Number(cell.textContent), 0) === data.messages.reduce((sum, pair) => sum + pair.sent, 0)
run document.querySelector('#messages select').value = 'p99'
run document.querySelector('#messages select').dispatchEvent(new Event('change'))
say full.textContent
STEPS
}
expect 'the matrix of messages selects pairs and measures' matrix <<'LINES'
wlme<0.195.0><0.190.0><0.191.0><0.193.0><0.9.0>others | wlme2711111 | <0.195.0>8 | <0.190.0> | <0.191.0> | <0.193.0> | <0.9.0> | others
wlme <0.189.0> → wlme <0.189.0>, 2 messages, 2 arrivals recorded, p50 7.00 µs, p90 10.0 µs, p99 10.0 µs, mean 8.50 µs, max 10.0 µs
2 0
wlme <0.189.0> → wlme <0.189.0> All pairs; 1
8
true
10.0 µs
LINES

keys() {
    on "$recordings/s04_genserver_pingpong.trace" <<'STEPS'
key Tab
say focused()
run for (const a of all('#nav a')) a.tabIndex = -1
key Tab
say focused()
key Tab
say focused()
key Tab
say focused()
key 3
say document.activeElement.id
key Tab
say document.activeElement.tagName + ' ' + getComputedStyle(document.activeElement).outlineStyle
key ?
say document.getElementById('help').open + ' ' + all('.keys dt').length
key Escape
say document.getElementById('help').open
say all('[tabindex="0"]').length + ' ' + all('button:not([tabindex]), select, input').every((e) => e.ariaLabel || e.textContent || e.closest('label'))
STEPS
}
expect 'keys move the focus and open the help' keys <<'LINES'
Summary
search
Keys ?
function
flame
SELECT solid
true 10
false
6 true
LINES

# An empty section has no place; the summary shows why, and how to record its events.
empty() {
    on "$1" <<'STEPS'
say text('h2') + '; ' + text('nav a')
say all('.quiet li').map((e) => e.textContent).join('\n')
STEPS
}
expect 'sections without times or messages explain why' empty "$recordings/s01_seed_local_caller.trace" <<'LINES'
Summary | Functions | Flame graph | Keys; Summary | Functions | Flame graph
Timeline: No time was recorded: trace with a flag like monotonic_timestamp.
Messages: No messages were recorded: trace with the flags send and receive.
Slowest calls: No call has a recorded beginning and end: trace with the flags call and monotonic_timestamp, and with a match specification like [{'_',[],[{return_trace}]}].
Call trees: No outermost call has a recorded beginning and end.
LINES
expect 'sections without calls explain why' empty "$recordings/s08_gc.trace" <<'LINES'
Summary | Timeline | Keys; Summary | Timeline
Functions: No calls were recorded: trace with the flag call, and with patterns.
Flame graph: No call has a known duration: trace with the flags call and monotonic_timestamp.
Messages: No messages were recorded: trace with the flags send and receive.
Slowest calls: No call has a recorded beginning and end: trace with the flags call and monotonic_timestamp, and with a match specification like [{'_',[],[{return_trace}]}].
Call trees: No outermost call has a recorded beginning and end.
LINES

# Limits are no warning.
limits() {
    python3 tests/shipped/report_limits pairs >"$work/limits.jsonl"
    on "$work/limits.jsonl" <<'STEPS'
say text('.note')
say text('.quiet li:first-child')
STEPS
}
expect 'limits of the page are not among the warnings' limits <<'LINES'
✓ Nothing was lost or damaged, and nothing is doubtful.
pairs of sender and receiver shown as one, as there are too many: 3,185
LINES

# A loop is one row for each function in it; calls that have no room are counted; the end of n/0 is not recorded.
{
    at=0
    event() {
        printf '{"ts":%s,"tracee":"<0.1.0>","tag":"%s","term":"{m,%s,%s}"%s}\n' $((at += 1000)) "$1" "$2" "$3" "${4:-}"
    }
    ok=',"extra":"ok"'
    event call request '[<<\"<b>\">>]'
    for i in 1 2 3; do
        event call step 0
        event call read 0
        event return_from read 0 "$ok"
        event call write 0
        event return_from write 0 "$ok"
        event return_from step 0 "$ok"
    done
    event call last 0
    event call n 0
    event return_from last 0 "$ok"
    for i in $(seq 300); do
        event call "f$i" 0
        event return_from "f$i" 0 "$ok"
    done
    event return_from request 1 ',"extra":"{ok,<<\"<i>\">>}"'
    event call short 0
    event return_from short 0 "$ok"
} >"$work/requests.jsonl"
trees() {
    on "$work/requests.jsonl" <<'STEPS'
say text('#requests summary')
say text('#requests .text')
say all('#requests .node').slice(0, 7).map((row) => row.textContent + ' ' + row.firstChild.style.paddingLeft).join('\n')
say all('#requests .node').length
click #requests details:last-of-type summary
wait all('#requests .node').length > 200
say all('#requests .node').at(-1).textContent
key /
type m:write
say text('#requests .found-count') + '; ' + all('#requests details:not([hidden])').length
STEPS
}
expect 'the slowest outermost calls are shown as trees' trees <<'LINES'
m:request/1 622 µs at 0.000000 s, <0.1.0> | m:short/0 1.00 µs at 0.000623 s, <0.1.0>
[<<"<b>">>] → {ok,<<"<i>">>}
m:request/1 and 106 calls inside, left out622 µs 0px
m:step/0 × 315.0 µs 10px
m:read/0 × 33.00 µs 20px
m:write/0 × 33.00 µs 20px
m:last/02.00 µs 10px
m:n/0 its time is not known– 20px
m:f1/01.00 µs 10px
200
m:short/01.00 µs
1 of 2; 1
LINES

printed() {
    on "$recordings/s04_genserver_pingpong.trace" <<'STEPS'
print
say all('nav, .find, .buttons, .more').filter((e) => getComputedStyle(e).display !== 'none').length
say getComputedStyle(document.querySelector('.flames')).maxHeight
STEPS
}
expect 'a printed page has no controls' printed <<'LINES'
0
none
LINES

# Names, arguments, messages and reasons that would be markup, if they were not text.
odd='</script><img src=x onerror="document.title=1"><script>document.title=2</script>'
{
    printf '{"ts":1,"tracee":"<0.1.0>","tag":"register","term":"'"'%s'"'"}\n' "$(echo "$odd" | sed 's/"/\\"/g')"
    printf '{"ts":2,"tracee":"<0.1.0>","tag":"call","term":"{'"'%s','&amp;<b>'"',[<<\\"%s\\">>]}"}\n' "$(echo "$odd" | sed 's/"/\\"/g')" '<i>'
    printf '{"ts":3,"tracee":"<0.1.0>","tag":"send","term":"hello","extra":"<0.2.0>"}\n'
    printf '{"ts":900,"tracee":"<0.1.0>","tag":"exception_from","term":"{'"'%s','&amp;<b>'"',1}","extra":"{error,'"'<s>'"'}"}\n' "$(echo "$odd" | sed 's/"/\\"/g')"
} >"$work/<b>&amp;\"odd.jsonl"
odd() {
    on "$work/<b>&amp;\"odd.jsonl" <<'STEPS'
say document.title
say column('functions', 0)
say column('slowest', 4) + ' ' + column('slowest', 5) + ' ' + column('slowest', 6)
say text('.lanes .who')
say all('img, b:not(.note b, .path b, summary b), i, s, script:not([id])').length + ' ' + all('script').length
point .lanes .who
say tip()
STEPS
}
expect 'names, arguments and reasons never become markup' odd <<'LINES'
<b>&amp;"odd.jsonl
'</script><img src=x onerror="document.title=1"><script>document.title=2</script>':'&amp;<b>'/1 1 slow
'</script><img src=x onerror="document.title=1"><script>document.title=2</script>' <0.1.0> [<<"<i>">>] ✗ {error,'<s>'}
'</script><img src=x onerror="document.title=1"><script>document.title=2</script>' <0.1.0> | <0.2.0>
1 2
'</script><img src=x onerror="document.title=1"><script>document.title=2</script>' <0.1.0> | 4 events, 1 call | in traced functions 898 ns | 1 sent, 0 received
LINES

# The page's policy refuses markup from texts, and any request.
policy() {
    on "$recordings/s01_seed_local_caller.trace" <<'STEPS' | sed '/^log: /d; /^request: /d'
run window.refused = (f) => new Promise((say) => { document.addEventListener('securitypolicyviolation', (e) => say(e.effectiveDirective)); try { f() } catch (error) { say(error.name) } })
say refused(() => { document.body.innerHTML = '<img src=x>' })
say refused(() => document.body.append(Object.assign(new Image(), {src: 'http://localhost/x.png'})))
say refused(() => fetch('http://localhost/').catch(() => 0))
STEPS
}
expect 'the content security policy refuses markup and requests' policy <<'LINES'
TypeError
img-src
connect-src
LINES

# For a recording that is cut off, losses come first.
cut_off() {
    head -c 60000 "$recordings/s04_genserver_pingpong.trace" >"$work/cut.trace"
    on "$work/cut.trace" <<'STEPS'
say text('.note')
STEPS
}
expect 'the page of a torn recording shows a note' cut_off <<'LINES'
⚠ This page is not exact or not completeWORK/cut.trace: damaged places: 1 – let the recording end before it is copiedcalls ended by the return of a caller: 20 – record callers and ends of calls: --match-spec=cx, or dbg:tpl(MODULE, cx)
LINES

# Doubtful stacks are listed with the losses; stacks that are too narrow are counted beside the picture.
doubtful() {
    {
        for call in main parse parse1; do
            echo '{"ts":'$((at += 1000000))',"tracee":"<0.1.0>","tag":"call","term":"{m,'$call',0}"}'
        done
        echo '{"ts":4000001,"tracee":"<0.1.0>","tag":"return_to","term":"{u,forms,0}"}'
        echo '{"ts":4000002,"tracee":"<0.1.0>","tag":"call","term":"{m,print,0}"}'
        echo '{"ts":4000003,"tracee":"<0.1.0>","tag":"return_to","term":"{u,forms,0}"}'
    } >"$work/untraced.jsonl"
    on "$work/untraced.jsonl" <<'STEPS'
say text('.note.bad')
say text('#flame .why')
STEPS
}
expect 'the page of doubtful stacks shows a note' doubtful <<'LINES'
⚠ This page is not exact or not completereturns that end an unknown number of calls, so that the flame graph may be wrong and times of functions are missing (the first is to u:forms/0): 1 – record callers and ends of calls: --match-spec=cx, or dbg:tpl(MODULE, cx)
Own time by stack, the greatest on the left; a hue for each module. Too narrow to be drawn: 1 stack, part of the callers above.
LINES

# The script behind the pictures in README.md still finds what they show.
picture() {
    mkdir -p "$work/pictures" && PATH="$(dirname "$tracehost"):$PATH" samples/report_picture.sh "$work/pictures" &&
        python3 -c 'import struct, sys
for file in sys.argv[1:]:
    print(*struct.unpack(">8x4x4sII", open(file, "rb").read(24)))' "$work/pictures/report.png" "$work/pictures/sequence.png"
}
if [ -n "$opened" ]; then
    expect 'samples/report_picture.sh makes the pictures of README.md' picture <<'LINES'
b'IHDR' 1280 844
b'IHDR' 1280 780
LINES
fi

# The time is printed; the limit allows for busy machines.
opens() {
    on "$1" >"$work/said" <<'STEPS' || return
say document.documentElement.dataset.drawn
say all('main > section').every((section) => section.querySelector('.body').children.length > 0)
STEPS
    [ -z "$opened" ] || { [ "$(sed -n 2p "$work/said")" = true ] && [ "$(sed -n 1p "$work/said")" -lt 10000 ]; }
}
for stream in "$large"/l*.trace; do
    if [ -e "$stream" ]; then
        check "a large page is drawn within 10 seconds: $(basename "$stream" .trace)" opens "$stream"
        sed -n '1s/.*/# drawn after & ms/p' "$work/said"
    else
        skip "a large page is drawn within 10 seconds: $stream" 'this recording is not here'
    fi
done

finish
