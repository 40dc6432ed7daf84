#!/usr/bin/env python3
"""Does to a command what shells, terminals and users do to jobs, and prints what happens.

  job_control.py SCENE WORK [ARGUMENT...] [--OPTION...]

SCENE is a function of this file whose name begins with scene_. WORK is a scratch folder. The program is $TRACEHOST. It
replays a pipe that never ends by itself; the options are given to `replay`. The worker is the program's child; a program
without a child is its own worker. Nothing waits for a fixed time: a scene waits until a condition holds, 20 seconds at
most (in an emulator 120), and says which one did not."""

import array
import fcntl
import itertools
import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import termios
import time

sys.dont_write_bytecode = True

from busy import family

EMULATOR = os.environ.get('EMULATOR')
SECONDS = 120 if EMULATOR else 20
PROGRAM = os.environ['TRACEHOST']
RECORDS = 'samples/recordings/s01_seed_local_caller.trace'
RECORD_BYTES = 81  # of each of the first two records

scene, work, *arguments = sys.argv[1:]
OPTIONS = ''.join(' ' + word for word in arguments if word.startswith('--'))

# A shell ignores some signals for the commands that it starts in the background.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
    signal.signal(number, signal.SIG_DFL)


# --- conditions ---

def until(name, condition):
    """Waits until the condition holds, and returns its value."""
    end = time.monotonic() + SECONDS
    while not (value := condition()):
        if time.monotonic() > end:
            print('after %d s still not: %s' % (SECONDS, name))
            finish(1)
        time.sleep(0.005)
    return value


def state(process):
    """Returns the letter of ps for the state; Z: the process has ended."""
    try:
        with open('/proc/%d/stat' % process) as stat:
            return stat.read().rpartition(')')[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return 'Z'


def has_ended(process):
    return state(process) in 'ZX'


def are_stopped(processes):
    return all(state(process) in 'Tt' for process in processes)


def are_awake(processes):
    return not any(state(process) in 'TtZ' for process in processes)


def is_program(process):
    try:
        if EMULATOR:  # its first argument is the program
            with open('/proc/%d/cmdline' % process) as words:
                return words.read().split('\0')[1:2] == [PROGRAM]
        return os.readlink('/proc/%d/exe' % process) == os.path.realpath(PROGRAM)
    except OSError:
        return False


def programs(process):
    """Returns the processes of the program from PROCESS on: itself, or a shell above; the worker is the last one."""
    return [one for one in family(process) if is_program(one)]


def catches(process, number):
    try:
        with open('/proc/%d/status' % process) as status:
            caught = next(line for line in status if line.startswith('SigCgt:'))
    except FileNotFoundError:
        return False
    return int(caught.split()[1], 16) >> number - 1 & 1


# --- the pipe that the program replays ---

class Stream:
    """A named pipe with RECORDS. The program waits for more until it is closed."""

    def __init__(self):
        self.name = os.path.join(work, 'stream')
        if os.path.exists(self.name):
            os.unlink(self.name)
        os.mkfifo(self.name)
        self.pipe = os.open(self.name, os.O_RDWR | os.O_CLOEXEC)
        self.feed()

    def feed(self):
        """Adds two records."""
        with open(RECORDS, 'rb') as file:
            os.write(self.pipe, file.read(2 * RECORD_BYTES))

    def is_read(self):
        unread = array.array('i', [0])
        fcntl.ioctl(self.pipe, termios.FIONREAD, unread)
        return unread[0] == 0

    def wait(self, process):
        """Waits until the worker has read all records and sleeps; returns the processes of the program."""
        until('the program reads the stream',
              lambda: self.is_read() and (found := programs(process)) and catches(found[-1], signal.SIGINT) and
              state(found[-1]) == 'S')
        return programs(process)

    def close(self):
        os.close(self.pipe)


# --- a shell at a terminal ---

class Shell:
    """An interactive shell with job control, whose terminal this program is."""

    def __init__(self, kind='dumb'):
        self.shown = ''
        environment = dict(os.environ, PS1='', TERM=kind, ENV='')
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.execvpe('sh', ['sh', '-i'], environment)
        self.ask('ready')

    def read(self):
        """Adds to the output what the terminal shows now; returns false once it is closed."""
        while select.select([self.terminal], [], [], 0)[0]:
            try:
                self.shown += os.read(self.terminal, 65536).decode('latin-1').replace('\r\n', '\n')
            except OSError:
                return False
        return True

    def type(self, text):
        os.write(self.terminal, text.encode())

    def line(self, text):
        self.type(text + '\n')

    def until_shown(self, pattern):
        """Waits until the terminal shows PATTERN, and returns the match."""
        return until('the terminal shows ' + pattern, lambda: self.read() and re.search(pattern, self.shown))

    def ask(self, word, value='1'):
        """Makes the shell print a value, which the echo of the line does not contain; returns the value."""
        self.line('echo %s"="%s' % (word, value))
        return self.until_shown(r'\b%s=(\d+)' % word)[1]

    def has_terminal(self):
        """Whether the shell itself is the foreground job."""
        return os.tcgetpgrp(self.terminal) == self.process

    def until_prompt(self):
        until('the shell is in the foreground', self.has_terminal)

    def begin(self, stream, command):
        """Starts a command that replays the stream; returns its processes."""
        self.line(command)
        return stream.wait(self.process)

    def end(self):
        os.close(self.terminal)
        os.waitpid(self.process, 0)


def finish(status):
    sys.stdout.flush()
    os._exit(status)  # leaves processes without a terminal: they end


def report(shell, name='SIGINT', status=None):
    """Prints the status of the last command, or STATUS, and how often its messages came."""
    shell.until_prompt()
    print('status', status or shell.ask('status', '$?'))
    for text in ('received ' + name, r'\d+ +100.00  all'):
        print(len(re.findall(text, shell.shown)), 'times', text.replace(r'\d+ +100.00  all', 'the summary'))
    shell.end()


# --- scenes at a terminal ---

def replaying(stream, end=''):
    return '%s replay%s -t count %s%s' % (PROGRAM, OPTIONS, stream.name, end)


def scene_interrupt():
    """Ctrl-C during the replay of a live stream: a named pipe, stdin, or a connection."""
    stream, shell = Stream(), Shell()
    if arguments[0] == 'tcp':
        listener = socket.create_server(('127.0.0.1', 0))
        name = 'tcp://127.0.0.1:%d' % listener.getsockname()[1]
    else:
        name = {'pipe': stream.name, 'stdin': '- <' + stream.name}[arguments[0]]
    shell.line('%s replay%s -t text -t count %s' % (PROGRAM, OPTIONS, name))
    if arguments[0] == 'tcp':
        listener.settimeout(SECONDS)
        connection, _ = listener.accept()
        with open(RECORDS, 'rb') as file:
            connection.sendall(file.read(2 * RECORD_BYTES))
    shell.until_shown('ex:lots')
    shell.type('\x03')
    report(shell)


def scene_interrupt_run():
    """Ctrl-C during a function that works long."""
    shell = Shell()
    shell.line(PROGRAM + " run -t count -p fib:fib/1 fib 'fib:fib(40)'")
    until('the program works', lambda: (found := programs(shell.process)) and catches(found[-1], signal.SIGINT) and
          worked(found[-1]) > (10 if EMULATOR else 1))  # far more than a start takes
    shell.type('\x03')
    report(shell)


def worked(process):
    """Returns the processor time, in seconds."""
    try:
        with open('/proc/%d/stat' % process) as stat:
            user, system = stat.read().rpartition(')')[2].split()[11:13]
    except FileNotFoundError:
        return 0
    return (int(user) + int(system)) / os.sysconf('SC_CLK_TCK')


def scene_stop():
    """Ctrl-Z, then the shell's command `fg` or `bg`."""
    stream, shell = Stream(), Shell()
    processes = shell.begin(stream, replaying(stream))
    shell.type('\x1a')
    until('all processes are stopped', lambda: are_stopped(processes))
    shell.until_prompt()
    print('stopped')
    shell.line(arguments[0])
    until('all processes go on', lambda: are_awake(processes))
    print('goes on')
    stream.feed()
    stream.wait(shell.process)
    stream.close()
    until('the processes end', lambda: all(map(has_ended, processes)))
    if arguments[0] == 'bg':
        shell.line('wait %%')
    report(shell)


def scene_background_reader():
    """A job in the background reads the terminal, and is stopped by SIGTTIN."""
    shell = Shell()
    shell.line(PROGRAM + ' replay' + OPTIONS + ' -t count - &')
    processes = until('the program waits for input', lambda: (found := programs(shell.process)) and
                      catches(found[-1], signal.SIGINT) and state(found[-1]) == 'S' and found)
    # The program waits without reading, and reads once a line is typed, which the shell reads, too.
    until('the job is stopped', lambda: are_stopped(processes) or shell.line(''))
    print('stopped')
    shell.ask('typed')
    shell.line('fg')
    until('all processes go on', lambda: are_awake(processes) and not shell.has_terminal())
    print('goes on')
    shell.type('\x03\n')  # a read() that SIGTTIN has stopped continues until a line is typed
    report(shell)


def scene_close_terminal():
    """The terminal is closed."""
    stream, shell = Stream(), Shell()
    errors = os.path.join(work, 'errors')
    processes = shell.begin(stream, replaying(stream, ' >/dev/null 2>' + errors))
    os.close(shell.terminal)
    until('the processes end', lambda: all(map(has_ended, processes)))
    with open(errors) as file:
        print(file.read().replace(work, 'WORK'), end='')


def scene_stop_worker():
    """SIGSTOP to the worker alone; then `fg`, or SIGCONT to the worker alone."""
    stream, shell = Stream(), Shell()
    processes = shell.begin(stream, replaying(stream))
    print(len(processes), 'processes')
    os.kill(processes[-1], signal.SIGSTOP)
    until('all processes are stopped', lambda: are_stopped(processes))
    shell.until_prompt()
    print('the job is stopped')
    if arguments[0] == 'fg':
        shell.line('fg')
    else:
        os.kill(processes[-1], signal.SIGCONT)
    until('all processes go on', lambda: are_awake(processes))
    print('the job goes on')
    stream.close()
    until('the processes end', lambda: all(map(has_ended, processes)))
    report(shell, status=None if arguments[0] == 'fg' else status_of_job(shell))


def status_of_job(shell):
    """Returns the status of the shell's job, whose processes have ended. The shell may tell first that the job was stopped,
    and forgets a job after it has shown its end."""
    shell.line('wait %%')
    status = shell.ask('waited', '$?')
    if int(status) != 128 + signal.SIGSTOP:
        return status
    for i in itertools.count():
        if ended := re.search(r'\[1\] \+ +Done(?:\((\d+)\))?', shell.shown):
            return ended[1] or '0'
        shell.ask('prompt%d' % i)


def scene_kill_in_raw_mode():
    """The worker is killed after it has changed the settings of the terminal."""
    shell = Shell('xterm')
    shell.line(PROGRAM + " run --top -p fib:fib/1 fib 'fib:fib(40)'")
    until('the terminal is in raw mode', lambda: shell.read() and not local_modes(shell) & termios.ICANON)
    os.kill(programs(shell.process)[-1], signal.SIGKILL)
    # A shell that reads from a terminal in raw mode sees the end of its input.
    until('the shell is in the foreground', lambda: shell.has_terminal() or has_ended(shell.process))
    lost = [name for name in ('ICANON', 'ECHO', 'ISIG') if not local_modes(shell) & getattr(termios, name)]
    print('lost settings:', *lost or ['none'])


def local_modes(shell):
    return termios.tcgetattr(shell.terminal)[3]


# --- scenes without a terminal ---

class Job:
    """The program, as a shell without job control starts it."""

    def __init__(self, stream):
        self.errors = os.path.join(work, 'errors')
        with open(self.errors, 'w') as errors:
            # In a group without a parent outside of it, the kernel would drop SIGTSTP.
            self.popen = subprocess.Popen([PROGRAM, 'replay', '-t', 'count', stream.name], stdin=subprocess.DEVNULL,
                                          stdout=subprocess.PIPE, stderr=errors, process_group=0)
        self.processes = stream.wait(self.popen.pid)

    def report(self):
        """Prints the status, the number of summaries, and stderr."""
        output = self.popen.communicate()[0].decode()
        status = self.popen.returncode
        print('status', status if status >= 0 else 128 - status)
        print(output.count('100.00  all'), 'times the summary')
        with open(self.errors) as file:
            print(file.read().replace(work, 'WORK'), end='')
        until('the processes end', lambda: all(map(has_ended, self.processes)))


def scene_signal():
    """A signal to the process that the shell knows."""
    job = Job(Stream())
    job.popen.send_signal(signal.Signals['SIG' + arguments[0]])
    job.report()


def scene_stop_signal():
    """SIGTSTP and SIGCONT to the process that the shell knows."""
    stream = Stream()
    job = Job(stream)
    job.popen.send_signal(signal.SIGTSTP)
    until('all processes are stopped', lambda: are_stopped(job.processes))
    print('stopped')
    job.popen.send_signal(signal.SIGCONT)
    until('all processes go on', lambda: are_awake(job.processes))
    stream.close()
    job.report()


def scene_kill_parent():
    """SIGKILL to the program ends the worker within a second."""
    stream = Stream()
    job = Job(stream)
    print(len(job.processes), 'processes')
    begun = time.monotonic()
    job.popen.kill()
    until('the processes end', lambda: all(map(has_ended, job.processes)))
    seconds = time.monotonic() - begun
    print('ended' if seconds < 1 else 'ended after %.1f s' % seconds)


def scene_kill_worker():
    """A signal from outside ends the worker: nobody is accused."""
    job = Job(Stream())
    os.kill(job.processes[-1], signal.Signals['SIG' + arguments[0]])
    output = job.popen.communicate()[0]
    status = job.popen.returncode
    print('status', status if status >= 0 else 128 - status)
    with open(job.errors) as file:
        said = file.read()
    print('accused:', *re.findall(r"(?:tracer|library) '\w+'|a thread of \S+", said) or ['nobody'])


globals()['scene_' + scene]()
finish(0)
