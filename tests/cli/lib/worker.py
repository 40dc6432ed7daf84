"""Finds the process in which a command runs code of libraries."""

import glob


def parent_of(process):
    """Returns the parent of PROCESS; 0 if that does not exist any more."""
    try:
        with open('/proc/%s/stat' % process) as stat:
            return int(stat.read().rpartition(')')[2].split()[1])
    except OSError:
        return 0


def worker_of(supervisor):
    """Returns the child of SUPERVISOR, or SUPERVISOR if it has none."""
    for path in glob.glob('/proc/[0-9]*'):
        if parent_of(path[6:]) == supervisor:
            return int(path[6:])
    return supervisor
