#!/bin/sh
# External calls: what it costs that what they call can be replaced.
exec "$BUILD_DIR/tests/bench/external" "$BUILD_DIR/tests/plugins/party.so"
