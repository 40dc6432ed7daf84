#!/bin/sh
# Compares each function of the NIF API in a real BEAM and in tracehost: one library, compiled with OTP's own header,
# gives the same results in both. nif_api/calls has the calls; nif_api.h describes how results are written.
# Results that differ on purpose are written separately: each must differ, and its name must be in the table of
# tracehost(7).
here=$SOURCE_DIR/tests/conformance

skip() {
    echo "$1"
    exit 77
}

command -v erl >/dev/null && command -v erlc >/dev/null || skip 'no erl (Debian: erlang-base)'
[ -n "$OTP_INCLUDE" ] || skip 'no erl_nif.h of OTP (Debian: erlang-dev)'

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" && mkdir beam tracehost checked || exit 1
export NIF_API_ANSWERS=answers NIF_API_VALUE=value NIF_API_EMPTY=
unset NIF_API_NONE
export LC_ALL=C.UTF-8
minor=$(sed -n 's/^#define ERL_NIF_MINOR_VERSION //p' "$OTP_INCLUDE/erl_nif.h")
failed=0

fail() {
    echo "$*"
    failed=1
}

# The same text, or a look at where it differs.
same() {
    diff "beam/$1" "tracehost/$1" >difference && return
    fail "$1: < BEAM, > tracehost, $(grep -c '^[<>]' difference) lines"
    head -n 40 difference | cut -c 1-200
}

printf '%s\n' '#include "nif_functions.h"' \
    '#define ROW(group, type, name, parameters, since) @name since' 'TH_NIF_FUNCTIONS(ROW)' |
    ${CC:-cc} -E -P -I"$BUILD_DIR/include/tracehost" -x c - | tr '@' '\n' |
    python3 "$here/called.py" "2$minor" >called.h || exit 1
functions=$(sed -n 's/#define FUNCTION_COUNT //p' called.h)
${CC:-cc} -std=gnu11 -O1 -g -Wall -Wextra -Werror -fPIC -shared -I"$OTP_INCLUDE" -I. "$here"/*.c \
    -o nif_api.so || exit 1
erlc -Wall -Werror "$here"/*.erl || exit 1

(cd beam && ERL_CRASH_DUMP_SECONDS=0 erl +S 2:2 -noinput -boot no_dot_erlang -pa .. \
    -run calls main ../nif_api "$here/calls" >output) || fail "the BEAM: status $?"
# In the folder $1, with the option $2. All calls are allowed: --check reports nothing.
call() {
    (cd "$1" && "$TRACEHOST" call $2 --load-info='{info, "for load", 1}' ../nif_api.so \
        -f "$here/calls" >output) || fail "$1: status $?"
}

call tracehost
call checked --check
for host in beam tracehost checked; do
    grep '^functions that were never called' $host/answers && failed=1
    [ "$(tail -n 1 $host/answers)" = "end: functions $functions" ] || fail "$host: answers are missing"
    grep '^meant: ' $host/answers >$host/meant
    sed -i '/^meant: /d' $host/answers
done
same output
same answers
same port_output
cmp -s tracehost/answers checked/answers || fail 'with --check the answers differ'

grep -Fxf beam/meant tracehost/meant && fail 'a result that must differ is equal'
sed 's/^meant: [^:]*: //; s/ is .*//' beam/meant | sort >meant
# A row whose answer of a BEAM begins with the name of an OTP is of that one and its neighbours alone.
[ "$minor" -gt 16 ] && other='OTP 25: ' || other='OTP 27: '
sed -n '/^### Functions of the NIF API/,/^### OTP 27/p' "$SOURCE_DIR/host/cli/manual/tracehost.7.md" |
    awk -F ' [|] ' -v other="$other" '/^[|] [^|]*: / && index($2, other) != 1 { print substr($1, 3) }' | sort >rows
diff meant rows || fail '< results that differ, > rows of the table of tracehost(7)'
exit $failed
