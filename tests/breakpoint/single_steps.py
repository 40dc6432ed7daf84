"""Run by gdb: one call of call_once(), instruction by instruction. At each, the backtrace must lead
to call_once() and main(). Prints where it does not, then each function that it was in, with the
number of instructions there."""

import collections

import gdb

MOST = 100000  # instructions


def names():
    """Of the functions on the stack, the innermost first; ? for one that has none."""
    frame = gdb.newest_frame()
    while frame is not None:
        yield frame.name() or '?'
        frame = frame.older()


def where():
    return gdb.execute('x/i $pc', to_string=True).strip()


def step_through():
    steps = collections.Counter()
    while sum(steps.values()) < MOST:
        stack = list(names())
        if stack[0] == 'main':
            return steps
        if stack[-2:] != ['call_once', 'main']:
            print('lost at %s: %s' % (where(), ' < '.join(stack)))
        steps[stack[0]] += 1
        gdb.execute('stepi', to_string=True)
    print('lost: main does not go on')
    return steps


gdb.execute('set pagination off')
gdb.execute('break -qualified call_once')
gdb.execute('run')
for function, steps in step_through().most_common():
    print('in %s: %d' % (function, steps))
gdb.execute('kill')
