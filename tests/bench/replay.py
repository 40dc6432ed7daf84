#!/usr/bin/env python3
"""Reading recordings: ours beside dbg:trace_client on the same files and beside Jansson alone.

The files are the large recordings where they are there, else one that is made by repeating a small
one. Seconds differ from machine to machine; the ratios are what counts.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = os.environ['BUILD_DIR']
TRACEHOST = os.environ['TRACEHOST']
LARGE = '../shared/recordings/large'
MADE_FROM = 'samples/recordings/s11_mnesia_arity.trace'
MADE_BYTES = 20 << 20


def recordings(folder):
    if os.path.isdir(LARGE):
        return sorted(os.path.join(LARGE, name) for name in os.listdir(LARGE)
                      if name.endswith('.trace'))
    made = os.path.join(folder, 'made.trace')
    with open(MADE_FROM, 'rb') as small, open(made, 'wb') as large:
        part = small.read()
        for _ in range(MADE_BYTES // len(part) + 1):
            large.write(part)
    return [made]


def say(*command):
    return subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          text=True).stdout


def dbg(folder, file):
    """Nanoseconds an event of dbg:trace_client, None without Erlang."""
    if not shutil.which('erl'):
        return None
    say('erlc', '-o', folder, 'tests/bench/dbg_client.erl')
    return float(say('erl', '-noshell', '-pa', folder, '-run', 'dbg_client', 'main', file))


def bench(folder, file):
    report = say(BUILD + '/tests/bench/replay', file)
    print(report, end='')
    ours = dict(re.findall(r'^  (\S.*?) +([0-9.]+) ns/event', report, re.M))
    client = dbg(folder, file)
    if client:
        print('  %-18s %8.1f ns/event' % ('dbg:trace_client', client))
        print('  count is %.1f times as fast as dbg:trace_client' %
              (client / float(ours['tracer count'])))
    lines = os.path.join(folder, 'lines.jsonl')
    say(TRACEHOST, 'convert', file, lines)
    print(say(BUILD + '/tests/bench/json_lines', lines), end='')
    os.remove(lines)
    sys.stdout.flush()


def main():
    os.environ['TRACEHOST_PATH'] = BUILD + '/lib/tracehost/tracers'
    with tempfile.TemporaryDirectory() as folder:
        for file in recordings(folder):
            bench(folder, file)


main()
