"""The file of the figures of a run, $BENCH_FIGURES, to which each benchmark appends its own. A line is

  NAME <tab> VALUE                         a figure
  NAME <tab> OURS <tab> PEER <tab> RATIO   a figure beside a peer's, with the median of the rounds' ratios
  NAME <tab> - <tab> WHY                   a figure that cannot be measured here
  NAME <tab> OURS <tab> - <tab> WHY        a figure whose peer cannot be measured here

Programs in C write the first form by measure_figure(). Without $BENCH_FIGURES, nothing is written. The summary is made by
aims.py.
"""

import math
import os
import statistics


class Figure:
    """A figure that was measured: `peer` and `ratio` (ours / peer) are None if there is no peer. `fault` says why a value
    is missing; it is None if none is."""

    def __init__(self, ours=None, peer=None, ratio=None, fault=None):
        self.ours, self.peer, self.ratio, self.fault = ours, peer, ratio, fault


def append(*words):
    if 'BENCH_FIGURES' in os.environ:
        with open(os.environ['BENCH_FIGURES'], 'a') as file:
            file.write('\t'.join(words) + '\n')


def value(name, number):
    append(name, '%.4g' % number)


def pair(name, ours, peer):
    """Writes the medians of OURS and PEER, and of their ratios, round by round."""
    ratio = statistics.median(mine / its for mine, its in zip(ours, peer))
    append(name, *('%.4g' % number for number in (statistics.median(ours), statistics.median(peer), ratio)))


def missing(name, why, ours=None):
    """Writes that a figure is missing or, if OURS are its values, its peer's."""
    append(name, *(['%.4g' % statistics.median(ours)] if ours else []), '-', ' '.join(why.split()))


def parsed(cells):
    """Returns the Figure of a line's CELLS behind the name."""
    fault = None
    if '-' in cells[:2]:
        at = cells.index('-')
        fault = 'missing: ' + (' '.join(cells[at + 1:]) or 'no reason given')
        cells = cells[:at]
    try:
        numbers = [float(cell) for cell in cells]
    except ValueError:
        numbers = [math.nan]
    if fault and all(math.isfinite(number) for number in numbers):
        return Figure(*numbers, fault=fault)
    if len(numbers) not in (1, 3) or not all(math.isfinite(number) for number in numbers) or min(numbers[1:], default=1) <= 0:
        return Figure(fault='malformed: ' + (' '.join(cells).strip() or 'no value'))
    return Figure(*numbers)


def read(path):
    """Returns the figures of a file by their names. If PATH does not exist, there are none."""
    found = {}
    if not os.path.exists(path):
        return found
    with open(path, errors='replace') as file:
        for line in file.read().splitlines():
            name, *cells = line.split('\t')
            found[name] = Figure(fault='malformed: given twice') if name in found else parsed(cells)
    return found
