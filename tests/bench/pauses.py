#!/usr/bin/env python3
"""How long schedulers at full load are kept from their next call while the module that they call is
upgraded, and each call is traced: histograms of gaps, as control.py's, beside the same loop in which
modules are prepared and dropped, and in which nothing is done. In turn, in one run."""

import os
import subprocess
import sys
import time

import figures
from control import Sums

BUILD = os.environ['BUILD_DIR']
GAPS = BUILD + '/tests/bench/libraries/gaps.so'
PLUGINS = [BUILD + '/tests/plugins/party.so', BUILD + '/tests/plugins/version.so']
ROUNDS = 4
LOADS = 200  # a round
WHAT = 'upgrade', 'prepare', 'nothing'  # the first tells how long the others take


def main():
    if not os.path.exists(GAPS):
        print('no erl_nif.h of OTP: nothing is measured')
        figures.missing('gaps/upgrades', 'no erl_nif.h of OTP')
        return
    everything, held = Sums(len(WHAT)), Sums(len(WHAT))
    for _ in range(ROUNDS):
        count = LOADS
        for i, what in enumerate(WHAT):
            began = time.monotonic()
            said = subprocess.run([BUILD + '/tests/bench/pauses', GAPS] + PLUGINS + [what, str(count)],
                                  stdout=subprocess.PIPE, text=True, check=True).stdout
            if what == 'upgrade':
                count = int(1000 * (time.monotonic() - began))
            numbers = [int(line) for line in said.split()]
            everything.add(i, numbers[:33])
            held.add(i, numbers[33:])
    headings = ['%d upgrades' % (ROUNDS * LOADS), 'prepared', 'nothing']
    print('two schedulers, at full load, each call traced')
    everything.show('gaps between two calls of a scheduler', headings)
    held.show('without the time in which it waited for a processor', headings)
    more = held.longest[0] - held.longest[2]
    print('\nthe longest of %d upgrades: %.3f ms more than of nothing' % (ROUNDS * LOADS, more / 1e6))
    figures.value('gaps/upgrades', more / 1e6)


if __name__ == '__main__':
    sys.exit(main())
