#!/usr/bin/env python3
"""The aims of the benchmarks: each figure of a run with its aim, its peer, their ratio, and whether the aim is met.

  aims.py summary FIGURES [GROUP...]   prints them; with GROUPs, only those
  aims.py readme FIGURES               writes them into the table of tests/bench/README.md

FIGURES is the file that the benchmarks have written (figures.py): build/release/bench_figures. All aims stand in GROUPS. A
figure that is missing or malformed is shown as such.
"""

import os
import re
import sys
from fractions import Fraction

sys.dont_write_bytecode = True

import figures

HERE = os.path.dirname(os.path.abspath(__file__))
AIM = re.compile(r'(ratio )?(<=|<|>=) ([\d./]+)$')
COMPARE = {'<=': lambda a, b: a <= b, '<': lambda a, b: a < b, '>=': lambda a, b: a >= b}
HEADINGS = ('figure', 'tracehost', 'peer', 'ratio', 'aim', '')
BEGIN, END = '<!-- figures -->\n', '<!-- end of figures -->\n'


class Row:
    """A figure with its aim: `<= N` of the figure, or `ratio <= N` of the figure divided by its peer's. N may be 1/N."""

    def __init__(self, figure, title, unit, aim='', peer=''):
        self.figure, self.title, self.unit, self.aim, self.peer = figure, title, unit, aim, peer

    def names(self):
        return [self.figure]

    def cells(self, found):
        """Returns the cells of the row, and lines that explain it."""
        figure = found.get(self.figure) or figures.Figure(fault='missing')
        of_ratio, sign, bound = AIM.match(self.aim).groups() if self.aim else (None, None, None)
        if not figure.fault and (self.peer or of_ratio) and figure.ratio is None:
            figure = figures.Figure(fault='malformed: no peer')
        if figure.fault:
            ours = '-' if figure.ours is None else shown(figure.ours, self.unit)
            return (self.title, ours, self.peer and self.peer + ' -', '-' if of_ratio else '', self.aim, figure.fault), []
        value = figure.ratio if of_ratio else figure.ours
        verdict = 'met' if bound and COMPARE[sign](value, float(Fraction(bound))) else 'missed' if bound else ''
        return (self.title, shown(figure.ours, self.unit), self.peer and self.peer + ' ' + shown(figure.peer, self.unit),
                '' if figure.ratio is None else ratio_shown(figure.ratio, bound or ''), self.aim, verdict), []


class Rows:
    """Many figures beside their peers' in one row, which counts those whose ratio is above MOST: at most FEW are to be, and
    none above WORST. Those are listed, and those that are missing."""

    def __init__(self, figure_names, title, unit, peer, most, few=0, worst=0):
        self.figures, self.title, self.unit, self.peer, self.most = figure_names, title, unit, peer, most
        self.few, self.worst = few, worst

    def names(self):
        return self.figures

    def cells(self, found):
        above, faults, missed = [], {}, False
        for name in self.figures:
            title = name.partition('/')[2]
            (_, ours, peer, ratio, _, verdict), _ = Row(
                name, title, self.unit, 'ratio <= %s' % self.most, self.peer).cells(found)
            if verdict not in ('met', 'missed'):
                faults.setdefault(verdict, []).append(title)
            elif verdict == 'missed':
                above.append((-found[name].ratio, '%s: %s, %s, ratio %s' % (title, ours, peer, ratio)))
                missed = missed or len(above) > self.few or found[name].ratio > self.worst
        aim = 'ratio <= %s each' % self.most
        if self.few:
            aim += ', but %d <= %s' % (self.few, self.worst)
        if any(len(titles) == len(self.figures) for titles in faults.values()):
            return (self.title, '-', self.peer + ' -', '-', aim, *faults), []
        lines = ['%s: %s' % (fault, '; '.join(titles)) for fault, titles in faults.items()]
        verdict = '%d missing or malformed' % sum(map(len, faults.values())) if faults else 'missed' if missed else 'met'
        return (self.title, '%d of %d above' % (len(above), len(self.figures)), self.peer, '', aim, verdict), [
            line for _, line in sorted(above)] + lines


def shown(number, unit):
    """Returns a NUMBER with three digits or more, with its UNIT."""
    digits = 0 if number == int(number) or abs(number) >= 100 else 1 if abs(number) >= 10 else 2 if abs(number) >= 1 else 3
    return ('{:,.%df} {}' % digits).format(number, unit).strip()


def ratio_shown(ratio, bound):
    """As a fraction, if the BOUND is one."""
    return '1/%.1f' % (1 / ratio) if '/' in bound and 0 < ratio < 1 else '%.3f' % ratio


# --- The aims -----------------------------------------------------------------------------------

NIF_MOST, NIF_FEW, NIF_WORST = 1.05, 5, 1.5
TEN = ('make_atom', 'send', 'get_local_pid', 'get_map_value', 'is_identical', 'make_tuple',
       'is_process_alive', 'make_int', 'monotonic_time', 'get_tuple')
CALLS = (  # case of local.c, title, instructions beyond a plain call
    ('process not traced', 'not traced', 26),
    ('discarded', 'discarded', 125),
    ('rejected by a guard', 'rejected by a guard', 185),
    ('call', 'traced', 225),
    ('call and return', 'with return', 430),
)
SECOND = 15  # instructions more, if a breakpoint is of the second session of a process


def nif_rows():
    """Returns the names of the functions of the NIF API that are measured."""
    with open(HERE + '/libraries/nif_times_rows.h') as file:
        return re.findall(r'^    X\(\w+, "([^"]+)"', file.read(), re.M)


def is_of_ten(row):
    return row.split(',')[0] in ['enif_' + name for name in TEN]


def instructions(group, title, more):
    return [Row('instructions/%s/%s' % (group, case), '%s: %s' % (title, name), '', '<= %d' % (most + more))
            for case, name, most in CALLS]


GROUPS = (
    ('instructions', 'A local call, instructions beyond a plain one (callgrind)',
     instructions('TH_FUNCTION', 'TH_FUNCTION', 0) + instructions('second session', 'second session of a process', SECOND) +
     instructions('TH_NIF', 'TH_NIF', 0)),
    ('local', 'A local call of a TH_FUNCTION, with its loop', [
        Row('local/plain', 'plain', 'ns'),
        Row('local/not patched', 'a breakpoint can be set, and is not', 'ns'),
        Row('local/flags clear', 'its last breakpoint is being removed', 'ns')] + [
        Row('local/' + case, name, 'ns') for case, name, _ in CALLS] + [
        Row('threads/plain', 'plain calls of two threads, times those of one', ''),
        Row('threads/discarded', 'discarded calls of two threads, times those of one', ''),
        Row('threads/ratio', 'the latter by the former', '', '>= 0.95')]),
    ('peers', 'A traced call beside other tracers', [
        Row('peers/uftrace', 'discarded; uftrace: a filter rejects', 'ns', 'ratio < 1', 'uftrace'),
        Row('peers/xray', 'traced; XRay: entry and exit', 'ns', 'ratio <= 1.2', 'XRay'),
        Row('peers/xray return', 'with return; XRay: entry and exit', 'ns', 'ratio <= 2', 'XRay'),
        Row('peers/lttng', 'with return; LTTng: one event recorded', 'ns', 'ratio < 1/3', 'LTTng'),
        Row('peers/otp discarded', 'discarded', 'ns', '', 'OTP'),
        Row('peers/otp traced', 'traced', 'ns', '', 'OTP'),
        Row('peers/otp return', 'with return', 'ns', '', 'OTP')]),
    ('replay', 'Recordings, a record', [
        Row('replay/count/l1', 'count of l1', 'ns', 'ratio <= 1/12', 'dbg'),
        Row('replay/count/l2', 'count of l2', 'ns', 'ratio <= 1/12', 'dbg'),
        Row('replay/count/l3', 'count of l3', 'ns', 'ratio <= 1/10', 'dbg'),
        Row('replay/report/l1', 'report of l1, processor time', 's', '<= 0.1'),
        Row('json/l1', 'JSON lines of l1 into count', 'ns', 'ratio <= 1/8', 'Jansson'),
        Row('json/unseen', 'JSON lines with new terms into count', 'ns', 'ratio <= 1/5', 'Jansson')]),
    ('packed', 'Packed recordings, processor time', [
        Row('packed/convert', 'l1 is packed; peer: is written plain', 's', 'ratio <= 1.5', 'plain'),
        Row('packed/count', 'count of l1', 's', '', 'plain'),
        Row('packed/window', 'count of 20 ms of l1', 's', 'ratio <= 1/4', 'all of it'),
        Row('packed/second', 'a second of the generated one: slowest choice', 's', '< 1'),
        Row('packed/second/sql', '... tracehost sql, events of a function', 's', '< 1'),
        Row('packed/memory', '... the most memory', 'MiB', '< 64'),
        Row('packed/frames', '... frames read, times those that are wanted', '', '<= 1.1')]),
    ('nats', 'A log on NATS JetStream, with its server on the same processors; million records a second', [
        Row('nats/publish', 'l1 is written', '', '', 'file'),
        Row('nats/consume', 'count of l1', '', '>= 1', 'file')]),
    ('sql', 'Queries of l1, processor time', [
        Row('sql/calls', 'calls and durations by function, from calls', 's', 'ratio <= 2.5', 'time'),
        Row('sql/functions', 'the same from functions', 's', 'ratio <= 1.25', 'time')]),
    ('python', 'The package for Python', [
        Row('python/one', 'records of l1, terms as values', 'thousand/s', '>= 1000'),
        Row('python/two', 'records of two threads, times those of one', '', '>= 1'),
        Row('python/tracer', 'records of l1 into a function', 'thousand/s'),
        Row('python/frame', 'calls of l1 as a pandas.DataFrame', 's')]),
    ('nif', 'Functions of the NIF API', [
        Rows(['nif/' + row for row in nif_rows() if is_of_ten(row)], 'the ten that tracers import most', 'ns', 'BEAM', NIF_MOST),
        Rows(['nif/' + row for row in nif_rows() if not is_of_ten(row)], 'others', 'ns', 'BEAM', NIF_MOST,
             NIF_FEW, NIF_WORST)]),
    ('runtime', 'Processes, messages, external calls', [
        Row('runtime/crowd', 'a process is spawned, sends and ends', 'ns', 'ratio <= 0.7', 'BEAM'),
        Row('runtime/ping', 'a message and its answer', 'ns', '', 'BEAM'),
        Row('runtime/calls', 'an external call by name', 'ns', 'ratio <= 1', 'BEAM'),
        Row('runtime/exports', '... its name looked up before', 'ns', '', 'BEAM'),
        Row('runtime/discarded', '... discarded', 'ns', '', 'BEAM'),
        Row('runtime/traced', '... traced', 'ns', '', 'BEAM'),
        Row('runtime/returned', '... with return', 'ns', '', 'BEAM'),
        Row('external/found', 'code is found, entered and left', 'ns', '< 1.5'),
        Row('probes/send', 'an unwatched probe of a send', 'instructions', '<= 3'),
        Row('probes/external call', 'an unwatched probe of an external call', 'instructions', '<= 3')]),
    ('loading', 'Loading, beside two busy schedulers', [
        Row('loading/finish/1', 'finish of 1 function, processor time', 'us', '< 50'),
        Row('loading/finish/100', 'finish of 100 functions', 'us', '< 50'),
        Row('loading/finish/1000', 'finish of 1,000 functions', 'us', '< 50'),
        Row('loading/finish/1000 TH_NIF', 'finish of 1,000 TH_NIF', 'us'),
        Row('loading/whole/1000', 'all of an upgrade of 1,000 functions', 'us', '', 'BEAM')]),
    ('node', 'A running node that is traced from outside, its work in a second', [
        Row('node/1000', '1,000 events a second', '', 'ratio >= 0.95', 'not traced'),
        Row('node/10000', '10,000 events a second', '', 'ratio >= 0.9', 'not traced')]),
    ('gaps', 'Longest gap between calls of two busy schedulers, with a processor', [
        Row('gaps/nobody', 'nobody asks', 'ms'),
        Row('gaps/questions', 'questions of ctl', 'ms'),
        Row('gaps/changes', 'changes by ctl', 'ms'),
        Row('gaps/upgrades', 'upgrades, more than nothing', 'ms', '< 1')]),
)

# --- Output -------------------------------------------------------------------------------------


def table(found, groups):
    """Returns (title, [(cells, lines)]) of each group, and the verdicts of all rows."""
    made = [(title, [row.cells(found) for row in rows]) for _, title, rows in groups]
    return made, [cells[-1] for _, rows in made for cells, _ in rows]


def counted(verdicts):
    return 'Aims: %d met, %d missed. Figures: %d missing or malformed' % (
        verdicts.count('met'), verdicts.count('missed'),
        sum(verdict not in ('met', 'missed', '') for verdict in verdicts))


def summary(found, groups):
    made, verdicts = table(found, groups)
    every = [HEADINGS] + [cells for _, rows in made for cells, _ in rows]
    widths = [max(len(cells[i]) for cells in every) for i in range(len(HEADINGS) - 1)]

    def line(cells):
        return '  '.join(['  ' + cells[0].ljust(widths[0])] + [
            cell.rjust(width) for cell, width in zip(cells[1:], widths[1:])] + [cells[-1]]).rstrip()

    print('== Summary\n' + line(HEADINGS))
    for title, rows in made:
        print(title)
        for cells, more in rows:
            print('\n'.join([line(cells)] + ['      ' + text for text in more]))
    known = {name for _, _, rows in groups for row in rows for name in row.names()}
    others = [name for name in found if name not in known]
    if others and groups == GROUPS:
        print('Figures without a row here')
        for name in others:
            print('  %s: %s' % (name, found[name].fault or shown(found[name].ours, '')))
    print(counted(verdicts))


def markdown(found):
    made, verdicts = table(found, GROUPS)
    lines = []
    for title, rows in made:
        lines += ['', '| %s | tracehost | peer | ratio | aim | |' % title, '|---|---|---|---|---|---|']
        lines += ['| %s |' % ' | '.join(cells) for cells, _ in rows]
        listed = [text for _, more in rows for text in more]
        lines += ['', 'Above or missing: ' + '; '.join(listed) + '.'] if listed else []
    return '\n'.join(['%s.' % counted(verdicts)] + lines) + '\n'


def write_readme(found, path=HERE + '/README.md'):
    with open(path) as file:
        before, _, rest = file.read().partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        sys.exit('aims.py: %s has no lines %s and %s' % (path, BEGIN.strip(), END.strip()))
    with open(path, 'w') as file:
        file.write(before + BEGIN + markdown(found) + END + after)


def main(command, path, *names):
    unknown = set(names) - {name for name, _, _ in GROUPS}
    if command not in ('summary', 'readme') or unknown or (names and command == 'readme'):
        sys.exit(__doc__)
    found = figures.read(path)
    if command == 'readme':
        write_readme(found)
    else:
        summary(found, tuple(group for group in GROUPS if not names or group[0] in names))


if __name__ == '__main__':
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
