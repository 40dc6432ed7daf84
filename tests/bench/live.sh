#!/bin/sh
# Live calls: what they cost up to the tracer and back, and while patterns change.
exec "$BUILD_DIR/tests/bench/live" "$BUILD_DIR/tests/tracers/as_state.so"
