"""Whether processes have anything to do, whatever the machine does beside them."""

import glob


def states_of(process):
    for path in glob.glob('/proc/%d/task/*/stat' % process):
        try:
            with open(path) as stat:
                yield stat.read().rpartition(')')[2].split()[0]
        except OSError:
            pass


def is_busy(process):
    """Whether one of its threads runs, or could."""
    return bool(set(states_of(process)) & {'R', 'D'})


def family(process):
    """The process and all that it, or one of these, has started."""
    parents = {}
    for path in glob.glob('/proc/[0-9]*/stat'):
        try:
            with open(path) as stat:
                text = stat.read()
        except OSError:
            continue
        parents.setdefault(int(text.rpartition(')')[2].split()[1]), []).append(int(text.split()[0]))
    found = [process]
    for one in found:
        found += parents.get(one, [])
    return found
