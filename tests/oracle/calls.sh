#!/bin/sh
# Compares a session in Erlang's shell with one in tracehost call: values and exceptions are printed alike.
# Differences of the shell of OTP 26 and later are listed below, and in the table "OTP 27" of tracehost(7).
. tests/cli/lib/assertions.sh

library=$BUILD_DIR/tests/tracers/otp/calls
session=tests/oracle/calls/session.txt

command -v erlc >/dev/null || { echo 'no erl (Debian: erlang-base)'; exit 77; }
[ -n "$OTP_INCLUDE" ] || { echo 'no erl_nif.h of OTP (Debian: erlang-dev)'; exit 77; }
erlc -o "$work" tests/oracle/calls/calls.erl || exit 1

# Prints the shell's answers, without its greeting, prompts and farewell.
in_shell() {
    CALLS_LIBRARY=$library HOME=$work ERL_CRASH_DUMP_SECONDS=0 timeout 60 erl -boot no_dot_erlang -pa "$work" \
        <"$session" 2>&1 | sed -n '/^Eshell/,$ p' | sed '1d; $d; s/^[0-9]*> //'
}

# The shell counts the lines of each form by itself.
here() {
    "$tracehost" call "$library.so" -f "$session" >"$work/said" 2>&1
    [ $? = 1 ] || echo 'another status than 1'
    sed 's/^\* [0-9]*:/* 1:/' "$work/said"
}

in_shell >"$work/shell"
here >"$work/here"
check "Erlang's shell prints more than 100 lines" test "$(wc -l <"$work/shell")" -gt 100
diff "$work/shell" "$work/here" | grep '^[<>]' >"$work/differ"
if [ "$(escript tests/oracle/expressions.escript later)" = true ]; then
    cat <<'EOF'
< fun shell_default:foo/1
> ** exception error: undefined function erl_eval:foo/1
< true
> ** exception error: undefined function erl_eval:foo/1
< * 1:7: syntax error before: ','
> {maybe,1}
< 'maybe'
> maybe
< false
> true
EOF
fi >"$work/known"
check "a session prints the same as Erlang's shell" diff -u "$work/known" "$work/differ"
finish
