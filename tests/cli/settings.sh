#!/bin/sh
# Tests settings that tracers declare: wrong ones are refused before any output is written; they are listed and
# completed.
. tests/cli/lib/assertions.sh

one=$recordings/s01_seed_local_caller.trace
copy=$work/copy.trace
cp "$one" "$copy"

# refused STATE...: a line for each refused state; valid states beside it print nothing.
refused() {
    for tracer in "$@"; do
        echo old >"$work/kept"
        "$tracehost" replay -L "$tracers" -t text,output="$work/kept" -t "$tracer" "$one" >"$work/out" 2>"$work/err"
        echo "$tracer: status $?"
        sed '1d; s/^  //' "$work/err"
        cat "$work/out"
        [ "$(cat "$work/kept")" = old ] || echo 'something was written'
    done
}
expect 'an unknown setting is refused' refused count,tops=3 flame,title=x 'count=#{1 => 2}' otlp,"args=full,trace=calls" <<'LINES'
count,tops=3: status 2
tracer 'count' has no setting 'tops'
did you mean 'top'?
flame,title=x: status 2
tracer 'flame' has no setting 'title'
the settings are format, by, recursion, depth, order, hue, output and color
count=#{1 => 2}: status 2
tracer 'count' has no setting 1: the name of a setting must be an atom
the settings are by, format, top, output and color
otlp,args=full,trace=calls: status 2
tracer 'otlp' has no setting 'trace'
did you mean 'traces'?
LINES
expect 'a setting whose name is not an atom is refused' refused 'count=#{"top" => 3}' 'count=#{<<"tops">> => 3}' 'count=#{{top} => 3}' \
    'count=#{[] => 3}' <<'LINES'
count=#{"top" => 3}: status 2
tracer 'count' has no setting "top": the name of a setting must be an atom
did you mean 'top'?
count=#{<<"tops">> => 3}: status 2
tracer 'count' has no setting <<"tops">>: the name of a setting must be an atom
did you mean 'top'?
count=#{{top} => 3}: status 2
tracer 'count' has no setting {top}: the name of a setting must be an atom
the settings are by, format, top, output and color
count=#{[] => 3}: status 2
tracer 'count' has no setting []: the name of a setting must be an atom
the settings are by, format, top, output and color
LINES
twice() {
    echo old >"$work/kept"
    "$tracehost" replay -t "text,output=$work/kept" -t "$1" "$one"
    echo "status $?, $(cat "$work/kept")"
}
expect 'a setting that is given twice is refused' twice count,top=2,by=tag,top=3 <<'LINES'
status 2, old
-- stderr
tracehost replay: cannot use -t 'count,top=2,by=tag,top=3'
  the setting 'top' is given twice
LINES
expect 'a setting that is given twice to a tracer without declarations is refused' twice "$tracers/recordings.so,a=1,a=1" <<'LINES'
status 2, old
-- stderr
tracehost replay: cannot use -t 'BUILD/tests/tracers/recordings.so,a=1,a=1'
  the setting 'a' is given twice
LINES
expect 'a value that a setting does not allow is refused' refused count,top=x count,top=-1 count,top=4294967296 count,format=xml text,color=nver \
    'text=#{output => {a}}' text,output= 'text=#{output => []}' 'count=#{output => <<>>}' report,output= count=abc <<'LINES'
count,top=x: status 2
tracer 'count': the setting 'top' cannot be 'x'
the setting must be a number from 0 to 4294967295
count,top=-1: status 2
tracer 'count': the setting 'top' cannot be '-1'
the setting must be a number from 0 to 4294967295
count,top=4294967296: status 2
tracer 'count': the setting 'top' cannot be '4294967296'
the setting must be a number from 0 to 4294967295
count,format=xml: status 2
tracer 'count': the setting 'format' cannot be 'xml'
the setting must be table, json or csv
text,color=nver: status 2
tracer 'text': the setting 'color' cannot be 'nver': it must be always, never or auto
did you mean 'never'?
text=#{output => {a}}: status 2
tracer 'text': the setting 'output' cannot be '{a}'
the setting must be a file, or - for stdout
text,output=: status 2
tracer 'text': the setting 'output' cannot be ''
the setting must be a file, or - for stdout
text=#{output => []}: status 2
tracer 'text': the setting 'output' cannot be ''
the setting must be a file, or - for stdout
count=#{output => <<>>}: status 2
tracer 'count': the setting 'output' cannot be ''
the setting must be a file, or - for stdout
report,output=: status 2
tracer 'report': the setting 'output' cannot be ''
the setting must be a file, or - for stdout
count=abc: status 2
the state of tracer 'count' must be a map of settings
LINES
expect 'a time is a number of 0 or more with a unit' refused tree,min=soon tree,min=-1ms tree,min=5parsecs 'tree=#{min => {1,s}}' <<'LINES'
tree,min=soon: status 2
tracer 'tree': the setting 'min' cannot be 'soon'
the setting must be a time such as 1.5, 250ms or 10us
tree,min=-1ms: status 2
tracer 'tree': the setting 'min' cannot be '-1ms'
the setting must be a time such as 1.5, 250ms or 10us
tree,min=5parsecs: status 2
tracer 'tree': the setting 'min' cannot be '5parsecs'
the setting must be a time such as 1.5, 250ms or 10us
tree=#{min => {1,s}}: status 2
tracer 'tree': the setting 'min' cannot be '{1,s}'
the setting must be a time such as 1.5, 250ms or 10us
LINES
with_times() {
    for min in 0.00001 0.00001s 0.01ms 10us 10000ns 1e-7min 0 '#{min => "4us"}'; do
        case $min in *'#'*) state="=$min" ;; *) state=",min=$min" ;; esac
        "$tracehost" replay -t "tree$state" "$recordings/s03_exceptions_return_to.trace" 2>&1 | grep -c 'ex:'
    done | paste -s -d ' '
}
expect 'times have the units of options' with_times <<'LINES'
15 15 15 15 15 21 31 25
LINES
expect "settings of a tracer that is not shipped are checked" refused declaring,levl=2 declaring,format=jso <<'LINES'
declaring,levl=2: status 2
tracer 'declaring' has no setting 'levl'
did you mean 'level'?
declaring,format=jso: status 2
tracer 'declaring': the setting 'format' cannot be 'jso': it must be text or json
did you mean 'json'?
LINES
taken() {
    for tracer in 'declaring,level=2,format=json,name=5' 'declaring=#{name => ["a",<<"b">>]}' 'declaring=[]' declaring \
        recordings,any=1; do
        "$tracehost" replay -L "$tracers" -t "$tracer" --max-events=1 "$one" 2>&1 | head -n 1
    done
}
expect 'valid states reach the tracer' taken <<'LINES'
state #{format => <<"json">>,level => 2,name => 5}
state #{name => ["a",<<"b">>]}
state []
state #{}
load 0 []
LINES
numbers_are_texts() {
    (cd "$work" && "$TRACEHOST" replay -t text,output=5 "$copy") && "$tracehost" replay -t text "$one" | cmp - "$work/5" &&
        "$tracehost" replay -t report,title=2024 "$one" | grep -c '^"title":"2024",$'
}
expect 'a number is a valid value of a text setting' numbers_are_texts <<'LINES'
1
LINES

# Streams are read while tracers write.
over_stream() {
    ln -s copy.trace "$work/link"
    for tracer in jsonl trace_port text flame; do
        "$tracehost" replay -t "$tracer,output=$work/link" "$copy" 2>&1
        echo "status $?"
    done
    cmp "$one" "$copy"
}
expect 'an output that would overwrite a stream is refused' over_stream <<'LINES'
tracehost replay: cannot attach tracer 'jsonl'
  the output would overwrite the stream WORK/copy.trace
status 2
tracehost replay: cannot attach tracer 'trace_port'
  the output would overwrite the stream WORK/copy.trace
status 2
tracehost replay: cannot attach tracer 'text'
  the output would overwrite the stream WORK/copy.trace
status 2
tracehost replay: cannot attach tracer 'flame'
  the output would overwrite the stream WORK/copy.trace
status 2
LINES

# --- declarations that are damaged ---

# declares NAME ROWS: compiles a tracer NAME.so with these rows of settings.
declares() {
    cat >"$work/$1.c" <<CODE
#include <erl_tracer.h>
const struct th_tracer_setting th_tracer_settings[] = {$2};
TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, trace);
}
TH_TRACER_TRACE(generic)
{
}
CODE
    "$CC" -w -fPIC -shared -Iplugin_api -o "$work/$1.so" "$work/$1.c"
}
damaged() {
    declares damaged "$1"
    "$tracehost" tracers "$work/damaged.so" 2>&1
    echo "status $?"
    "$tracehost" replay -t "$work/damaged.so,x=1" "$one" 2>&1 | tail -n 1
}
pointers() {
    for row in '(char *)16, TH_SETTING_NUMBER, 0, "1", "x"' '"x", TH_SETTING_WORD, (char *)16' '"x", 0, (char *)16' \
        '"x", TH_SETTING_NUMBER, 0, (char *)16' '"x", TH_SETTING_NUMBER, 0, 0, (char *)16'; do
        damaged "{\"a\"}, {$row}, {0}"
    done
}
expect 'a declaration with an invalid pointer is refused' pointers <<'LINES'
tracehost tracers: WORK/damaged.so was refused
  row 2 of th_tracer_settings is damaged
  the pointer to the setting's name is 0x10, which is not the address of readable memory
status 5
  the pointer to the setting's name is 0x10, which is not the address of readable memory
tracehost tracers: WORK/damaged.so was refused
  row 2 of th_tracer_settings is damaged
  the pointer to the setting's words is 0x10, which is not the address of readable memory
status 5
  the pointer to the setting's words is 0x10, which is not the address of readable memory
tracehost tracers: WORK/damaged.so was refused
  row 2 of th_tracer_settings is damaged
  the pointer to the setting's words is 0x10, which is not the address of readable memory
status 5
  the pointer to the setting's words is 0x10, which is not the address of readable memory
tracehost tracers: WORK/damaged.so was refused
  row 2 of th_tracer_settings is damaged
  the pointer to the setting's otherwise is 0x10, which is not the address of readable memory
status 5
  the pointer to the setting's otherwise is 0x10, which is not the address of readable memory
tracehost tracers: WORK/damaged.so was refused
  row 2 of th_tracer_settings is damaged
  the pointer to the setting's help is 0x10, which is not the address of readable memory
status 5
  the pointer to the setting's help is 0x10, which is not the address of readable memory
LINES
rows() {
    damaged '{"x", 9}, {0}'
    damaged '{"x", -1}, {0}'
    damaged '{"", 0}, {0}'
    damaged '{"x", TH_SETTING_WORD}, {0}'
    damaged '{"x", TH_SETTING_WORD, "  "}, {0}'
}
expect 'a declaration with an invalid type, name or word list is refused' rows <<'LINES'
tracehost tracers: WORK/damaged.so was refused
  row 1 of th_tracer_settings is damaged
  the type must be from 0 to 5, not 9
status 5
  the type must be from 0 to 5, not 9
tracehost tracers: WORK/damaged.so was refused
  row 1 of th_tracer_settings is damaged
  the type must be from 0 to 5, not -1
status 5
  the type must be from 0 to 5, not -1
tracehost tracers: WORK/damaged.so was refused
  row 1 of th_tracer_settings is damaged
  the name is empty, or too long for an atom
status 5
  the name is empty, or too long for an atom
tracehost tracers: WORK/damaged.so was refused
  row 1 of th_tracer_settings is damaged
  the type is TH_SETTING_WORD, but there are no words
status 5
  the type is TH_SETTING_WORD, but there are no words
tracehost tracers: WORK/damaged.so was refused
  row 1 of th_tracer_settings is damaged
  the type is TH_SETTING_WORD, but there are no words
status 5
  the type is TH_SETTING_WORD, but there are no words
LINES
no_end() {
    damaged '{"x"}, {"y"}'
    damaged '{"x"}, {"y"}, {0}, {(char *)16}' | sed -n '/^setting/,$p'
}
expect 'a declaration without an end is refused, and rows after the end are ignored' no_end <<'LINES'
tracehost tracers: WORK/damaged.so was refused
  th_tracer_settings has no end: none of its 2 rows is {0}
status 5
  th_tracer_settings has no end: none of its 2 rows is {0}
setting       may be
x             text
y             text

imports of the NIF API: 1, all in NIF 2.0
  enif_make_atom
status 0
LINES

# --- declarations ---

shown() {
    "$tracehost" tracers -L "$tracers" declaring | sed -n '/^setting/,/^$/p'
    ! "$tracehost" tracers usdt | grep '^setting'
}
expect 'tracehost tracers prints the settings of a tracer' shown <<'LINES'
setting       may be
level         a number from 0 to 4294967295 (default: 1)
              how much is shown
format        text or json (default: text)
              how it is shown
name          text

LINES
completed() {
    for line in declaring, declaring,f declaring,format= declaring,level=2,format=j text,time=d count,top=1,; do
        echo "$line: $("$tracehost" complete "tracehost replay -L $tracers -t $line" ' =:' | tr '\037\n' ':;')"
    done
}
expect 'names and values of settings are completed' completed <<'LINES'
declaring,: part:level=:declaring,;part:format=:declaring,;part:name=:declaring,;
declaring,f: part:format=:declaring,;
declaring,format=: word:text:;word:json:;
declaring,level=2,format=j: word:json:;
text,time=d: word:delta:;
count,top=1,: part:by=:1,;part:format=:1,;part:top=:1,;part:output=:1,;part:color=:1,;
LINES
finish
