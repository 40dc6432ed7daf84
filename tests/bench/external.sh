#!/bin/sh
# Measures external calls: the cost of being able to replace the called code.
exec "$BUILD_DIR/tests/bench/external" "$BUILD_DIR/tests/plugins/party.so"
