#!/bin/sh
# Measures a traced call beside other tracers: the peers that the summary compares with, or all by `scons bench/peers`.
exec python3 tests/bench/peers/run tracehost lttng uftrace xray beam
