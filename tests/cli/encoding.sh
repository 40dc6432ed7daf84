#!/bin/sh
# Text for people in the user's encoding; formats for programs in the same one always.
. tests/cli/report

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
expect 'the locale decides' by_locale <<'END'
["Ѐ",<<"Zoë"/utf8>>,'aЀ']
["Ѐ",<<"Zoë"/utf8>>,'aЀ']
["Ѐ",<<"Zoë"/utf8>>,'aЀ']
[[1024],<<"ZoÃ«">>,'a\x{400}']
[[1024]]
END
export LC_ALL=C

expect 'or --encoding' "$tracehost" call --encoding=unicode "$library" '[1024].' 'flush(), self() ! <<1024/utf8>>, flush().' \
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
expect 'of call and run' others <<'END'
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
expect 'of dump and text' dumped <<'END'
{trace_ts,<0.10.0>,send,{"Ѐ",'aЀ',<<"Zoë"/utf8>>},<0.11.0>,1000}.
{trace_ts,<0.10.0>,send,{"Ѐ",'aЀ',<<"Zoë"/utf8>>},<0.11.0>,1000}.
{trace_ts,<0.10.0>,send,{[1024],'a\x{400}',<<"ZoÃ«">>},<0.11.0>,1000}.
0.000000 <0.10.0>   send {"Ѐ",'aЀ',<<"Zoë"/utf8>>} -> <0.11.0>
0.000000 <0.10.0>   send {[1024],'a\x{400}',<<"ZoÃ«">>} -> <0.11.0>
END

# The same bytes under both locales.
same() {
    LC_ALL=C "$tracehost" "$@" >"$work/one" 2>&1 && LC_ALL=C.UTF-8 "$tracehost" "$@" >"$work/other" 2>&1 &&
        [ -s "$work/one" ] && cmp "$work/one" "$work/other"
}
check 'dump --format=jsonl is the same everywhere' same dump --format=jsonl "$stream"
check 'convert' same convert --to=trace "$stream" -
check 'the tracer jsonl' same replay -t jsonl "$stream"
check 'info --format=json' same info --format=json "$stream"
expect 'there is no other' "$tracehost" dump --encoding=utf8 "$stream" <<'END'
-- stderr
tracehost dump: --encoding is latin1 or unicode, not 'utf8'
Try `tracehost dump --help' or `tracehost dump --usage' for more information.
-- status 2
END
finish
