#!/bin/sh
# Tests tracehost run --control and tracehost ctl: commands and their answers. control_socket.sh tests the life of
# sockets, control_prompt.sh the prompt.
. tests/cli/lib/assertions.sh
. tests/cli/lib/control_hosts.sh

# plain COMMAND...: prints the output of COMMAND without figures that differ from run to run.
plain() {
    "$@" | sed "s|pid [0-9]*|pid N|; s|for [0-9.]* s|for N s|; s|rate  .*|rate  N|; s|[0-9]* requests|N requests|
        s|[0-9]* clients|N clients|; s|$BUILD_DIR|BUILD|"
}

# --- a host that runs functions ---

a_bank
expect 'status shows processes, sessions, events and losses' plain ctl status <<'EOF'
run, pid N, tracehost 0.1.0, for N s
processes   4, on 2 schedulers
sessions    0
events      none
rate  N
lost        nothing
control     N clients, N requests
EOF
expect 'tracers lists the built-in tracers' plain ctl tracers <<'EOF'
tracer      found     path
chrome      built in  BUILD/lib/tracehost/tracers/chrome.so
count       built in  BUILD/lib/tracehost/tracers/count.so
coverage    built in  BUILD/lib/tracehost/tracers/coverage.so
diff        built in  BUILD/lib/tracehost/tracers/diff.so
flame       built in  BUILD/lib/tracehost/tracers/flame.so
jsonl       built in  BUILD/lib/tracehost/tracers/jsonl.so
msg         built in  BUILD/lib/tracehost/tracers/msg.so
nats        built in  BUILD/lib/tracehost/tracers/nats.so
otlp        built in  BUILD/lib/tracehost/tracers/otlp.so
perfetto    built in  BUILD/lib/tracehost/tracers/perfetto.so
report      built in  BUILD/lib/tracehost/tracers/report.so
sequence    built in  BUILD/lib/tracehost/tracers/sequence.so
speedscope  built in  BUILD/lib/tracehost/tracers/speedscope.so
text        built in  BUILD/lib/tracehost/tracers/text.so
time        built in  BUILD/lib/tracehost/tracers/time.so
trace_port  built in  BUILD/lib/tracehost/tracers/trace_port.so
tree        built in  BUILD/lib/tracehost/tracers/tree.so
usdt        built in  BUILD/lib/tracehost/tracers/usdt.so
EOF
expect 'processes lists the processes of the host' ctl processes <<'EOF'
pid         name   is       messages  reductions  words  links  function
<0.1.4096>  -      waiting         0           5      0      0  -
<0.2.4096>  bank   waiting         0           3     64      2  bank:run/0
<0.3.4096>  alice  waiting         0           1      7      1  bank:account/3
<0.4.4096>  bob    waiting         0           1      7      1  bank:account/3
EOF
expect 'sessions lists nothing before the first attach' ctl sessions <<'EOF'
no sessions
EOF
expect 'detach of an unknown session is refused' ctl detach count <<'EOF'
-- stderr
tracehost ctl: there is no session or tracer 'count'
-- status 2
EOF
expect 'attach creates a session with a breakpoint' ctl attach count -p bank:balance/1 --kind=count,time,local --return <<'EOF'
session 1, tracer 'count': flags call, 1 breakpoint
EOF
expect 'attach creates a named session for new processes' \
    ctl attach "text=#{output => <<\"/dev/null\">>}" --session=log --flags=send,procs --processes=new <<'EOF'
session 2 'log', tracer 'text': flags existing -; new send,procs
EOF
expect 'sessions lists the sessions' ctl sessions <<'EOF'
session  name  tracer  traced  discarded  breakpoints  flags
      1  -     count        0          0            1  call
      2  log   text         0          0            0  existing -; new send,procs
EOF
expect 'a session name that exists already is refused' ctl attach count --session=log <<'EOF'
-- stderr
tracehost ctl: session 'log' exists already: choose another name
-- status 2
EOF
expect 'pattern without --session is refused if there are two sessions' ctl pattern bank:open/2 <<'EOF'
-- stderr
tracehost ctl: there are 2 sessions: choose one with --session=NUMBER; `sessions` lists them
-- status 2
EOF
expect 'a misspelt session gets a suggestion' ctl detach conut <<'EOF'
-- stderr
tracehost ctl: there is no session or tracer 'conut'; did you mean 'count'?
-- status 2
EOF
expect 'a pattern with a misspelt function gets a suggestion' ctl pattern bank:opne/2 --session=1 <<'EOF'
session 1, tracer 'count': bank:opne/2: 0 functions; the pattern waits for code
-- stderr
tracehost ctl: warning: there is no function bank:opne/2; did you mean 'bank:open/2'?
EOF
expect 'a pattern that matches no function waits for code' ctl pattern bank:o_/_ --session=1 <<'EOF'
session 1, tracer 'count': bank:o_/_: 0 functions; the pattern waits for code
EOF
expect 'a session is found by the name of its tracer' ctl pattern bank:open/_ --kind=count,time --session=count <<'EOF'
session 1, tracer 'count': bank:open/_: 1 function
EOF
expect 'a pattern for messages is set' ctl pattern send "--match-spec=[{[alice,'_'],[],[]}]" --session=log <<'EOF'
session 2 'log', tracer 'text': send
EOF
expect 'a pattern pauses a counter' ctl pattern bank:open/2 --match-spec=pause --kind=count --session=1 <<'EOF'
session 1, tracer 'count': bank:open/2: 1 function
EOF
expect 'functions lists breakpoints and counts' ctl functions bank:_/_ <<'EOF'
function         can have      calls  set by sessions
bank:account/3   local,global      -  -
bank:audit/0     local,global      -  -
bank:balance/1   local,global      0  1 local,count,time
bank:close/1     local,global      -  -
bank:crash/1     local,global      -  -
bank:deposit/2   local,global      -  -
bank:freeze/2    local,global      -  -
bank:names/0     local,global      -  -
bank:open/2      local,global      0  1 count,time (active: time)
bank:run/0       local,global      -  -
bank:run/1       local,global      -  -
bank:start/0     local,global      -  -
bank:stop/0      local,global      -  -
bank:transfer/3  local,global      -  -
bank:withdraw/2  local,global      -  -
EOF
expect 'info shows the breakpoints of a function' ctl info bank:balance/1 <<'EOF'
bank:balance/1 can have breakpoints: local,global
session 1, tracer 'count'
  kinds           local,count,time
  active          local,count,time
  match_spec      [{'_',[],[{return_trace},true]}]
  call_count      0
EOF
ctl pattern on_load --return --kind=count,meta --session=log >"$work/kept"
expect 'info on_load shows the breakpoints of code to come' ctl info on_load <<'EOF'
on_load can have breakpoints: local,global
session 2 'log', tracer 'text'
  kinds           meta,count
  active          meta,count
  meta_match_spec [{'_',[],[{return_trace},true]}]
  meta_tracer     text
  call_count      0
EOF
ctl pattern on_load --match-spec=false --kind=count,meta --session=log >"$work/kept"
expect 'flags are cleared for all processes' ctl flags send off --session=log <<'EOF'
session 2 'log', tracer 'text': flags existing -; new procs
EOF
expect 'flags are set for a registered process' ctl flags send,receive on alice --session=log <<'EOF'
session 2 'log', tracer 'text': flags existing -; new procs
EOF
expect 'flags are cleared for a process by its pid' ctl flags receive off '<0.3.4096>' --session=log <<'EOF'
session 2 'log', tracer 'text': flags existing -; new procs
EOF
expect 'flags of an unregistered name are refused' ctl flags send on carol --session=log <<'EOF'
-- stderr
tracehost ctl: there is no registered name 'carol'
-- status 2
EOF
expect 'replace by the same tracer keeps the session and its flags' ctl replace log text <<'EOF'
session 2 'log', tracer 'text': flags existing -; new procs
EOF
nobody() {
    (cd "$work" && ctl replace log ./nobody.so 2>&1) | sed "s|$work|WORK|"
}
expect 'replace by a missing tracer keeps the old tracer' nobody <<'EOF'
tracehost ctl: cannot replace the tracer: the session keeps its tracer
  cannot open WORK/nobody.so
  No such file or directory
EOF
elsewhere() {
    mkdir "$work/here"
    cp "$BUILD_DIR/lib/tracehost/tracers/count.so" "$work"
    ln "$work/count.so" "$work/here"
    (cd "$work/here" && ctl attach --session=here -p bank:open/2 --kind=meta --meta-tracer ../count.so ./count.so,top=3 &&
        ctl replace here ../count.so)
    (cd "$work" && ctl pattern bank:deposit/2 --kind=meta --session=here --meta-tracer=here/count.so && ctl attach here/nobody.so) 2>&1
    ctl detach here
}
expect 'relative paths of tracers are relative to the folder of ctl' elsewhere <<'EOF'
session 3 'here', tracer 'WORK/here/count.so': flags call, 1 breakpoint
session 3 'here', tracer 'WORK/here/../count.so': flags call, 1 breakpoint
session 3 'here', tracer 'WORK/here/../count.so': bank:deposit/2: 1 function
tracehost ctl: cannot open WORK/here/nobody.so
  No such file or directory
session 3 'here', tracer 'WORK/here/../count.so' has ended
events      none
EOF
expect 'replace without a tracer is refused' ctl replace log <<'EOF'
-- stderr
tracehost ctl: arguments SESSION and TRACER are needed; `sessions` and `tracers` list them
-- status 2
EOF
expect 'detach prints the counts of the session' ctl detach 1 <<'EOF'
session 1, tracer 'count' has ended
events      none
  waits for code: -p bank:opne/2
  waits for code: -p bank:o_/_
calls   seconds  function
    0  0.000000  bank:balance/1
    0  0.000000  bank:open/2
EOF
expect 'detach accepts the name of a session' ctl detach log <<'EOF'
session 2 'log', tracer 'text' has ended
events      none
EOF

# --- wrong commands ---

# wrong NAME WORD... <<EOF: like expect, for commands that must leave no session.
wrong() {
    name=$1
    shift
    expect "$name" ctl "$@"
}
wrong 'a misspelt command is refused with a suggestion' atach count <<'EOF'
-- stderr
tracehost ctl: there is no command 'atach'; did you mean 'attach'?
-- status 2
EOF
wrong 'attach without a tracer is refused' attach <<'EOF'
-- stderr
tracehost ctl: argument TRACER is missing; `tracers` lists the tracers
-- status 2
EOF
wrong 'attach of two tracers is refused' attach count text <<'EOF'
-- stderr
tracehost ctl: unexpected argument 'text'
-- status 2
EOF
missing() {
    ctl attach nobody 2>&1 | sed '1q'
}
wrong_tracer() {
    ctl attach ./nobody.so >/dev/null 2>&1
    echo $?
    missing
}
expect 'attach of an unknown tracer is refused' wrong_tracer <<'EOF'
5
tracehost ctl: there is no library 'nobody'
EOF
wrong 'a setting that is given twice is refused' attach count,top=2,top=3 <<'EOF'
-- stderr
tracehost ctl: cannot use -t 'count,top=2,top=3'
  the setting 'top' is given twice
-- status 2
EOF
wrong 'a setting whose name is not an atom is refused' attach 'count=#{"top" => 3}' <<'EOF'
-- stderr
tracehost ctl: cannot attach tracer 'count'
  tracer 'count' has no setting "top": the name of a setting must be an atom
  did you mean 'top'?
-- status 2
EOF
wrong 'an option that only the command line has is refused' attach count --stats <<'EOF'
-- stderr
tracehost ctl: this command has no option --stats
-- status 2
EOF
wrong 'a misspelt option is refused with a suggestion' attach count --falgs=call <<'EOF'
-- stderr
tracehost ctl: this command has no option --falgs=call; did you mean '--flags'?
-- status 2
EOF
wrong 'an unknown option is refused without a suggestion' attach count --nosuch <<'EOF'
-- stderr
tracehost ctl: this command has no option --nosuch
-- status 2
EOF
wrong 'an option of another command is not suggested' load bank --seson=1 <<'EOF'
-- stderr
tracehost ctl: this command has no option --seson=1
-- status 2
EOF
spelled() {
    ctl pattern bank:open/2 --kin=count
    ctl flags call --seson=1
    ctl load bank --purg=hard
    ctl purge bank --hrad
    ctl delete bank --prge=hard
}
expect 'each command suggests its own options' spelled <<'EOF'
-- stderr
tracehost ctl: this command has no option --kin=count; did you mean '--kind'?
tracehost ctl: this command has no option --seson=1; did you mean '--session'?
tracehost ctl: this command has no option --purg=hard; did you mean '--purge'?
tracehost ctl: this command has no option --hrad; did you mean '--hard'?
tracehost ctl: this command has no option --prge=hard; did you mean '--purge'?
-- status 2
EOF
wrong 'an option without its value is refused' attach count --flags <<'EOF'
-- stderr
tracehost ctl: --flags needs a value
-- status 2
EOF
wrong 'a value for an option that takes none is refused' pattern bank:open/2 --return=yes <<'EOF'
-- stderr
tracehost ctl: --return takes no value
-- status 2
EOF
wrong 'flags that select no event are refused' attach count --flags=arity <<'EOF'
-- stderr
tracehost ctl: --flags=arity selects no event: add a flag such as call or send
-- status 2
EOF
wrong 'attach with an invalid match specification is refused' attach count -p bank:open/2 --match-spec=7 <<'EOF'
-- stderr
tracehost ctl: cannot set -p bank:open/2; try the specification with `tracehost match`
  Match programs are not in a list.
-- status 3
EOF
wrong 'a malformed pattern is refused' pattern bank <<'EOF'
-- stderr
tracehost ctl: -p must be M:F/A, M:F/_, M:_/_ or _:_/_, such as lists:reverse/1 or Elixir's Enum.sort/1, or on_load, send or receive, not 'bank'
-- status 2
EOF
wrong 'attach to an unknown process is refused' attach count --processes='<0.99.4096>' <<'EOF'
-- stderr
tracehost ctl: cannot trace the tracees of --processes
  only a process or port that has not ended can be traced
-- status 2
EOF
wrong 'flags without a list is refused' flags <<'EOF'
-- stderr
tracehost ctl: argument LIST is missing: give flags such as call,send
-- status 2
EOF
wrong 'purge of an unknown module is refused' purge sipho <<'EOF'
-- stderr
tracehost ctl: there is no module sipho
-- status 2
EOF
wrong 'functions of an unknown module lists no function' functions sipho:a/1 <<'EOF'
no function matches
EOF
wrong 'a misspelt module is refused with a suggestion' purge bnk <<'EOF'
-- stderr
tracehost ctl: there is no module bnk; did you mean 'bank'?
-- status 2
EOF
wrong 'functions of a misspelt module gets a suggestion' functions bnk:_ <<'EOF'
no function matches
-- stderr
tracehost ctl: warning: there is no function bnk:_; did you mean 'bank:_/_'?
EOF
wrong 'an unknown module of an earlier command is not suggested' purge sipho <<'EOF'
-- stderr
tracehost ctl: there is no module sipho
-- status 2
EOF
wrong 'info of a misspelt function is refused with a suggestion' info bank:opne/2 <<'EOF'
-- stderr
tracehost ctl: there is no function bank:opne/2; did you mean 'bank:open/2'?
-- status 2
EOF
wrong 'info of several functions is refused' info bank:_/_ <<'EOF'
-- stderr
tracehost ctl: a function must be M:F/A, not 'bank:_/_'
-- status 2
EOF
wrong 'an argument too many is refused' status now <<'EOF'
-- stderr
tracehost ctl: unexpected argument 'now'
-- status 2
EOF
expect 'refused commands leave no session' ctl sessions <<'EOF'
no sessions
EOF
expect '--json prints an error as an object' ctl --json sessions please <<'EOF'
{"id":1,"ok":false,"status":2,"error":["unexpected argument 'please'"]}
-- status 2
EOF

# --- a script ---

unreadable() {
    ctl <"$work"
}
expect 'a script that cannot be read is reported' unreadable <<'EOF'
-- stderr
tracehost ctl: cannot read stdin: Is a directory
-- status 1
EOF

script() {
    cat <<'END' | ctl
# a comment, and an empty line

attach count -p bank:open/2
bogus
detach 'count
  sessions
detach "count"
END
}
expect 'a script executes each line, and fails if one line fails' script <<'EOF'
session 8, tracer 'count': flags call, 1 breakpoint
session  tracer  traced  discarded  breakpoints  flags
      8  count        0          0            1  call
session 8, tracer 'count' has ended
events      none
-- stderr
tracehost ctl: there is no command 'bogus'; `help` lists them
tracehost ctl: the quote ' is not closed
-- status 2
EOF

expect 'help describes a command' ctl help stop <<'EOF'
stop
    Ends the host, as a signal does.
EOF
expect 'help of a misspelt command gets a suggestion' ctl help atach <<'EOF'
-- stderr
tracehost ctl: there is no command 'atach'; did you mean 'attach'?
-- status 2
EOF
expect 'help of an unknown command is refused' ctl help halt <<'EOF'
-- stderr
tracehost ctl: there is no command 'halt'; `help` lists them
-- status 2
EOF

# --- the schema ---

commands_are_all() {
    ctl --json help | python3 -c 'import json, sys
print("\n".join(c["command"] for c in json.load(sys.stdin)["result"]["commands"]))' >"$work/commands" &&
        tests/cli/lib/check_schema.py "$schema" --commands | cmp - "$work/commands"
}
check 'the schema has all commands of the host, in their order' commands_are_all

# answers COMMAND WORD...: prints the host's answer, and checks it against the schema.
answers() {
    name=$1
    ctl --json "$@" | conforms "$name"
}
all_conform() {
    answers attach count -p bank:open/2 --kind=local,count,time,memory --return --session=x || return 1
    for command in status 'replace x count' tracers sessions processes functions help 'info bank:open/2' 'info on_load' 'pattern bank:_/_ --kind=global' \
        'pattern send' 'flags silent on existing' 'detach x'; do
        # shellcheck disable=SC2086
        answers $command || return 1
    done
    ctl --json nonsense | conforms failure && ctl --json status | conforms answer
}
check 'answers conform to the schema' all_conform
greeting() {
    python3 - "$socket" <<'END' | conforms greeting
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
sys.stdout.write(s.makefile().readline())
END
}
check 'the greeting conforms to the schema' greeting
mutations() {
    ctl --json sessions >"$work/good" && conforms sessions <"$work/good" &&
        ctl --json status | sed 's/"pid":[0-9]*/"pid":"x"/' | { ! conforms status; } &&
        ctl --json status | sed 's/"sessions":[0-9]*,//' | { ! conforms status; } &&
        ctl --json status | sed 's/"pid"/"more":1,"pid"/' | { ! conforms status; } &&
        ctl --json status | { ! conforms tracers; }
}
check 'the schema checker refuses answers that do not conform' mutations

# --- the end of the host ---

expect 'stop ends the host with status 0' end <<'EOF'
ok
stderr: tracehost run: received a request to stop
status 0
EOF
check 'stop removes the socket' test ! -e "$socket"
expect 'a command is refused if no host serves the socket' ctl status <<'EOF'
-- stderr
tracehost ctl: there is no socket WORK/socket: start `tracehost run` or `tracehost replay` with --control=WORK/socket
-- status 2
EOF

# --- events ---

traced() {
    begin "$tracehost" run --control="$socket" bank 'bank:start(), bank:open(alice, 1).' 'timer:sleep(2000).' \
        'bank:deposit(alice, 10).'
    ctl attach "text=#{output => <<\"$work/text\">>}" -p bank:deposit/2 --return
    ctl flags procs on
    ended
    sed 's/^[^ ]* *//' "$work/text"
}
expect 'a tracer that is attached during a run gets events' traced <<'EOF'
session 1, tracer 'text': flags call, 1 breakpoint
session 1, tracer 'text': flags call,procs, 1 breakpoint
ok
ok
11
status 0
call bank:deposit(alice,10)
return bank:deposit/2 -> 11
exit normal
EOF

finish
