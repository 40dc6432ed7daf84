#!/bin/sh
# Match specifications and patterns over recorded calls: the same tracer in a real BEAM that has them,
# and in tracehost over a recording that was made without. tests/oracle/logging/specs.erl has the cases.
. tests/oracle/logging/node

oracle 1 patterns host/match/match_function.c
