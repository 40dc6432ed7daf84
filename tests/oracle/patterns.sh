#!/bin/sh
# Compares match specifications and patterns over recorded calls: the same tracer in a real BEAM with these patterns,
# and in tracehost over a recording made without them. tests/oracle/logging/specs.erl has the cases.
. tests/oracle/logging/node

oracle 1 patterns host/match/match_function.c
