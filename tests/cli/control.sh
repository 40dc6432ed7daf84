#!/bin/sh
# Tests tracehost run --control and tracehost ctl: commands and their answers. control_socket.sh tests the life of
# sockets, control_prompt.sh the prompt.
. tests/cli/lib/assertions.sh
. tests/cli/lib/control_hosts.sh

# plain: figures that are another each time.
plain() {
    "$@" | sed "s|pid [0-9]*|pid N|; s|for [0-9.]* s|for N s|; s|rate  .*|rate  N|; s|[0-9]* requests|N requests|
        s|[0-9]* clients|N clients|; s|$BUILD_DIR|BUILD|"
}

# --- a host that runs functions ---

a_bank
expect 'status' plain ctl status <<'EOF'
run, pid N, tracehost 0.1.0, for N s
processes   4, on 2 schedulers
sessions    0
events      none
rate  N
lost        nothing
control     N clients, N requests
EOF
expect 'tracers' plain ctl tracers <<'EOF'
tracer      found     path
chrome      built in  BUILD/lib/tracehost/tracers/chrome.so
count       built in  BUILD/lib/tracehost/tracers/count.so
coverage    built in  BUILD/lib/tracehost/tracers/coverage.so
flame       built in  BUILD/lib/tracehost/tracers/flame.so
jsonl       built in  BUILD/lib/tracehost/tracers/jsonl.so
msg         built in  BUILD/lib/tracehost/tracers/msg.so
otlp        built in  BUILD/lib/tracehost/tracers/otlp.so
report      built in  BUILD/lib/tracehost/tracers/report.so
sequence    built in  BUILD/lib/tracehost/tracers/sequence.so
text        built in  BUILD/lib/tracehost/tracers/text.so
time        built in  BUILD/lib/tracehost/tracers/time.so
trace_port  built in  BUILD/lib/tracehost/tracers/trace_port.so
usdt        built in  BUILD/lib/tracehost/tracers/usdt.so
EOF
expect 'processes' ctl processes <<'EOF'
pid         name   is       messages  reductions  words  links  function
<0.1.4096>  -      waiting         0           5      0      0  -
<0.2.4096>  bank   waiting         0           3     64      2  bank:run/0
<0.3.4096>  alice  waiting         0           1      7      1  bank:account/3
<0.4.4096>  bob    waiting         0           1      7      1  bank:account/3
EOF
expect 'no sessions' ctl sessions <<'EOF'
no sessions
EOF
expect 'nothing to detach' ctl detach count <<'EOF'
-- stderr
tracehost ctl: there is no session or tracer 'count'
-- status 2
EOF
expect 'attach' ctl attach count -p bank:balance/1 --kind=count,time,local --return <<'EOF'
session 1, tracer 'count': flags call, 1 breakpoint
EOF
expect 'attach, in a session of a name, and only new processes' \
    ctl attach "text=#{output => <<\"/dev/null\">>}" --session=log --flags=send,procs --processes=new <<'EOF'
session 2 'log', tracer 'text': flags existing -; new send,procs
EOF
expect 'sessions' ctl sessions <<'EOF'
session  name  tracer  traced  discarded  breakpoints  flags
      1  -     count        0          0            1  call
      2  log   text         0          0            0  existing -; new send,procs
EOF
expect 'a name that is taken' ctl attach count --session=log <<'EOF'
-- stderr
tracehost ctl: session 'log' exists already: choose another name
-- status 2
EOF
expect 'which session?' ctl pattern bank:open/2 <<'EOF'
-- stderr
tracehost ctl: there are 2 sessions: choose one with --session=NUMBER; `sessions` lists them
-- status 2
EOF
expect 'a session that is like another' ctl detach conut <<'EOF'
-- stderr
tracehost ctl: there is no session or tracer 'conut'; did you mean 'count'?
-- status 2
EOF
expect 'a pattern of a function that is like another' ctl pattern bank:opne/2 --session=1 <<'EOF'
session 1, tracer 'count': bank:opne/2: 0 functions; the pattern waits for code
-- stderr
tracehost ctl: warning: there is no function bank:opne/2; did you mean 'bank:open/2'?
EOF
expect 'a pattern' ctl pattern bank:o_/_ --session=1 <<'EOF'
session 1, tracer 'count': bank:o_/_: 0 functions; the pattern waits for code
EOF
expect 'a pattern, of the session by its tracer' ctl pattern bank:open/_ --kind=count,time --session=count <<'EOF'
session 1, tracer 'count': bank:open/_: 1 function
EOF
expect 'a pattern for messages' ctl pattern send "--match-spec=[{[alice,'_'],[],[]}]" --session=log <<'EOF'
session 2 'log', tracer 'text': send
EOF
expect 'paused' ctl pattern bank:open/2 --match-spec=pause --kind=count --session=1 <<'EOF'
session 1, tracer 'count': bank:open/2: 1 function
EOF
expect 'functions' ctl functions bank:_/_ <<'EOF'
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
expect 'info' ctl info bank:balance/1 <<'EOF'
bank:balance/1 can have breakpoints: local,global
session 1, tracer 'count'
  kinds           local,count,time
  active          local,count,time
  match_spec      [{'_',[],[{return_trace},true]}]
  call_count      0
EOF
ctl pattern on_load --return --kind=count,meta --session=log >"$work/kept"
expect 'info of functions to come' ctl info on_load <<'EOF'
on_load can have breakpoints: local,global
session 2 'log', tracer 'text'
  kinds           meta,count
  active          meta,count
  meta_match_spec [{'_',[],[{return_trace},true]}]
  meta_tracer     text
  call_count      0
EOF
ctl pattern on_load --match-spec=false --kind=count,meta --session=log >"$work/kept"
expect 'flags, taken of all' ctl flags send off --session=log <<'EOF'
session 2 'log', tracer 'text': flags existing -; new procs
EOF
expect 'flags, given to one by its name' ctl flags send,receive on alice --session=log <<'EOF'
session 2 'log', tracer 'text': flags existing -; new procs
EOF
expect 'flags of one by its pid' ctl flags receive off '<0.3.4096>' --session=log <<'EOF'
session 2 'log', tracer 'text': flags existing -; new procs
EOF
expect 'a name that nobody has' ctl flags send on carol --session=log <<'EOF'
-- stderr
tracehost ctl: there is no registered name 'carol'
-- status 2
EOF
expect 'replace, by its own code: the state stays' ctl replace log text <<'EOF'
session 2 'log', tracer 'text': flags existing -; new procs
EOF
nobody() {
    (cd "$work" && ctl replace log ./nobody.so 2>&1) | sed "s|$work|WORK|"
}
expect 'replace by what is no tracer' nobody <<'EOF'
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
expect 'paths of tracers are those from where ctl is' elsewhere <<'EOF'
session 3 'here', tracer 'WORK/here/count.so': flags call, 1 breakpoint
session 3 'here', tracer 'WORK/here/../count.so': flags call, 1 breakpoint
session 3 'here', tracer 'WORK/here/../count.so': bank:deposit/2: 1 function
tracehost ctl: cannot open WORK/here/nobody.so
  No such file or directory
session 3 'here', tracer 'WORK/here/../count.so' has ended
events      none
EOF
expect 'replace whom?' ctl replace log <<'EOF'
-- stderr
tracehost ctl: arguments SESSION and TRACER are needed; `sessions` and `tracers` list them
-- status 2
EOF
expect 'detach, with what was counted' ctl detach 1 <<'EOF'
session 1, tracer 'count' has ended
events      none
  waits for code: -p bank:opne/2
  waits for code: -p bank:o_/_
calls   seconds  function
    0  0.000000  bank:balance/1
    0  0.000000  bank:open/2
EOF
expect 'detach by the name' ctl detach log <<'EOF'
session 2 'log', tracer 'text' has ended
events      none
EOF

# --- wrong commands ---

# wrong NAME WORD... <<EOF: the answer is an error, and nothing is left behind.
wrong() {
    name=$1
    shift
    expect "$name" ctl "$@"
}
wrong 'a command that there is not' atach count <<'EOF'
-- stderr
tracehost ctl: there is no command 'atach'; did you mean 'attach'?
-- status 2
EOF
wrong 'attach nobody' attach <<'EOF'
-- stderr
tracehost ctl: argument TRACER is missing; `tracers` lists the tracers
-- status 2
EOF
wrong 'attach two' attach count text <<'EOF'
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
expect 'attach a tracer that there is not' wrong_tracer <<'EOF'
5
tracehost ctl: there is no library 'nobody'
EOF
wrong 'a setting that is given twice' attach count,top=2,top=3 <<'EOF'
-- stderr
tracehost ctl: cannot use -t 'count,top=2,top=3'
  the setting 'top' is given twice
-- status 2
EOF
wrong 'a setting that is no atom' attach 'count=#{"top" => 3}' <<'EOF'
-- stderr
tracehost ctl: cannot attach tracer 'count'
  tracer 'count' has no setting "top": the name of a setting must be an atom
  did you mean 'top'?
-- status 2
EOF
wrong 'an option of the command line that is not for this' attach count --stats <<'EOF'
-- stderr
tracehost ctl: this command has no option --stats
-- status 2
EOF
wrong 'an option that there is not' attach count --falgs=call <<'EOF'
-- stderr
tracehost ctl: this command has no option --falgs=call; did you mean '--flags'?
-- status 2
EOF
wrong 'an option that is like nothing' attach count --nosuch <<'EOF'
-- stderr
tracehost ctl: this command has no option --nosuch
-- status 2
EOF
wrong 'an option that is like one of another command' load bank --seson=1 <<'EOF'
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
expect 'options of each command' spelled <<'EOF'
-- stderr
tracehost ctl: this command has no option --kin=count; did you mean '--kind'?
tracehost ctl: this command has no option --seson=1; did you mean '--session'?
tracehost ctl: this command has no option --purg=hard; did you mean '--purge'?
tracehost ctl: this command has no option --hrad; did you mean '--hard'?
tracehost ctl: this command has no option --prge=hard; did you mean '--purge'?
-- status 2
EOF
wrong 'an option without its value' attach count --flags <<'EOF'
-- stderr
tracehost ctl: --flags needs a value
-- status 2
EOF
wrong 'a value that an option does not have' pattern bank:open/2 --return=yes <<'EOF'
-- stderr
tracehost ctl: --return takes no value
-- status 2
EOF
wrong 'flags that trace nothing' attach count --flags=arity <<'EOF'
-- stderr
tracehost ctl: --flags=arity selects no event: add a flag such as call or send
-- status 2
EOF
wrong 'a pattern that cannot be set: the session does not stay' attach count -p bank:open/2 --match-spec=7 <<'EOF'
-- stderr
tracehost ctl: cannot set -p bank:open/2
  Match programs are not in a list.
-- status 3
EOF
wrong 'a pattern that is none' pattern bank <<'EOF'
-- stderr
tracehost ctl: -p must be M:F/A, M:F/_, M:_/_ or _:_/_, such as lists:reverse/1, or on_load, send or receive, not 'bank'
-- status 2
EOF
wrong 'a process that there is not' attach count --processes='<0.99.4096>' <<'EOF'
-- stderr
tracehost ctl: cannot trace the tracees of --processes
  only a process or port that has not ended can be traced
-- status 2
EOF
wrong 'no flags' flags <<'EOF'
-- stderr
tracehost ctl: argument LIST is missing: give flags such as call,send
-- status 2
EOF
wrong 'a module that there is not' purge sipho <<'EOF'
-- stderr
tracehost ctl: there is no module sipho
-- status 2
EOF
wrong 'functions of a module that there is not' functions sipho:a/1 <<'EOF'
no function matches
EOF
wrong 'a module that is like another' purge bnk <<'EOF'
-- stderr
tracehost ctl: there is no module bnk; did you mean 'bank'?
-- status 2
EOF
wrong 'functions of a module that is like another' functions bnk:_ <<'EOF'
no function matches
-- stderr
tracehost ctl: warning: there is no function bnk:_; did you mean 'bank:_/_'?
EOF
wrong 'a module that was named before' purge sipho <<'EOF'
-- stderr
tracehost ctl: there is no module sipho
-- status 2
EOF
wrong 'a function that there is not' info bank:opne/2 <<'EOF'
-- stderr
tracehost ctl: there is no function bank:opne/2; did you mean 'bank:open/2'?
-- status 2
EOF
wrong 'info of many' info bank:_/_ <<'EOF'
-- stderr
tracehost ctl: a function must be M:F/A, not 'bank:_/_'
-- status 2
EOF
wrong 'a word too many' status now <<'EOF'
-- stderr
tracehost ctl: unexpected argument 'now'
-- status 2
EOF
expect 'nothing was left by all that' ctl sessions <<'EOF'
no sessions
EOF
expect '--json of an error' ctl --json sessions please <<'EOF'
{"id":1,"ok":false,"status":2,"error":["unexpected argument 'please'"]}
-- status 2
EOF

# --- a script ---

unreadable() {
    ctl <"$work"
}
expect 'a script that cannot be read' unreadable <<'EOF'
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
expect 'a script: each line, and the status of the first that failed' script <<'EOF'
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

expect 'help of one command' ctl help stop <<'EOF'
stop
    ends the host, as a signal does
EOF
expect 'help of one that is like another' ctl help atach <<'EOF'
-- stderr
tracehost ctl: there is no command 'atach'; did you mean 'attach'?
-- status 2
EOF
expect 'help of none' ctl help halt <<'EOF'
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
check 'the schema has the commands that there are, in their order' commands_are_all

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
check 'answers are what the schema says' all_conform
greeting() {
    python3 - "$socket" <<'END' | conforms greeting
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
sys.stdout.write(s.makefile().readline())
END
}
check 'the greeting, too' greeting
mutations() {
    ctl --json sessions >"$work/good" && conforms sessions <"$work/good" &&
        ctl --json status | sed 's/"pid":[0-9]*/"pid":"x"/' | { ! conforms status; } &&
        ctl --json status | sed 's/"sessions":[0-9]*,//' | { ! conforms status; } &&
        ctl --json status | sed 's/"pid"/"more":1,"pid"/' | { ! conforms status; } &&
        ctl --json status | { ! conforms tracers; }
}
check 'the checker refuses what does not conform' mutations

# --- how it ends ---

expect 'stop' end <<'EOF'
ok
stderr: tracehost run: received a request to stop
status 0
EOF
check 'the socket is gone' test ! -e "$socket"
expect 'nobody is there' ctl status <<'EOF'
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
expect 'a tracer that is attached while it runs' traced <<'EOF'
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
