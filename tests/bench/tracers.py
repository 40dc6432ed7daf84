#!/usr/bin/env python3
"""What the tracers that ship cost, by `tracehost bench`.

  tracers.py          prints the table
  tracers.py readme   writes it into tests/bench/README.md, between the lines of MARKS

A cell has nanoseconds and instructions of a callback beyond those of an empty tracer.
"""

import glob
import json
import os
import re
import subprocess
import sys

BUILD = os.environ.get('BUILD_DIR', 'build/release')
README = os.path.dirname(os.path.abspath(__file__)) + '/README.md'
MARKS = ('<!-- tracers -->', '<!-- end of tracers -->')
MOST_MISSED = 0.1  # part of the time in which two threads may lack a processor; above, they are not compared with one
ATTEMPTS = 5
CELLS = (  # heading, callback, tag, content
    ('`enabled` of a call', 'enabled', 'call', ''),
    ('call f/3', 'trace', 'call', 'f/3'),
    ('call, 1 kB', 'trace', 'call', '1 kB'),
    ('return', 'trace', 'return_from', 'ok'),
    ('send', 'trace', 'send', 'ok'),
    ('send, 1 kB', 'trace', 'send', '1 kB'),
    ('spawn', 'trace', 'spawn', ''),
)


def measure(tracer, *words, **variables):
    said = subprocess.run([BUILD + '/bin/tracehost', 'bench', '--format=json', tracer, *words], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(os.environ, **variables))
    return json.loads(said.stdout)


def gain(tracer, rates):
    """How many times as many calls two threads make; on a busy machine this is measured again, without valgrind."""
    for _ in range(ATTEMPTS):
        if rates['without_processor'] < MOST_MISSED:
            return '{:,.2f}'.format(rates['tracer']['gain'])
        rates = measure(tracer, '--runs=1', PATH='')['traced_calls_per_second']
    return 'no processor'


def row_of(found, callback, tag, content):
    return next(row for row in found['rows'] if row['callback'].startswith(callback) and
                (row['tag'], row['content']) == (tag, content))


def number(value):
    return '{:,.1f}'.format(value) if abs(value) < 99.95 else '{:,.0f}'.format(value)


def cell(row):
    if not row['wanted']:
        return 'discarded'
    text = number(row['ns_more']) + ' ns'
    return text + ', {:,.0f}'.format(row['instructions_more']) if 'instructions' in row else text


def line(tracer):
    found = measure(tracer)
    rates = found['traced_calls_per_second']
    return ['`%s`' % tracer] + [cell(row_of(found, *place)) for _, *place in CELLS] + \
        ['{:,.2f} M'.format(rates['tracer']['one'] / 1e6), gain(tracer, rates)]


def table():
    tracers = sorted(os.path.basename(path)[:-3] for path in glob.glob(BUILD + '/lib/tracehost/tracers/*.so'))
    heading = ['tracer'] + [name for name, *_ in CELLS] + ['calls and returns a second', 'times as many by two threads']
    rows = [heading, ['---'] * len(heading)] + [line(tracer) for tracer in tracers]
    return ''.join('| %s |\n' % ' | '.join(row) for row in rows)


def write_readme(text):
    with open(README) as file:
        page = file.read()
    begin, end = map(re.escape, MARKS)
    page, found = re.subn('(?s)(%s\n).*?(%s)' % (begin, end), lambda m: m[1] + text + m[2], page)
    if found != 1:
        sys.exit('tracers.py: %s needs the lines %s, once' % (README, ' and '.join(MARKS)))
    with open(README, 'w') as file:
        file.write(page)


if __name__ == '__main__':
    if sys.argv[1:] == ['readme']:
        write_readme(table())
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        print('Tracers that ship, beyond an empty tracer (ns, instructions):\n' + table(), end='')
