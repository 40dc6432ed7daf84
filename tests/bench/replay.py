#!/usr/bin/env python3
"""Reading recordings: `count` beside dbg:trace_client on the same files, JSON lines beside Jansson alone, and a page of
`report`.

The files are the large recordings where they are there, else one that is made by repeating a small
one. Seconds differ from machine to machine; the ratios are what counts.
"""

import os
import re
import shutil
import statistics
import subprocess
import tempfile

import figures

BUILD = os.environ['BUILD_DIR']
TRACEHOST = os.environ['TRACEHOST']
LARGE = '../shared/recordings/large'
MADE_FROM = 'samples/recordings/s11_mnesia_arity.trace'
MADE_BYTES = 20 << 20
LARGE_FIGURES = ('replay/count/l1', 'replay/count/l2', 'replay/count/l3', 'replay/report/l1', 'json/l1')
UNSEEN = 200000  # lines
REPORTS = 9


def recordings(folder):
    """Returns the large recordings by their names l1, l2 and l3; without them, one that is made, without a name."""
    if os.path.isdir(LARGE):
        return {name.partition('_')[0]: os.path.join(LARGE, name) for name in sorted(os.listdir(LARGE))
                if name.endswith('.trace')}
    made = os.path.join(folder, 'made.trace')
    with open(MADE_FROM, 'rb') as small, open(made, 'wb') as large:
        part = small.read()
        for _ in range(MADE_BYTES // len(part) + 1):
            large.write(part)
    return {'': made}


def say(*command):
    return subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          text=True).stdout


def dbg(folder, file):
    """Nanoseconds an event of dbg:trace_client, None without Erlang."""
    if not shutil.which('erl'):
        return None
    say('erlc', '-o', folder, 'tests/bench/dbg_client.erl')
    return float(say('erl', '-noshell', '-pa', folder, '-run', 'dbg_client', 'main', file))


def replay(folder, file, name):
    """Measures `count` beside dbg:trace_client, for the figures of the recording NAME, if it has one."""
    report = say(BUILD + '/tests/bench/replay', file)
    print(report, end='')
    ours = float(dict(re.findall(r'^  (\S.*?) +([0-9.]+) ns/event', report, re.M))['tracer count'])
    client = dbg(folder, file)
    if client:
        print('  %-18s %8.1f ns/event' % ('dbg:trace_client', client))
        print('  count is %.1f times as fast as dbg:trace_client' % (client / ours))
    if name and client:
        figures.pair('replay/count/' + name, [ours], [client])
    elif name:
        figures.missing('replay/count/' + name, 'no erl', [ours])


def json_lines(lines, *figure):
    print(say(BUILD + '/tests/bench/json_lines', lines, *figure), end='', flush=True)


def write_unseen(path):
    """Writes JSON lines of calls, each with a term that no line before has."""
    with open(path, 'w') as file:
        file.write('{"tracehost":1,"node":"nonode@nohost","creation":0}\n')
        for i in range(UNSEEN):
            file.write('{"ts":%d,"ts_kind":"timestamp","tracee":"<0.79.0>","tag":"call",'
                       '"term":"{compile,file,[%d,{state,%d}]}"}\n' % (1795233757595492000 + 1000 * i, i, 3 * i))


def time_report(folder, file):
    """Measures the processor time of `tracehost report`."""
    seconds = []
    for _ in range(REPORTS):
        before = os.times()
        say(TRACEHOST, 'report', '-o', folder + '/page.html', file)
        after = os.times()
        seconds.append(after.children_user + after.children_system - before.children_user - before.children_system)
    print('  a page of `report` takes %.2f s of processor time' % statistics.median(seconds))
    figures.value('replay/report/l1', statistics.median(seconds))


def main():
    os.environ['TRACEHOST_PATH'] = BUILD + '/lib/tracehost/tracers'
    with tempfile.TemporaryDirectory() as folder:
        lines = os.path.join(folder, 'lines.jsonl')
        files = recordings(folder)
        for name, file in files.items():
            replay(folder, file, name)
        name, file = next(iter(files.items()))
        say(TRACEHOST, 'convert', file, lines)
        json_lines(lines, *['json/l1'] * (name == 'l1'))
        if name == 'l1':
            time_report(folder, file)
        else:
            for figure in LARGE_FIGURES:
                figures.missing(figure, 'no large recordings')
        print('JSON lines, each with a term that was not seen before:')
        write_unseen(lines)
        json_lines(lines, 'json/unseen')


main()
