#!/usr/bin/env python3
"""What `tracehost sql` takes for sums by function, beside `replay -t time`: processor time of the whole process, on the
large recording l1."""

import os
import subprocess

import figures

TRACEHOST = os.environ['TRACEHOST']
L1 = '../shared/recordings/large/l1_compile_compiler_arity.trace'
ROUNDS = 9
STATEMENTS = (
    ('sql/calls', 'select function, count(*), sum(duration) from calls group by function'),
    ('sql/functions', 'select function, sum(calls), sum(duration) from functions group by function'),
)


def processor_time(*words):
    before = os.times()
    subprocess.run([TRACEHOST, *words], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def missing(why):
    for name, _ in STATEMENTS:
        figures.missing(name, why)
    print(why)


def main():
    if not os.path.exists(os.environ['BUILD_DIR'] + '/lib/tracehost/tracehost_sql.so'):
        missing('no libsqlite3')
        return
    if not os.path.exists(L1):
        missing('no large recordings')
        return
    rounds = [[processor_time('replay', '-t', 'time', L1)] +
              [processor_time('sql', '--format=csv', L1, statement) for _, statement in STATEMENTS]
              for _ in range(ROUNDS)]
    tracer = [row[0] for row in rounds]
    for i, (name, statement) in enumerate(STATEMENTS, 1):
        ours = [row[i] for row in rounds]
        figures.pair(name, ours, tracer)
        print('%.3f s of `replay -t time`, %.3f s of: %s' % (sorted(tracer)[ROUNDS // 2], sorted(ours)[ROUNDS // 2],
                                                              statement))


main()
