#!/bin/sh
# Runs the same tracer in a real BEAM, while its events are recorded, and in tracehost over the recording; both logs
# must be the same. tests/oracle/logging/cases.erl has the cases; tests/tracers/otp/logging.c is the tracer, compiled
# with OTP's own header.
. tests/oracle/logging/node

# Several schedulers, whatever the machine has, so that callbacks can mix.
oracle 4 callbacks
