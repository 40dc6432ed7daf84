#!/bin/sh
# Tests nif_module.h: a library that uses all of it, also as C, and in a BEAM, which implements none of it.
. tests/plugin_api/report

source=tests/plugins/party.c
shared="-O2 -fPIC -shared -Wall -Wextra -Werror"

check 'gcc compiles a library that uses all functions' gcc $shared -Iplugin_api $source -o "$work/gcc.so"
if command -v clang >/dev/null; then
    check 'clang compiles a library that uses all functions' clang $shared -Iplugin_api $source -o "$work/clang.so"
else
    skip 'clang compiles a library that uses all functions' 'no clang'
fi

# pkg-config prints the folder of the headers and the compiler flags, and no libraries.
: >"$work/flags"
ln -s "$BUILD_DIR" "$work/build" # its path may have blanks, at which the shell takes flags apart
from_pkg_config() {
    PKG_CONFIG_PATH="$work/build/lib/pkgconfig" pkg-config --cflags --libs tracehost-plugin \
        >"$work/flags" && ! grep -q -e ' -l' "$work/flags" &&
        gcc $shared $(cat "$work/flags") $source -o "$work/flagged.so"
}
if command -v pkg-config >/dev/null; then
    check 'gcc compiles the library with the flags of tracehost-plugin.pc' from_pkg_config
else
    skip 'gcc compiles the library with the flags of tracehost-plugin.pc' 'no pkg-config'
fi

# Each function of the list, which is made from the declarations, is imported, weak.
cat >"$work/all.c" <<'C'
#include <erl_nif.h>
#include <nif_module.h>
#include <module_functions.h>
#define ROW(group, type, name, parameters) (void (*)(void))name,
extern void (*const all[])(void);
void (*const all[])(void) = {TH_MODULE_FUNCTIONS(ROW)};
C
imports_all() {
    made=$BUILD_DIR/include/tracehost
    gcc $shared -Iplugin_api -I"$made" "$work/all.c" -o "$work/all" || return
    nm -D "$work/all" | sed -n 's/^ *w \(th_[a-z0-9_]*\)$/\1/p' | sort >"$work/imported"
    sed -n 's/^ *X(\([a-z_]*\), .*, \(th_[a-z0-9_]*\), (.*/\2/p' "$made/module_functions.h" |
        sort >"$work/listed"
    diff "$work/listed" "$work/imported" && [ -s "$work/listed" ]
}
check 'all functions are imported as weak symbols' imports_all

# Tools that read C find each function of the API.
seen_by_ctags() {
    ctags -x --c-kinds=p plugin_api/nif_module.h plugin_api/erl_nif.h | cut -d' ' -f1 | sort -u >"$work/seen"
    sed -n 's/^ *X([a-z_]*, .*[ *,]\([a-z_]*_[a-z0-9_]*\), (.*/\1/p' "$made/module_functions.h" "$made/nif_functions.h" |
        sort -u >"$work/names" && [ "$(wc -l <"$work/names")" -gt 250 ] && comm -13 "$work/seen" "$work/names" >"$work/unseen"
    cat "$work/unseen"
    [ ! -s "$work/unseen" ]
}
if command -v ctags >/dev/null; then
    check 'ctags finds all functions' seen_by_ctags
else
    skip 'ctags finds all functions' 'no ctags'
fi

# In C a flag of another family is a warning; numbers, sets of flags and ints are none, nor are they in C++.
cat >"$work/flags.c" <<'C'
#include <erl_nif.h>
#include <nif_module.h>
int flags(ErlNifEnv *env, ERL_NIF_TERM monitor);
int flags(ErlNifEnv *env, ERL_NIF_TERM monitor)
{
    int chosen = TH_SPAWN_LINK | TH_SPAWN_MONITOR;
    return th_demonitor(env, monitor, FLAG) + th_demonitor(env, monitor, 0) +
           th_spawn(env, monitor, monitor, 0, NULL, chosen, NULL, NULL) +
           th_spawn(env, monitor, monitor, 0, NULL, TH_SPAWN_LINK | TH_SPAWN_MONITOR, NULL, NULL);
}
C
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    check "$compiler accepts flags of the right family" $compiler $shared -Wshadow -pedantic -DFLAG=TH_FLUSH -Iplugin_api "$work/flags.c" -o "$work/flags.so"
    refused "$compiler warns of a flag of another family" enum-conversion \
        $compiler $shared -DFLAG=TH_CATCHES -Iplugin_api "$work/flags.c" -o "$work/flags.so"
done
for std in c++11 c++20; do
    [ -z "$CXX" ] || check "flags of the right family compile as $std" $CXX -x c++ -std=$std $shared -Wshadow -pedantic -DFLAG=TH_DEMONITOR_FLUSH \
        -Iplugin_api "$work/flags.c" -o "$work/flags.so"
done

# TH_FUNCTION: two records of 24 bytes, and functions that are called, not inlined.
has_local_functions() {
    for library in "$work"/gcc.so "$work"/clang.so "$work"/flagged.so; do
        [ -e "$library" ] || continue
        readelf -SW "$library" | grep -q ' tracehost_functions .* 000030 ' &&
            nm "$library" | grep -q ' t sum_of$' && nm "$library" | grep -q ' t one$' || return
    done
}
check 'local functions are listed in a section' has_local_functions

# Calls of functions that nif_module.h declares stay calls, whatever the compiler could make of them;
# and the header's macros are as quiet as the rest of it, in C and C++.
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Wcast-qual -Wwrite-strings \
    -Wmissing-declarations -Wredundant-decls -Werror"
calls_are_left() {
    cat "$work/flags" && "$@" $warnings -fPIC -shared $(cat "$work/flags") \
        tests/plugin_api/patchable.c -o "$work/patchable.so" &&
        objdump -dC --no-show-raw-insn "$work/patchable.so" >"$work/code" || return
    for called in lookup bump countdown; do
        grep -qE "\\<(call|jmp|bl|b)[[:space:]].*<$called[>(]" "$work/code" || return
    done
    sed -n '/<countdown[>(]/,/^$/p' "$work/code" | grep -qE '(call|jmp) +\*|\<(blr|br)\>'
}
if command -v pkg-config >/dev/null && command -v objdump >/dev/null; then
    for level in -O0 -O1 -O2 -O3 -Os; do
        check "calls of local functions stay calls: gcc $level" calls_are_left gcc -std=c11 $level
        check "calls of local functions stay calls: gcc $level, with gcc_cflags" calls_are_left \
            gcc -std=gnu17 $level $(PKG_CONFIG_PATH="$work/build/lib/pkgconfig" pkg-config \
                --variable=gcc_cflags tracehost-plugin)
        if command -v clang >/dev/null; then
            check "calls of local functions stay calls: clang $level" calls_are_left clang -std=c11 $level
        fi
        if [ -n "$CXX" ]; then
            check "calls of local functions stay calls: C++ $level" calls_are_left \
                $CXX -x c++ -std=c++11 -Wold-style-cast $level
        fi
    done
else
    skip 'calls of local functions stay calls' 'no pkg-config, or no objdump'
fi

# The module that the BEAM wants: a stub for each function of the library's table.
write_module() {
    sed -n 's/^    {"\([a-z_]*\)", \([0-9]*\), .*/\1 \2/p' $source | awk '
        { names = names sprintf(", %s/%d", q $1 q, $2)
          arguments = ""
          for (i = 0; i < $2; i++)
              arguments = arguments (i ? ", _" : "_")
          stubs = stubs sprintf("%s(%s) -> erlang:nif_error(not_loaded).\n", q $1 q, arguments) }
        END { printf "-module(party).\n-export([main/1%s]).\n", names
              print "main([L]) -> ok = erlang:load_nif(L, 0),"
              print "    io:format(\"~p\", [{party:present(), catch party:await(1), party:local(10)}]),"
              print "    halt()."
              printf "%s", stubs }' q="'" >"$work/party.erl"
}
in_beam() {
    write_module && erlc -o "$work" "$work/party.erl" &&
        gcc $shared -DERL_NIF_MINOR_VERSION=16 -Iplugin_api $(cat "$work/flags") $source \
            -o "$work/party.so" &&
        ERL_CRASH_DUMP_SECONDS=0 timeout 60 erl -noinput -boot no_dot_erlang -pa "$work" \
            -run party main "$work/party" >"$work/said_there"
    cat "$work/said_there"
    grep -q "^{0,{'EXIT',{absent,.*},41}" "$work/said_there" || tr -d '\n ' <"$work/said_there" |
        grep -q "^{0,{'EXIT',{absent,.*},41}"
}
if command -v erl >/dev/null && command -v erlc >/dev/null; then
    check 'in a BEAM, the functions of the host are absent' in_beam
else
    skip 'in a BEAM, the functions of the host are absent' 'no erl'
fi
finish
