#!/bin/sh
# Compares terms as Erlang text in both encodings with `erl +pc latin1` and ~0p, and with `erl +pc unicode` and ~0tp.
. tests/cli/lib/assertions.sh
nodes_of_machine

terms=$PWD/tests/oracle/encoding.txt
library=$BUILD_DIR/tests/plugins/sins.so

command -v erl >/dev/null || { echo 'no erl (Debian: erlang-base)'; exit 77; }

cat >"$work/printed.erl" <<'END'
-module(printed).
-export([main/1]).

main([Terms, Format]) ->
    io:setopts([{encoding, unicode}]),
    {ok, File} = file:open(Terms, [read, {encoding, utf8}]),
    forms(File, Format).

forms(File, Format) ->
    case io:parse_erl_exprs(File, '') of
        {ok, Form, _} ->
            {value, Value, _} = erl_eval:exprs(Form, []),
            io:format(Format ++ "~n", [Value]),
            forms(File, Format);
        {eof, _} ->
            halt()
    end.
END
erlc -o "$work" "$work/printed.erl" || exit 1

# as_erl ENCODING FORMAT
as_erl() {
    LC_ALL=C.UTF-8 HOME=$work timeout 60 erl +pc "$1" -noinput -boot no_dot_erlang -pa "$work" \
        -run printed main "$terms" "$2" >"$work/erl" 2>&1
    "$tracehost" call "--encoding=$1" "$library" -f "$terms" >"$work/here" 2>&1 || return 1
    diff -u "$work/erl" "$work/here" | cut -c 1-300
    [ "$(wc -l <"$work/erl")" = "$(grep -c '^\[' "$terms")" ] && cmp -s "$work/erl" "$work/here"
}
check 'terms are printed as by erl +pc latin1' as_erl latin1 '~0p'
check 'terms are printed as by erl +pc unicode' as_erl unicode '~0tp'
finish
