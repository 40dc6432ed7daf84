# Sourced by the tests of --control: starts hosts and handles their answers.
socket=$work/socket
schema=$PWD/host/control/control.schema.json
host=

# begin COMMAND...: a host, in the background, that serves $socket; what it says is kept.
begin() {
    "$@" >"$work/host.out" 2>"$work/host.err" </dev/null &
    host=$!
    until_so "$tracehost" ctl "$socket" status
}

# end: has it end, and says what it has said.
end() {
    "$tracehost" ctl "$socket" stop >/dev/null
    ended
}
ended() {
    wait "$host"
    status=$?
    cat "$work/host.out"
    without_patience "$work/host.err" | sed 's/^/stderr: /'
    echo "status $status"
}

# without_patience FILE: what a host has said in it, but for what it says if its end takes longer than a second, as it may
# on a busy machine.
without_patience() {
    grep -v -e ': waiting for functions that run to return; ' -e '; tracers draw or write what they have left; ' "$1"
}

ctl() {
    "$tracehost" ctl "$socket" "$@"
}

# a_bank OPTION...: with two accounts, whose first process waits.
a_bank() {
    begin "$tracehost" run --control="$socket" --schedulers=2 "$@" bank \
        'bank:start(), bank:open(alice, 100), bank:open(bob, 50).' 'timer:sleep(3600000).'
}

# conforms COMMAND: stdin, answers to it, has what the schema says.
conforms() {
    tests/cli/lib/check_schema.py "$schema" "$1"
}
