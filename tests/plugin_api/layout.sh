#!/bin/sh
# Compares this project's erl_nif.h with OTP's: structures and constants are the same, and no name of OTP's is
# missing.
. tests/plugin_api/report

here=tests/plugin_api

# probe NAME FLAG...: compiles layout.c with these flags, runs it; the output goes to $work/NAME.
probe() {
    name=$1
    shift
    $CC -std=gnu11 -Wall -Wextra -Werror "$@" -I. $here/layout.c -o "$work/$name.probe" &&
        "$work/$name.probe" >"$work/$name"
}

# The numbers of nif_layout.h that all versions have, in the form that the probe prints.
cat >"$work/table.c" <<'C'
#include "plugin_api/nif_layout.h"
#define TYPE(type, size, align) type size align;
#define FIELD(type, field, offset, size) type.field offset size;
#define CONSTANT(name, value) name value;
TH_NIF_TYPES(TYPE) TH_NIF_FIELDS(FIELD) TH_NIF_CONSTANTS(CONSTANT)
C
table() {
    $CC -E -P -I. "$work/table.c" | tr ';' '\n' |
        sed 's/^ *//; s/ *$//; s/ (-9223372036854775807 - 1)$/ -9223372036854775808/' |
        grep -v '^$'
}
# prints_table NAME: the probe's output starts with the table, the same lines in the same order.
prints_table() {
    table >"$work/table"
    head -n "$(wc -l <"$work/table")" "$work/$1" | diff "$work/table" -
}

check 'our header compiles' probe ours -Iplugin_api
check 'our header has the measured layout' prints_table ours

if [ -z "$OTP" ]; then
    for name in "OTP's header has the measured layout" "our header has the layout of OTP's header" \
        "our header has all names of OTP's header"; do
        skip "$name" 'no OTP headers'
    done
    finish
fi

minor=$(sed -n 's/^#define ERL_NIF_MINOR_VERSION //p' "$OTP/erl_nif.h")
check "OTP's header compiles" probe otp -I"$OTP"
check "OTP's header has the measured layout" prints_table otp

equal() {
    probe ours-as-otp -Iplugin_api -DERL_NIF_MINOR_VERSION="$minor" &&
        diff "$work/otp" "$work/ours-as-otp"
}
case $minor in
16 | 17 | 18) check "our header as 2.$minor has the layout of OTP's header" equal ;;
*) skip "our header has the layout of OTP's header" "ours cannot be 2.$minor" ;;
esac

# names FOLDER: every identifier of the API in the preprocessed header and its macros.
names() {
    echo '#include <erl_nif.h>' | $CC -E -dD -P -I"$1" -x c - |
        grep -o -E '\b(ERL_|ERTS_NAPI|Erl|enif_|SysIOVec|SIZEOF_)[A-Za-z0-9_]*' | sort -u
}
# Names that OTP's header needs internally: for its list of functions, and for Windows.
internal='ERL_NIF_API_FUNC_DECL|ERL_NIF_API_FUNC_MACRO|ERL_NIF_INLINE|ERL_NIF_INIT_NAME[23]'
lacks_none() {
    names plugin_api >"$work/names"
    names "$OTP" | grep -v -x -E "$internal" | comm -23 - "$work/names" >"$work/lacking"
    cat "$work/lacking"
    [ -s "$work/names" ] && [ ! -s "$work/lacking" ]
}
check "our header has all names of OTP's header" lacks_none

finish
