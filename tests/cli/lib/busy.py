"""Whether processes have anything to do, whatever the machine does beside them."""

import glob
import re


def look_at(processes):
    """The state of each of their threads, and how often it has left a processor."""
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


def is_busy(*processes):
    """Whether one of their threads runs, or could. One may have woken another between the looks at the two: so all are
    looked at twice, and none may have run meanwhile."""
    before = look_at(processes)
    return any(state in 'RD' for state, _ in before.values()) or look_at(processes) != before


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
