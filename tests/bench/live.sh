#!/bin/sh
# Measures live calls: their cost up to the tracer and back, and during changes of patterns.
exec "$BUILD_DIR/tests/bench/live" "$BUILD_DIR/tests/tracers/as_state.so"
