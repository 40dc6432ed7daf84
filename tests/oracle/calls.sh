#!/bin/sh
# The same session in Erlang's shell and in tracehost call: values and exceptions are printed alike.
. tests/cli/report

library=$BUILD_DIR/tests/tracers/otp/calls
session=tests/oracle/calls/session.txt

command -v erlc >/dev/null || { echo 'no erl (Debian: erlang-base)'; exit 77; }
[ -n "$OTP_INCLUDE" ] || { echo 'no erl_nif.h of OTP (Debian: erlang-dev)'; exit 77; }
erlc -o "$work" tests/oracle/calls/calls.erl || exit 1

# What the shell says, without its greeting, prompts and farewell.
in_shell() {
    CALLS_LIBRARY=$library HOME=$work ERL_CRASH_DUMP_SECONDS=0 timeout 60 erl -boot no_dot_erlang -pa "$work" \
        <"$session" 2>&1 | sed '1d; $d; s/^[0-9]*> //'
}

# The shell counts the lines of each form by itself.
here() {
    "$tracehost" call "$library.so" -f "$session" >"$work/said" 2>&1
    [ $? = 1 ] || echo 'another status than 1'
    sed 's/^\* [0-9]*:/* 1:/' "$work/said"
}

in_shell >"$work/shell"
here >"$work/here"
check 'the shell has said something' test "$(wc -l <"$work/shell")" -gt 100
check 'a session is as in the shell of Erlang' diff -u "$work/shell" "$work/here"
finish
