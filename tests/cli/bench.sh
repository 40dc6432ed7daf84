#!/bin/sh
# Tests bench: the rows of its table, a tracer that burns a known number of instructions, comparisons, failures. Numbers
# vary: tests look at their form, at instructions, which repeat, and at differences that no noise makes.
. tests/cli/lib/assertions.sh

burning=$tracers/burning.so

# masked COMMAND...: prints the command's output with N in place of each number of a row, and without padding.
masked() {
    "$@" | sed -E '/^  /s/( +-?[0-9]+(\.[0-9]+)?)+( [kMG])?$/ NUMBERS/
        s/[0-9.]+( [kMG])? (a second|on 2:)/N \2/g; s/-?[0-9.]+ \+- [0-9.]+/N +- N/g; s/[0-9.]+( [kMG])? on 2/N on 2/'
}

# rows_are_full NUMBER: checks that each row of the table has at least so many figures.
rows_are_full() {
    awk -v wanted="$1" '/^  / { rows++; numbers = 0
            for (i = 1; i <= NF; i++) numbers += $i ~ /^-?[0-9]+(\.[0-9]+)?$/ && i > 1
            if (numbers < wanted) { print; bad = 1 } }
        END { print rows " rows"; exit bad || rows != 77 }' "$work/table"
}

# --- the table

without_valgrind() {
    mkdir -p "$work/empty"
    PATH=$work/empty /bin/sh -c 'exec "$@"' sh "$tracehost" bench "$@"
}

without_valgrind --runs=2 "$burning=0" >"$work/table" 2>"$work/warnings"
check 'each row has nanoseconds, their spread, the difference from an empty tracer, and calls a second' rows_are_full 4
expect 'without valgrind the reason is given, once' grep -v 'had no processor' "$work/warnings" <<'EOT'
tracehost bench: warning: instructions are not counted: valgrind is not installed
EOT
events() {
    sed -n '/^tracer/d; /^$/d; /^a node/q; s/^\(.\{30\}\).*/\1/; s/ *$//p' "$work/table"
}
expect 'there is a row for each tag and for each size of term' events <<'EOT'
event
enabled
  send
  send_to_non_existing_process
  receive
  call
  spawn
  spawned
  exit
  link
  link port
  unlink
  unlink port
  getting_linked
  getting_unlinked
  register
  unregister
  open
  closed
  in
  in port
  out
  out port
  in_exiting
  out_exiting
  out_exited
  gc_minor_start
  gc_minor_end
  gc_major_start
  gc_major_end
  gc_max_heap_size
  seq_trace
  trace_status
trace
  send ok
  send 100 B
  send 1 kB
  send 10 kB
  send_to_non_existing_process
  receive ok
  receive 100 B
  receive 1 kB
  receive 10 kB
  call f/0
  call f/3
  call 100 B
  call 1 kB
  call 10 kB
  return_to
  return_from ok
  return_from 100 B
  return_from 1 kB
  return_from 10 kB
  exception_from
  spawn
  spawned
  exit
  link
  link port
  unlink
  unlink port
  getting_linked
  getting_unlinked
  register
  unregister
  open
  closed
  in
  in port
  out
  out port
  in_exiting
  out_exiting
  out_exited
  gc_minor_start
  gc_minor_end
  gc_major_start
  gc_major_end
  gc_max_heap_size
  seq_trace
EOT
sums_up() {
    sed -n '/^a node/,$p' "$work/table" | masked cat
}
expect 'two lines sum up' sums_up <<'EOT'
a node that makes traced calls, with their returns, could make N a second on one scheduler,
N on 2: N +- N times as many (with an empty tracer N +- N)
EOT
one_scheduler() {
    without_valgrind --runs=1 --threads=1 count 2>&1 | masked tail -n 1
}
expect '--threads=1 measures one scheduler' one_scheduler <<'EOT'
a node that makes traced calls, with their returns, could make N a second on one scheduler
EOT
callbacks() {
    without_valgrind --runs=1 "$tracers/every_slot.so" 2>/dev/null | sed -n 's/^[a-z_]\{1,\}$/&/p'
}
expect 'rows stand below the callback that serves them' callbacks <<'EOT'
enabled_procs
enabled_running_procs
enabled_call
enabled_send
enabled_receive
enabled_garbage_collection
enabled_ports
enabled_running_ports
enabled
trace_procs
trace_running_procs
trace_call
trace_send
trace_receive
trace_garbage_collection
trace_ports
trace_running_ports
trace
EOT
only_sends() {
    without_valgrind --runs=1 "$burning=sends" 2>/dev/null >"$work/out"
    sed -n '/^trace$/,$p' "$work/out" | masked grep '^  send\|^  call f\|^a node'
}
expect 'events that the tracer discards have no figures' only_sends <<'EOT'
  send ok NUMBERS
  send 100 B NUMBERS
  send 1 kB NUMBERS
  send 10 kB NUMBERS
  send_to_non_existing_process       -
  call f/0                           -
  call f/3                           -
a node that makes traced calls, which are discarded, could make N a second on one scheduler,
EOT
prints() {
    printf '#include <erl_tracer.h>\n#include <stdio.h>\nTH_TRACER_ENABLED(generic) { return TH_TRACER_ATOM(env, trace); }
TH_TRACER_TRACE(generic) { printf("x"); }\nTH_TRACER_UNLOAD() { puts("y"); }\n' >"$work/prints.c"
    # shellcheck disable=SC2046
    $CC $(pkg-config --cflags tracehost-plugin) -fPIC -shared -o "$work/prints.so" "$work/prints.c" || return
    without_valgrind --runs=1 "$work/prints.so" 2>/dev/null | grep -c '[xy]$'
    without_valgrind --runs=1 --format=json "$work/prints.so" 2>/dev/null | python3 -m json.tool >/dev/null && echo JSON
    without_valgrind --runs=1 --unmeasured "$work/prints.so"
}
PKG_CONFIG_PATH=$BUILD_DIR/lib/pkgconfig
export PKG_CONFIG_PATH
expect 'what the tracer prints is not part of the output' prints <<'EOT'
0
JSON
EOT

# --- instructions

# more STATE: prints the instructions of each row beyond those of the empty tracer.
more() {
    "$tracehost" bench --runs=1 --threads=1 --format=json "$burning=$1" 2>/dev/null | python3 -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
    print("%s%d %s_%s %.1f" % (row["callback"], row["instructions"] > row["instructions_more"] > 0,
                              row["tag"], row["content"].replace(" ", "_"), row["instructions_more"]))'
}
burns() {
    more 0 >"$work/plain"
    more 500 >"$work/burning"
    more 500 >"$work/again"
    paste -d' ' "$work/plain" "$work/burning" "$work/again" | awk '
        { difference = $6 - $3; unlike = $9 > $6 ? $9 / $6 : $6 / $9; wanted = $1 ~ /trace/ ? 1000 : 0 }
        $1 !~ /1$/ || difference < wanted * 0.95 || difference > wanted * 1.05 || unlike > 1.05 { print; bad = 1 }
        END { print NR " rows"; exit bad || NR != 77 }'
}
# Times of a row may differ by chance, in one of a hundred runs at most: two of three runs decide.
mostly() {
    "$@" >"$work/first"
    "$@" >"$work/second"
    if cmp -s "$work/first" "$work/second"; then cat "$work/first"; else "$@"; fi
}
compares_instructions() {
    "$tracehost" bench --runs=20 --threads=1 "$burning=60" --compare="$burning=10" | sed -n '/^beside/,$p' |
        sed -E 's/ [0-9.]+ ns slower \(p = [^)]*\),//; s/tracers\/.*burning/burning/' | sed -n '2p;$p'
}
case $BUILD_DIR:${EMULATOR:-} in
*:?*)
    skip 'instructions repeat, and those of a loop are found' 'valgrind runs programs of this machine'
    skip '--compare finds a hundred instructions more' 'as before'
    ;;
*/asan: | */tsan:)
    skip 'instructions repeat, and those of a loop are found' 'valgrind cannot run a sanitizer, or counts its checks'
    skip '--compare finds a hundred instructions more' 'as before'
    ;;
*)
    if command -v valgrind >/dev/null; then
        check 'instructions repeat within 5 %, and 1000 instructions of a loop are found' burns
        expect '--compare finds a hundred instructions more' mostly compares_instructions <<'EOT'
trace spawned: 100 instructions more
46 of 77 rows differ beyond noise
EOT
    else
        skip 'instructions repeat, and those of a loop are found' 'valgrind is not installed'
        skip '--compare finds a hundred instructions more' 'as before'
    fi
    ;;
esac

# --- comparisons

beside() {
    without_valgrind "$@" --threads=1 2>/dev/null | sed -n '/^beside/,$p' >"$work/beside"
    sed "s|$tracers/||g" "$work/beside" | grep -v ' slower'
    sed -n 's/^\([a-z]*\) .* [0-9.]* ns slower (p = [0-9e.-]*)$/\1 slower/p' "$work/beside" | sort | uniq -c
}
expect '--compare with the tracer itself finds no difference' mostly beside --runs=20 "$burning=0" --compare="$burning=0" <<'EOT'
beside burning.so=0:
no difference beyond noise in 77 rows
EOT
expect '--compare finds the rows that are slower, and no others' mostly beside --runs=20 "$burning=9000" --compare="$burning=0" <<'EOT'
beside burning.so=0:
46 of 77 rows differ beyond noise
     46 trace slower
EOT
faster() {
    without_valgrind --runs=20 --threads=1 --format=json "$burning=0" --compare="$burning=9000" 2>/dev/null | python3 -c '
import json, sys
rows = json.load(sys.stdin)["rows"]
for kind in "enabled", "trace":
    found = [row["compared"] for row in rows if row["callback"] == kind]
    print(kind, len(found), sum(row["ns_differs"] and row["ns_more"] < 0 and row["p"] < 0.001 for row in found))'
}
expect 'as JSON, --compare finds the rows that are faster' mostly faster <<'EOT'
enabled 31 0
trace 46 46
EOT

# --- failures

expect 'a tracer that is not found' "$tracehost" bench -L "$work" nobody <<'EOT'
-- stderr
tracehost bench: there is no library 'nobody'
  looked for nobody.so in WORK (-L) and BUILD/lib/tracehost/tracers (built in)
  add its folder with -L DIR or to $TRACEHOST_PATH, or give a path with a '/'; `tracehost tracers` lists all that are found
-- status 5
EOT
slots() { # NAME FUNCTION...: compiles a tracer with these callbacks alone.
    name=$1
    shift
    {
        echo '#include <erl_nif.h>'
        for function; do
            echo "ERL_NIF_TERM $function(ErlNifEnv *e, int n, const ERL_NIF_TERM a[]) { (void)n; (void)a; return enif_make_atom(e, \"trace\"); }"
        done
    } >"$work/$name.c"
    # shellcheck disable=SC2046
    $CC $(pkg-config --cflags tracehost-plugin) -fPIC -shared -o "$work/$name.so" "$work/$name.c"
}
slots no_trace enabled
slots special enabled_call trace_call
expect 'a tracer without trace' "$tracehost" bench -L "$work" no_trace <<'EOT'
-- stderr
tracehost bench: WORK/no_trace.so was refused
  the library is not a tracer: it lacks trace/5
-- status 5
EOT
expect 'a tracer with special callbacks alone' "$tracehost" bench -L "$work" special <<'EOT'
-- stderr
tracehost bench: WORK/special.so was refused
  the library is not a tracer: it lacks enabled/3 and trace/5
-- status 5
EOT
expect 'a tracer that refuses to be attached' "$tracehost" bench "$tracers/failing.so=attach" <<'EOT'
-- stderr
tracehost bench: cannot attach tracer 'BUILD/tests/tracers/failing.so'
  it shall not be attached
-- status 1
EOT
expect 'a tracer that fails at an event' "$tracehost" bench "$tracers/failing.so=event" <<'EOT'
-- stderr
tracehost bench: tracer 'BUILD/tests/tracers/failing.so' failed: it has seen enough
tracehost bench: nothing is measured, as tracer 'BUILD/tests/tracers/failing.so=event' has failed
-- status 1
EOT
case $BUILD_DIR in
*/asan | */tsan) skip 'a tracer that crashes is named' 'sanitizers report crashes themselves' ;;
*)
    expect 'a tracer that crashes is named' "$tracehost" bench "$burning={crash,exit}" <<'EOT'
-- stderr
tracehost: tracer 'BUILD/tests/tracers/burning.so' crashed: SIGABRT, it called abort(), in trace
-- status 6
EOT
    ;;
esac
expect '--compare needs enough runs' "$tracehost" bench --runs=19 count --compare=text <<'EOT'
-- stderr
tracehost bench: --compare needs --runs=20 or more
Try `tracehost bench --help' or `tracehost bench --usage' for more
information.
-- status 2
EOT
expect '--unmeasured and --compare exclude each other' "$tracehost" bench --unmeasured count --compare=text <<'EOT'
-- stderr
tracehost bench: --unmeasured plays one tracer: leave out --compare
Try `tracehost bench --help' or `tracehost bench --usage' for more
information.
-- status 2
EOT
finish
