#!/bin/sh
# The plugin `fib`: the same answers here and in a real BEAM.
. tests/cli/lib/assertions.sh
. tests/shipped/answers

answers fib "$plugins/fib"

finish
