#!/usr/bin/env python3
"""Runs a command that works for ever, and sends it SIGINT.

  interrupt.py COMMAND...

The signal is sent when the command catches SIGINT and has then used 0.2 s of processor time, so that a slow machine
does not matter. The exit status is the command's, 128 + N if signal N has ended it."""

import os
import signal
import subprocess
import sys
import time

from worker import worker_of

process = subprocess.Popen(sys.argv[1:])


def catches_sigint():
    with open('/proc/%d/status' % worker_of(process.pid)) as status:
        caught = next(line for line in status if line.startswith('SigCgt:'))
    return int(caught.split()[1], 16) >> (signal.SIGINT - 1) & 1


def worked():
    """Returns the processor time of the command, in seconds."""
    with open('/proc/%d/stat' % worker_of(process.pid)) as stat:
        user, system = stat.read().rpartition(')')[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf('SC_CLK_TCK')


while process.poll() is None and not catches_sigint():
    time.sleep(0.01)
begun = worked()
while process.poll() is None and worked() < begun + 0.2:
    time.sleep(0.01)
process.send_signal(signal.SIGINT)
status = process.wait()
sys.exit(status if status >= 0 else 128 - status)
