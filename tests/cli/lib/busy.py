"""Finds out whether processes have anything to do, whatever else runs on the machine."""

import glob
import re


def look_at(processes):
    """Returns the state of each thread of PROCESSES, and its numbers of context switches."""
    found = {}
    for process in processes:
        for path in glob.glob('/proc/%d/task/*/status' % process):
            try:
                with open(path) as status:
                    text = status.read()
            except OSError:
                continue
            found[path] = re.search(r'^State:\s*(\S)', text, re.M)[1], re.findall(r'ctxt_switches:\s*(\d+)', text)
    return found


def family(process):
    """Returns PROCESS and all its descendants."""
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


def is_busy(process, *others):
    """True if a thread of PROCESS, of its descendants or of OTHERS runs or could run. A thread may wake another one between
    the looks at both, so all are looked at twice, and none may have switched meanwhile. A process may start another one
    after its descendants were found, so they are found twice."""
    found = family(process)
    before = look_at([*found, *others])
    return (any(state in 'RD' for state, _ in before.values()) or look_at([*found, *others]) != before or
            family(process) != found)
