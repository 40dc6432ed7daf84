#!/bin/sh
# Tests encodings: text for people is in the user's encoding, formats for programs always in the same one.
. tests/cli/lib/assertions.sh

# same ARGUMENT...: succeeds if the output is the same bytes in both locales.
same() {
    LC_ALL=C "$tracehost" "$@" >"$work/one" 2>&1 && LC_ALL=C.UTF-8 "$tracehost" "$@" >"$work/other" 2>&1 &&
        [ -s "$work/one" ] && cmp "$work/one" "$work/other"
}
library=$BUILD_DIR/tests/plugins/sins.so
stream=$work/stream.jsonl
cat >"$stream" <<'END'
{"ts":1000,"ts_kind":"monotonic","tracee":"<0.10.0>","tag":"send","term":"{[1024],'a\u0400',<<\"Zo\u00eb\"/utf8>>}","extra":"<0.11.0>"}
END

unset LANG LC_CTYPE
by_locale() {
    for name in LC_ALL LC_CTYPE LANG; do
        env -u LC_ALL "$name=C.UTF-8" "$tracehost" call "$library" '[[1024], <<"Zoë"/utf8>>, '"'aЀ'"'].'
    done
    env -u LC_ALL "$tracehost" call "$library" '[[1024], <<"Zoë"/utf8>>, '"'aЀ'"'].'
    LC_ALL=C LANG=C.UTF-8 "$tracehost" call "$library" '[[1024]].'
}
expect 'the locale selects the encoding' by_locale <<'END'
["Ѐ",<<"Zoë"/utf8>>,'aЀ']
["Ѐ",<<"Zoë"/utf8>>,'aЀ']
["Ѐ",<<"Zoë"/utf8>>,'aЀ']
[[1024],<<"ZoÃ«">>,'a\x{400}']
[[1024]]
END
export LC_ALL=C

expect '--encoding=unicode overrides the locale for values and messages' "$tracehost" call --encoding=unicode "$library" '[1024].' 'flush(), self() ! <<1024/utf8>>, flush().' \
    'error([1024]).' <<'END'
"Ѐ"
Shell got <<"Ѐ"/utf8>>
ok
-- stderr
** exception error: "Ѐ"
-- status 1
END
others() {
    LC_ALL=C.UTF-8 "$tracehost" call --encoding=latin1 "$library" '[1024].'
    "$tracehost" run --encoding=unicode -t count "$library" 'sins:same([1024]).' 2>/dev/null | tail -n 1
}
expect '--encoding overrides the locale in call and run' others <<'END'
[1024]
"Ѐ"
END
dumped() {
    "$tracehost" dump --encoding=unicode "$stream"
    LC_ALL=C.UTF-8 "$tracehost" dump "$stream"
    "$tracehost" dump "$stream"
    LC_ALL=C.UTF-8 "$tracehost" replay "$stream"
    "$tracehost" replay --encoding=latin1 "$stream"
}
expect 'dump and the tracer text print in the selected encoding' dumped <<'END'
{trace_ts,<0.10.0>,send,{"Ѐ",'aЀ',<<"Zoë"/utf8>>},<0.11.0>,1000}.
{trace_ts,<0.10.0>,send,{"Ѐ",'aЀ',<<"Zoë"/utf8>>},<0.11.0>,1000}.
{trace_ts,<0.10.0>,send,{[1024],'a\x{400}',<<"ZoÃ«">>},<0.11.0>,1000}.
0.000000 <0.10.0>   send {"Ѐ",'aЀ',<<"Zoë"/utf8>>} -> <0.11.0>
0.000000 <0.10.0>   send {[1024],'a\x{400}',<<"ZoÃ«">>} -> <0.11.0>
END

python3 - >"$work/long.jsonl" <<'END'
import json
def data(text):
    return '[%s]' % ','.join(map(str, text.encode()))
for term in ('"%s"' % ('Ж' * 30), '"%s"' % ('a' * 79 + 'Ж' * 30), '[%s]' % ','.join(['55296'] * 30),
             '<<"%s"/utf8>>' % ('Ж' * 40), '<<"a%s"/utf8>>' % ('Ж' * 40), '<<255,%s>>' % ','.join(['128'] * 65)):
    print(json.dumps({'tracee': '<0.10.0>', 'tag': 'receive', 'term': term}))
END
expect 'terms that are cut keep whole characters' "$tracehost" replay --encoding=unicode "$work/long.jsonl" <<'END'
<0.10.0>   receive "ЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖ"
<0.10.0>   receive "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaЖ"...(109)
<0.10.0>   receive [55296,55296,55296,55296,55296,55296,55296,55296,55296,55296,55296,55296,55296,55296,55296,55296,55296,55296,55296,55296,...(30)]
<0.10.0>   receive <<"ЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖ"/utf8...(80)>>
<0.10.0>   receive <<"aЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖ"/utf8...(81)>>
<0.10.0>   receive <<255,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128,128...(66)>>
END
matched() {
    spec="[{['\$1'],[],[{message,{{{const,'aЀ'},'\$1'}}},{display,'\$1'}]}]"
    "$tracehost" match --encoding=unicode "$spec" '[<<"Zoë"/utf8>>]'
    LC_ALL=C.UTF-8 "$tracehost" match "$spec" '[<<"Zoë"/utf8>>]'
    "$tracehost" match "$spec" '[<<"Zoë"/utf8>>]'
    LC_ALL=C.UTF-8 "$tracehost" match "[{['aЀ'],[],[]}]" '["Ѐ"]'
}
expect 'match prints in the selected encoding' matched <<'END'
{ok,{'aЀ',<<"Zoë"/utf8>>},[],[]}
clause 1 matches
action {display,<<"Zoë"/utf8>>}
{ok,{'aЀ',<<"Zoë"/utf8>>},[],[]}
clause 1 matches
action {display,<<"Zoë"/utf8>>}
{ok,{'a\x{400}',<<"ZoÃ«">>},[],[]}
clause 1 matches
action {display,<<"ZoÃ«">>}
{ok,false,[],[]}
clause 1, head, element 1: "Ѐ" does not match 'aЀ'
-- status 1
END
cat >"$work/calls.jsonl" <<'END'
{"tracee":"<0.10.0>","tag":"call","term":"{'m\u0400',f,[]}"}
END
informed() {
    LC_ALL=C.UTF-8 "$tracehost" info "$work/calls.jsonl" | tail -n 1
    "$tracehost" info "$work/calls.jsonl" | tail -n 1
}
expect 'info prints in the encoding of the locale' informed <<'END'
         1  'mЀ':f/0
         1  'm\x{400}':f/0
END
counted() {
    LC_ALL=C.UTF-8 "$tracehost" replay -t "$1" "$work/calls.jsonl" 2>/dev/null | grep "f/0"
    "$tracehost" replay -t "$1" "$work/calls.jsonl" 2>/dev/null | grep "f/0"
}
expect 'the table of count is in the encoding of the locale' counted count <<'END'
           1  100.00  'mЀ':f/0
           1  100.00  'm\x{400}':f/0
END
expect 'the table of time is in the encoding of the locale' counted time <<'END'
         1        1            -            -   0.00         -         -         -         -  'mЀ':f/0
         1        1            -            -   0.00         -         -         -         -  'm\x{400}':f/0
END
cat >"$work/names.jsonl" <<'END'
{"tracee":"<0.10.0>","tag":"register","term":"'\u0416x'"}
{"tracee":"<0.10.0>","tag":"call","term":"{'m\u00e9','\u0416x y',[1,2]}"}
END
named() {
    export LC_ALL=C.UTF-8
    "$tracehost" replay -p 'mé:_/_' --kind=count "$work/names.jsonl"
    "$tracehost" replay --stats -p 'mé:_/_' --kind=count "$work/names.jsonl" 2>/dev/null
    "$tracehost" replay -t count,output="$work/none" -p "mé:'Жx z'/2" "$work/names.jsonl"
    "$tracehost" replay -t count,output="$work/none" --processes="'Ж'" "$work/names.jsonl"
    "$tracehost" match "[{['Ж'],[{'Жf','Ж'}],[]}]" "['Ж']" | tail -n 1
    "$tracehost" match --format=json "[{['Ж'],[{'Жf','Ж'}],[]}]" "['Ж']"
}
expect 'counts, warnings and errors are in the encoding of the locale' named <<'END'
       calls  function
           1  mé:'Жx y'/2
       calls  function
           1  mé:'Жx y'/2
clause 1, guard 1: in {'Жf','Ж'}
{
  "errors": [
    {
      "clause": 1,
      "part": "guard",
      "item": 1,
      "text": "Function 'Жf'/1 does_not_exist.",
      "term": "{'\\x{416}f','\\x{416}'}"
    }
  ]
}
-- stderr
tracehost replay: warning: -p mé:'Жx z'/2: no such function was called; did you mean 'mé:'Жx y'/2'?
tracehost replay: warning: there is no event of 'Ж', which --processes or --ports names
-- status 3
END
mkfifo "$work/fifo"
"$tracehost" replay --control="$work/socket" -t count,output="$work/counts" "$work/fifo" 2>"$work/said" &
exec 3>"$work/fifo"
cat "$work/names.jsonl" >&3
until [ -S "$work/socket" ] || ! kill -0 $!; do sleep 0.05; done
told() {
    "$tracehost" ctl "$@" "$work/socket" pattern "'mЀ':f/1" "--match-spec=[{['\$1'],[{'==','\$1',<<\"Zoë\"/utf8>>}],[]}]"
    "$tracehost" ctl "$@" "$work/socket" functions "'mЀ':_/_"
    "$tracehost" ctl "$@" "$work/socket" processes
    "$tracehost" ctl "$@" "$work/socket" info "'mЀ':f/1"
}
until "$tracehost" ctl "$work/socket" processes 2>&1 | grep -qF '<0.10.0>' || ! kill -0 $!; do sleep 0.05; done
expect 'ctl --encoding=unicode prints Unicode characters' told --encoding=unicode <<'END'
session 1, tracer 'count': 'mЀ':f/1: 1 function
function  can have      set by sessions
'mЀ':f/1  local,global  1 local
pid       name
<0.10.0>  'Жx'
'mЀ':f/1 can have breakpoints: local,global
session 1, tracer 'count'
  kinds           local
  active          local
  match_spec      [{['$1'],[{'==','$1',<<"Zoë"/utf8>>}],[]}]
END
expect 'ctl --encoding=latin1 escapes characters beyond Latin-1' told --encoding=latin1 <<'END'
session 1, tracer 'count': 'mЀ':f/1: 1 function
function        can have      set by sessions
'm\x{400}':f/1  local,global  1 local
pid       name
<0.10.0>  '\x{416}x'
'm\x{400}':f/1 can have breakpoints: local,global
session 1, tracer 'count'
  kinds           local
  active          local
  match_spec      [{['$1'],[{'==','$1',<<"ZoÃ«">>}],[]}]
END
check 'the output of ctl --json is the same in all locales' same ctl --json "$work/socket" functions "'mЀ':f/1"
exec 3>&-
wait

check 'the output of dump --format=jsonl is the same in all locales' same dump --format=jsonl "$stream"
check 'the output of convert is the same in all locales' same convert --to=trace "$stream" -
check 'the output of the tracer jsonl is the same in all locales' same replay -t jsonl "$stream"
check 'the JSON of count is the same in all locales' same replay -t count,format=json "$work/calls.jsonl"
check 'the CSV of time is the same in all locales' same replay -t time,format=csv "$work/calls.jsonl"
check 'the output of info --format=json is the same in all locales' same info --format=json "$stream"
expect 'an unknown encoding is refused' "$tracehost" dump --encoding=utf8 "$stream" <<'END'
-- stderr
tracehost dump: --encoding must be latin1 or unicode, not 'utf8'
Try `tracehost dump --help' or `tracehost dump --usage' for more information.
-- status 2
END
finish
