#!/bin/sh
# Tests the conformance kit, in a copy of its folder: the lines of a BEAM and of tracehost, also with --check, which
# reports nothing; the kit's table of functions, its list of differences and the counts of its page.
skip() {
    echo "$1"
    exit 77
}

[ -n "$OTP_INCLUDE" ] || skip 'no erl_nif.h of OTP (Debian: erlang-dev)'

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cp -r "$SOURCE_DIR/tests/conformance" "$work/kit" && cd "$work" || exit 1
export CC="${CC:-cc} -Werror"
failed=0

fail() {
    echo "$*"
    failed=1
}

# The same lines in the files $1 and $2.
same() {
    diff "$1" "$2" || fail "< $1, > $2"
}

if command -v erl >/dev/null && command -v erlc >/dev/null; then
    kit/run-in-beam || fail 'the BEAM has other lines'
else
    echo '# skipped: no erl (Debian: erlang-base)'
fi
kit/run-in-tracehost -o lines "$TRACEHOST" && kit/compare lines tracehost || fail 'tracehost has other lines'
kit/run-in-tracehost "$TRACEHOST" --check || fail 'tracehost --check has other lines'

# A line that is missing, a line that is wrong, and one that nobody expects.
sed -e '/^enif_make_int 2:/d' -e '/^enif_make_int 3:/s/$/0/' -e '/^enif_getenv . \[differs\]/s/$/0/' lines >wrong
echo 'enif_make_int 4: one more -> 0' >>wrong
kit/compare wrong tracehost >found && fail 'wrong lines are taken for right ones'
grep -q '; 4 differences$' found || fail "4 differences are expected: $(cat found)"

# The functions, with the version of each.
printf '%s\n' '#include "nif_functions.h"' \
    '#define ROW(group, type, name, parameters, since) @group name since' 'TH_NIF_FUNCTIONS(ROW)' |
    ${CC:-cc} -E -P -I"$BUILD_DIR/include/tracehost" -x c - | tr '@' '\n' |
    awk 'NF == 3 && $1 != "companions" { print $2, $3 - 200 }' | sort >host_functions
printf '%s\n' '#include "functions.h"' '#define ROW(name, since) @name since' 'NIF_FUNCTIONS(ROW)' |
    ${CC:-cc} -E -P -Ikit -x c - | tr '@' '\n' | awk 'NF == 2 { print $1, $2 }' | sort >kit_functions
same host_functions kit_functions

# The counts of the page, of all functions.
kit/count >counted
sed -n '/^| function |/,$p' kit/README.md >on_the_page
same counted on_the_page
grep -o 'enif_[a-z0-9_]*' counted | sort >counted_functions
cut -d ' ' -f 1 kit_functions | same - counted_functions
[ "$(tail -n 1 counted | cut -d ' ' -f 1)" -ge 600 ] || fail 'there are less than 600 checks'

sed -n 's/^check: //p' kit/differences | sort >kit_differences
sed -n '/^### Functions of the NIF API/,/^### OTP 27/p' "$SOURCE_DIR/host/cli/manual/tracehost.7.md" |
    awk -F ' [|] ' '/^[|] [^|]*: / { print substr($1, 3) }' | sort >manual_differences
same kit_differences manual_differences
exit $failed
