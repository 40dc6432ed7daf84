#!/usr/bin/env python3
"""Local calls: nanoseconds, by programs/local.c, and instructions beyond those of a plain call, as callgrind counts them.

Each case is run by callgrind for itself, REPEATS calls of it. An instruction that is executed once a call counts as one:
what starts and ends the program does not count.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

import figures
from aims import CALLS

BUILD = os.environ['BUILD_DIR']
LOCAL = [BUILD + '/tests/bench/local', BUILD + '/tests/bench/patchable/local.so', BUILD + '/tests/tracers/as_state.so']
REPEATS = 20000  # as in local.c
CASES = [case for case, *_ in CALLS]
GROUPS = (  # name of the figures, words for local.c
    ('TH_FUNCTION', []),
    ('second session', ['second']),
    ('TH_NIF', ['nif']),
)


def instructions(folder, case, words):
    """Returns the instructions of a call of CASE, with the loop around it."""
    out = folder + '/callgrind.out'
    subprocess.run(['valgrind', '--tool=callgrind', '--dump-instr=yes', '--compress-pos=no', '--compress-strings=no',
                    '--callgrind-out-file=' + out] + LOCAL + [case] + words,
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    counts, library, behind_call = {}, '', False
    with open(out) as file:
        for line in file:
            found = re.match(r'(0x[0-9a-f]+) \d+ (\d+)$', line)
            if line.startswith('ob='):
                library = line
            elif found and not behind_call:  # behind calls=, the line has the callee's costs
                place = library, found[1]
                counts[place] = counts.get(place, 0) + int(found[2])
            behind_call = line.startswith('calls=')
    return sum(round(count / REPEATS) for count in counts.values())


def count(folder):
    print('Instructions beyond those of a plain call:')
    print('  %-22s' % '' + ''.join('%16s' % name for name, _ in GROUPS))
    plain = [instructions(folder, 'plain', words) for _, words in GROUPS]
    for case in CASES:
        more = [instructions(folder, case, words) - less for (_, words), less in zip(GROUPS, plain)]
        print('  %-22s' % case + ''.join('%16d' % one for one in more), flush=True)
        for (name, _), one in zip(GROUPS, more):
            figures.value('instructions/%s/%s' % (name, case), one)


def main():
    subprocess.run(LOCAL, check=True)
    if not shutil.which('valgrind'):
        print('no valgrind: instructions are not counted')
        for name, _ in GROUPS:
            for case in CASES:
                figures.missing('instructions/%s/%s' % (name, case), 'no valgrind')
        return
    with tempfile.TemporaryDirectory() as folder:
        count(folder)


sys.exit(main())
