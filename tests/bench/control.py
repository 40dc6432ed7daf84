#!/usr/bin/env python3
"""How long schedulers at full load are kept from their next call: while nobody is there, while a client
asks as much as it can, which takes a processor now and then, and while it changes what is traced. Two
histograms of the three, in turn, in one run: of the gaps, and of them without the time in which a
scheduler waited for a processor, as there were fewer than there were threads to run."""

import os
import re
import subprocess
import sys
import tempfile
import time

import figures

BUILD = os.environ['BUILD_DIR']
PROGRAM = BUILD + '/bin/tracehost'
LIBRARIES = BUILD + '/tests/bench/libraries'
NAMES = 'nobody', 'questions', 'changes'
ROUNDS = 2
SECONDS = 3
BOUNDS = ((0, '1 us'), (4, '16 us'), (7, '128 us'), (10, '1 ms'), (13, '8 ms'), (14, '16 ms'), (31, 'more'))
QUESTIONS = 'functions\n' * 6 + 'detach nobody\n'
CHANGES = '''\
attach count,output=/dev/null -p party:loop/1 --session=other
pattern party:_/_ --session=other
replace other as_told
pattern party:loop/1 --kind=count,time --session=other
flags send on --session=other
pattern _:_/_ --match-spec=false --session=other
detach other
'''


def said(socket, commands, until):
    """How many of them were carried out by then."""
    client = subprocess.Popen([PROGRAM, 'ctl', socket], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    made = 0
    while time.monotonic() < until:
        client.stdin.write(commands)
        client.stdin.flush()
        made += commands.count('\n')
        while not re.search('has ended|is called nobody|no session', client.stdout.readline()):
            pass
    client.communicate()
    return made


def gaps(folder, commands):
    """The counts by line of gaps.c and the longest gap, for each of its histograms, and how many commands
    there were."""
    socket = folder + '/socket'
    host = subprocess.Popen([PROGRAM, 'run', '--control', socket, '--schedulers=2', '-L', LIBRARIES,
                             '-t', 'gaps', '-p', 'party:loop/1', BUILD + '/tests/plugins/party.so',
                             'party:spawns(2, party, loop, [4000000000000]).', 'timer:sleep(600000).'],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    while subprocess.run([PROGRAM, 'ctl', socket, 'status'], stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL).returncode:
        time.sleep(0.1)
    until = time.monotonic() + SECONDS
    made = said(socket, commands, until) if commands else time.sleep(SECONDS) or 0
    subprocess.run([PROGRAM, 'ctl', socket, 'stop'], stdout=subprocess.DEVNULL, check=True)
    numbers = [int(line) for line in host.communicate()[0].split()[:66]]
    return (numbers[:33], numbers[33:]), made


class Sums:
    """A histogram of each column."""

    def __init__(self, columns):
        self.counts = [[0] * 32 for _ in range(columns)]
        self.longest = [0] * columns

    def add(self, column, numbers):
        self.counts[column] = [a + b for a, b in zip(self.counts[column], numbers[:32])]
        self.longest[column] = max(self.longest[column], numbers[32])

    def show(self, title, headings):
        print('\n%s\n' % title)
        print('%-14s' % '' + ''.join('%17s' % one for one in headings))
        below = -1
        for last, name in BOUNDS:
            print('%-14s' % ('below ' + name if name != 'more' else name) +
                  ''.join('%17d' % sum(one[below + 1:last + 1]) for one in self.counts))
            below = last
        print('%-14s' % 'the longest' + ''.join('%14.3f ms' % (one / 1e6) for one in self.longest))


def main():
    if not os.path.exists(LIBRARIES + '/gaps.so'):
        print('no erl_nif.h of OTP: nothing is measured')
        for name in NAMES:
            figures.missing('gaps/' + name, 'no erl_nif.h of OTP')
        return
    commands = ('', QUESTIONS, CHANGES)
    made = [0] * 3
    all_of_it, without_waits = Sums(3), Sums(3)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            for i, one in enumerate(commands):
                numbers, count = gaps(folder, one)
                all_of_it.add(i, numbers[0])
                without_waits.add(i, numbers[1])
                made[i] += count
    headings = ('nobody', '%d questions' % made[1], '%d changes' % made[2])
    print('two schedulers, at full load for %d s' % (ROUNDS * SECONDS))
    all_of_it.show('gaps between two calls of a scheduler', headings)
    without_waits.show('without the time in which it waited for a processor', headings)
    for name, longest in zip(NAMES, without_waits.longest):
        figures.value('gaps/' + name, longest / 1e6)


if __name__ == '__main__':
    sys.exit(main())
