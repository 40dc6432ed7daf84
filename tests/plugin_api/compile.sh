#!/bin/sh
# Tests the headers: each compiles alone, in C and C++, without a warning, and plugins made with them import and
# export the symbols that a BEAM expects.
. tests/plugin_api/report

here=tests/plugin_api
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Wcast-qual -Wwrite-strings \
    -Wmissing-declarations -Wredundant-decls -Wvla -Wformat=2 -Werror"
c_warnings="$warnings -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
    -Wnested-externs"
cxx_warnings="$warnings -Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual"
shared="-fPIC -shared -O2"

for header in plugin_api/*.h "$BUILD_DIR"/include/tracehost/*_functions.h; do
    printf '#include "%s"\nint alone;\n' "$header" >"$work/alone.c"
    check "${header##*/} compiles alone" $CC -std=c11 $c_warnings -Iplugin_api -I. \
        -fsyntax-only "$work/alone.c"
done

for std in c99 gnu99 c11 gnu17; do
    check "a plugin compiles as $std" $CC -std=$std $c_warnings -Iplugin_api $shared \
        $here/plugin.c -o "$work/plugin-$std.so"
done
check 'a plugin compiles as gnu89' $CC -std=gnu89 -Wall -Wextra -Werror -Iplugin_api $shared \
    $here/plugin.c -o "$work/plugin-gnu89.so"

for std in c++11 c++17 c++20; do
    if [ -n "$CXX" ]; then
        check "a plugin compiles as $std" $CXX -std=$std $cxx_warnings -Iplugin_api $shared \
            $here/plugin.cc -o "$work/plugin-$std.so"
    else
        skip "a plugin compiles as $std" 'no C++ compiler'
    fi
done

# imports FILE / exports FILE: names, sorted.
imports() { nm -D --undefined-only "$1" | sed -n 's/.* U \(enif_[a-z0-9_]*\)$/\1/p' | sort; }
exports() { nm -D --defined-only "$1" | sed -n 's/.* [TD] //p' | sort; }

imports_long_not_int64() {
    imports "$work/plugin-c11.so" >"$work/imports"
    grep -qx enif_make_long "$work/imports" && grep -qx enif_get_ulong "$work/imports" &&
        ! grep int64 "$work/imports"
}
check '64-bit integers import the functions for long' imports_long_not_int64

exports_only() {
    $CC -fvisibility=hidden -Iplugin_api $shared "$@" $here/plugin.c -o "$work/hidden.so" &&
        exports "$work/hidden.so"
}
only() {
    wanted=$1
    shift
    found=$(exports_only "$@") && echo "exported: $found" && [ "$found" = "$wanted" ]
}
check 'nif_init is exported under -fvisibility=hidden' only nif_init

static_entry() {
    symbol=$1
    shift
    $CC -Iplugin_api "$@" -c $here/plugin.c -o "$work/static.o" && nm "$work/static.o" |
        grep " T $symbol\$"
}
check 'STATIC_ERLANG_NIF names the entry after the module' static_entry plugin_nif_init -DSTATIC_ERLANG_NIF
check 'STATIC_ERLANG_NIF_LIBNAME names the entry' static_entry mylib_nif_init \
    -DSTATIC_ERLANG_NIF_LIBNAME=mylib

check 'the headers compile as NIF 2.16' $CC -Iplugin_api -DERL_NIF_MINOR_VERSION=16 -c $here/plugin.c \
    -o "$work/2.16.o"
refused 'the headers refuse NIF 2.15' 'NIF 2.16, 2.17 and 2.18' \
    $CC -Iplugin_api -DERL_NIF_MINOR_VERSION=15 -c $here/plugin.c -o "$work/2.15.o"

cat >"$work/mixed.c" <<'C'
#include <erl_nif.h>
void mixed(void);
void mixed(void) { free(enif_alloc(8)); }
C
if $CC -dM -E -x c /dev/null | grep -q __clang__; then
    skip 'gcc warns of free() for memory of enif_alloc()' 'gcc only'
else
    refused 'gcc warns of free() for memory of enif_alloc()' mismatched-dealloc \
        $CC -Wall -Werror -Iplugin_api -c "$work/mixed.c" -o "$work/mixed.o"
fi

# Both orders: the include guards are OTP's, so that the first header serves the second.
if [ -n "$OTP" ]; then
    check "OTP's erl_driver.h compiles after our headers" $CC -Wall -Wextra -Werror -DWITH_ERL_DRIVER \
        -Iplugin_api -I"$OTP" -c $here/plugin.c -o "$work/driver.o"
    check "OTP's erl_driver.h compiles before our headers" $CC -Wall -Wextra -Werror -include \
        "$OTP/erl_driver.h" -Iplugin_api -c $here/plugin.c -o "$work/driver.o"
else
    skip "OTP's erl_driver.h compiles with our headers" "no OTP headers"
fi

headers_include_no_host() {
    ! grep -n '^ *# *include' plugin_api/*.h | grep -v -e '<[a-z_/]*\.h>' -e '"config.h"' \
        -e '"erl_drv_nif.h"' -e '"erl_nif.h"' -e '"nif_layout.h"'
}
check 'the headers include no header of the host' headers_include_no_host

finish
