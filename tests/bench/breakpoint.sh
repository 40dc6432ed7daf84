#!/bin/sh
# Measures breakpoints at virtual sites: calls that pass them, changes, and calls during changes.
exec "$BUILD_DIR/tests/bench/breakpoint"
