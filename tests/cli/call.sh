#!/bin/sh
# Tests tracehost call: arguments, outputs, exit statuses, rounds.
. tests/cli/lib/assertions.sh

counter=$samples/counter.so
party=$BUILD_DIR/tests/plugins/party.so

call() {
    "$tracehost" call "$@"
}

# --- libraries and expressions ---

expect 'values are printed, in the order of the arguments' call "$counter" '1 + 1.' '"two". {three}.' "'last stop may be missing'" <<'EOF'
2
"two"
{three}
'last stop may be missing'
EOF
expect 'a library argument may stand at any place, and more than once' call '1.' "$counter" "$counter" '2.' <<'EOF'
1
2
EOF
by_name() {
    (cd "$work" && TRACEHOST_PATH=$samples "$tracehost" call counter 'is_reference(element(2, counter:new())).')
}
expect 'a library is found by its name in TRACEHOST_PATH' by_name <<'EOF'
true
a counter ends at 0
EOF
odd_path() {
    mkdir -p "$work/my libs (old)=" && cp "$counter" "$work/my libs (old)=/counter.so" &&
        call "$work/my libs (old)=/counter.so" 'counter:add(1, 2).' 2>&1 | head -1
}
expect 'a path may contain blanks, parentheses and an equals sign' odd_path <<'EOF'
** exception error: bad argument
EOF
expect 'a call without a library is refused' call '1 + 1.' <<'EOF'
-- stderr
tracehost call: argument LIBRARY is missing
Try `tracehost call --help' or `tracehost call --usage' for more information.
-- status 2
EOF
expect 'a variable without a full stop is read as the name of a library' call V <<'EOF'
-- stderr
tracehost call: 'V' was read as the name of a library: end an expression with a full stop
  there is no library 'V'
  looked for V.so in BUILD/lib/tracehost/plugins (built in)
  add its folder with -L DIR or to $TRACEHOST_PATH, or give a path with a '/'; `tracehost plugins` lists all that are found
-- status 5
EOF
expect 'a library file that is not a shared object is refused' call ./SConstruct '1.' <<'EOF'
-- stderr
tracehost call: ./SConstruct was refused
  the file is text, not a shared object; compile C code with -fPIC -shared
-- status 5
EOF
expect 'a library file that does not exist is reported' call "$tracers/../../../SConstruct" '1.' <<'EOF'
-- stderr
tracehost call: cannot open BUILD/tests/tracers/../../../SConstruct
  No such file or directory
-- status 5
EOF
two_of_one_name() {
    cp "$counter" "$work/other.so" && call "$counter" "$work/other.so" '1.'
}
expect 'two libraries with the same module name are refused' two_of_one_name <<'EOF'
-- stderr
tracehost call: BUILD/samples/counter.so and WORK/other.so are both module counter: load one at a time
-- status 2
EOF

# --- texts ---

expect 'all expressions are parsed before the first is evaluated' call "$counter" 'counter:new().' 'X = ,' <<'EOF'
-- stderr
tracehost call: cannot parse 'X = ,'
  line 1, column 5: expected an expression, found ","
-- status 3
EOF
printf '{ok, C} = counter:new(), ok.\n\n%% a comment\ncounter:add(C,\n            2).\nC2.\n' >"$work/file"
expect 'the expressions of -f FILE are evaluated before the arguments' call "$counter" 'counter:add(C, 1).' -f "$work/file" <<'EOF'
ok
2
3
a counter ends at 3
-- stderr
* 6:1: variable 'C2' is unbound
-- status 1
EOF
printf '1.\n2' >"$work/open"
expect 'a file that does not end with a full stop is refused' call "$counter" -f "$work/open" <<'EOF'
-- stderr
tracehost call: cannot read WORK/open
  line 2, column 2: expected an operator, ',' or a full stop, found the end of the text
-- status 3
EOF
expect 'a missing file of -f is reported' call "$counter" -f "$work/nothing" <<'EOF'
-- stderr
tracehost call: cannot open WORK/nothing: No such file or directory
-- status 3
EOF
from_stdin() {
    echo 'X = 1. X + 1.' | call "$counter" "$@"
}
expect 'stdin is evaluated if no expression is given' from_stdin <<'EOF'
1
2
EOF
expect 'the argument - is replaced by the expressions of stdin' from_stdin '0.' - 'X + 2.' <<'EOF'
0
1
2
3
EOF

# --- exceptions and statuses ---

expect 'expressions after an exception are evaluated; the exit status is 1' call "$counter" 'counter:add(x, 1).' 'ok.' <<'EOF'
ok
-- stderr
** exception error: bad argument
     in function  counter:add/2
        called as counter:add(x,1)
-- status 1
EOF
expect 'throws and exits are printed with the function that raised them' call "$party" 'party:throws(ball).' \
    'party:exits(enough).' 'try party:throws(b) catch C:R:Stack -> {C, R, Stack} end.' 'throw(own).' <<'EOF'
{throw,b,[{party,throws,[b],[{file,"tests/plugins/party.c"},{line,N}]}]}
-- stderr
** exception throw: ball
     in function  party:throws/1
        called as party:throws(ball)
** exception exit: enough
     in function  party:exits/1
        called as party:exits(enough)
** exception throw: own
-- status 1
EOF
expect 'q() ends the evaluation' call "$counter" '1.' 'q().' '2.' <<'EOF'
1
EOF
expect '--load-info that is not a term is refused' call --load-info '{' "$counter" '1.' <<'EOF'
-- stderr
tracehost call: --load-info is not an Erlang term: line 1, column 2: expected a term, found the end of the text
-- status 2
EOF
expect '--repeat=0 is refused' call --repeat=0 "$counter" '1.' <<'EOF'
-- stderr
tracehost call: --repeat must be a number from 1 to 9007199254740991, not '0'
Try `tracehost call --help' or `tracehost call --usage' for more information.
-- status 2
EOF
full() {
    call "$counter" '1.' >/dev/full
}
expect 'a failed write to stdout is reported' full <<'EOF'
-- stderr
tracehost call: cannot write to stdout: No space left on device
-- status 1
EOF

# --- rounds ---

expect 'only the first round prints values' call --repeat=3 --threads=2 "$counter" 'X = 1.' 'self() ! X.' 'flush().' 'b().' <<'EOF'
1
1
Shell got 1
ok
X = 1
ok
-- stderr
tracehost call: 6 rounds in 2 processes, 0 evaluations failed
EOF
failing_rounds() {
    call --repeat=2 --threads=2 "$counter" 'X = bad.' 'counter:add(X, 1).' 2>&1 | sort | uniq -c | sed 's/^ *//'
}
expect 'every round prints its exceptions' failing_rounds <<'EOF'
4         called as counter:add(bad,1)
4      in function  counter:add/2
4 ** exception error: bad argument
1 bad
1 tracehost call: 4 rounds in 2 processes, 4 evaluations failed
1 tracehost call: process 1, round 1:
1 tracehost call: process 1, round 2:
1 tracehost call: process 2, round 1:
1 tracehost call: process 2, round 2:
EOF
expect 'a message waits for a later expression; a round begins without messages' call --repeat=2 "$counter" \
    'none = receive M -> M after 0 -> none end.' 'self() ! sent.' 'receive N -> N end.' 'self() ! left.' <<'EOF'
none
sent
sent
left
-- stderr
tracehost call: 2 rounds in 1 process, 0 evaluations failed
EOF

# --- funs ---

expect 'a library gets a fun and returns the same fun' call "$party" 'F = fun(X) -> X + 1 end, (party:echo({F})) == {F}.' \
    '(element(1, party:echo({F})))(1).' 'is_function(F, 1).' 'is_function(party:echo(fun party:echo/1)).' 'F.' <<'EOF'
true
2
true
true
#Fun<tracehost.0.1>
EOF
# Each process sends its fun to the process that registered the name first; that process calls the fun.
expect 'a process calls a fun that another process sent' call --threads=2 --repeat=200 "$counter" 'Own = self(), F = fun(X) -> {X, Own} end, ok.' \
    'catch register(first, self()), first ! {apply, F}, ok.' \
    'receive {apply, G} -> {1, Pid} = G(1), is_pid(Pid) after 0 -> true end.' <<'EOF'
ok
ok
true
-- stderr
tracehost call: 400 rounds in 2 processes, 0 evaluations failed
EOF
expect 'a fun that recurses too deeply raises an error; a tail call does not' call "$counter" '(fun S(0) -> 0; S(N) -> 1 + S(N - 1) end)(1000).' \
    '(fun S(N) -> 1 + S(N + 1) end)(0).' '(fun L(0) -> done; L(N) -> L(N - 1) end)(100000).' <<'EOF'
1000
done
-- stderr
** exception error: a system limit has been reached
        *** calls of funs inside each other take all of the thread's stack
-- status 1
EOF

# --- ports and names ---

expect 'tracehost:open_port/1 opens a port to a file' call "$counter" "P = tracehost:open_port(\"$work/port\"), port_command(P, [\"one\", <<\" two\">>, \$\\n])." \
    'is_port(P).' 'tracehost:close_port(P).' <<'EOF'
true
true
true
EOF
expect 'the file has the data that was sent to the port' cat "$work/port" <<'EOF'
one two
EOF
expect 'a port that is left open is closed at the end' call "$counter" \
    "P = tracehost:open_port(<<\"$work/left\">>), port_command(P, \"left\\n\")." <<'EOF'
true
EOF
expect 'the file of a port that was left open has its data' cat "$work/left" <<'EOF'
left
EOF
names() {
    call "$counter" "$@" 2>&1 | sed 's/<[0-9.]*>/PID/'
}
expect 'processes are registered, found and unregistered by name' names 'register(me, self()), me ! hello, whereis(me) == self().' 'flush().' \
    'register(me, self()).' 'unregister(me), whereis(me).' <<'EOF'
true
Shell got hello
ok
** exception error: bad argument
     in function  register/2
        called as register(me,PID)
        *** the name is registered already, or argument 2 has a name or is not alive
undefined
EOF
expect 'a message to tracehost:console() is printed' call "$counter" 'tracehost:console() ! {some, "message"}, ok.' <<'EOF'
{some,"message"}
ok
EOF

# --- the checker, crashes ---

sins=$BUILD_DIR/tests/plugins/sins.so
leaking() { # the address sanitizer finds it as well
    ASAN_OPTIONS=detect_leaks=0 call "$@" 2>"$work/findings"
    leaked=$?
    sed 's/ that .*//' "$work/findings"
    return $leaked
}
expect '--check reports memory that a library does not free' leaking --check --load-info clean "$sins" 'sins:leak_memory(7).' <<'EOF'
ok
tracehost: check: leak: 1 block of memory (7 bytes)
-- status 1
EOF
expect '--check reports nothing about a correct library' call --check "$counter" \
    '{ok, C} = counter:new(), counter:watch(C), counter:add(C, 1).' <<'EOF'
1
a counter ends at 1
EOF
crash() {
    cat >"$work/crash.c" <<'C'
#include <erl_nif.h>
static ERL_NIF_TERM write_at(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    int address = 0;
    (void)argc;
    enif_get_int(env, argv[0], &address);
    *(volatile char *)(long)address = 1;
    return argv[0];
}
static ErlNifFunc functions[] = {{"write_at", 2, write_at, 0}};
ERL_NIF_INIT(crash, functions, NULL, NULL, NULL, NULL)
C
    $CC -I plugin_api -DERL_NIF_MINOR_VERSION=16 -fPIC -shared -o "$work/crash.so" "$work/crash.c" && call "$work/crash.so" "$@"
}
case $BUILD_DIR in
*asan | *tsan) skip 'a crash report names the call; earlier output is complete' 'sanitizers report crashes themselves' ;;
*)
    expect 'a crash report names the call; earlier output is complete' crash '"before".' 'crash:write_at(16, {x}).' 'never.' <<'EOF'
"before"
-- stderr
tracehost: library 'WORK/crash.so' crashed: SIGSEGV, a bad memory access at address 0x10, in crash:write_at/2
  argument 1: 16
  argument 2: {x}
-- status 6
EOF
    ;;
esac

# --- the prompt, signals ---

# typed SIGNAL TEXT: types TEXT at the prompt, then sends SIGNAL unless SIGNAL is empty.
typed() {
    TERM=dumb python3 tests/cli/lib/type_at_terminal.py "$1" "$2" "$tracehost" call "$counter"
}
at_terminal 'the prompt evaluates expressions of several lines' typed '' 'X =\n  [1,\n2].\nlength(X).\n1 + .\n\n"a\nb".\nq().\n' <<'EOF'
1> X =
1>   [1,
1> 2].
[1,2]
2> length(X).
2
3> 1 + .
* line 1, column 5: expected an expression, found "."
4> 
4> "a
4> b".
"a\nb"
5> q().
EOF
at_terminal 'a fun can be called after its line has been evaluated' typed '' 'F = fun(X) ->\n[kept, "text", X] end, ok.\nG = fun() -> F(1) end, f(F), ok.\nG().\nq().\n' <<'EOF'
1> F = fun(X) ->
1> [kept, "text", X] end, ok.
ok
2> G = fun() -> F(1) end, f(F), ok.
ok
3> G().
[kept,"text",1]
4> q().
EOF
at_terminal 'Ctrl-D ends the prompt' typed '' '1.\n\004' <<'EOF'
1> 1.
1
2> 
EOF
at_terminal 'SIGINT ends the prompt with status 130' typed INT '1.\n' <<'EOF'
1> 1.
1
2> 
tracehost call: received SIGINT
-- status 130
EOF
edited() {
    TERM=xterm HOST='' tests/cli/lib/show_screen.py "$1" "$tracehost" call "$counter"
}
at_terminal 'lines can be edited and recalled from the history' edited 'lenth([ä\001\033f\033[D\033[Dg\005,\n"x\177c"]).\n\020\020\001X = \005\n\020\020\nq().\n' <<'EOF'
1> length([ä,
1> "c"]).
2
2> X = length([ä,
2> "c"]).
2
3> q().

status 0
EOF
at_terminal 'Ctrl-C ends a prompt with line editing' edited '1.\n2\003' <<'EOF'
1> 1.
1
2> ^C
tracehost call: received SIGINT

status 130
EOF
at_terminal 'SIGINT ends a receive expression' typed INT 'receive never -> 1 end.\n' <<'EOF'
1> receive never -> 1 end.
tracehost call: received SIGINT
-- status 130
EOF
interrupted() {
    tests/cli/lib/interrupt.py "$tracehost" call --repeat=1000000000 --threads=2 "$counter" 'ok.' 2>&1 | sed 's/[0-9][0-9]* rounds/N rounds/'
}
endless() {
    tests/cli/lib/interrupt.py "$tracehost" call "$counter" '"goes on".' '(fun L() -> L() end)().' 2>&1
}
expect 'SIGINT ends an endless loop' endless <<'EOF'
"goes on"
tracehost call: received SIGINT
-- status 130
EOF
expect 'SIGINT ends the rounds, whose number is printed' interrupted <<'EOF'
ok
tracehost call: received SIGINT after N rounds in 2 processes, 0 evaluations failed
EOF
finish
