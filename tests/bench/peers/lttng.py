"""LTTng-UST: a program each for three tracepoints, one session for all, and a session daemon that is
started here.

Root's daemon would be that of the whole system, so if we are root, all runs as nobody, whose daemon
has its sockets below $LTTNG_HOME.
"""

import glob
import os
import re
import subprocess
import time

import bench

OWN_PLAIN = False
TITLE = 'LTTng-UST'
NOBODY = 65534
BYTES = range(16, 24)  # a recorded event: its header, an int, an unsigned long; and its packet's share
ROWS = (
    ('tracepoint, not enabled', 'idle', bench.OFTEN),
    ('enabled, a filter that rejects', 'rejected', bench.OFTEN),
    ('enabled, recorded', 'recorded', bench.SELDOM),
)


def title():
    bench.need('lttng', 'lttng-tools')
    bench.need('lttng-sessiond', 'lttng-tools')
    return 'LTTng-UST ' + bench.version('lttng', '--version')


class Session:
    """A daemon and its one session."""

    def __init__(self, at):
        self.home = at.path('lttng')
        self.output = self.home + '/trace'
        os.mkdir(self.home)
        self.options = {'env': {**os.environ, 'HOME': self.home, 'LTTNG_HOME': self.home},
                        'cwd': self.home}
        if os.geteuid() == 0:
            os.chown(self.home, NOBODY, NOBODY)
            self.options.update(user=NOBODY, group=NOBODY, extra_groups=())
        self.remove_at_end(at)
        self.begin_daemon(at)

    def remove_at_end(self, at):
        """What the library and the daemon create outside of their home, and leave there."""
        def left():
            return set(glob.glob('/dev/shm/lttng-ust-wait-*'))

        before = left()
        at.at_end.callback(lambda: [os.unlink(path) for path in left() - before])

    def begin_daemon(self, at):
        daemon = subprocess.Popen(['lttng-sessiond', '--no-kernel'], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  start_new_session=True, **self.options)
        at.at_end.callback(daemon.wait)
        at.at_end.callback(daemon.terminate)
        for _ in range(100):
            try:
                self.lttng('list')
                return
            except bench.Missing:
                time.sleep(0.1)
        raise bench.Missing('the session daemon does not answer')

    def lttng(self, *words):
        return bench.said('lttng', '--no-sessiond', *words, **self.options)

    def record(self):
        self.lttng('create', 'peers', '--output=' + self.output)
        self.lttng('enable-event', '-u', 'peers:recorded')
        self.lttng('enable-event', '-u', 'peers:rejected', '--filter', 'argc == -5')
        self.lttng('start')

    def fault(self, calls):
        """Of all three: that only one event was recorded shows in how much was."""
        self.lttng('stop')
        lost = re.search(r'Discarded events: (\d+)', self.lttng('list', 'peers'))
        size = sum(os.path.getsize(os.path.join(folder, name))
                   for folder, _, names in os.walk(self.output) for name in names)
        self.lttng('destroy', 'peers')
        if not lost or lost[1] != '0':
            return 'lost %s of %d' % (lost and lost[1], calls)
        return None if size // calls in BYTES else '%d bytes of %d events' % (size, calls)


def rows(at):
    try:
        programs = [at.compile('lttng_' + event, '-DEVENT=' + event, '-llttng-ust', '-ldl')
                    for _, event, _ in ROWS]
    except bench.Missing as reason:
        raise bench.Missing('%s (Debian: liblttng-ust-dev)' % reason)
    session = Session(at)
    session.record()
    for (title, event, calls), program in zip(ROWS, programs):
        yield bench.Row(title, at.start([program], **session.options), calls,
                        check=session.fault if event == 'recorded' else None)
