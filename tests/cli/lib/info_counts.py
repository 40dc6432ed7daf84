"""Compares the output of `tracehost info --format=json` for a recording with NAME.counts.txt, which a
real dbg:trace_client counted. usage: info_counts.py TRACEHOST STREAM COUNTS"""

import json
import re
import subprocess
import sys

tracehost, stream, counts = sys.argv[1:]
info = json.loads(subprocess.run(
    [tracehost, 'info', '--allow-partial', '--format=json', stream],
    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout)
tags = {(row['kind'], row['tag']): row for row in info['tags']}
calls = {row['mfa']: row['count'] for row in info['calls']}
faults = []


def same(line, found):
    wanted = int(line.split()[-1])
    if found != wanted:
        faults.append('%s: found %s' % (line, found))


def look(line):
    word, *rest = line.split(' ')
    if word in ('total', 'records_before_error'):
        same(line, info['total'])
        if word == 'records_before_error' and not info['partial']:
            faults.append(line + ': not said to be partial')
    elif word in ('calls_distinct', 'calls_total'):
        same(line, info[word])
    elif rest[:2] == ['drop', 'drop']:
        same(line, info['drops'])
    elif word == 'tag':
        same(line, tags.get((rest[0], rest[1].strip("'")), {}).get('count'))
    elif word == 'shape':
        sizes = tags.get((rest[0], rest[1].strip("'")), {}).get('tuple_sizes', {})
        same(line, sizes.get(rest[2].split('=')[1]))
    elif word == 'call':
        same(line, calls.get(re.sub(' [0-9]+$', '', line[len('call '):])))
    elif word != 'ERROR':
        faults.append('cannot read: ' + line)


with open(counts, encoding='utf-8') as file:
    for line in file:
        look(line.rstrip('\n'))
print('\n'.join(faults))
sys.exit(bool(faults))
