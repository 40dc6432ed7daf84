#!/usr/bin/env python3
"""Runs a command at a terminal of 80 columns, types, and prints the final screen.

  show_screen.py TEXT COMMAND...

TEXT has \\n, \\t, and other characters as \\ooo; at `\\!` a shell runs $MEANWHILE. After each line, tab, Ctrl-C and
Ctrl-Z, and before `\\!`, the script waits until the command is quiet and neither the command, its descendants nor the
process $HOST have anything to do. In the end the terminal hangs up. The screen is that of a terminal with carriage
return, new line, backspace, the bell, and the sequences ESC[nA, nC, nD, nG, K, nP, n@, 4h, 4l, H and 2J; any other
sequence is shown as \\e... A cursor that is not at the end of the last line is shown as |. The last line is the
command's exit status, if the command has ended by itself."""

import fcntl
import os
import re
import select
import struct
import subprocess
import sys
import termios

sys.dont_write_bytecode = True

from busy import is_busy

QUIET = 2 if os.environ.get('EMULATOR') else 0.3  # seconds without output
LONG = 60  # seconds in which all ends that does
WIDTH = 80
MORE = {'n': b'\n', 't': b'\t'}


class Screen:
    def __init__(self):
        self.lines = ['']
        self.row = self.column = 0
        self.inserts = False

    def line(self):
        return self.lines[self.row].ljust(self.column)

    def put(self, character):
        if self.column == WIDTH:
            self.new_line()
            self.column = 0
        line = self.line()
        self.lines[self.row] = line[:self.column] + character + line[self.column + (not self.inserts):]
        self.column += 1

    def new_line(self):
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append('')

    def escape(self, parameter, final):
        count = int(parameter or 1) if parameter.isdigit() or not parameter else 0
        line = self.line()
        if final == 'A':
            self.row -= count
        elif final == 'C':
            self.column += count
        elif final == 'D':
            self.column = min(self.column, WIDTH - 1) - count
        elif final == 'G':
            self.column = count - 1
        elif final == 'K':
            self.lines[self.row] = line[:self.column]
        elif final == 'P':
            self.lines[self.row] = line[:self.column] + line[self.column + count:]
        elif final == '@':
            self.lines[self.row] = line[:self.column] + ' ' * count + line[self.column:]
        elif final in 'hl' and parameter == '4':
            self.inserts = final == 'h'
        elif final in 'HJ':
            self.lines, self.row, self.column = [''], 0, 0
        else:
            self.put('\\e[' + parameter + final)

    def show(self, text):
        for escaped, parameter, final, one in re.findall(r'(\033\[([0-9;]*)([A-Za-z@]))|(.)', text, re.S):
            if escaped:
                self.escape(parameter, final)
            elif one == '\r':
                self.column = 0
            elif one == '\n':
                self.new_line()
            elif one == '\b':
                self.column = min(self.column, WIDTH - 1) - 1
            elif one != '\a':
                self.put('\\e' if one == '\033' else one)

    def text(self):
        line = self.lines[self.row]
        if self.column < len(line) or self.row + 1 < len(self.lines):
            self.lines[self.row] = line[:self.column] + '|' + line[self.column:]
        return '\n'.join(line.rstrip() for line in self.lines)


def parts(text):
    """Splits TEXT into parts to type at once: up to a line's end, a tab, or Ctrl-C and the like. None: $MEANWHILE."""
    found = [b'']
    for code, letter, one in re.findall(r'\\([0-7]{3})|\\([nt!])|([^\\])', text):
        if letter == '!':
            found += [None, b'']
            continue
        found[-1] += bytes([int(code, 8)]) if code else MORE[letter] if letter else one.encode()
        if letter or code in ('003', '004', '032'):
            found.append(b'')
    return [typed for typed in found if typed != b'']


def main():
    text, *command = sys.argv[1:]
    ours, theirs = os.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack('HHHH', 24, WIDTH, 0, 0))

    def take_terminal():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=take_terminal)
    os.close(theirs)
    processes = [process.pid, int(os.environ.get('HOST') or process.pid)]
    shown = b''
    left = False  # the command has closed the terminal: it ends

    def look():
        nonlocal shown, left
        while not left and ((ready := select.select([ours], [], [], QUIET)[0]) or is_busy(*processes)):
            if not ready:
                continue
            try:
                shown += os.read(ours, 65536)
            except OSError:
                left = True

    look()
    for typed in parts(text):
        if typed is None:
            subprocess.run(os.environ['MEANWHILE'], shell=True, check=True)
        else:
            try:
                os.write(ours, typed)
            except OSError:
                left = True
                break
        look()
    screen = Screen()
    screen.show(shown.decode())
    print(screen.text())
    if left:
        print('status', process.wait(LONG))
    else:
        os.close(ours)
        process.wait(LONG)


main()
