#!/bin/sh
# Tests that `tracehost info` finds each number that dbg:trace_client counted in the recordings.
. tests/cli/lib/assertions.sh
[ -z "${EMULATOR:-}" ] || large=

# counts STREAM COUNTS
counts() {
    python3 tests/cli/lib/info_counts.py "$tracehost" "$1" "$2"
}

for trace in "$recordings"/*.trace; do
    check "info counts $(basename "$trace" .trace) as dbg:trace_client does" counts "$trace" "${trace%.trace}.counts.txt"
done
check 'info counts a wrap set as dbg:trace_client does' counts "$recordings/wrap/w1.log" "$recordings/wrap/wrapset.counts.txt"
for name in l1_compile_compiler_arity l2_mnesia_full l3_sorts_args_return; do
    if [ -e "$large/$name.trace" ]; then
        check "info counts $name as dbg:trace_client does" counts "$large/$name.trace" "$large/$name.counts.txt"
    else
        skip "info counts $name as dbg:trace_client does" 'the large recordings are not here, or would take minutes in an emulator'
    fi
done

expect 'info prints the counts of tags and tracees as text' "$tracehost" info --top=3 "$recordings/s13_procs.trace" <<'EOF'
stream      samples/recordings/s13_procs.trace (trace-port)
node        nonode@nohost
records     47, 5189 bytes
time        none recorded

   records  tag
         5  trace exit/4
         4  trace getting_linked/4
         4  trace getting_unlinked/4
         4  trace link/4
        10  trace receive/4
         1  trace register/4
         5  trace send/5
         2  trace send_to_non_existing_process/5
         5  trace spawn/5
         5  trace spawned/5
         1  trace unlink/4
         1  trace unregister/4

   records  tracee (6)
        31  <0.169.0>
         6  <0.170.0>
         3  <0.171.0>
            and 3 more
EOF

finish
