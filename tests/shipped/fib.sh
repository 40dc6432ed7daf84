#!/bin/sh
# Tests the plugin `fib`: the same results in tracehost and in a real BEAM.
. tests/cli/lib/assertions.sh
. tests/shipped/answers

answers fib "$plugins/fib"

finish
