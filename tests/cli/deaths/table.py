#!/usr/bin/env python3
"""Prints one row for each kind of death in each command, and compares the rows with those of a file.

  table.py FOLDER EXPECTED [--only=KIND,...] [--commands=NAME,...] [--update]

FOLDER has the compiled deaths.c: tracer/dies.so and library/dies.so; and the compiled embedding.c. Each row is a test. In EXPECTED a cell "A or B"
accepts A and B, a cell "-" any text. --update writes rows that differ into EXPECTED instead, and adds missing ones.

The cells of a row:
  status   the exit status, 128 + N if signal N ended the program, or "too slow"
  named    the library that the report accuses
  cause    the signal, or a word of the report; if nobody is accused, "a line" or "silent" for stderr
  in       the callback or function that the report names
  record   the number of the record; the position and the file are right, too
  output   "yes": other output is complete, and no other file is left
  frames   "yes": the report has frames"""

import argparse
import concurrent.futures
import os
import platform
import re
import signal
import subprocess
import sys
import time

EMULATED = bool(os.environ.get('EMULATOR'))
SECONDS = 60 if EMULATED else 10  # within this time each death is named
HANG = '3s' if EMULATED else '300ms'  # the time limit of a callback, which that of another tracer must not reach
RECORDING = 'samples/recordings/s04_genserver_pingpong.trace'
RECORD = 300  # in which the tracer of a replay dies; a call
LIVE_EVENT = 20  # in which the tracer of a run dies

options = argparse.ArgumentParser()
options.add_argument('folder')
options.add_argument('expected')
options.add_argument('--only')
options.add_argument('--commands')
options.add_argument('--update', action='store_true')
options = options.parse_args()
folder = os.path.abspath(options.folder)
tracehost = os.environ['TRACEHOST']
mode = os.path.basename(os.environ['BUILD_DIR'])


# --- commands ---

def replay(kind, here):
    return ['replay', *time_limit(kind), '-L', folder + '/tracer', '-t', 'text,output=%s/log' % here, '-t', 'text', '-t',
            'dies', RECORDING]


def isolated(kind, here):
    return ['replay', '--isolate', '--on-crash=stop', *replay(kind, here)[1:]]


def run(kind, here):
    return ['run', *time_limit(kind), '-L', folder + '/tracer', '--schedulers=1', '-p', 'fib:fib/1', '--return', '-t',
            'text,output=%s/log' % here, '-t', 'text', '-t', 'dies', 'fib', 'fib:fib(3)', 'fib:fib(8)']


def call(kind, here):
    return ['call', 'fib', folder + '/library/dies.so', 'fib:fib(10)', 'dies:die(%s)' % kind]


def embedded(kind, here):
    return [RECORDING, folder + '/tracer', here + '/log']


def time_limit(kind):
    return ['--callback-timeout=' + HANG] * ('hang' in kind)


# Function that returns the arguments; event of the death; lines of other output up to the death (None: all lines of the
# command without a death, for a command that goes on). The result of a call is one line. A run prints results after the
# end of all tracers, so that only lines of events count.
COMMANDS = {
    'replay': (replay, RECORD, RECORD),
    'replay --isolate': (isolated, RECORD, None),
    'run': (run, LIVE_EVENT, LIVE_EVENT),
    'call': (call, 1, 1),
    'embedding': (embedded, RECORD, RECORD),
}

# --- kinds ---

SENT = ('KILL', 'TERM', 'SEGV', 'ABRT', 'TRAP', 'USR1')  # to the process in which the library's code runs
MACHINE = ('ud2', 'int3', 'hlt', 'trap_flag', 'misaligned', 'alignment_check', 'float_division', 'division', 'builtin_trap')
# The supervisor finds the library of these deaths in memory that is mapped twice, which an emulator does not do.
SHARED = ('abort_with_default', 'all_closed', 'alternate_stack_gone', 'constructor_exits_at_once', 'daemon_then_ex', 'exec_',
          'exit_at_once', 'exit_group', 'interval_', 'kill_SEGV', 'limit_file_size', 'load_exits_at_once', 'own_handler_exits',
          'raise_with_default', 'raw_thread_exit', 'thread_uses_stack_up', 'write_while_blocked', 'write_with_default')
# The sanitizers have reports of their own for these.
SANITIZED = ('double_free', 'free_stack', 'overflow_', 'streams_', 'jump_to_dead_frame', 'unmap_stack', 'smash_',
             'thread_', 'raw_thread_exit', 'cancel_itself', 'raise_with_default', 'write_with_default', 'alternate_stack',
             'child_aborts', 'heap_', 'hang_spin', 'hang_blocked', 'all_closed', 'kill_SEGV', 'shared_overwritten')


def kinds():
    with open(os.path.join(os.path.dirname(__file__), 'deaths.c')) as file:
        found = re.findall(r'^    (?:KIND\(|\{")(\w+)', file.read(), re.M)
    return [kind for kind in found if kind not in ('nothing', 'wait_outside')] + ['outside_' + name for name in SENT]


def reason_to_skip(command, kind):
    if command in ('call', 'embedding') and 'hang' in kind:
        return 'the command has no time limit for functions'
    if command == 'embedding' and not os.path.exists(folder + '/embedding'):
        return 'libtracehost needs the sanitizer in the program'
    if kind in MACHINE and (EMULATED or platform.machine() != 'x86_64'):
        return 'the instruction, or its signal, is that of x86_64'
    if kind.startswith('seccomp_') and EMULATED:
        return 'an emulator refuses seccomp'
    if kind.startswith(SHARED) and command != 'embedding' and EMULATED:
        return 'the emulator maps no memory a second time, and the supervisor cannot see the callback'
    if kind.startswith('seccomp_') and 'Seccomp:' not in open('/proc/self/status').read():
        return 'the kernel has no seccomp'
    if mode in ('asan', 'tsan') and kind.startswith(SANITIZED):
        return 'the sanitizer reports it, or holds the signal back'
    return None


# --- a row ---

class Death:
    """The outcome of one command."""

    def __init__(self, command, kind):
        self.kind = kind
        self.command = command
        self.here = os.path.join(folder, 'rows', command.replace(' ', ''), kind)
        os.makedirs(self.here + '/tmp')
        arguments, event, _ = COMMANDS[command]
        in_library = 'wait_outside' if kind.startswith('outside_') else kind
        environment = dict(os.environ, DIES=in_library, DIES_AFTER=str(event), DIES_READY=self.here + '/ready',
                           TMPDIR=self.here + '/tmp')
        with open(self.path('stdout'), 'wb') as stdout, open(self.path('stderr'), 'wb') as stderr:
            begun = time.monotonic()
            # A library may make its parent wait for it; so the parent is a shell, which is killed, too.
            program = folder + '/embedding' if command == 'embedding' else tracehost
            process = subprocess.Popen(['sh', '-c', '"$@"; exit $?', 'sh', program, *arguments(in_library, self.here)],
                                       stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, env=environment,
                                       start_new_session=True)
            if kind.startswith('outside_'):
                self.send(signal.Signals['SIG' + kind[len('outside_'):]], process)
            try:
                status = process.wait(SECONDS)
                self.status = str(status if status >= 0 else 128 - status)
            except subprocess.TimeoutExpired:
                self.status = 'too slow'
            self.seconds = time.monotonic() - begun
            try:
                os.killpg(process.pid, signal.SIGKILL)  # children that still live
            except ProcessLookupError:
                pass
            process.wait()
        self.stdout = self.lines('stdout')
        self.stderr = self.lines('stderr')
        self.log = self.lines('log')

    def path(self, name):
        return os.path.join(self.here, name)

    def lines(self, name):
        if not os.path.exists(self.path(name)):
            return ['']
        with open(self.path(name), encoding='latin-1') as file:
            lines = file.read().split('\n')
        return [line.replace(self.kind, 'nothing').replace('wait_outside', 'nothing') for line in lines]

    def send(self, number, process):
        """Sends the signal when the library waits. The wait ends when the signal has been delivered."""
        ready = self.path('ready')
        end = time.monotonic() + SECONDS
        while not os.path.exists(ready) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        if os.path.exists(ready):
            with open(ready) as file:
                worker = int(file.read())
            os.kill(worker, number)
            while process.poll() is None and is_pending(worker, number) and time.monotonic() < end:
                time.sleep(0.005)
            os.remove(ready)

    def events(self):
        """Returns the lines of stdout that are compared."""
        if self.command == 'run':
            return [line for line in self.stdout if line.startswith('<')] + ['']
        return self.stdout

    def accusation(self):
        """Returns the cells named, cause and in."""
        found = [report for line in self.stderr if (report := read_report(line))]
        if len(found) > 1:
            return 'named twice', found[0][1], found[0][2]
        if found:
            return found[0]
        said = any(line.startswith('tracehost') for line in self.stderr)
        return 'nobody', 'a line' if said else 'silent', 'none'

    def record(self):
        for line in self.stderr:
            found = re.match(r'  record (\d+), at byte (\d+) of (.*)', line)
            if found:
                right = found[2] == str(byte_of(int(found[1]))) and found[3] == RECORDING
                return found[1] + ('' if right else ', wrong place')
        return 'none'

    def are_first(self, amount, mine, theirs):
        """Returns whether MINE are the first AMOUNT lines of THEIRS."""
        if (self.command, self.kind) == ('run', 'outside_TERM'):  # another thread sees the signal, and stops the functions
            amount = max(amount, len(mine) - 1)
        return mine == theirs[:-1][:amount] + ['']

    def output(self, whole):
        """Compares the other output with that of the command without a death, WHOLE."""
        if COMMANDS[self.command][2] is None:
            amount = None
        elif self.kind.startswith(('load_', 'constructor_')):
            amount = 0
        elif self.kind.startswith('unload_') or self.status == '0':
            amount = len(whole.log + whole.stdout)
        else:
            amount = COMMANDS[self.command][2]
        good = self.are_first(amount, self.events(), whole.events()) and self.are_first(amount, self.log, whole.log)
        left = set(os.listdir(self.here)) - {'stdout', 'stderr', 'log', 'tmp'} or os.listdir(self.here + '/tmp')
        return ('yes' if good else 'no') + (', files left' if left else '')

    def row(self, whole):
        frames = any(re.match(r'  at .*\+0x', line) for line in self.stderr)
        return (self.command, self.kind, self.status, *self.accusation(), self.record(), self.output(whole),
                'yes' if frames else 'no')


def is_pending(process, number):
    """True if the signal was not delivered yet, or is about to end the process."""
    try:
        with open('/proc/%d/status' % process) as status:
            sets = dict(line.split(':\t') for line in status.read().splitlines() if line.startswith(('ShdPnd', 'SigCgt')))
    except (FileNotFoundError, ProcessLookupError):
        return False
    bit = 1 << number - 1
    return bool(int(sets['ShdPnd'], 16) & bit) or number != signal.SIGTERM


def short(path):
    """Returns the name of a library."""
    return re.sub(r'.*/(dies)\.so$', r'\1', path)


def read_report(line):
    """Returns the cells named, cause and in of the first line of a report; None: the line is another one."""
    found = re.match(r"tracehost: (?:(tracer|library) '(.*?)'|(a thread) of (.*?)|(a tracer|a library)) "
                     r"(crashed: (SIG[\w+-]+|signal \d+).*?|ended the program: (.*?)|(replaced the program) \(exec\)|"
                     r"(ended its thread)|hangs: (?:it|(\S+)) took more than (?:0.3|3) s(?P<blocked>, and has blocked all signals)?)"
                     r"(?:, in (?P<place>.*))?$", line)
    if not found:
        return None
    if found[1]:
        named = found[1] + ' ' + short(found[2])
    else:
        named = found[3] + ' of ' + short(found[4]) if found[3] else found[5]
    if found[6].startswith('hangs'):
        cause = 'hangs' + (', blocked' if found['blocked'] else '')
    else:
        cause = found[7] or found[8] or (found[9] and 'exec') or 'thread ended'
    return named, cause, found['place'] or found[11] or 'none'


def byte_of(record):
    """Returns the position of a record of the recording. A record has 5 bytes of head; the last 4 are its size."""
    position = 0
    with open(RECORDING, 'rb') as file:
        data = file.read()
    for _ in range(record - 1):
        position += 5 + int.from_bytes(data[position + 1:position + 5], 'big')
    return position


# --- the table ---

def text_of(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    return ''.join(' | '.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() + '\n' for row in rows)


COLUMNS = ('command', 'kind', 'status', 'named', 'cause', 'in', 'record', 'output', 'frames')


def read_expected():
    """Returns {(command, kind): row}."""
    found = {}
    if os.path.exists(options.expected):
        with open(options.expected) as file:
            for line in file:
                row = tuple(cell.strip() for cell in line.split(' | '))
                if len(row) == len(COLUMNS) and row != COLUMNS:
                    found[row[:2]] = row
    return found


def accepts(expected, row):
    return expected and all(want == '-' or cell in want.split(' or ') for want, cell in zip(expected, row))


def tested(row, want):
    """Prints the row as a test; returns whether it has passed."""
    good = want is not None and all(cells == '-' or cell in cells.split(' or ') for cells, cell in zip(want, row))
    print('%s %s: %s' % ('ok' if good else 'not ok', row[0], row[1]))
    if not good:
        both = text_of([want or ('',) * len(COLUMNS), row]).split('\n')
        print('    expected  %s\n    got       %s' % (both[0], both[1]))
    return good


def update(expected, rows):
    """Writes EXPECTED with ROWS, in the order of the commands and kinds."""
    expected.update((row[:2], row) for row in rows)
    order = [(command, kind) for command in COMMANDS for kind in kinds()]
    with open(options.expected, 'w') as file:
        file.write(text_of([COLUMNS] + [expected[key] for key in order if key in expected]))


def main():
    expected = read_expected()
    commands = options.commands.split(',') if options.commands else COMMANDS
    chosen = options.only.split(',') if options.only else kinds()
    wholes = {command: Death(command, 'nothing') for command in commands}
    passed = skipped = 0
    different = []
    slowest = []
    with concurrent.futures.ThreadPoolExecutor(2 * os.cpu_count()) as pool:
        few = EMULATED and not options.only  # each kind in one command: an emulator is slow
        deaths = [(command, kind, reason_to_skip(command, kind)) for i, command in enumerate(commands)
                  for j, kind in enumerate(chosen) if not few or (i + j) % len(commands) == 0]
        deaths = [(command, kind, reason, None if reason else pool.submit(Death, command, kind))
                  for command, kind, reason in deaths]
        for command, kind, reason, death in deaths:
            if reason:
                print('ok %s: %s # skipped: %s' % (command, kind, reason))
                skipped += 1
                continue
            row = death.result().row(wholes[command])
            slowest.append((death.result().seconds, '%s: %s' % row[:2]))
            if tested(row, expected.get(row[:2])):
                passed += 1
            else:
                different.append(row)
    if options.update:
        update(expected, different)
    print('# slowest: ' + ', '.join('%s %.1f s' % (title, seconds) for seconds, title in sorted(slowest)[:-6:-1]))
    print('%d passed, %d failed, %d skipped' % (passed, len(different), skipped))
    return len(different) != 0


if __name__ == '__main__':
    sys.exit(main())
