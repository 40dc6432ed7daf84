#!/bin/sh
# Tests the list of functions: complete, without duplicates, with the types of OTP's header.
. tests/plugin_api/report

here=tests/plugin_api
made="-I$BUILD_DIR/include/tracehost" # the list, which is made from the declarations

# One "name since" a line, from the list.
cat >"$work/list.c" <<'C'
#include "nif_functions.h"
#define ROW(group, type, name, parameters, since) name since;
TH_NIF_FUNCTIONS(ROW)
C
$CC -E -P "$made" "$work/list.c" | tr ';' '\n' | sed 's/^ *//' | grep enif_ | sort >"$work/list"
cut -d' ' -f1 "$work/list" >"$work/names"
cut -d' ' -f2 "$work/list" | sort -u >"$work/versions"

has_180() {
    echo "$(wc -l <"$work/names") functions"
    [ "$(wc -l <"$work/names")" -eq 180 ] && [ "$(uniq "$work/names" | wc -l)" -eq 180 ]
}
check 'the list has 180 functions without duplicates' has_180

versions_known() { ! grep -v -x -E '20[0-9]|21[0-8]' "$work/versions"; }
check 'each function has a version from 2.0 to 2.18' versions_known

# A table of names with a flag that is set elsewhere, as a host has it.
cat >"$work/table.c" <<'C'
#include <string.h>
#include "nif_functions.h"
static struct { const char *group, *name; int since, implemented; } known[] = {
#define ROW(group, type, name, parameters, since) {#group, #name, since, 0},
    TH_NIF_FUNCTIONS(ROW) TH_NIF_COMPANIONS(ROW)
};
int main(void)
{
    known[0].implemented = 1;
    return sizeof known / sizeof *known != 182 || strcmp(known[181].name, "enif_scheduler_id");
}
C
names_table() { $CC -Wall -Wextra -Werror "$made" "$work/table.c" -o "$work/table" && "$work/table"; }
check 'a table of names compiles without types' names_table

# since_flags MINOR: prints the -D options for the functions of version 2.MINOR.
since_flags() {
    while read -r version; do
        if [ "$version" -le $((200 + $1)) ]; then what=SAME; else what=NEWER; fi
        echo "-DSINCE_$version(t,n,p)=$what(t,n,p)"
    done <"$work/versions"
}

# compare COMPILER STD LANGUAGE FOLDER MINOR
compare() {
    since_flags "$5" >"$work/flags"
    $1 -std="$2" -x "$3" -fsyntax-only -Wall -Wextra -Wno-ignored-attributes -Werror \
        $(cat "$work/flags") -I"$4" "$made" $here/functions.c
}
check 'our header declares each function with the type in the list' compare "$CC" gnu11 c plugin_api 18

if [ -n "$OTP" ]; then
    minor=$(sed -n 's/^#define ERL_NIF_MINOR_VERSION //p' "$OTP/erl_nif.h")
    check "the types equal those of OTP's header (2.$minor)" compare "$CC" gnu11 c "$OTP" "$minor"
    if [ -n "$CXX" ]; then
        check "the types equal those of OTP's header in C++" compare "$CXX" c++17 c++ "$OTP" "$minor"
    else
        skip "the types equal those of OTP's header in C++" 'no C++ compiler'
    fi
    otp_declares_no_more() {
        echo '#include <erl_nif.h>' | $CC -E -P -I"$OTP" -x c - | tr '\n' ' ' | tr ';' '\n' |
            sed -n 's/^ *extern .*[ *]\(enif_[a-z0-9_]*\) *(.*/\1/p' | sort -u >"$work/otp"
        echo "OTP declares $(wc -l <"$work/otp"); not in the list:"
        [ -s "$work/otp" ] && ! comm -23 "$work/otp" "$work/names" | grep .
    }
    check "the list has all functions that OTP declares" otp_declares_no_more
else
    for name in "the types equal those of OTP's header" "the types equal those of OTP's header in C++" \
        "the list has all functions that OTP declares"; do
        skip "$name" 'no OTP headers'
    done
fi

# A BEAM exports the functions that its libraries may import.
beam=$(find "${OTP:-/nonexistent}/../../" -name beam.smp 2>/dev/null | head -1)
beam_exports_no_more() {
    nm -D --defined-only "$beam" | sed -n 's/.* T \(enif_[a-z0-9_]*\)$/\1/p' | sort >"$work/beam"
    echo "the BEAM exports $(wc -l <"$work/beam"); not in the list:"
    [ -s "$work/beam" ] && ! comm -23 "$work/beam" "$work/names" | grep .
}
if [ -n "$beam" ]; then
    check 'the list has all functions that a BEAM exports' beam_exports_no_more
else
    skip 'the list has all functions that a BEAM exports' 'no BEAM'
fi

finish
