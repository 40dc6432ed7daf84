#!/usr/bin/env python3
"""The package for Python: records of l1 with their terms as values, by one thread and by two that read a file each, a tracer that is a
function, and a frame of all calls. The system's Python measures, with its own garbage collection as it is."""

import os
import subprocess
import sys

import figures

BUILD = os.environ['BUILD_DIR']
PYTHON = '/usr/bin/python3'
LARGE = os.environ.get('RECORDINGS', '../shared/recordings') + '/large/l1_compile_compiler_arity.trace'
FIGURES = ('python/one', 'python/two', 'python/tracer', 'python/frame')

# Prints, for each round, thousand records a second of one thread, of two, and of a tracer.
PROGRAM = '''
import sys, threading, time
import tracehost

def read():
    return sum(1 for event in tracehost.open(sys.argv[1]))

def speed(records, act):
    begin = time.perf_counter()
    act()
    return records / (time.perf_counter() - begin) / 1000

def two():
    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

records = read()
with tracehost.Host() as host:
    for _ in range(7):
        one, both = speed(records, read), speed(2 * records, two)
        with host.session(lambda event: None):
            print(one, both, speed(records, lambda: host.replay(sys.argv[1])))
try:
    import pandas
except ImportError:
    pass
else:
    begin = time.perf_counter()
    pandas.DataFrame(tracehost.open(sys.argv[1]).calls())
    print(time.perf_counter() - begin)
'''


def median(values):
    return sorted(values)[len(values) // 2]


def why_not():
    """Returns why nothing can be measured, or None."""
    if not os.path.exists(BUILD + '/python/tracehost/_tracehost.abi3.so'):
        return 'no package for Python: no python3-dev'
    return None if os.path.exists(LARGE) else 'no large recordings'


def main():
    why = why_not()
    if why:
        for figure in FIGURES:
            figures.missing(figure, why)
        print(why)
        return
    said = subprocess.run([PYTHON, '-c', PROGRAM, LARGE], check=True, text=True, stdout=subprocess.PIPE,
                          env=dict(os.environ, PYTHONPATH=BUILD + '/python', PYTHONDONTWRITEBYTECODE='1')).stdout
    rows = [[float(word) for word in line.split()] for line in said.splitlines()]
    rounds = [row for row in rows if len(row) == 3]
    one, tracer = median([row[0] for row in rounds]), median([row[2] for row in rounds])
    two = median([both / alone for alone, both, _ in rounds])
    figures.value('python/one', one)
    figures.value('python/two', two)
    figures.value('python/tracer', tracer)
    print('  records with terms as values: %.0f thousand/s; two threads: %.2f times as many' % (one, two))
    print('  a function as a tracer: %.0f thousand/s' % tracer)
    if len(rounds) < len(rows):
        figures.value('python/frame', rows[-1][0])
        print('  a frame of all calls: %.2f s' % rows[-1][0])
    else:
        figures.missing('python/frame', 'no python3-pandas')


if __name__ == '__main__':
    sys.exit(main())
