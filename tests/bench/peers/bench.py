"""What the peers have in common: programs that are made here, and answer lines with times."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ['BUILD_DIR']
FLAGS = ('-O2', '-g')  # everybody's
OFTEN, SELDOM = 2000000, 50000  # calls in a round: so many that its start and end do not count
PATIENCE = 60  # seconds for a program to end


class Missing(Exception):
    """What cannot be measured here, and why."""


def need(command, package):
    if not shutil.which(command):
        raise Missing('there is no %s (Debian: %s)' % (command, package))


def said(*command, **options):
    """What COMMAND prints; it must end well."""
    done = subprocess.run(command, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, **options)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ['no reason given']
        raise Missing('%s: %s' % (os.path.basename(command[0]), next(
            (line for line in lines if 'fatal error' in line), lines[0])))
    return done.stdout


def version(*command):
    found = re.search(r'\d+(\.\d+)+', said(*command))
    return found[0] if found else '?'


class Side:
    """One program that answers a line with a line. It is out of the terminal's reach: it ends when
    it is asked no more, so that uftrace and perf tidy up."""

    def __init__(self, command, errors, **options):
        self.errors = errors
        with open(errors, 'wb') as stderr:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=stderr, text=True,
                                            stdout=subprocess.PIPE, bufsize=1,
                                            start_new_session=True, **options)

    def ask(self, question, calls):
        """Nanoseconds for so many calls."""
        try:
            self.process.stdin.write('%s %d\n' % (question, calls))
        except BrokenPipeError:
            pass
        answer = self.process.stdout.readline()
        if not answer.strip().isdigit():
            self.end()
            raise Missing(self.why() or answer.strip() or 'it ended')
        return int(answer)

    def printed(self):
        """What it has to say besides."""
        with open(self.errors, errors='replace') as file:
            return file.read()

    def why(self):
        """The first lines of that, which a reason stands in."""
        return ': '.join(line.strip() for line in self.printed().strip().splitlines()[:2])

    def end(self):
        """Its stdin ends, and so does it, with what it has started."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Row:
    """A measurement. CHECK, called with the number of all calls once its program has ended, says
    what is wrong with it, if anything: that it recorded nothing, or lost something."""

    def __init__(self, title, side, calls, question='hit', check=None):
        self.title, self.side, self.calls, self.question = title, side, calls, question
        self.check = check or (lambda calls: None)
        self.times = []  # ns a call, of each round
        self.wrong = None  # fault(), once the programs have ended

    def measure(self):
        self.times.append(self.side.ask(self.question, self.calls) / self.calls)

    def fault(self):
        try:
            return self.check(self.calls * len(self.times) + 1)
        except Missing as reason:
            return str(reason)


class Bench:
    """A folder for all that is made, and what must be ended and removed at the end, whatever
    happens: closed, it leaves nothing behind."""

    def __init__(self):
        self.at_end = contextlib.ExitStack()
        self.folder = self.at_end.enter_context(tempfile.TemporaryDirectory())
        os.chmod(self.folder, 0o755)  # some run as another user
        self.sides = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.at_end.close()

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, name, *flags, compiler=None, sources=('program.c', 'answer.c', 'hit.c')):
        """A program, or whatever FLAGS make of the sources. All of them get FLAGS."""
        said(compiler or os.environ['CC'], *FLAGS, *(HERE + '/' + source for source in sources),
             '-I' + HERE, '-o', self.path(name), *flags, cwd=self.folder)
        return self.path(name)

    def start(self, command, **options):
        side = Side(command, self.path('stderr.%d' % len(self.sides)),
                    **{'cwd': self.folder, **options})
        self.sides.append(side)
        self.at_end.callback(side.end)
        return side
