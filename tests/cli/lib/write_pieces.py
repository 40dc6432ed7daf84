#!/usr/bin/env python3
"""Writes a file to a pipe in pieces, each of which is read before the next one is written.

  write_pieces.py FILE SEED >PIPE

The pieces have 1 to 97 bytes, as SEED decides. Nothing waits for a fixed time: a piece has been read when the pipe is
empty. The script ends early if nobody can read the pipe any more."""

import array
import fcntl
import os
import random
import signal
import sys
import termios
import time

signal.signal(signal.SIGPIPE, signal.SIG_DFL)
sizes = random.Random(sys.argv[2])
with open(sys.argv[1], 'rb') as file:
    while piece := file.read(sizes.randint(1, 97)):
        os.write(1, piece)
        unread = array.array('i', [1])
        while unread[0]:
            time.sleep(0.0002)
            fcntl.ioctl(1, termios.FIONREAD, unread)
