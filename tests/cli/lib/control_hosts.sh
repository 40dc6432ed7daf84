# Sourced by the tests of --control: starts hosts and handles their answers.
socket=$work/socket
schema=$PWD/host/control/control.schema.json
host=

# begin COMMAND...: starts a host in the background that serves $socket; its output goes to files.
begin() {
    "$@" >"$work/host.out" 2>"$work/host.err" </dev/null &
    host=$!
    until_so "$tracehost" ctl "$socket" status
}

# end: stops the host, then prints its output and exit status; ended: does so without stopping the host.
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

ctl() {
    "$tracehost" ctl "$socket" "$@"
}

# a_bank OPTION...: starts a host with a bank of two accounts; its first process waits.
a_bank() {
    begin "$tracehost" run --control="$socket" --schedulers=2 "$@" bank \
        'bank:start(), bank:open(alice, 100), bank:open(bob, 50).' 'timer:sleep(3600000).'
}

# conforms COMMAND: checks stdin, answers to COMMAND, against the schema.
conforms() {
    tests/cli/lib/check_schema.py "$schema" "$1"
}
