"""uftrace: programs with each of the calls or NOPs at entry that it knows."""

import glob
import os
import re

import bench

OWN_PLAIN = False
TITLE = 'uftrace'
ROWS = (  # title, flags of the compiler, options of `uftrace record`, calls, of which it records
    ('-pg, --nop', ('-pg',), ('--nop',), bench.OFTEN, None),
    ('patchable entries, hit left as NOPs (-P other)', ('-fpatchable-function-entry=5',),
     ('-P', 'other'), bench.OFTEN, 0),
    ('-pg -mfentry, a filter that rejects (-F other)', ('-pg', '-mfentry'), ('-F', 'other'),
     bench.OFTEN, 0),
    ('-pg, recorded with return', ('-pg',), (), bench.SELDOM, 1),
    ('-pg -mfentry, recorded with return', ('-pg', '-mfentry'), (), bench.SELDOM, 1),
    ('-finstrument-functions, recorded with return', ('-finstrument-functions',), (), bench.SELDOM,
     1),
    ('patchable entries, recorded with return (-P hit)', ('-fpatchable-function-entry=5',),
     ('-P', 'hit'), bench.SELDOM, 1),
)


def title():
    bench.need('uftrace', 'uftrace')
    return 'uftrace ' + bench.version('uftrace', '--version')


def recorded(folder):
    """Calls of hit() in a recording; None if there is no recording."""
    if not os.path.isdir(folder):
        return None
    if not any(os.path.getsize(path) for path in glob.glob(folder + '/[0-9]*.dat')):
        return 0
    report = bench.said('uftrace', 'report', '--no-pager', '-d', folder)
    found = re.search(r'(\d+)\s+hit$', report, re.M)
    return int(found[1]) if found else 0


def checked(folder, share):
    def check(calls):
        found, expected = recorded(folder), None if share is None else share * calls
        return None if found == expected else 'recorded %s of %d calls' % (found, calls)
    return check


def rows(at):
    for number, (title, flags, options, calls, share) in enumerate(ROWS):
        program = at.compile('uftrace_%d' % number, *flags)
        folder = program + '.data'
        side = at.start(['uftrace', 'record', '-d', folder, *options, program])
        yield bench.Row(title, side, calls, check=checked(folder, share))
