#!/bin/sh
# The same tracer in a real BEAM, while what it gets is recorded, and in tracehost over the recording:
# it must log the same. tests/oracle/logging/cases.erl has the cases, tests/tracers/otp/logging.c the
# tracer, which is compiled with OTP's own header.
. tests/oracle/logging/node

# Several schedulers, whatever the machine has, so that callbacks can mix.
oracle 4 callbacks
