#!/bin/sh
# Tests the help of the program and of each command.
# Long because: it holds the help of each command.
. tests/cli/lib/assertions.sh

expect '--help' "$tracehost" --help <<'EOF'
Usage: tracehost COMMAND [OPTION...] [ARGUMENT...]
Runs Erlang tracers (erl_tracer backends) and NIF libraries outside the BEAM.

Commands:
  replay    play recorded event streams into tracers
  report    make an HTML page from recorded event streams
  diff      compare the calls of two recordings
  sql       query recordings in SQL
  info      count the records of a stream
  dump      print every record of a stream as Erlang text or JSON lines
  convert   convert a stream between trace-port format and JSON lines
  streams   list the recordings in logs of NATS
  merge     print the results of many workers on one recording
  cut       write a part of a recording
  run       run functions of NIF libraries under trace
  call      call functions of NIF libraries
  new       make a folder with a tracer or plugin to begin with
  check     find the mistakes of a tracer or NIF library
  bench     measure what each callback of a tracer costs
  ctl       control a running host
  match     try a match specification on arguments or a message
  tracers   list the tracers that are found, or show one
  plugins   list the NIF libraries that are found, or show one
  probes    list the USDT probes of tracehost or of a file

Exit status: 0 done, 1 failed, 2 wrong usage, 3 input unreadable, 4 input
partial or events lost, 5 a library was refused, 6 it crashed or hung, 128+n
ended by signal n.

Examples:
  tracehost replay samples/recordings/s13_procs.trace
  tracehost run -p fib:fib/1 --return fib 'fib:fib(2)'

`tracehost COMMAND --help` shows the options; `man tracehost` describes all.
EOF
for command in replay report dump convert info tracers plugins match call new; do
    "$tracehost" $command --help >"$work/$command" 2>&1
done
expect 'replay --help' cat "$work/replay" <<'EOF'
Usage: tracehost replay [OPTION...] STREAM...
Plays recorded event streams into tracers; several nodes are merged by time.
STREAM is a trace-port file, a wrap set NAME*TAIL, JSON lines (also .gz, .zst),
- for stdin, a node: node:NAME@HOST, tcp://HOST:PORT, a log: nats://HOST/NAME.

Input:
      --from=T           Deliver events only from T on: 250ms, 1.5s or @CLOCK
      --to=T             Deliver events only up to T
      --min-duration=T   Deliver only calls that lasted T, and their ends

Events:
      --flags=LIST       Deliver only these events: flags of erlang:trace/3
                         such as call,procs (default: all recorded)
      --processes=LIST   Deliver only events of these processes: all, existing,
                         new, pids, registered names (default: all recorded)
      --ports=LIST       Likewise for ports

Patterns (options apply to the -p before them):
  -p, --pattern=PATTERN  Deliver only calls of M:F/A, M:F, M:_ or _:_ (and
                         events of --flags); send, receive: filter messages
      --match-spec=SPEC  Deliver only calls or messages that match SPEC: Erlang
                         text, or c, x, cx, r
      --return           Also deliver returns
      --exception        Also deliver returns and exceptions
      --caller           Add the caller to each call
      --caller-line      Add the caller, and file and line if they are known
      --kind=LIST        local (default: all calls), global (external calls),
                         meta (calls by any process), count or time

Tracers:
  -t, --tracer=TRACER    Load NAME, NAME=STATE or NAME,key=value,... (default:
                         text; repeatable; `tracehost tracers` lists names)
  -L DIR                 Search DIR first for tracers
      --watch            Replace a tracer when its file changes
      --isolate          Run each tracer in a process of its own

Output:
      --stats            Print counts of all events on stderr at the end
      --format=FORMAT    Format of counts: text (default) or json
      --top[=T]          Show the most called functions every T (1s)
      --color=WHEN       Colours: always, never or auto (default)

Limits and exit status:
      --callback-timeout=T
                         Exit with 6 if a callback takes longer than T
      --max-events=N     Stop after N events that were delivered to a tracer
      --allow-partial    Exit with 0, not 4, for damaged or truncated streams
      --for=T            Trace node:NAME@HOST for the time T
      --fail-on-loss     Exit with 4 if events were dropped or calls forgotten

Other:
      --control=SOCKET   Accept commands of `tracehost ctl SOCKET`
      --check            Report misuse of the NIF API; if any, exit with 1
  -?, --help[=all]       Show this help; all: with all options

Examples:
  tracehost replay samples/recordings/s13_procs.trace
  tracehost replay -p wl:_ samples/recordings/s04_genserver_pingpong.trace

--help=all shows all options; `man tracehost-replay` describes them.
EOF
expect 'report --help' cat "$work/report" <<'EOF'
Usage: tracehost report [OPTION...] STREAM...
Makes an HTML page of recorded event streams, which are parts of one recording,
or of several nodes.
STREAM is a trace-port file, a wrap set NAME*TAIL, JSON lines (also .gz, .zst),
- for stdin, a node: node:NAME@HOST, tcp://HOST:PORT, a log: nats://HOST/NAME.

Input:
      --from=T           Deliver events only from T on: 250ms, 1.5s or @CLOCK
      --to=T             Deliver events only up to T
      --min-duration=T   Deliver only calls that lasted T, and their ends

Events:
      --flags=LIST       Deliver only these events: flags of erlang:trace/3
                         such as call,procs (default: all recorded)
      --processes=LIST   Deliver only events of these processes: all, existing,
                         new, pids, registered names (default: all recorded)
      --ports=LIST       Likewise for ports

Patterns (options apply to the -p before them):
  -p, --pattern=PATTERN  Deliver only calls of M:F/A, M:F, M:_ or _:_ (and
                         events of --flags); send, receive: filter messages
      --match-spec=SPEC  Deliver only calls or messages that match SPEC: Erlang
                         text, or c, x, cx, r
      --return           Also deliver returns
      --exception        Also deliver returns and exceptions
      --caller           Add the caller to each call
      --caller-line      Add the caller, and file and line if they are known

Output:
  -o, --output=FILE      Write the page to FILE once the page is complete; -
                         for stdout (default: name of the first STREAM with the
                         suffix .html, in the current folder)
      --title=TEXT       Title of the page (default: name of the first STREAM)

Limits and exit status:
      --max-events=N     Stop after N events that were delivered to a tracer
      --allow-partial    Exit with 0, not 4, for damaged or truncated streams
      --for=T            Trace node:NAME@HOST for the time T

Other:
  -?, --help[=all]       Show this help; all: with all options

Examples:
  tracehost report -o page.html samples/recordings/s13_procs.trace
  tracehost report -p wl:_ samples/recordings/s04_genserver_pingpong.trace

--help=all shows all options; `man tracehost-report` describes them.
EOF
expect 'dump --help' cat "$work/dump" <<'EOF'
Usage: tracehost dump [OPTION...] STREAM...
Prints every record of recorded streams. Several are merged by time.
STREAM is a trace-port file, a wrap set NAME*TAIL, JSON lines (also .gz, .zst),
- for stdin, a node: node:NAME@HOST, tcp://HOST:PORT, a log: nats://HOST/NAME.

Events:
      --flags=LIST       Deliver only these events: flags of erlang:trace/3
                         such as call,procs (default: all recorded)
      --processes=LIST   Deliver only events of these processes: all, existing,
                         new, pids, registered names (default: all recorded)
      --ports=LIST       Likewise for ports

Patterns (options apply to the -p before them):
  -p, --pattern=PATTERN  Deliver only calls of M:F/A, M:F, M:_ or _:_ (and
                         events of --flags); send, receive: filter messages
      --match-spec=SPEC  Deliver only calls or messages that match SPEC: Erlang
                         text, or c, x, cx, r
      --return           Also deliver returns
      --exception        Also deliver returns and exceptions
      --caller           Add the caller to each call
      --caller-line      Add the caller, and file and line if they are known

Output:
      --format=FORMAT    term (default): one Erlang term a line, as by
                         io:format("~0p.~n"); jsonl: one JSON object a line;
                         csv, jsonl-flat, table: flat rows, for databases and
                         for people
  -o, --output=FILE      Write to FILE, which appears once the output is
                         complete

Limits and exit status:
      --allow-partial    Exit with 0, not 4, for damaged or truncated streams
      --max-records=N    Stop after N records
      --for=T            Trace node:NAME@HOST for the time T

Other:
  -?, --help[=all]       Show this help; all: with all options

Examples:
  tracehost dump samples/recordings/s13_procs.trace
  tracehost dump --format=jsonl samples/recordings/s13_procs.trace

--help=all shows all options; `man tracehost-dump` describes them.
EOF
expect 'convert --help' cat "$work/convert" <<'EOF'
Usage: tracehost convert [OPTION...] IN OUT
Converts a recorded stream between trace-port format and JSON lines, plain or
compressed.
IN and OUT are files, - for stdin and stdout, or nats://HOST/NAME, a log. IN
may be node:NAME@HOST, a running node, or tcp://HOST:PORT, its trace port.

Events:
      --flags=LIST       Deliver only these events: flags of erlang:trace/3
                         such as call,procs (default: all recorded)
      --processes=LIST   Deliver only events of these processes: all, existing,
                         new, pids, registered names (default: all recorded)
      --ports=LIST       Likewise for ports

Patterns (options apply to the -p before them):
  -p, --pattern=PATTERN  Deliver only calls of M:F/A, M:F, M:_ or _:_ (and
                         events of --flags); send, receive: filter messages
      --match-spec=SPEC  Deliver only calls or messages that match SPEC: Erlang
                         text, or c, x, cx, r
      --return           Also deliver returns
      --exception        Also deliver returns and exceptions
      --caller           Add the caller to each call
      --caller-line      Add the caller, and file and line if they are known

Output:
      --to=FORMAT        jsonl or trace, also as jsonl.gz, trace.zst and so on
                         (default: by the suffix of OUT, which is .jsonl,
                         .json, .trace, .log or .dat, and .gz or .zst behind
                         it)
      --index[=BYTES]    Make OUT, a .trace.zst, a packed recording, of which
                         commands read only the frames that they need; of BYTES
                         each (default: 1MiB)
      --level=N          Compress by level N: 1 to 9 for .gz (default: 6), 1 to
                         19 for .zst (default: 1)

Limits and exit status:
      --allow-partial    Exit with 0, not 4, for damaged or truncated streams
      --max-records=N    Stop after N records
      --for=T            Trace node:NAME@HOST for the time T

Other:
  -?, --help[=all]       Show this help; all: with all options

Examples:
  tracehost convert samples/recordings/s13_procs.trace procs.jsonl
  tracehost convert --to=jsonl samples/recordings/s13_procs.trace - | head

--help=all shows all options; `man tracehost-convert` describes them.
EOF
expect 'info --help' cat "$work/info" <<'EOF'
Usage: tracehost info [OPTION...] STREAM...
Counts the records of streams: by tag, by tracee and by called function.
Several are merged by time.
STREAM is a trace-port file, a wrap set NAME*TAIL, JSON lines (also .gz, .zst),
- for stdin, a node: node:NAME@HOST, tcp://HOST:PORT, a log: nats://HOST/NAME.

Events:
      --flags=LIST       Deliver only these events: flags of erlang:trace/3
                         such as call,procs (default: all recorded)
      --processes=LIST   Deliver only events of these processes: all, existing,
                         new, pids, registered names (default: all recorded)
      --ports=LIST       Likewise for ports

Patterns (options apply to the -p before them):
  -p, --pattern=PATTERN  Deliver only calls of M:F/A, M:F, M:_ or _:_ (and
                         events of --flags); send, receive: filter messages
      --match-spec=SPEC  Deliver only calls or messages that match SPEC: Erlang
                         text, or c, x, cx, r
      --return           Also deliver returns
      --exception        Also deliver returns and exceptions
      --caller           Add the caller to each call
      --caller-line      Add the caller, and file and line if they are known

Output:
      --format=FORMAT    text (default) or json
      --top=N            Show the N most frequent functions and tracees; 0: all
                         (default: 20 as text, all as json)

Limits and exit status:
      --allow-partial    Exit with 0, not 4, for damaged or truncated streams
      --max-records=N    Stop after N records
      --for=T            Trace node:NAME@HOST for the time T

Other:
  -?, --help[=all]       Show this help; all: with all options

Examples:
  tracehost info samples/recordings/s04_genserver_pingpong.trace
  tracehost info --top=5 samples/recordings/s04_genserver_pingpong.trace

--help=all shows all options; `man tracehost-info` describes them.
EOF
expect 'tracers --help' cat "$work/tracers" <<'EOF'
Usage: tracehost tracers [OPTION...] [NAME]
Lists the tracers that are found, or shows one: callbacks, settings, imports.
NAME is looked up as NAME.so; a path contains a '/'.

  -L DIR                 Search DIR first, then $TRACEHOST_PATH
  -?, --help[=all]       Show this help; all: with all options

Examples:
  tracehost tracers
  tracehost tracers count

--help=all shows all options; `man tracehost-tracers` describes them.
EOF
expect 'plugins --help' cat "$work/plugins" <<'EOF'
Usage: tracehost plugins [OPTION...] [NAME]
Lists the NIF libraries that are found, or shows the functions of one.
NAME is looked up as NAME.so; a path contains a '/'.

  -L DIR                 Search DIR first, then $TRACEHOST_PATH
  -?, --help[=all]       Show this help; all: with all options

Examples:
  tracehost plugins
  tracehost plugins fib

--help=all shows all options; `man tracehost-plugins` describes them.
EOF
expect 'match --help' cat "$work/match" <<'EOF'
Usage: tracehost match [OPTION...] SPEC TERM
Tries a match specification, and shows for each clause why it does not match.
TERM is the list of arguments of a call, [Receiver,Message] of a message that
is sent, or [Node,Sender,Message] of a message that is received.

      --kind=KIND        Try a call (default), send or receive
      --arity=N          Instead of TERM: N arguments with unknown values
      --self=PID         The tracee (default: unknown)
      --caller=TERM      Value of {caller}: {Module,Function,Arity} or
                         undefined (default: unknown)
      --format=FORMAT    text (default) or json
  -?, --help[=all]       Show this help; all: with all options

Examples:
  tracehost match "[{['\$1','_'],[{'>','\$1',3}],[]}]" '[4,x]'
  tracehost match --kind=send "[{[me,'_'],[],[]}]" '[me,ok]'

--help=all shows all options; `man tracehost-match` describes them.
EOF
expect 'call --help' cat "$work/call" <<'EOF'
Usage: tracehost call [OPTION...] LIBRARY... [EXPRESSION...]
Calls functions of NIF libraries: evaluates Erlang expressions as a shell does.
LIBRARY is a NIF library (NAME or ./PATH.so); EXPRESSION calls its functions.
Without EXPRESSIONs there is a prompt; if stdin is no terminal, stdin is
evaluated.

  -L DIR                 Search DIR first, then $TRACEHOST_PATH
      --repeat=N         Evaluate all N times
      --threads=N        Evaluate all in N processes at once, each with its own
                         scheduler and variables
  -f FILE                Evaluate FILE (- for stdin) before the EXPRESSIONs
      --load-info=TERM   Argument of the libraries' load() (default: 0)
      --grace=T          At the end, wait up to T for functions that run, else
                         exit with 6 (default: 10s)
      --check            Report misuse of the NIF API; if any, exit with 1
  -?, --help[=all]       Show this help; all: with all options

Examples:
  tracehost call json 'json:decode(<<"[1,2]">>)'
  tracehost call --threads=4 --repeat=1000 fib 'fib:fib(10)'

--help=all shows all options; `man tracehost-call` describes them.
EOF

expect '--help fits 80 columns and 60 lines; --help=all has all options' \
    tests/cli/lib/compare_manual.py help "$tracehost" </dev/null
expect 'dump --help=all' "$tracehost" dump --help=all <<'EOF'
Usage: tracehost dump [OPTION...] STREAM...
Prints every record of recorded streams. Several are merged by time.
STREAM is a trace-port file, a wrap set NAME*TAIL, JSON lines (also .gz, .zst),
- for stdin, a node: node:NAME@HOST, tcp://HOST:PORT, a log: nats://HOST/NAME.

Input:
      --reconnect[=T]    If the connection of tcp://HOST:PORT ends, try for the
                         time T to connect again (default of T: 60s)
      --scheduler-id     The stream was recorded with the flag scheduler_id:
                         read an ambiguous integer as a scheduler, not as a
                         result of a match specification

Running nodes:
      --cookie=COOKIE    The cookie of node:NAME@HOST
      --cookie-file=FILE
                         The file with the cookie (default: ~/.erlang.cookie)
      --max-rate=N       End the tracing when the node has more than N events a
                         second (default: 10000; 0: no limit)
      --max-bytes=BYTES  The same for bytes of events a second
      --sample=N         Beyond these limits, go on with one of N processes
                         instead of ending
      --via=TRACER       agent (default): a process of tracehost; port: a trace
                         port of the node, which listens on all addresses,
                         without a cookie
      --load             Let the node load modules that -p names and that are
                         not loaded
      --no-load          Load no module of tracehost into the node; the node
                         evaluates its text, which is slower
      --explain          Print what the node would be asked for, and what is
                         decided here, and end

Events:
      --flags=LIST       Deliver only these events: flags of erlang:trace/3
                         such as call,procs (default: all recorded)
      --processes=LIST   Deliver only events of these processes: all, existing,
                         new, pids, registered names (default: all recorded)
      --ports=LIST       Likewise for ports

Patterns (options apply to the -p before them):
  -p, --pattern=PATTERN  Deliver only calls of M:F/A, M:F, M:_ or _:_ (and
                         events of --flags); send, receive: filter messages
      --match-spec=SPEC  Deliver only calls or messages that match SPEC: Erlang
                         text, or c, x, cx, r
      --return           Also deliver returns
      --exception        Also deliver returns and exceptions
      --caller           Add the caller to each call
      --caller-line      Add the caller, and file and line if they are known

Output:
      --format=FORMAT    term (default): one Erlang term a line, as by
                         io:format("~0p.~n"); jsonl: one JSON object a line;
                         csv, jsonl-flat, table: flat rows, for databases and
                         for people
  -o, --output=FILE      Write to FILE, which appears once the output is
                         complete
      --progress=WHEN    Show on stderr, from the first second on, how much of
                         the stream has been read: auto (default: if stderr is
                         a terminal), always or never
      --encoding=ENCODING
                         Characters of atoms, strings and binaries that are
                         printed unescaped, as with `erl +pc`: latin1 or
                         unicode (default: unicode if the locale is UTF-8)
      --names=LANGUAGE   Names of functions and modules: erlang (default),
                         'Elixir.Enum':sort/1, or elixir, Enum.sort/1

Limits and exit status:
      --allow-partial    Exit with 0, not 4, for damaged or truncated streams
      --max-records=N    Stop after N records
      --for=T            Trace node:NAME@HOST for the time T
      --max-memory=BYTES
                         Treat an event as damaged if reading it takes more
                         memory than BYTES, at least 1MiB (default: 512MiB)
      --max-events=N     The same: each record is an event here

Other:
  -?, --help[=all]       Show this help; all: with all options
      --usage            Show the options in short form
  -V, --version          Show the version of tracehost and of the NIF API

A wrap set may also be named by its first file. node:NAME@HOST traces what -p
and --flags ask for, and leaves the node as it was. tcp://HOST:PORT is the port
of dbg:trace_port(ip, PORT) in the node. tracehost-nats(7) describes logs.

-p, --flags, --processes, --ports and the options of -p tell what
node:NAME@HOST traces; of other streams every record is taken.

Examples:
  tracehost dump samples/recordings/s13_procs.trace
  tracehost dump --format=jsonl samples/recordings/s13_procs.trace

`man tracehost-dump` describes the options.
EOF
everywhere() {
    for columns in 40 200; do
        COLUMNS=$columns "$tracehost" replay --help | cmp - "$work/replay"
    done
    script -qec "stty cols 200; '$tracehost' replay --help" /dev/null | tr -d '\r' | cmp - "$work/replay"
}
expect 'help is the same on a terminal, and for any COLUMNS' everywhere </dev/null

same() {
    "$tracehost" help >"$work/a" && "$tracehost" -h >"$work/b" && "$tracehost" --help | cmp - "$work/a" &&
        cmp "$work/a" "$work/b" && "$tracehost" --help=all | cmp - "$work/a" && "$tracehost" help dump | cmp - "$work/dump" && "$tracehost" dump '-?' | cmp - "$work/dump"
}
check 'help, -h, --help=all and -? print the same help as --help' same

versions() {
    "$tracehost" --version && "$tracehost" -V && "$tracehost" dump --version && "$tracehost" tracers -V
}
expect '--version and -V print the versions of tracehost and the NIF API' versions <<'EOF'
tracehost 0.1.0 (NIF API 2.18)
tracehost 0.1.0 (NIF API 2.18)
tracehost 0.1.0 (NIF API 2.18)
tracehost 0.1.0 (NIF API 2.18)
EOF
finish
