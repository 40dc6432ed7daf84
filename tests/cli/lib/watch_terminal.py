#!/usr/bin/env python3
"""Runs a command whose stderr is a terminal, and prints the output of the terminal.

  watch_terminal.py LATE COMMAND...

The command's stdout is read after LATE seconds, so that the command has to wait, and printed first; then the output of
the terminal, escapes as \\e. With LATE "both", stdout is the terminal, too. With "gone", stdout is read slowly until
progress is shown, then closed, and not printed. The terminal has $WIDTH columns, if that is set; if $RAW is set, it
passes on single keys, as pagers require."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
import tty

late, *command = sys.argv[1:]
os.environ['TERM'] = 'xterm'  # whatever the tests are run in
ours, theirs = pty.openpty()
if 'WIDTH' in os.environ:
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack('HHHH', 24, int(os.environ['WIDTH']), 0, 0))
if 'RAW' in os.environ:
    tty.setraw(theirs)
process = subprocess.Popen(command, stderr=theirs,
                           stdout=theirs if late == 'both' else subprocess.PIPE)
os.close(theirs)
output = b''
shown = b''
if late == 'gone':
    while b'records' not in shown and os.read(process.stdout.fileno(), 1024):
        if select.select([ours], [], [], 0.01)[0]:
            shown += os.read(ours, 65536)
    process.stdout.close()
elif late != 'both':
    time.sleep(float(late))
    output = process.stdout.read()
while True:
    try:
        shown += os.read(ours, 65536)
    except OSError:  # all have closed it
        break
sys.stdout.write(output.decode())
sys.stdout.write(shown.decode().replace('\r\n', '\n').replace('\r', '\\r').replace('\033', '\\e'))
sys.exit(process.wait())
