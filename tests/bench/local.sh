#!/bin/sh
# Measures local calls of a plugin: their cost up to the tracer and back.
exec "$BUILD_DIR/tests/bench/local" "$BUILD_DIR/tests/bench/patchable/local.so" \
    "$BUILD_DIR/tests/tracers/as_state.so"
