#!/usr/bin/env python3
"""How long schedulers at full load are kept from their next call: while nobody is there, while a client
asks as much as it can, which takes a processor now and then, and while it changes what is traced. A
histogram of the three, in turn, in one run."""

import os
import re
import subprocess
import sys
import tempfile
import time

BUILD = os.environ['BUILD_DIR']
PROGRAM = BUILD + '/bin/tracehost'
LIBRARIES = BUILD + '/tests/bench/libraries'
ROUNDS = 3
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
    """The counts by line of gaps.c, the longest gap, and how many commands there were."""
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
    numbers = [int(line) for line in host.communicate()[0].split()[:33]]
    return numbers[:32], numbers[32], made


def main():
    if not os.path.exists(LIBRARIES + '/gaps.so'):
        print('no erl_nif.h of OTP: nothing is measured')
        return
    commands = ('', QUESTIONS, CHANGES)
    sums, longest, made = [[0] * 32 for _ in commands], [0] * 3, [0] * 3
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            for i, one in enumerate(commands):
                counts, most, count = gaps(folder, one)
                sums[i] = [a + b for a, b in zip(sums[i], counts)]
                longest[i] = max(longest[i], most)
                made[i] += count
    print('gaps between two calls of a scheduler, two of them at full load for %d s\n' % (ROUNDS * SECONDS))
    print('%-14s %16s %16s %16s' % ('', 'nobody', '%d questions' % made[1], '%d changes' % made[2]))
    below = -1
    for last, name in BOUNDS:
        print('%-14s %16d %16d %16d' % ('below ' + name if name != 'more' else name,
                                        *(sum(one[below + 1:last + 1]) for one in sums)))
        below = last
    print('%-14s %13.3f ms %13.3f ms %13.3f ms' % ('the longest', *(one / 1e6 for one in longest)))


if __name__ == '__main__':
    sys.exit(main())
