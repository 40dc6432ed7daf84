#!/bin/sh
# Tests --top as a person sees it: in tmux, whose panes are terminals that can be read.
. tests/cli/lib/assertions.sh

if ! command -v tmux >/dev/null; then
    echo 'no tmux here'
    exit 77
fi
has_terminals || {
    echo "$no_terminals"
    exit 77
}

# --- a terminal ---

tmux() {
    command tmux -L "tracehost-$$" -f /dev/null "$@"
}
trap 'tmux kill-server 2>/dev/null; rm -rf "$work"' EXIT
export PATH="$BUILD_DIR/bin:$PATH" TRACEHOST_PATH="$tracers:$BUILD_DIR/tests/plugins" PS1='$ '
unset ENV TMUX

screen() {
    tmux capture-pane -p
}

# sees PATTERN: waits until a line of the screen matches, for half a minute at most.
sees() {
    for _ in $(seq 300); do
        screen | grep -q -- "$1" && return
        sleep 0.1
    done
    echo "nowhere: $1"
    screen
    return 1
}

# opens COMMAND [COLUMNS LINES]: runs the command in a terminal, of 80 columns and 16 lines by default, then prints its
# status; the state of the terminal before and after the command is saved in files.
opens() {
    tmux kill-server 2>/dev/null
    cat >"$work/script" <<EOF
stty -g >$work/before
sh -c 'echo \$\$ >$work/pid; ulimit -c 0; exec "\$@"' sh $1
status=\$?
stty -g >$work/after
echo status \$status
EOF
    for _ in $(seq 100); do # the one before may not have gone yet
        tmux new-session -d -x "${2:-80}" -y "${3:-16}" "exec sh" 2>/dev/null && break
        sleep 0.1
    done
    tmux send-keys " clear; . $work/script" Enter
}

# left STATUS: waits until the command has ended with STATUS; succeeds if the terminal is as before.
left() {
    sees "^status $1\$" && cmp "$work/before" "$work/after" && shows_the_shell
}
shows_the_shell() {
    flags=$(tmux display-message -p '#{alternate_on} #{cursor_flag} #{wrap_flag}')
    [ "$flags" = '0 1 1' ] || {
        echo "alternate screen, cursor, wrap: $flags"
        return 1
    }
}

presses() {
    tmux send-keys "$@"
}

# --- refusals ---

expect '--top without a terminal is refused' "$tracehost" run --top fib 'fib:fib(1)' <<'EOF'
-- stderr
tracehost run: --top needs a terminal: stderr is not a terminal
Try `tracehost run --help' or `tracehost run --usage' for more information.
-- status 2
EOF
expect '--top with --return and without a tracer is refused' "$tracehost" run --top -p fib:_ --return fib 'fib:fib(1)' <<'EOF'
-- stderr
tracehost run: --top only counts calls and their time: for --return and --exception, give a tracer with -t
Try `tracehost run --help' or `tracehost run --usage' for more information.
-- status 2
EOF
expect '--top of less than 100 ms is refused' "$tracehost" run --top=10ms fib 'fib:fib(1)' <<'EOF'
-- stderr
tracehost run: --top must be a time of at least 100ms, not '10ms'
Try `tracehost run --help' or `tracehost run --usage' for more information.
-- status 2
EOF
dumb() {
    opens "env TERM=dumb tracehost replay --top $recordings/s13_procs.trace" 120
    sees 'the type in $TERM is' && left 2
}
check '--top on a dumb terminal is refused' dumb

# --- a recording ---

# at_the_end: waits for the end of a replay, then prints the screen without the time, which differs from run to run.
at_the_end() {
    sees '  0 calls/s .* ENDED' && sees ', 0/s: ' &&
        screen | sed '1s/[0-9]*:[0-9][0-9]/N:NN/; 2s|[^ ]*/samples|SOURCE/samples|'
}
pingpong=samples/recordings/s04_genserver_pingpong.trace
plays() {
    opens "tracehost replay --top=100ms $* $pingpong" && at_the_end
}
expect 'the view stays after the end of a recording' plays <<'EOF'
tracehost replay  N:NN  0 calls/s  437 calls  30 of 30 functions called  ENDED
100% of 0.1 MB, 719 records, 0/s: samples/recordings/s04_genserver_pingpong.trac

calls/s        calls  own seconds  % time  function
      0           41     0.000070     3.5  gen_server:decode_msg/9
      0           41     0.000577    28.5  gen_server:loop/7
      0           40     0.000063     3.1  gen_server:handle_msg/6
      0           21     0.000026     1.3  wl:'-pingpong/1-lc$^0/1-0-'/2
      0           21     0.000023     1.1  wl:'-pingpong/1-lc$^1/1-1-'/2
      0           21     0.000320    15.8  wl:'-pingpong/1-lc$^2/1-2-'/1
      0           20     0.000436    21.5  gen_server:call/2
      0           20     0.000022     1.1  gen_server:cast/2
      0           20     0.000021     1.0  gen_server:cast_msg/1
      0           20     0.000023     1.1  gen_server:do_cast/2
      0           20     0.000069     3.4  gen_server:do_send/2
q end replay  c by calls  t by time  r restart  p pause  arrows scroll
EOF
by_time() {
    presses t
    sees '28.5  gen_server:loop' && screen | sed -n '5,7p'
}
expect 'the key t sorts by time' by_time <<'EOF'
      0           41     0.000577    28.5  gen_server:loop/7
      0           20     0.000436    21.5  gen_server:call/2
      0           21     0.000320    15.8  wl:'-pingpong/1-lc$^2/1-2-'/1
EOF
scrolled() {
    presses c End
    sees 'wl:terminate/2' && presses Up Up k j Up && sees 'wl:handle_call/3' && screen | sed -n '5,6p;15,$p'
}
expect 'the key c sorts by calls, and arrows, k, j and End scroll' scrolled <<'EOF'
      0           20     0.000026     1.3  wl:handle_call/3
      0           20     0.000041     2.0  wl:handle_cast/2
      0            1     0.000008     0.4  gen_server:try_terminate/3
q end replay  c by calls  t by time  r restart  p pause  arrows scroll
EOF
resized() {
    tmux resize-window -x 40 -y 8
    sees '^       calls  function' && presses Home && sees decode_msg && screen | sed '1s/[0-9]*:[0-9][0-9]/N:NN/'
}
expect 'a small window shows fewer columns and lines' resized <<'EOF'
tracehost replay  N:NN  0 calls/s  437 c
100% of 0.1 MB, 719 records, 0/s: sample

       calls  function
          41  gen_server:decode_msg/9
          41  gen_server:loop/7
          40  gen_server:handle_msg/6
q end replay  c by calls  t by time  r r
EOF
ends() {
    tmux resize-window -x 80 -y 40
    presses q
    left 0 && screen | grep -A3 function
}
expect 'the key q ends the view, and the counts are printed on stdout' ends <<'EOF'
       calls       seconds  function
          41      0.000577  gen_server:loop/7
          20      0.000436  gen_server:call/2
          21      0.000320  wl:'-pingpong/1-lc$^2/1-2-'/1
EOF
some() {
    plays "-p wl:_ --kind=count" | sed -n '1p;4,11p;16p'
    presses r
    sees ' 0 calls  0 of 8 functions' && presses q && left 0
}
expect '--kind=count shows no time, and the key r resets the counts' some <<'EOF'
tracehost replay  N:NN  0 calls/s  106 calls  8 of 8 functions called  ENDED
calls/s        calls % calls  function
      0           21    19.8  wl:'-pingpong/1-lc$^0/1-0-'/2
      0           21    19.8  wl:'-pingpong/1-lc$^1/1-1-'/2
      0           21    19.8  wl:'-pingpong/1-lc$^2/1-2-'/1
      0           20    18.9  wl:handle_call/3
      0           20    18.9  wl:handle_cast/2
      0            1     0.9  wl:init/1
      0            1     0.9  wl:pingpong/1
q end replay  c by calls  t by time  r restart  p pause  arrows scroll
EOF
interrupted() {
    plays >/dev/null && presses C-c && left 130
}
check 'Ctrl-C ends the replay with status 130' interrupted

# --- the output of others ---

beside() {
    opens "tracehost replay --top -t text --flags=call --max-events=3 $recordings/s01_seed_local_caller.trace" &&
        sees ENDED && screen | grep call.ex
    presses q
    left 0 && screen | grep 'call ex'
}
expect 'output of a tracer on the same terminal is printed after the view' beside <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
EOF
aside() {
    opens "tracehost replay --top -t text --flags=call --max-events=3 $recordings/s01_seed_local_caller.trace >$work/out" &&
        sees ENDED && presses q && left 0 && grep 'call ex' "$work/out"
}
expect 'output of a tracer to a file is not lost' aside <<'EOF'
<0.79.0>   call ex:foo() [result {rec,w,0}]
<0.79.0>   call ex:lots() [result {ex,foo,0}]
<0.79.0>   call ex:'of'() [result {ex,foo,0}]
EOF
torn() {
    opens "tracehost replay --top $recordings/s22_killed_vm.trace" 100 && sees 'missing: 1 places that are damaged' &&
        presses q && left 4 && sees 'recovered 1156 records'
}
check 'damage is reported in the view and at the end' torn

connected() {
    cat >"$work/connect" <<'EOF'
exec tracehost replay --top=100ms -t count "tcp://127.0.0.1:$1" >/dev/tty 2>&1
EOF
    opens "tests/cli/lib/serve_node.py $pingpong:60 -- sh $work/connect PORT" 100
    sees '  437 calls  30 of 30' && sees '0.1 MB, 719 records, 0/s: tcp://127.0.0.1:' && ! screen | grep ENDED &&
        presses q && left 0
}
check 'events of a connected node are counted, and the view stays live' connected

# --- a run ---

# The first process waits, so that the view stays.
waits="'bank:start(), bank:open(rent, 100), bank:open(food, 0), [bank:deposit(rent, 1), bank:deposit(food, 2)], timer:sleep(100000)'"
runs() {
    opens "tracehost run --top=200ms --schedulers=2 $* bank $waits" && sees 'bank:deposit/2' && sees '  0 calls/s  10 calls' &&
        screen | sed '1s/[0-9]*:[0-9][0-9]/N:NN/; s/ [0-9.]* *[0-9.]*  bank/ ...  bank/'
}
expect 'the view of a run shows its functions, processes and schedulers' runs -p bank:_ <<'EOF'
tracehost run  N:NN  0 calls/s  10 calls  5 of 15 functions called
4 processes, 2 schedulers

calls/s        calls  own seconds  % time  function
      0            4     ...  bank:account/3
      0            2     ...  bank:deposit/2
      0            2     ...  bank:open/2
      0            1     ...  bank:run/0
      0            1     ...  bank:start/0






q end run  c by calls  t by time  r restart  p pause  arrows scroll
EOF
pauses() {
    presses p
    sees 'PAUSED' && presses p && sees 'p pause' && ! screen | grep PAUSED
}
check 'the key p pauses and resumes the view' pauses
stops() {
    presses C-z
    sees 'Stopped' && shows_the_shell && presses fg Enter && sees 'bank:deposit/2' &&
        kill -CONT "$(cat "$work/pid")" && presses t && sees '^q end run' && presses q &&
        sees 'received a request to stop' && shows_the_shell
}
check 'Ctrl-Z stops the view, fg resumes the view, and q ends the run' stops
busy() {
    opens "tracehost run --top=100ms -t count --duration=1500ms fib 'fib:fib(92)' --grace=0" &&
        sees '[1-9][0-9]* k calls/s .* calls  1 of 5' && sees 'has not returned' && left 6 &&
        sees 'call$'
}
check '--top works with a tracer while a function does not return' busy

controlled() {
    runs --control="$work/socket" >/dev/null
    "$tracehost" ctl "$work/socket" sessions
    "$tracehost" ctl "$work/socket" detach 1
    "$tracehost" ctl "$work/socket" tracers | grep -e --top
    sees 'bank:deposit/2' >/dev/null && presses q && left 0
}
expect 'ctl detach cannot end the session of --top' controlled <<'EOF'
session  tracer  traced  discarded  breakpoints  flags
      1  --top        0          0           15  call
-- stderr
tracehost ctl: there is no session or tracer '1'
EOF

# --- endings ---

signalled() {
    runs >/dev/null && kill "-$1" "$(cat "$work/pid")" && left "$2"
}
check 'SIGTERM ends the run and restores the terminal' signalled TERM 143
check 'SIGHUP ends the run and restores the terminal' signalled HUP 129
check 'SIGQUIT ends the run and restores the terminal' signalled QUIT 131

# crashes COMMAND TRACER ARGUMENTS TEXT: a tracer crashes or exits, with output held back; TEXT appears on the screen.
crashes() {
    opens "tracehost $1 --top -t text -t $2 $3" 120 30 && sees "$4" && left "${5:-6}" && sees 'call '
}
check 'a tracer that crashes in a run leaves the terminal restored' crashes "run -L '$samples'" crash_tracer,how=segv,after=2 \
    "fib 'fib:fib(1)' 'fib:fib(1)' 'fib:fib(1)'" "'crash_tracer' crashed: SIGSEGV"
check 'a tracer that crashes in a replay leaves the terminal restored' crashes "replay -L '$samples'" \
    crash_tracer,how=abort,after=2 "$pingpong" "'crash_tracer' crashed: SIGABRT"
check 'a tracer that ends the program leaves the terminal restored' crashes "replay -L '$samples'" \
    crash_tracer,how=exit,after=2 "$pingpong" "'crash_tracer' ended the program"
"$CC" -std=gnu11 -D_GNU_SOURCE -fPIC -shared -Iplugin_api -I. -o "$work/dying.so" tests/cli/isolate/dying.c
if [ -z "${EMULATOR:-}" ]; then
    check 'new: a tracer that ends the process at once leaves the terminal restored' crashes "replay -L '$work'" dying,at=3 \
        "$pingpong" "'dying' ended the program: _exit(0)"
else
    skip 'new: a tracer that ends the process at once leaves the terminal restored' 'the emulator maps no memory a second time, and the supervisor cannot see the callback'
fi
check 'new: a process that is killed leaves the terminal restored' crashes "replay -L '$work'" dying,at=3,how=9 "$pingpong" \
    'killed from outside: SIGKILL' 137

# --- threads that cannot start ---

cat >"$work/no_thread.c" <<'EOF'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *context)
{
    static int number;
    int (*usual)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");

    return number++ == atoi(getenv("NO_THREAD")) ? EAGAIN : usual(thread, how, run, context);
}
EOF
# without_one: the start of each thread of a run fails in turn.
without_one() {
    $CC -shared -fPIC -o "$work/no_thread.so" "$work/no_thread.c" -ldl || return
    for number in $(seq 0 20); do
        opens "env NO_THREAD=$number LD_PRELOAD=$work/no_thread.so tracehost run --top --schedulers=1 bank 'bank:start().'"
        sees '^status' || return
        screen | grep -q '^status 0$' && return
        left 1 && sees 'cannot start' || return
    done
    return 1
}
case $BUILD_DIR in
*/asan | */tsan) skip 'a thread that cannot start is reported after the view' 'the sanitizer starts threads itself' ;;
*) check 'a thread that cannot start is reported after the view' without_one ;;
esac

finish
