#!/usr/bin/env python3
"""Runs a command at a terminal, and types.

  type_at_terminal.py SIGNAL TEXT COMMAND...

TEXT has new lines as \\n, other characters as \\ooo. Each line is typed when the command waits for one: it is quiet,
and neither it nor its descendants have anything to do. In the end the command gets SIGNAL, unless that is empty. The
output of the terminal is printed; the exit status is the command's, 128 + N if signal N has ended it."""

import os
import pty
import re
import select
import signal
import subprocess
import sys

sys.dont_write_bytecode = True

from busy import is_busy

QUIET = 2 if os.environ.get('EMULATOR') else 0.3  # seconds without output

number, text, *command = sys.argv[1:]
text = re.sub(r'\\([0-7]{3})', lambda code: chr(int(code[1], 8)), text.replace('\\n', '\n'))
ours, theirs = pty.openpty()
process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
os.close(theirs)
shown = b''


def look():
    """Reads output until the command is quiet and idle; returns false if the terminal was closed."""
    global shown
    while (ready := select.select([ours], [], [], QUIET)[0]) or is_busy(process.pid):
        if not ready:
            continue
        try:
            shown += os.read(ours, 65536)
        except OSError:
            return False
    return True


for line in re.findall(r'[^\n]*\n|[^\n]+', text):
    if not look():
        break
    os.write(ours, line.encode())
if look() and number:
    process.send_signal(signal.Signals['SIG' + number])
while process.poll() is None and look():
    pass
look()
sys.stdout.write(shown.decode().replace('\r\n', '\n'))
sys.stdout.flush()
status = process.wait()
sys.exit(status if status >= 0 else 128 - status)
