#!/bin/sh
# Tests functions that crash on a scheduler or dirty thread: the report has their names and arguments, and earlier
# output is complete.
. tests/cli/lib/assertions.sh

runner=$BUILD_DIR/tests/plugins/runner.so
ulimit -c 0

# call EXPRESSION...
call() {
    "$tracehost" call "$runner" "$@"
}

expect 'a crash on a scheduler is reported with the arguments' call 'runner:add(1, 2).' 'runner:crash(segv).' 'runner:add(3, 4).' <<'EOT'
3
-- stderr
tracehost: library 'BUILD/tests/plugins/runner.so' crashed: SIGSEGV, a bad memory access at address 0x10, in runner:crash/1
  argument 1: segv
-- status 6
EOT
expect 'a crash on a dirty thread is reported with the arguments' call 'runner:crash_dirty(abort).' <<'EOT'
-- stderr
tracehost: library 'BUILD/tests/plugins/runner.so' crashed: SIGABRT, it called abort(), in runner:crash_dirty/1
  argument 1: abort
-- status 6
EOT
expect 'a stack overflow on a scheduler is reported' call 'runner:crash(stack).' <<'EOT'
-- stderr
tracehost: library 'BUILD/tests/plugins/runner.so' crashed: SIGSEGV, a bad memory access: the stack is used up, in runner:crash/1
  argument 1: stack
-- status 6
EOT
expect 'a stack overflow on a dirty thread is reported' call 'runner:crash_dirty(stack).' <<'EOT'
-- stderr
tracehost: library 'BUILD/tests/plugins/runner.so' crashed: SIGSEGV, a bad memory access: the stack is used up, in runner:crash_dirty/1
  argument 1: stack
-- status 6
EOT
expect 'the report names a scheduled function that crashes' call 'runner:crash_later(segv, 2).' <<'EOT'
-- stderr
tracehost: library 'BUILD/tests/plugins/runner.so' crashed: SIGSEGV, a bad memory access at address 0x10, in runner:crash_later/2
  function: runner:later/2
  argument 1: segv
  argument 2: 2
-- status 6
EOT
expect 'a call of exit() is reported' call 'runner:crash(exit).' <<'EOT'
-- stderr
tracehost: library 'BUILD/tests/plugins/runner.so' ended the program: exit(3), in runner:crash/1
  argument 1: exit
-- status 6
EOT
expect 'the report leaves out an argument that is no term' call 'runner:crash_wild(1).' <<'EOT'
-- stderr
tracehost: library 'BUILD/tests/plugins/runner.so' crashed: SIGSEGV, a bad memory access at address 0x10, in runner:crash_wild/1
  function: runner:wild/2
  argument 1: segv
-- status 6
EOT

finish
