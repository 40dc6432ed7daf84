#!/bin/sh
# Tests a tracer that waits for file descriptors during a replay.
. tests/cli/lib/assertions.sh

expect 'the end of a replay delivers due messages, stops selects and unloads the tracer' \
    "$tracehost" replay -L "$tracers" -t selecting=console "$recordings/s01_seed_local_caller.trace" <<'EOF'
readable
-- stderr
gone
unload
EOF

finish
