#!/bin/sh
# Tests the help of the program and of each command.
# Long because: it holds the whole help of each command.
. tests/cli/lib/assertions.sh

expect '--help' "$tracehost" --help <<'EOF'
Usage: tracehost COMMAND [OPTION...] [ARGUMENT...]
Runs Erlang tracers (erl_tracer backends) and NIF libraries outside the BEAM.

Commands:
  replay    load tracers by name and play recorded event streams into them
  report    make a page for browsers of recorded event streams
  dump      print every record of a stream as Erlang text or JSON lines
  convert   convert a stream between the trace-port format and JSON lines
  info      count what is in a stream
  tracers   list the tracers that are found, or examine one
  plugins   list the plugins that are found, or examine one
  probes    list the USDT probes of this program, or of any file
  match     try a match specification on arguments or a message
  call      evaluate calls of functions of any NIF library
  run       run functions of NIF libraries under trace
  ctl       tell a host that runs what to trace

'tracehost COMMAND --help' tells more. 'tracehost --version' tells the version.

Exit status: 0 done, 1 failed, 2 wrong usage, 3 input unreadable, 4 input
partial or events lost, 5 a library was refused, 6 it crashed or hung,
128+n ended by signal n.
EOF
for command in replay report dump convert info tracers plugins match call; do
    "$tracehost" $command --help >"$work/$command" 2>&1
done
expect 'replay --help' cat "$work/replay" <<'EOF'
Usage: tracehost replay [OPTION...] STREAM...
Loads tracers by name and plays recorded streams into them, one stream after
the other.

  -L DIR                     Look for tracers in DIR, then in $TRACEHOST_PATH,
                             then where tracehost is installed
  -t, --tracer=TRACER        NAME, NAME=STATE or NAME,key=value,...; may be
                             given more than once (default: text)
      --watch                When the file of a tracer of -t is compiled anew,
                             or another is moved there, go on with that one,
                             with all that is set; one that is refused leaves
                             the old one at work
      --clock=CLOCK          recorded (the default): tracers that ask for the
                             time get that of the event; wall: they get the
                             real time
      --flags=LIST           What to trace, as in erlang:trace/3, separated by
                             commas (default: all that was recorded, as it was
                             recorded)
      --from=T               Leave out events before T
      --ports=LIST           The same of ports (default: likewise)
      --probes               Events hit the USDT probes that they would hit in
                             a host
      --processes=LIST       Only these: all; existing (when the recording
                             began); new (spawned in it); pids; registered
                             names (default: whoever was recorded, unless
                             --ports is given)
      --session=NAME         Begins a session: -t (one), --flags, --processes,
                             --ports and -p that follow are for it alone
      --to=T                 Leave out events after T
      --caller               With their callers
      --caller-line          With their callers, and the file and line of the
                             call where that is known
      --each-returns         For all -p: tail calls have returns of their own
                             in the recording, though it tells that they are
                             tail calls
      --exception            With what they return or raise
      --kind=LIST            local (the default); global: only external calls;
                             meta: whoever makes them; count: they are counted;
                             time: how long they take
      --match-spec=SPEC      Only those that match SPEC, Erlang text or one of
                             c, x, cx, r; false: none any more
      --max-frames=N         For all -p: remember at most N calls of a process
                             that have not returned, and 16 N of all together
                             (default: 1000000)
      --meta-tracer=TRACER   With --kind=meta: calls go to this tracer, not to
                             that of -t
  -p, --pattern=PATTERN      Of all calls only those of M:F/A, M:F/_, M:_/_ or
                             _:_/_ (/_ may be left out), whatever the recording
                             was made for, and, without --flags, nothing but
                             calls; on_load: of functions that come later; of
                             all messages sent (send) or received (receive)
                             those that --match-spec says; the options of this
                             group are for the -p before them
      --recorded-callers     For all -p: the recording was made with
                             {message,{caller}}, so that its results are
                             callers
      --return               With what they return
      --callback-timeout=T   Give up if a callback takes longer than T
                             (default: one that takes 10s is named, and goes
                             on)
      --check                Watch what the tracers do with the NIF API; exit
                             with 1 if it is forbidden
      --color=WHEN           always, never or auto (the default): for tracers
                             that use colours; NO_COLOR is obeyed
      --control=SOCKET       Do what `tracehost ctl SOCKET` says while it runs;
                             without -t, -p and the like nothing is traced at
                             first
      --fail-on-loss         Exit with 4 if the recorder dropped events or
                             calls were forgotten
      --format=FORMAT        How counts are shown: text (the default) or json
      --stats                Show what became of all events, at the end on
                             stderr
      --top[=T]              Show the functions that are called most on the
                             terminal, anew every T (1s): of -p, else all;
                             without -t no tracer is told. Keys: c and t sort,
                             arrows scroll, r restarts the counts, p pauses, q
                             ends with status 0 what Ctrl-C ends with 130
      --verify               Decode every term of every record, wanted or not
      --encoding=ENCODING    Which characters of atoms, strings and binaries
                             are shown as they are, as with `erl +pc`: unicode
                             (the default where the locale is UTF-8) or latin1
      --allow-partial        Exit with 0 though a stream is damaged or cut off
                             (else 4)
      --max-events=N         Stop after N events that a tracer was told of, in
                             all streams together
      --max-memory=BYTES     Take an event for damaged that needs more memory
                             to be read: 1MiB or more (default: 512MiB)
      --max-records=N        Stop after N records of each stream
      --progress=WHEN        Show on stderr how far a stream is read, from the
                             first second on: auto (the default: if stderr is a
                             terminal), always, never
      --reconnect[=T]        Of tcp://...: where the connection ends, try for
                             the time T (60s) to take it up again
      --scheduler-id         Where one integer may be a match specification's
                             result or a scheduler's number, it is the
                             scheduler's: for streams recorded with the flag
                             scheduler_id
  -?, --help                 Give this help list
      --usage                Give a short usage message
  -V, --version              Print program version

STREAM is a trace-port file, a file of a wrap set or its pattern NAME*TAIL,
JSON lines, - for stdin, or tcp://HOST:PORT for what a running node sends to
dbg:trace_port(ip, PORT).

TRACER is a name, looked up as NAME.so, or a path with a '/'. Its state, which
every callback gets, is an Erlang term: the value of STATE, an expression; the
map of the keys, whose values are integers, true, false or else binaries; or
#{}. `console`, also inside of it, stands for a process that prints what it is
sent.

T is a time after the first record, of several streams the first one's: 1.5 or
1.5s, 250ms, 10us, 3ns, 2min. After an @ it is a time of the recording's own
clock: @1795233754.349.

Examples:
  tracehost replay calls.trace
  tracehost replay -t msg -t count,output=counts.txt calls.trace
  tracehost replay -t ./my_tracer.so='{level,2}' --flags=call,arity a.trace
  tracehost replay -t erl_msg_tracer=console --from=10ms sends.jsonl
  tracehost replay --session a -t msg --processes=new --session b a.trace
  tracehost replay -p lists:map/2 --return -p ets:_ --kind=count a.trace
  tracehost replay -t count --reconnect=30s tcp://localhost:4711
  tracehost replay -p send --match-spec "[{['_',stop],[],[]}]" a.trace

Flags:
  send                       messages sent
  receive                    messages received
  call                       calls, returns and exceptions
  return_to                  returns to a function
  procs                      spawn, exit, link, register and the like
  ports                      the same of ports
  running                    processes scheduled in and out
  running_procs              the same
  running_ports              ports scheduled in and out
  exiting                    exiting processes scheduled in and out
  garbage_collection         garbage collections
  timestamp                  ask the tracer for a time stamp
  cpu_timestamp              ask for CPU time
  monotonic_timestamp        ask for monotonic time
  strict_monotonic_timestamp ask for strictly monotonic time
  arity                      calls tell only how many arguments they have
  scheduler_id               tell the scheduler, where it was recorded
  silent                     ask of calls, but tell of none
  set_on_spawn               who is spawned gets all flags
  set_on_first_spawn         only who is spawned first
  set_on_link                who is spawned and linked gets all flags
  set_on_first_link          only the first of these
  all                        all but cpu_timestamp, silent and set_on_...
EOF
expect 'report --help' cat "$work/report" <<'EOF'
Usage: tracehost report [OPTION...] STREAM...
Makes one page of recorded streams, for browsers: what was called how often and
how long that took, where time went by stack, when processes ran, who sent
messages to whom and how long these waited, the slowest calls.

  -o, --output=FILE          Write the page to FILE, which appears when it is
                             complete; - for stdout (default: the first
                             STREAM's name with .html in place of its suffix,
                             in the current folder)
      --title=TEXT           What the page is called (default: the first
                             STREAM's name)
      --flags=LIST           What to trace, as in erlang:trace/3, separated by
                             commas (default: all that was recorded, as it was
                             recorded)
      --from=T               Leave out events before T
      --ports=LIST           The same of ports (default: likewise)
      --processes=LIST       Only these: all; existing (when the recording
                             began); new (spawned in it); pids; registered
                             names (default: whoever was recorded, unless
                             --ports is given)
      --to=T                 Leave out events after T
      --caller               With their callers
      --caller-line          With their callers, and the file and line of the
                             call where that is known
      --exception            With what they return or raise
      --match-spec=SPEC      Only those that match SPEC, Erlang text or one of
                             c, x, cx, r; false: none any more
  -p, --pattern=PATTERN      Of all calls only those of M:F/A, M:F/_, M:_/_ or
                             _:_/_ (/_ may be left out), whatever the recording
                             was made for, and, without --flags, nothing but
                             calls; on_load: of functions that come later; of
                             all messages sent (send) or received (receive)
                             those that --match-spec says; the options of this
                             group are for the -p before them
      --return               With what they return
      --encoding=ENCODING    Which characters of atoms, strings and binaries
                             are shown as they are, as with `erl +pc`: unicode
                             (the default where the locale is UTF-8) or latin1
      --allow-partial        Exit with 0 though a stream is damaged or cut off
                             (else 4)
      --max-events=N         Stop after N events that a tracer was told of, in
                             all streams together
      --max-memory=BYTES     Take an event for damaged that needs more memory
                             to be read: 1MiB or more (default: 512MiB)
      --max-records=N        Stop after N records of each stream
      --progress=WHEN        Show on stderr how far a stream is read, from the
                             first second on: auto (the default: if stderr is a
                             terminal), always, never
      --reconnect[=T]        Of tcp://...: where the connection ends, try for
                             the time T (60s) to take it up again
      --scheduler-id         Where one integer may be a match specification's
                             result or a scheduler's number, it is the
                             scheduler's: for streams recorded with the flag
                             scheduler_id
  -?, --help                 Give this help list
      --usage                Give a short usage message
  -V, --version              Print program version

STREAM is a trace-port file, a file of a wrap set or its pattern NAME*TAIL,
JSON lines, - for stdin, or tcp://HOST:PORT for what a running node sends to
dbg:trace_port(ip, PORT). Several streams make one page, as if they were parts
of one recording.

T is a time after the first record, of several streams the first one's: 1.5 or
1.5s, 250ms, 10us, 3ns, 2min. After an @ it is a time of the recording's own
clock: @1795233754.349.

Examples:
  tracehost report calls.trace
  tracehost report --title='night of the 3rd' -o night.html 'night*.trace'
  tracehost report --from=10s --to=20s --processes=server calls.trace
  tracehost report -p lists:_ --exception -o - calls.trace | gzip >lists.gz
EOF
expect 'dump --help' cat "$work/dump" <<'EOF'
Usage: tracehost dump [OPTION...] STREAM
Prints every record of a recorded stream.

      --format=FORMAT        term (the default): one Erlang term a line, as
                             io:format("~0p.~n") writes it, or, with
                             --encoding=unicode, "~0tp.~n"; jsonl: one JSON
                             object a line
  -o, --output=FILE          Write to FILE, which appears when it is complete
      --encoding=ENCODING    Which characters of atoms, strings and binaries
                             are shown as they are, as with `erl +pc`: unicode
                             (the default where the locale is UTF-8) or latin1
      --allow-partial        Exit with 0 though a stream is damaged or cut off
                             (else 4)
      --max-events=N         The same: each record is an event here
      --max-memory=BYTES     Take an event for damaged that needs more memory
                             to be read: 1MiB or more (default: 512MiB)
      --max-records=N        Stop after N records
      --progress=WHEN        Show on stderr how far a stream is read, from the
                             first second on: auto (the default: if stderr is a
                             terminal), always, never
      --reconnect[=T]        Of tcp://...: where the connection ends, try for
                             the time T (60s) to take it up again
      --scheduler-id         Where one integer may be a match specification's
                             result or a scheduler's number, it is the
                             scheduler's: for streams recorded with the flag
                             scheduler_id
  -?, --help                 Give this help list
      --usage                Give a short usage message
  -V, --version              Print program version

STREAM is a trace-port file, a file of a wrap set or its pattern NAME*TAIL,
JSON lines, - for stdin, or tcp://HOST:PORT for what a running node sends to
dbg:trace_port(ip, PORT).

Examples:
  tracehost dump calls.trace
  tracehost dump --format=jsonl --max-events=3 calls.trace
EOF
expect 'convert --help' cat "$work/convert" <<'EOF'
Usage: tracehost convert [OPTION...] IN OUT
Converts a recorded stream between the trace-port format and JSON lines, losing
nothing.

      --to=FORMAT            jsonl or trace; without it the suffix of OUT
                             tells: .jsonl, .json or .trace, .log, .dat
      --allow-partial        Exit with 0 though a stream is damaged or cut off
                             (else 4)
      --max-events=N         The same: each record is an event here
      --max-memory=BYTES     Take an event for damaged that needs more memory
                             to be read: 1MiB or more (default: 512MiB)
      --max-records=N        Stop after N records
      --progress=WHEN        Show on stderr how far a stream is read, from the
                             first second on: auto (the default: if stderr is a
                             terminal), always, never
      --reconnect[=T]        Of tcp://...: where the connection ends, try for
                             the time T (60s) to take it up again
      --scheduler-id         Where one integer may be a match specification's
                             result or a scheduler's number, it is the
                             scheduler's: for streams recorded with the flag
                             scheduler_id
  -?, --help                 Give this help list
      --usage                Give a short usage message
  -V, --version              Print program version

Either may be - for stdin or stdout. tracehost-jsonl(5) describes the JSON. IN
may be tcp://HOST:PORT, what a running node sends to dbg:trace_port(ip, PORT):
then it is recorded, until the node or a signal ends it.

Examples:
  tracehost convert calls.trace calls.jsonl
  tracehost convert tcp://localhost:4711 calls.trace
  tracehost convert --to=trace calls.jsonl - | tracehost info -
EOF
expect 'info --help' cat "$work/info" <<'EOF'
Usage: tracehost info [OPTION...] STREAM
Counts the records of a stream: by tag, by tracee, by function called; its time
span; what was dropped or is damaged.

      --format=FORMAT        text (the default) or json
      --top=N                Show the N most frequent functions and tracees; 0:
                             all (the default: 20 as text, all as json)
      --encoding=ENCODING    Which characters of atoms, strings and binaries
                             are shown as they are, as with `erl +pc`: unicode
                             (the default where the locale is UTF-8) or latin1
      --allow-partial        Exit with 0 though a stream is damaged or cut off
                             (else 4)
      --max-events=N         The same: each record is an event here
      --max-memory=BYTES     Take an event for damaged that needs more memory
                             to be read: 1MiB or more (default: 512MiB)
      --max-records=N        Stop after N records
      --progress=WHEN        Show on stderr how far a stream is read, from the
                             first second on: auto (the default: if stderr is a
                             terminal), always, never
      --reconnect[=T]        Of tcp://...: where the connection ends, try for
                             the time T (60s) to take it up again
      --scheduler-id         Where one integer may be a match specification's
                             result or a scheduler's number, it is the
                             scheduler's: for streams recorded with the flag
                             scheduler_id
  -?, --help                 Give this help list
      --usage                Give a short usage message
  -V, --version              Print program version

Example:
  tracehost info --top=5 calls.trace
EOF
expect 'tracers --help' cat "$work/tracers" <<'EOF'
Usage: tracehost tracers [OPTION...] [NAME]
Lists the libraries in the tracer path; or shows what is in one: its callbacks
and what fills each slot, its settings, its NIF version, the functions it
imports and the version that has them all.

  -L DIR                     Look in DIR first, then in $TRACEHOST_PATH, then
                             where tracehost is installed
  -?, --help                 Give this help list
      --usage                Give a short usage message
  -V, --version              Print program version

A library that is shown is opened: its constructors and its nif_init run, its
load does not.

Examples:
  tracehost tracers
  tracehost tracers count
  tracehost tracers ./my_tracer.so
EOF
expect 'plugins --help' cat "$work/plugins" <<'EOF'
Usage: tracehost plugins [OPTION...] [NAME]
Lists the libraries in the plugin path; or shows what is in one: its functions,
what breakpoints they can have, which of them are for dirty schedulers, where
they are in the source if there is debug information, its NIF version, the
functions it imports and the version that has them all. What is shown as
Module:Function/Arity can be called with `tracehost call`, and traced; local
functions can be traced.

  -L DIR                     Look in DIR first, then in $TRACEHOST_PATH, then
                             where tracehost is installed
  -?, --help                 Give this help list
      --usage                Give a short usage message
  -V, --version              Print program version

A global breakpoint sees calls that come from outside, a local one also those
that the library makes in C.

A library that is shown is opened: its constructors and its nif_init run, its
load does not.

Examples:
  tracehost plugins
  tracehost plugins -L priv my_nif
  tracehost plugins ./priv/my_nif.so
EOF
expect 'match --help' cat "$work/match" <<'EOF'
Usage: tracehost match [OPTION...] SPEC TERM
Tries a match specification: on a call with the arguments that are the list
TERM, on a message sent, [Receiver,Message], or received,
[Node,Sender,Message]. Prints what erlang:match_spec_test/3 would, and for each
clause that fails, why it does.

      --arity=N              Instead of TERM: N arguments of which nothing else
                             is known
      --caller=TERM          What {caller} gives: {Module,Function,Arity} or
                             undefined
      --format=FORMAT        text (the default) or json
      --kind=KIND            What it is for: call (the default), send or
                             receive
      --self=PID             The tracee; without it, it is not known
      --encoding=ENCODING    Which characters of atoms, strings and binaries
                             are shown as they are, as with `erl +pc`: unicode
                             (the default where the locale is UTF-8) or latin1
  -?, --help                 Give this help list
      --usage                Give a short usage message
  -V, --version              Print program version

SPEC is Erlang text, or a name: c (caller_trace), x (exception_trace), cx
(caller_exception_trace), r (return_trace). Actions are shown, not taken. What
is not known, as arguments with --arity, is not guessed: then the answer may be
'unknown'.

Exit status: 0 it matches, 1 it does not, 4 that is unknown, 3 SPEC has a
fault.

Examples:
  tracehost match "[{['\$1','_'],[{'>','\$1',3}],[]}]" '[4,x]'
  tracehost match --kind=send "[{[me,'_'],[],[]}]" '[me,ok]'
  tracehost match --arity=2 c
EOF
expect 'call --help' cat "$work/call" <<'EOF'
Usage: tracehost call [OPTION...] LIBRARY... [EXPRESSION...]
Loads NIF libraries and evaluates Erlang expressions that call their functions,
as a shell does.

      --check                Watch what the libraries do with the NIF API; exit
                             with 1 if it is forbidden
  -f FILE                    Evaluate what is in FILE, or - for stdin, before
                             the EXPRESSIONs
      --grace=T              In the end wait T for functions that run to return
                             (default: 10s); then say which do not, and exit
                             with 6
      --load-info=TERM       What the libraries' load() is given, as by
                             erlang:load_nif/2 (default: 0)
  -L DIR                     Look in DIR first, then in $TRACEHOST_PATH, then
                             where tracehost is installed
      --repeat=N             Evaluate all N times
      --threads=N            Evaluate all in N processes at once, on N
                             schedulers, each with its own variables
      --encoding=ENCODING    Which characters of atoms, strings and binaries
                             are shown as they are, as with `erl +pc`: unicode
                             (the default where the locale is UTF-8) or latin1
  -?, --help                 Give this help list
      --usage                Give a short usage message
  -V, --version              Print program version

LIBRARY is a name, looked up as NAME.so, or a path with a '/'. EXPRESSION is
what ends in a full stop or has a bracket, a quote, a blank or any of = : ; , <
> ! $ # % in it; but what begins with / or ./ or ../, or ends in .so behind a
/, is a path. - stands for what is on stdin. An EXPRESSION's last full stop may
be left out. Without any, stdin is read; if that is a terminal, there is a
prompt.

There are terms, variables and patterns, operators, case, if, try, catch,
receive and !; self(), register/2, timer:sleep/1 and the like; flush(), f(),
f(V), b() and q() as in the shell; tracehost:console(), a process that prints
what it is sent, and tracehost:open_port("FILE") and close_port/1. There are
funs and comprehensions, but no records and no other functions of Erlang's.

Values are printed on stdout, exceptions on stderr; then the exit status is 1.
With --repeat and --threads, values are those of the first time.

Examples:
  tracehost call -L priv jiffy 'jiffy:nif_decode_init(<<"[1,2]">>, []).'
  tracehost call ./my_nif.so '{ok, C} = my_nif:new().' 'my_nif:add(C, 1).'
  tracehost call --threads=4 --repeat=1000 my_nif -f stress.txt
EOF

# Help fits a terminal of 80 columns.
narrow() {
    "$tracehost" --help >"$work/help"
    if grep -nE '.{81}' "$work/help" "$work/replay" "$work/dump" "$work/convert" "$work/info" \
        "$work/tracers" "$work/plugins" "$work/match" "$work/call"; then
        return 1
    fi
}
check 'no line is too long' narrow

same() {
    "$tracehost" help >"$work/a" && "$tracehost" -h >"$work/b" && "$tracehost" --help | cmp - "$work/a" &&
        cmp "$work/a" "$work/b" && "$tracehost" help dump | cmp - "$work/dump" && "$tracehost" dump '-?' | cmp - "$work/dump"
}
check 'other ways to ask for help' same

versions() {
    "$tracehost" --version && "$tracehost" -V && "$tracehost" dump --version && "$tracehost" tracers -V
}
expect '--version' versions <<'EOF'
tracehost 0.1.0 (NIF API 2.18)
tracehost 0.1.0 (NIF API 2.18)
tracehost 0.1.0 (NIF API 2.18)
tracehost 0.1.0 (NIF API 2.18)
EOF


# glibc's argp looks at a byte behind a text that ends in the last column. If that is a blank, as in memory that was in use
# before, the line goes over its margin: so no text may end there.
with_any_memory() {
    for command in replay report dump convert info tracers plugins probes match call run ctl; do
        GLIBC_TUNABLES=glibc.malloc.perturb=223 "$tracehost" $command --help >"$work/blanks"
        GLIBC_TUNABLES=glibc.malloc.perturb=190 "$tracehost" $command --help | diff "$work/blanks" -
    done
}
expect 'help comes out alike whatever memory has in it' with_any_memory </dev/null
finish
