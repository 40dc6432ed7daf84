#!/bin/sh
# The same tracer in a real BEAM, while what it gets is recorded, and in tracehost over the recording:
# it must log the same. tests/oracle/logging/cases.erl has the cases, tests/tracers/otp/logging.c the
# tracer, which is compiled with OTP's own header.
here=tests/oracle/logging
libraries=$BUILD_DIR/tests/tracers/otp

skip() {
    echo "$1"
    exit 77
}

command -v erl >/dev/null && command -v erlc >/dev/null || skip 'no erl (Debian: erlang-base)'
[ -n "$OTP_INCLUDE" ] || skip 'no erl_nif.h of OTP (Debian: erlang-dev)'
erl -noinput -boot no_dot_erlang -eval \
    'halt(case code:which(dbg) of non_existing -> 1; _ -> 0 end)' ||
    skip 'no dbg, which records (Debian: erlang-runtime-tools)'

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
erlc -Wall -Werror -o "$work" $here/*.erl || exit 1

# Several schedulers, whatever the machine has, so that callbacks can mix.
ERL_CRASH_DUMP_SECONDS=0 erl +S 4:4 -noinput -boot no_dot_erlang -pa "$work" \
    -run oracle main "$TRACEHOST" "$libraries" "$work"
