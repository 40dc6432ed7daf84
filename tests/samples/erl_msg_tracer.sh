#!/bin/sh
# Tests the tracer of erl_tracer's manual, compiled with both headers: over a recording, and in a real BEAM.
. tests/cli/lib/assertions.sh

: "${BUILD_DIR:=build/release}" "${CC:=gcc}" "${OTP_INCLUDE=/usr/lib/erlang/usr/include}"
source=samples/tracers/erl_msg_tracer.c

compile() { # FOLDER FLAG...
    mkdir "$work/$1"
    folder=$1
    shift
    $CC "$@" -Wall -Wextra -Werror -fPIC -shared -o "$work/$folder/erl_msg_tracer.so" $source
}
check "the tracer compiles with tracehost's header" compile ours -I"$BUILD_DIR/include/tracehost"

session() {
    "$tracehost" replay -L "$work/$1" -t erl_msg_tracer="$2" "$recordings/file_open.trace"
}
same_session() {
    session ours console >"$work/with_ours" && session otp console >"$work/with_otp" &&
        [ "$(wc -l <"$work/with_ours")" = 9 ] && cmp "$work/with_ours" "$work/with_otp"
}
dying() {
    session otp '<0.85.0>'
}
if [ -e "$OTP_INCLUDE/erl_nif.h" ]; then
    check "the tracer compiles with OTP's header" compile otp -I"$OTP_INCLUDE"
    check 'both headers give the same messages' same_session
    expect 'a dead receiver detaches the tracer' dying <<'LINES'
-- stderr
tracehost replay: tracer 'erl_msg_tracer': detached, as it answered 'remove' to trace_status
tracehost replay: messages dropped, as their receivers do not run here: 6
LINES
else
    skip "the tracer compiles with OTP's header" "no erl_nif.h of OTP here"
fi

# The manual's session in an Erlang shell: all new processes are traced, a file is opened, which is
# a process that answers the file server.
in_beam() {
    erlc -o "$work" samples/tracers/erl_msg_tracer.erl &&
        ERL_CRASH_DUMP_SECONDS=0 timeout 60 erl -pa "$work" >"$work/shell" 2>&1 <<LINES
erl_msg_tracer:load("$work/$1/erl_msg_tracer").
Server = whereis(file_server_2).
Tracer = spawn(fun F() -> receive M -> io:format("~p~n", [M]), F() end end).
erlang:trace(new, true, [send, {tracer, erl_msg_tracer, Tracer}]).
{ok, File} = file:open("$work/file", [write]).
timer:sleep(200).
io:format("wanted: ~p~n", [{trace, File, Server}]).
LINES
    cat "$work/shell"
    wanted=$(sed -n 's/.*wanted: //p' "$work/shell")
    [ -n "$wanted" ] && grep -qF "$wanted" "$work/shell" && [ "$(grep -cF "$wanted" "$work/shell")" -ge 2 ]
}
if command -v erlc >/dev/null; then
    check "the tracer compiles with tracehost's header for OTP 24" compile older -DERL_NIF_MINOR_VERSION=16 \
        -I"$BUILD_DIR/include/tracehost"
    check "a BEAM delivers the messages, tracehost's header" in_beam older
    if [ -e "$work/otp" ]; then check "a BEAM delivers the messages, OTP's header" in_beam otp; fi
else
    skip 'a BEAM delivers the messages' 'no Erlang here'
fi

finish
