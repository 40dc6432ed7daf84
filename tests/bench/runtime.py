#!/usr/bin/env python3
"""What the runtime does, as ratio to a BEAM: processes, messages between two, external calls, also
traced ones.

Both sides run at the same time, and are asked in turn, many and short rounds: each round's ratio
counts, and of these the median, so that what else the machine does then touches both sides. Calls
need one scheduler; there, both sides run on one processor: those of a shared machine may differ by
half for minutes.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import figures

BUILD = os.environ['BUILD_DIR']
SOURCE = 'tests/plugins/party.c'
TRACER = BUILD + '/tests/bench/libraries/as_told.so'
ROUNDS = 41
ROWS = (  # what each side is asked, how often
    ('crowd', 'crowd', 5000, 'a process that is spawned, says something and ends'),
    ('ping', 'ping', 5000, 'a message to another process, and its answer'),
)
CALLS = (
    ('applies', 'calls', 50000, 'an external call, whose name is looked up each time'),
    ('calls', 'exports', 50000, 'the same; its name was looked up before'),
    ('discarded', 'discarded', 50000, 'the same at a global breakpoint; enabled discards'),
    ('traced', 'traced', 50000, 'the same at a global breakpoint; traced'),
    ('returned', 'returned', 50000, 'the same, and its return'),
)


class Side:
    """One program that answers a line with a line."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1)

    def nanoseconds(self, row, times):
        self.process.stdin.write('%s %d\n' % (row, times))
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit('bench: %s ended' % self.process.args[0])
        return int(answer) / times

    def end(self):
        self.process.communicate()


def write_module(folder, module, functions):
    """A stub for each of a library's functions, as the BEAM wants them."""
    with open('%s/%s.erl' % (folder, module), 'w') as file:
        file.write('-module(%s).\n-export([load/1, %s]).\nload(L) -> erlang:load_nif(L, 0).\n'
                   % (module, ', '.join("'%s'/%d" % function for function in functions)))
        for name, arity in functions:
            file.write("'%s'(%s) -> erlang:nif_error(not_loaded).\n"
                       % (name, ', '.join(['_'] * arity)))


def compile_all(folder):
    with open(SOURCE) as file:
        rows = re.findall(r'^    \{"(\w+)", (\d+), \w+, \w+\},$', file.read(), re.M)
    write_module(folder, 'party', [(name, int(arity)) for name, arity in rows])
    write_module(folder, 'as_told', [('enabled', 3), ('trace', 5), ('enabled_call', 3),
                                     ('trace_call', 5)])
    subprocess.run([os.environ['CC'], '-O2', '-fPIC', '-shared', '-DERL_NIF_MINOR_VERSION=16',
                    '-Iplugin_api', SOURCE, '-o', folder + '/party.so'], check=True)
    subprocess.run(['erlc', '-o', folder, folder + '/party.erl', folder + '/as_told.erl',
                    'tests/bench/runtime_times.erl'], check=True)


def start(folder):
    return (Side(['erl', '-noshell', '-boot', 'no_dot_erlang', '-pa', folder, '-run',
                  'runtime_times', 'main', folder + '/party', TRACER[:-len('.so')]]),
            Side([BUILD + '/tests/bench/runtime', BUILD + '/tests/plugins/party.so', TRACER]))


def measure(rows, folder):
    sides = start(folder)
    for *names, times, title in rows:
        found = [[side.nanoseconds(row, times) for side, row in zip(sides, names)]
                 for _ in range(ROUNDS)]
        ratio = statistics.median(ours / beam for beam, ours in found)
        print('  %-50s %10.1f %10.1f %6.2f' % (
            title, statistics.median(beam for beam, _ in found),
            statistics.median(ours for _, ours in found), ratio))
        figures.pair('runtime/' + names[1], [ours for _, ours in found], [beam for beam, _ in found])
    for side in sides:
        side.end()


def main():
    if not shutil.which('erl') or not os.path.exists(TRACER):
        print('no erl: the runtime is not compared')
        for _, row, *_ in ROWS + CALLS:
            figures.missing('runtime/' + row, 'no erl, or no erl_nif.h of OTP')
        return
    with tempfile.TemporaryDirectory() as folder:
        compile_all(folder)
        print('%-52s %10s %10s %6s' % ('Running, ns each', 'BEAM', 'tracehost', 'ratio'))
        measure(ROWS, folder)
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        measure(CALLS, folder)


main()
