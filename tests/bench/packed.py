#!/usr/bin/env python3
"""Packed recordings: making one of l1 and playing it, beside the plain one; and narrow choices from a generated recording,
with the frames that they read, the time that they take, and their memory.

PACKED_RECORDS is the number of records of the generated one (1,000,000; 100,000,000 take minutes and 2 GB of $TMPDIR)."""

import os
import re
import subprocess
import tempfile

import figures

TRACEHOST = os.environ['TRACEHOST']
GENERATOR = os.environ['BUILD_DIR'] + '/tests/bench/recording'
L1 = '../shared/recordings/large/l1_compile_compiler_arity.trace'
RECORDS = int(os.environ.get('PACKED_RECORDS', '1000000'))
ROUNDS = 9
BEGIN_S, SECOND_NS = 1795233757, 1000000000  # of the generated recording: see recording.c


def measure(*words):
    """Returns the processor time of the program with WORDS in seconds, its largest memory in MiB, and what it printed."""
    process = subprocess.Popen([TRACEHOST, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit('tracehost %s: status %d\n%s' % (' '.join(words), process.returncode, text))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


def compare(figure, ours, peer):
    """Measures two commands in turn."""
    rounds = [(measure(*ours)[0], measure(*peer)[0]) for _ in range(ROUNDS)]
    figures.pair(figure, [row[0] for row in rounds], [row[1] for row in rounds])
    print('%-18s %.3f s, %.3f s' % (figure, *(sorted(column)[ROUNDS // 2] for column in zip(*rounds))))


def beside_plain(folder):
    packed, window = folder + '/l1.trace.zst', ['--supervisor=no', '-t', 'count', '--from=200ms', '--to=220ms']
    compare('packed/convert', ['convert', '--index', L1, packed], ['convert', L1, folder + '/l1.trace'])
    compare('packed/count', ['replay', '--supervisor=no', '-t', 'count', packed], ['replay', '--supervisor=no', '-t', 'count', L1])
    compare('packed/window', ['replay', *window, packed], ['replay', '--supervisor=no', '-t', 'count', packed])


def generated(folder):
    packed, wanted = folder + '/made.trace.zst', folder + '/wanted'
    with subprocess.Popen([GENERATOR, str(RECORDS), wanted], stdout=subprocess.PIPE) as generator:
        subprocess.run([TRACEHOST, 'convert', '--index', '-', packed], stdin=generator.stdout, check=True)
    if generator.returncode:
        raise SystemExit('the generator failed')
    print('%d records, %.0f MB packed' % (RECORDS, os.path.getsize(packed) / 1e6))
    seconds, memory, ratios = [], [], []
    with open(wanted) as choices:
        for line in choices:
            name, frames, events, options = line.rstrip('\n').split('\t')
            time, most, text = measure('replay', '--supervisor=no', '-t', 'count', '--stats', *options.split(), packed)
            read = int(re.search(r'(\d+)  frames that were read', text)[1])
            got = int(re.search(r'(\d+)  calls of its trace callbacks', text)[1])
            print('  %-18s %5d frames wanted, %5d read; %.3f s, %.1f MiB' % (name, int(frames), read, time, most))
            if got != int(events):
                raise SystemExit('%s: %d events, not %s' % (options, got, events))
            ratios.append(read / int(frames))
            if '--from' in options:
                seconds.append(time)
            memory.append(most)
    begin = (BEGIN_S + RECORDS // 100000 // 2) * SECOND_NS
    time, most, text = measure('sql', '--format=csv', packed,
                               "select count(*) from events where module = 'server_3' and function = 'handle_4' and "
                               "tag = 'call' and time between %d and %d" % (begin, begin + SECOND_NS - 1))
    print('  %-18s %s rows; %.3f s, %.1f MiB' % ('sql', text.split()[-1], time, most))
    figures.value('packed/second', max(seconds))
    figures.value('packed/second/sql', time)
    figures.value('packed/memory', max(memory + [most]))
    figures.value('packed/frames', max(ratios))


def main():
    with tempfile.TemporaryDirectory() as folder:
        if os.path.exists(L1):
            beside_plain(folder)
        else:
            for figure in 'packed/convert', 'packed/count', 'packed/window':
                figures.missing(figure, 'no large recordings')
        generated(folder)


main()
