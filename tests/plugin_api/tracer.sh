#!/bin/sh
# Tests erl_tracer.h: its tables, and tracers written with its macros, compiled with this project's erl_nif.h and
# OTP's, in a stand-in for a host and in a real BEAM.
. tests/plugin_api/report

here=tests/plugin_api
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wundef -Wmissing-declarations -Werror"

runs() {
    "$@" -I. -o "$work/callbacks" && "$work/callbacks" >"$work/called" &&
        [ "$(sort -u "$work/called" | wc -l)" -eq 18 ]
}
check 'all callbacks get their arguments' runs $CC -std=c11 $warnings -Iplugin_api \
    $here/callbacks.c
if [ -n "$OTP" ]; then
    check "all callbacks get their arguments with OTP's erl_nif.h" runs $CC -std=c11 -Wall -Wextra -Werror \
        -I"$OTP" -Iplugin_api $here/callbacks.c
fi

shared="-fPIC -shared -fvisibility=hidden"
check 'a tracer compiles as C' $CC -std=c11 $warnings $shared -Iplugin_api $here/tracer.c -o "$work/c.so"
if [ -n "$CXX" ]; then
    for std in c++11 c++20; do
        check "a tracer compiles as $std" $CXX -x c++ -std=$std $warnings $shared -Iplugin_api $here/tracer.c \
            -o "$work/$std.so"
    done
else
    skip 'a tracer compiles as C++' 'no C++ compiler'
fi

exported() {
    for library in "$work"/*.so; do
        echo "$library:" $(nm -D --defined-only "$library" | sed -n 's/.* T //p')
        [ "$(nm -D --defined-only "$library" | sed -n 's/.* T //p' | tr '\n' ' ')" = \
            'enabled enabled_send nif_init trace trace_send ' ] || return
    done
}
check 'the callbacks are exported under -fvisibility=hidden' exported

printf '#include <erl_tracer.h>\nTH_TRACER_ENABLED(return_to) { return 0; }\n' >"$work/wrong.c"
refused 'a callback of an unknown group is refused' TH_GROUP_return_to \
    $CC -Iplugin_api -c "$work/wrong.c" -o "$work/wrong.o"
printf '#include <erl_tracer.h>\nTH_TRACER_TRACE(none) { }\n' >"$work/wrong.c"
refused 'a callback of the group none is refused' 'none is no group' \
    $CC -Iplugin_api -c "$work/wrong.c" -o "$work/wrong.o"

# in_beam MINOR: prints the output of the tracer in a BEAM, compiled for that NIF version.
in_beam() {
    $CC $shared -O2 -DERL_NIF_MINOR_VERSION="$1" -Iplugin_api $here/tracer.c \
        -o "$work/tracer.so" && erlc -o "$work" $here/tracer.erl &&
        ERL_CRASH_DUMP_SECONDS=0 timeout 60 erl -noinput -boot no_dot_erlang -pa "$work" \
            -run tracer main "$work/tracer"
}
traces() { in_beam 16 | grep -x sent; }
beam_minor=$(command -v erl >/dev/null && command -v erlc >/dev/null &&
    erl -noinput -boot no_dot_erlang -eval \
        'io:format("~s~n", [lists:nthtail(2, erlang:system_info(nif_version))]), halt().')
if [ "${beam_minor:-0}" -ge 16 ]; then
    # The BEAM exports a trace_send of its own, which must not get into our entry.
    check "a BEAM of 2.$beam_minor runs a tracer of 2.16" traces
else
    skip 'a BEAM runs a tracer of 2.16' 'no BEAM'
fi
if [ "${beam_minor:-18}" -lt 18 ]; then
    older() { in_beam 18 | grep '^bad_lib .*erts-14.0 or newer'; }
    check "a BEAM of 2.$beam_minor refuses a tracer of 2.18" older
fi

finish
