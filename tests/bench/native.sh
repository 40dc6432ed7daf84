#!/bin/sh
# Measures breakpoints at native sites: calls of a library's functions.
exec "$BUILD_DIR/tests/bench/native" "$BUILD_DIR/tests/bench/patchable/native.so"
