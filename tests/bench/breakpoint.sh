#!/bin/sh
# Breakpoints at virtual sites: calls that pass them, changes, and the one during the other.
exec "$BUILD_DIR/tests/bench/breakpoint"
