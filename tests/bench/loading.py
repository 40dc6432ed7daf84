#!/usr/bin/env python3
"""What it takes to upgrade a module: to prepare it, to finish, and all of it, for a module of 1, 100 and
1000 functions; idle, and beside two busy schedulers. Next to a BEAM, which loads a module with as many
exported functions: the two are asked in turn, many and short rounds, and the medians count.

Open: a copy of the library, which the BEAM has not. Running: a finish, without the time in which the
thread could have run and was given no processor. Purging: a finish, where old code is purged as well. The
whole is what comes first, in the BEAM code:load_binary/3."""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile

import figures

BUILD = os.environ['BUILD_DIR']
SIZES = (1, 100, 1000)
ROUNDS = 15
TIMES = 8
OPEN, PREPARE, FINISH, PURGING, PURGE, WAITED, WAITS = range(7)  # what a line of programs/loading.c tells


class Side:
    """One program that answers a line with lines."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1)

    def busy(self, count):
        self.process.stdin.write('busy %d\n' % count)

    def load(self, path, times):
        self.process.stdin.write('load %s %d\n' % (path, times))
        lines = [self.process.stdout.readline().split() for _ in range(times)]
        if not all(lines):
            sys.exit('bench: %s ended' % self.process.args[0])
        return [[int(number) for number in line] for line in lines]

    def end(self):
        self.process.communicate()


def write_library(path, count, made_by):
    """A module, the functions of which are made by the macro MADE_BY."""
    name = os.path.basename(path)
    with open(path + '.c', 'w') as file:
        file.write('#include <erl_nif.h>\n#include <nif_module.h>\n'
                   'static int load(ErlNifEnv *e, void **p, ERL_NIF_TERM i)\n{ return 0; }\n'
                   'static int upgrade(ErlNifEnv *e, void **p, void **o, ERL_NIF_TERM i)\n{ return 0; }\n')
        for i in range(count):
            file.write('%s(f%d)(ErlNifEnv *e, int c, const ERL_NIF_TERM v[])\n'
                       '{ return enif_make_tuple2(e, v[0], enif_make_int(e, %d)); }\n' % (made_by, i, i))
        file.write('static ErlNifFunc functions[] = {%s};\nERL_NIF_INIT(%s, functions, load, 0, upgrade, 0)\n'
                   % (', '.join('{"f%d", 1, f%d, 0}' % (i, i) for i in range(count)), name))
    subprocess.run([os.environ['CC'], '-O2', '-w', '-fPIC', '-fcf-protection=none', '-shared',
                    '-DNIF(n)=static ERL_NIF_TERM n', '-Iplugin_api', path + '.c', '-o', path + '.so'],
                   check=True)


def write_module(path, count):
    with open(path + '.erl', 'w') as file:
        file.write('-module(%s).\n-export([%s]).\n' % (os.path.basename(path),
                                                      ', '.join('f%d/1' % i for i in range(count))))
        for i in range(count):
            file.write('f%d(X) -> {X, %d}.\n' % (i, i))


def start(folder):
    modules = []
    for count in SIZES:
        modules.append(('%s/loaded_%d' % (folder, count), count, ''))
        write_library(modules[-1][0], count, 'NIF')
        write_module(modules[-1][0], count)
    modules.append(('%s/loaded_traceable' % folder, SIZES[-1], ' TH_NIF'))
    write_library(modules[-1][0], SIZES[-1], 'TH_NIF')
    ours = Side([BUILD + '/tests/bench/loading', BUILD + '/tests/plugins/party.so'])
    if not shutil.which('erl'):
        print('no erl: loading is not compared')
        return modules, ours, None
    subprocess.run(['erlc', '-o', folder, 'tests/bench/loading_times.erl'] +
                   ['%s/loaded_%d.erl' % (folder, count) for count in SIZES], check=True)
    return modules, ours, Side(['erl', '-noshell', '-boot', 'no_dot_erlang', '+S', '2', '-pa', folder, '-run',
                                'loading_times', 'main'])


def median(samples, *columns):
    """Of the sums of these columns, in microseconds."""
    return statistics.median(sum(sample[i] for i in columns) for sample in samples) / 1000


def given_processor(samples):
    """Of finishes, without the time in which they waited for a processor."""
    return statistics.median(sample[FINISH] - sample[WAITED] for sample in samples) / 1000


def ask(modules, ours, beam, busy):
    """The samples of each side, by module."""
    found = [([], []) for _ in modules]
    for _ in range(ROUNDS):
        for i, (path, _, kind) in enumerate(modules):
            for which, side in enumerate((ours, beam)):
                if not side or (side == beam and kind):
                    continue
                side.busy(busy)
                found[i][which].extend(side.load(path + ('.so' if side == ours else ''), TIMES))
                side.busy(0)
    return found


def show(title, modules, found):
    print('\n%s; medians in us' % title)
    row = '  %-12s %-9s' + ' %8s' * 7
    print(row % ('functions', '', 'open', 'prepare', 'finish', 'running', 'purging', 'purge', 'whole'))
    for (_, count, kind), (ours, beam) in zip(modules, found):
        mine = [median(ours, column) for column in (PREPARE, FINISH, PURGING, PURGE)]
        mine.append(median(ours, OPEN, PREPARE, FINISH))
        shown = ['%.1f' % number for number in [median(ours, OPEN)] + mine]
        shown.insert(3, '%.1f' % given_processor(ours))
        print(row % tuple(['%d%s' % (count, kind), 'tracehost'] + shown) + '  progress waited: %s' %
              '/'.join(str(one) for one in sorted({sample[WAITS] for sample in ours})))
        if not beam:
            continue
        its = [median(beam, column) for column in range(5)]
        for name, numbers in (('BEAM', ['%.1f' % number for number in its]),
                              ('ratio', ['%.2f' % (a / b) for a, b in zip(mine, its)])):
            print(row % tuple(['', name, ''] + numbers[:2] + [''] + numbers[2:]))


def write_figures(modules, found):
    """Writes those beside two busy schedulers."""
    whole = OPEN, PREPARE, FINISH
    for (_, count, kind), (ours, beam) in zip(modules, found):
        figures.value('loading/finish/%d%s' % (count, kind), given_processor(ours))
        if beam and count == SIZES[-1]:
            figures.pair('loading/whole/%d' % count, [median(ours, *whole)], [median(beam, OPEN)])
        elif count == SIZES[-1] and not kind:
            figures.missing('loading/whole/%d' % count, 'no erl', [median(ours, *whole)])


def main():
    with tempfile.TemporaryDirectory() as folder:
        modules, ours, beam = start(folder)
        for busy, title in ((0, 'Upgrading a module, idle'),
                            (2, 'Upgrading a module, beside two busy schedulers')):
            found = ask(modules, ours, beam, busy)
            show(title, modules, found)
        write_figures(modules, found)
        for side in (ours, beam):
            if side:
                side.end()


main()
