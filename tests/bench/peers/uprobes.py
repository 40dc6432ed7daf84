"""Uprobes, counted by perf: the kernel's breakpoints, for which root must be asked. They are set in
the kernel's tracefs, which is mounted for perf alone if it is not, and removed at the end."""

import os
import shlex

import bench

OWN_PLAIN = False
TITLE = 'uprobes'
CALLS = 500  # each of 10 us
SCRIPT = '''
export HOME=%(home)s
events=/sys/kernel/tracing/uprobe_events
[ -e $events ] || mount -t tracefs nodev /sys/kernel/tracing || exit
perf probe -q -x %(program)s %(group)s:%(probe)s || exit
perf stat -x , -o %(counted)s -e '%(group)s:*' %(program)s
perf probe -q -d '%(group)s:*'
'''


def title():
    bench.need('perf', 'linux-perf')
    bench.need('unshare', 'util-linux')
    if os.geteuid() != 0:
        raise bench.Missing('only root may set them')
    return 'uprobes, perf %s, Linux %s' % (bench.version('perf', '--version'), os.uname().release)


def checked(path):
    def check(calls):
        with open(path) as file:
            counted = [line.split(',')[0] for line in file if ':hit' in line]
        return None if counted == [str(calls)] else 'counted %s of %d calls' % (counted, calls)
    return check


def rows(at):
    for title, name, probe in (('perf stat, entry', 'entry', 'hit=hit'),
                               ('perf stat, return', 'return', 'hit=hit%return')):
        program = at.compile('uprobe_' + name)
        group = 'peers_%s_%d' % (name, os.getpid())
        words = {'home': at.folder, 'program': program, 'group': group, 'probe': probe,
                 'counted': program + '.counted'}
        side = at.start(['unshare', '--mount', 'sh', '-c', SCRIPT % {
            key: shlex.quote(word) for key, word in words.items()}])
        yield bench.Row(title, side, CALLS, check=checked(words['counted']))
