#!/bin/sh
# Tests the pictures of `flame`, `diff` and `sequence` and the page of `report` in a browser: in a wide and in a narrow window, in
# light and in dark colours nothing goes beyond its box; a search leads to its hits; nothing is said on the console. One
# browser opens all of them.
. tests/cli/lib/assertions.sh
. tests/shipped/browser

if [ "$browser" = none ]; then
    skip 'pictures in a browser' 'no chromium here'
    finish
fi

# Names that are long, wide, or would be markup; a process for each of many columns; stacks that are high and narrow.
python3 - "$work" <<'SCRIPT'
import json
import sys

def write(name, events):
    with open('%s/%s.jsonl' % (sys.argv[1], name), 'w', encoding='utf-8') as file:
        for number, (pid, tag, term, more) in enumerate(events):
            print(json.dumps({'ts': 1000 * number, 'tracee': '<0.%d.0>' % pid, 'tag': tag, 'term': term, **more}), file=file)

odd = ["'</script><b onclick=\"x\">&amp;'", "'" + 'long' * 60 + "'", "'\\x{4e2d}\\x{6587}" * 1 + "\\x{540d}\\x{79f0}'", "'\\x{1}\\n]]>'",
       "'Elixir.A.B.C'", "'" + 'a:b/' * 30 + "'"]
events = []
for i, name in enumerate(odd):
    events += [(i + 1, 'register', name, {}), (i + 1, 'call', '{%s,%s,[%s]}' % (name, name, name), {}),
               (i + 1, 'send', '{%s,%s}' % (name, name), {'extra': '<0.%d.0>' % (i % 5 + 1)}),
               (i + 1, 'exception_from', '{%s,%s,1}' % (name, name), {'extra': '{error,%s}' % name})]
write('odd', events)

events = []
for round in range(12):
    for i in range(30):
        events += [(i + 1, 'call', '{module_of_many_names_%d,function_with_a_name,[%d]}' % (i % 7, k), {}) for k in range(8)]
        events += [(i + 1, 'send', '{message_number,%d,with,more,words,than,a,narrow,window,has,room,for,%d}' % (round, i),
                    {'extra': '<0.%d.0>' % ((7 * i + round) % 30 + 1)})]
        events += [(i + 1, 'return_from', '{module_of_many_names_%d,function_with_a_name,1}' % (i % 7), {'extra': 'ok'}) for k in range(8)]
for i in range(200):
    events.append((1, 'call', '{deep,f%d,[]}' % i, {}))
for i in reversed(range(200)):
    events.append((1, 'return_from', '{deep,f%d,0}' % i, {'extra': 'ok'}))
write('many', events)
SCRIPT
cp "$recordings/s15_kitchen_sink.trace" "$work/small.trace"

# draw STREAM: makes all pictures of it.
draw() {
    name=$(basename "${1%.*}")
    "$tracehost" report -o "$work/report_$name.html" "$1"
    "$tracehost" replay -t "flame,format=svg,output=$work/flame_$name.svg" \
        -t "flame,format=svg,order=icicle,hue=own,recursion=one,output=$work/icicle_$name.svg" \
        -t "sequence,format=svg,participants=0,output=$work/sequence_$name.svg" "$1"
}
for stream in "$work/small.trace" "$work/many.jsonl" "$work/odd.jsonl"; do
    draw "$stream" 2>>"$work/told"
    "$tracehost" diff --flame="$work/diff_$(basename "${stream%.*}").svg" "$work/small.trace" "$stream" >/dev/null 2>>"$work/told"
done

# look FILE: the steps that look at it in all windows and colours, and search in it.
look() {
    name=$(basename "${1%.*}")
    echo "open $1"
    case $name in
    report_*) echo 'wait document.documentElement.dataset.drawn !== undefined' ;;
    esac
    echo 'script tests/shipped/pictures.js'
    for size in '1280 800' '400 700'; do
        for colours in light dark; do
            echo "window $size"
            echo "colours $colours"
            echo "say faults('$colours').then((found) => '$name ${size% *} $colours: ' + (found.join('; ') || 'good'))"
        done
    done
    case $name in
    report_*)
        echo 'run for (const details of document.querySelectorAll("details")) details.open = true'
        echo "say faults('dark').then((found) => '$name with trees: ' + (found.join('; ') || 'good'))"
        ;;
    *)
        printf '%s\n' 'key /' 'type .' 'key Enter' "say '$name hit: ' + hitIsSeen()" 'key Enter' 'key Enter' 'key Enter' \
            "say '$name fourth: ' + hitIsSeen() + ', ' + document.getElementById('told').textContent.match(/^[^:,]*/)[0].replace(/of .*found/, 'of all')" \
            'click #clear' "say '$name after the search: ' + document.querySelectorAll('.hit').length"
        ;;
    esac
}
for file in "$work"/*.svg "$work"/*.html; do look "$file"; done >"$work/steps"
timeout 120 python3 tests/shipped/drive_page.py "$browser" "$work/profile" "$work/flame_small.svg" <"$work/steps" >"$work/said" 2>&1

said() {
    grep "^$1" "$work/said"
}
for kind in flame icicle diff sequence report; do
    for name in small many odd; do
        expect "$kind fits all windows, and its search leads to hits: $name" said "${kind}_$name" <<LINES
${kind}_$name 1280 light: good
${kind}_$name 1280 dark: good
${kind}_$name 400 light: good
${kind}_$name 400 dark: good
$(if [ "$kind" = report ]; then
            echo "report_$name with trees: good"
        else
            printf '%s\n' "${kind}_$name hit: true" "${kind}_$name fourth: true, 4 of all" "${kind}_$name after the search: 0"
        fi)
LINES
    done
done

# Any other line is an error, a message of the console or a request.
unexpected() {
    grep -v '^\(flame\|icicle\|diff\|sequence\|report\)_' "$work/said"
}
expect 'no picture writes to the console or loads anything' unexpected <<'LINES'
-- status 1
LINES

finish
