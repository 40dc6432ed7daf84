#!/usr/bin/env python3
"""Runs a command that waits for more input, and sends it signals.

  send_signals.py SIGNAL[,SIGNAL...] FILE BYTES COMMAND...

The command's stdin gets the first BYTES of FILE ("endless": FILE again and again). The signals are sent when the
command has read all and waits, or has read 1 MiB of endless input. If the command continues after the signals, its input
ends. The exit status is the command's, 128 + N if signal N has ended it."""

import array
import fcntl
import signal
import subprocess
import sys
import termios
import threading

from worker import worker_of

PIPE_BYTES = 0x10000

signals, file, amount, *command = sys.argv[1:]
with open(file, 'rb') as data:
    data = data.read()
process = subprocess.Popen(command, stdin=subprocess.PIPE)
pipe = process.stdin


def sleeps():
    """True if the command has read all input and sleeps."""
    unread = array.array('i', [0])
    fcntl.ioctl(pipe, termios.FIONREAD, unread)
    with open('/proc/%d/stat' % worker_of(process.pid)) as stat:
        return unread[0] == 0 and stat.read().rpartition(')')[2].split()[0] == 'S'


def feed():
    global fed
    try:
        while process.poll() is None:
            fed += pipe.write(data)
    except BrokenPipeError:
        pass


def wait(seconds):
    """Returns true when the command has ended."""
    try:
        process.wait(seconds)
        return True
    except subprocess.TimeoutExpired:
        return False


if amount == 'endless':
    fed = 0
    threading.Thread(target=feed, daemon=True).start()
    while fed < PIPE_BYTES + 0x100000 and not wait(0.01):
        pass
else:
    pipe.write(data[:int(amount)])
    pipe.flush()
    asleep = 0
    while asleep < 3 and not wait(0.01):  # on its way it may sleep for a moment, too
        asleep = asleep + 1 if sleeps() else 0
for name in signals.split(','):
    process.send_signal(signal.Signals['SIG' + name])
    if wait(0.2):
        break
else:
    if amount != 'endless':
        pipe.close()
status = process.wait()
sys.stderr.flush()
signal.signal(signal.SIGINT, signal.SIG_DFL)
sys.exit(status if status >= 0 else 128 - status)
