#!/usr/bin/env python3
"""Functions of the NIF API: in a BEAM and in tracehost, the same shared object that times itself.

Nine times both are started anew; then each measurement is made in the one and at once in the other,
so that a machine that speeds up or slows down does so for both. Both run on one processor: those of
a shared machine may differ by half for minutes. The medians count. The ten functions come first that
tracers import most, of 17 real ones. With arguments: only measurements whose names contain one of
them.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile

import figures
from aims import NIF_MOST, is_of_ten, nif_rows

BUILD = os.environ['BUILD_DIR']
LIBRARY = BUILD + '/tests/bench/libraries/nif_times.so'
ROUNDS = 9


class Side:
    """One program that answers a line with a line."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1)

    def ask(self, line):
        self.process.stdin.write(line + '\n')
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit('bench: %s ended' % self.process.args[0])
        return answer.rstrip('\n')

    def rows(self):
        names = [self.ask('rows')]
        while names[-1]:
            names.append(self.process.stdout.readline().rstrip('\n'))
        return names[:-1]

    def nanoseconds(self, row):
        return int(self.ask(row)) / 1000

    def end(self):
        self.process.communicate()


def start(folder):
    return (Side(['erl', '-noshell', '-boot', 'no_dot_erlang', '-pa', folder, '-run',
                  'nif_times', 'main', LIBRARY[:-len('.so')]]),
            Side([BUILD + '/tests/bench/nif_times', LIBRARY]))


def is_wanted(row):
    return len(sys.argv) == 1 or any(word in row for word in sys.argv[1:])


def measure(folder):
    """{row: ([nanoseconds in the BEAM], [in tracehost])}, in the rows' order."""
    times = {}
    for _ in range(ROUNDS):
        sides = start(folder)
        for row in filter(is_wanted, sides[1].rows()):
            for side, found in zip(sides, times.setdefault(row, ([], []))):
                found.append(side.nanoseconds(row))
        for side in sides:
            side.end()
    return times


def report(title, times):
    slower = 0
    print('\n%-66s %8s %10s %6s' % (title, 'BEAM, ns', 'tracehost', 'ratio'))
    for row, (beam, ours) in times.items():
        ratio = statistics.median(mine / its for mine, its in zip(ours, beam))
        beam, ours = statistics.median(beam), statistics.median(ours)
        slower += ratio > NIF_MOST
        print('  %-64s %8.1f %10.1f %6.2f%s' %
              (row, beam, ours, ratio, '  slower' if ratio > NIF_MOST else ''))
    print('  slower by more than %.0f %%: %d of %d' % ((NIF_MOST - 1) * 100, slower, len(times)))


def main():
    if not shutil.which('erl') or not os.path.exists(LIBRARY):
        print('no erl, or no erl_nif.h of OTP: functions of the NIF API are not compared')
        for row in nif_rows():
            figures.missing('nif/' + row, 'no erl, or no erl_nif.h of OTP')
        return
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(['erlc', '-o', folder, 'tests/bench/nif_times.erl'], check=True)
        times = measure(folder)
    for row, (beam, ours) in times.items():
        figures.pair('nif/' + row, ours, beam)
    report('The ten functions that tracers import most',
           {row: both for row, both in times.items() if is_of_ten(row)})
    report('Others', {row: both for row, both in times.items() if not is_of_ten(row)})


main()
