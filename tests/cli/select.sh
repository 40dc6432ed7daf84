#!/bin/sh
# Tests a tracer that waits for file descriptors during a replay.
. tests/cli/lib/assertions.sh

expect 'what is due is sent, what is selected is forgotten, the tracer is unloaded' \
    "$tracehost" replay -L "$tracers" -t selecting=console "$recordings/s01_seed_local_caller.trace" <<'EOF'
readable
-- stderr
gone
unload
EOF

finish
