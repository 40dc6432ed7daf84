#!/usr/bin/env python3
"""How long schedulers at full load are kept from their next call, while nothing is changed, and while
a client changes what is traced as fast as it can: a histogram of both, in turn, in one run."""

import os
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
CHANGES = '''\
attach count,output=/dev/null -p party:loop/1 --session=other
pattern party:_/_ --session=other
replace other as_told
pattern party:loop/1 --kind=count,time --session=other
flags send on --session=other
pattern _:_/_ --match-spec=false --session=other
detach other
'''


def changed(socket, until):
    """How many changes were made by then."""
    client = subprocess.Popen([PROGRAM, 'ctl', socket], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    made = 0
    while time.monotonic() < until:
        client.stdin.write(CHANGES)
        client.stdin.flush()
        while 'has ended' not in client.stdout.readline():
            made += 1
    client.communicate()
    return made


def gaps(folder, changes):
    """The counts by line of gaps.c, the longest gap, and how many changes there were."""
    socket = folder + '/socket'
    host = subprocess.Popen([PROGRAM, 'run', '--control', socket, '--schedulers=2', '-L', LIBRARIES,
                             '-t', 'gaps', '-p', 'party:loop/1', BUILD + '/tests/plugins/party.so',
                             'party:spawns(2, party, loop, [4000000000000]).', 'timer:sleep(600000).'],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    while subprocess.run([PROGRAM, 'ctl', socket, 'status'], stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL).returncode:
        time.sleep(0.1)
    until = time.monotonic() + SECONDS
    made = changed(socket, until) if changes else time.sleep(SECONDS) or 0
    subprocess.run([PROGRAM, 'ctl', socket, 'stop'], stdout=subprocess.DEVNULL, check=True)
    numbers = [int(line) for line in host.communicate()[0].split()[:33]]
    return numbers[:32], numbers[32], made


def main():
    if not os.path.exists(LIBRARIES + '/gaps.so'):
        print('no erl_nif.h of OTP: nothing is measured')
        return
    sums, longest, made = ([0] * 32, [0] * 32), [0, 0], 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            for changes in (0, 1):
                counts, most, count = gaps(folder, changes)
                sums[changes][:] = [a + b for a, b in zip(sums[changes], counts)]
                longest[changes] = max(longest[changes], most)
                made += count
    print('gaps between two calls of a scheduler, two of them at full load for %d s\n' % (ROUNDS * SECONDS))
    print('%-12s %14s %14s' % ('', 'no changes', '%d changes' % made))
    below = -1
    for last, name in BOUNDS:
        print('%-12s %14d %14d' % ('below ' + name if name != 'more' else name,
                                   *(sum(one[below + 1:last + 1]) for one in sums)))
        below = last
    print('%-12s %11.3f ms %11.3f ms' % ('the longest', longest[0] / 1e6, longest[1] / 1e6))


if __name__ == '__main__':
    sys.exit(main())
