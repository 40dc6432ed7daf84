#!/bin/sh
# Every function of the NIF API up to 2.16 in a real BEAM and in tracehost: one library, compiled with
# OTP's own header, gives the same answers in both. What is meant to differ is told apart; each such
# difference must be one, and stand in the table of plugin_api/README.md. nif_api/calls has what is
# called, nif_api/nif_api.h says how answers are written.
here=$SOURCE_DIR/tests/oracle/nif_api
readme=$SOURCE_DIR/plugin_api/README.md

skip() {
    echo "$1"
    exit 77
}

command -v erl >/dev/null && command -v erlc >/dev/null || skip 'no erl (Debian: erlang-base)'
[ -n "$OTP_INCLUDE" ] || skip 'no erl_nif.h of OTP (Debian: erlang-dev)'

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir beam here

printf '%s\n' '#include "plugin_api/nif_functions.h"' \
    '#define ROW(group, type, name, parameters, since) @name since' 'TH_NIF_FUNCTIONS(ROW)' |
    ${CC:-cc} -E -P -I"$SOURCE_DIR" -x c - | tr '@' '\n' | python3 "$here/called.py" 216 >called.h
${CC:-cc} -std=gnu11 -O1 -g -Wall -Wextra -Werror -fPIC -shared -I"$OTP_INCLUDE" -I. "$here"/*.c \
    -o nif_api.so || exit 1
erlc -Wall -Werror "$here"/*.erl || exit 1

export NIF_API_VALUE=value NIF_API_EMPTY=
unset NIF_API_NONE

(cd beam && NIF_API_ANSWERS=answers ERL_CRASH_DUMP_SECONDS=0 erl +S 2:2 -noinput \
    -boot no_dot_erlang -pa .. -run calls main ../nif_api "$here/calls" >output) || exit 1
