"""Computes which events `replay --min-duration=T --depth=N` must deliver, from the flat rows of a recording, and
compares them with those that it has delivered.

    call_filter.py make SEED FORM             prints a recording as JSON lines; FORM is beam or tails
    call_filter.py compare T N ROWS LINES WHOLE FILTERED

ROWS are rows of `dump --format=jsonl-flat`, LINES those of `dump --format=jsonl`, WHOLE and FILTERED what
`replay -t jsonl` has written without and with the options. T is in nanoseconds; 0 as T or N: no limit.
"""
import json
import random
import sys


def make(seed, form):
    """Processes that call, return, raise, send and exit, some events being lost."""
    rng = random.Random(seed)
    stacks = {f'<0.{n}.0>': [] for n in range(9, 13)}  # of frames, which are lists of functions
    ts = rng.choice([-576460751450508376, 1795233753912926])
    returned_to = rng.random() < 0.5

    def put(tracee, tag, term, **more):
        timed = {} if rng.random() < 0.01 else {'ts': ts}
        print(json.dumps({**timed, 'tracee': tracee, 'tag': tag, 'term': term, **more}))

    for _ in range(rng.randint(1, 400)):
        ts += int(rng.expovariate(0.01)) + 1
        pid, stack = rng.choice(list(stacks.items()))
        what = rng.random()
        function = '{m,f%d,' % rng.randint(0, 4)
        if what < 0.42 and len(stack) < 12:
            tail = {}
            if form == 'tails':
                tail = {'tail': bool(stack) and rng.random() < 0.3}
            if tail.get('tail'):
                stack[-1].append(function)
            else:
                stack.append([function])
            put(pid, 'call', function + '[%d]}' % rng.randint(0, 9), **tail)
        elif what < 0.82 and stack:
            ended = stack.pop()[-1]
            raised = rng.random() < 0.2
            put(pid, 'exception_from' if raised else 'return_from', ended + '1}', extra='{error,x}' if raised else 'ok')
            if returned_to and not (raised and stack and rng.random() < 0.5):
                put(pid, 'return_to', stack[-1][-1] + '1}' if stack else '{u,untraced,0}')
        elif what < 0.83 and form == 'beam':
            put(pid, 'return_from', '{m,unknown,0}', extra='ok')
        elif what < 0.84:
            print(json.dumps({'drop': 3}))
            for other in stacks.values():
                other.clear()
        elif what < 0.85:
            put(pid, 'exit', 'normal')
            del stacks[pid]
            stacks[f'<0.{len(stacks) + 100 + rng.randint(0, 99)}.0>'] = []
        else:
            put(pid, 'send', 'hello', extra='<0.9.0>')


DOUBTFUL = 'a return to one of several calls'


class Call:
    def __init__(self, ts, deep):
        self.ts = ts
        self.kept = None if ts is not None and not deep else not deep  # None: undecided


def expected(least, most_deep, rows, lines):
    """Returns the fates of the records, in order."""
    fates = [None] * len(rows)  # of records that are no calls: bool; of calls: Call
    stacks, last_end = {}, {}
    queue = []  # records that are held back
    now = None

    def fate(i):
        return fates[i].kept if isinstance(fates[i], Call) else fates[i]

    def release():
        while queue:
            call = fates[queue[0]]
            if fate(queue[0]) is None and now - call.ts >= least:
                call.kept = True
            if fate(queue[0]) is None:
                return
            queue.pop(0)

    def end(frames, ts):
        """Ends frames. Returns whether any is kept; None: there are none."""
        kept = None
        for calls in frames:
            first = calls[0]
            if first.kept is None and ts is not None and ts >= first.ts:
                first.kept = ts - first.ts >= least
            for call in calls[1:]:
                if call.kept is None:
                    call.kept = first.kept
            kept = bool(kept) or first.kept is not False
        return kept

    for i, (row, line) in enumerate(zip(rows, lines)):
        tag, pid = row['tag'], row['tracee']
        ts = None if row['ts_ns'] is None else int(row['ts_ns'])
        function = (row['module'], row['function'], row['arity'])
        release()
        if ts is not None:
            now = ts if now is None else max(now, ts)
        stack = stacks.setdefault(pid, [])  # frames: [(function, Call), ...]
        fates[i] = True
        if tag == 'call':
            tail = line.get('tail') and stack
            deep = most_deep and len(stack) + (not tail) > most_deep
            call = Call(ts if least else None, deep)
            fates[i] = call
            if tail:
                stack[-1].append((function, call))
            else:
                stack.append([(function, call)])
            last_end[pid] = None
        elif tag in ('return_from', 'exception_from', 'return_to'):
            if tag == 'return_to':
                below = len(stack) - (last_end.get(pid) is None)
                found = [n for n in range(below) if stack[n][-1][0] == function]
                same = sum(frame[-1][0] == function for frame in stack)
                doubtful = last_end.get(pid) is None and (same > 1 or (same == 0 and len(stack) > 1))
                left = found[-1] + 1 if found else 0 if function == (None, None, None) else max(below, 0)
            else:
                found = [n for n in range(len(stack)) if stack[n][-1][0] == function]
                left = found[-1] if found else len(stack)
            ended = [[call for _, call in frame] for frame in stack[left:]]
            if tag != 'return_to' and ended:  # the record is that of the lowest frame
                end(ended[1:], ts)
                kept = end(ended[:1], ts)
            else:
                kept = end(ended, ts)
            del stack[left:]
            if kept is None:
                kept = True if tag != 'return_to' else last_end.get(pid, True) is not False
            elif tag == 'return_to' and last_end.get(pid):
                kept = True
            if tag == 'return_to' and not kept and doubtful:
                kept = DOUBTFUL
            fates[i] = kept
            last_end[pid] = kept if tag != 'return_to' else None
        elif tag == 'drop':
            for j in queue:
                if fate(j) is None:
                    fates[j].kept = True
            stacks.clear()
            last_end.clear()
        elif tag == 'exit':
            end([[call for _, call in frame] for frame in stack], ts)
            stacks.pop(pid)
        queue.append(i)
    return [fate(i) for i in range(len(rows))]


def read(name):
    with open(name, encoding='utf-8') as file:
        return [json.loads(line) for line in file if not line.startswith('{"tracehost"')]


def compare(least, most_deep, rows, lines, whole, filtered):
    rows, lines, whole, filtered = map(read, (rows, lines, whole, filtered))
    fates = expected(int(least), int(most_deep), rows, lines)
    events = [i for i, row in enumerate(rows) if row['tag'] not in ('drop', 'other')]
    assert len(events) == len(whole), (len(events), len(whole))
    wanted = [(event, fates[i]) for event, i in zip(whole, events) if fates[i] is not False]
    n = 0
    for event, fate in wanted:
        if n < len(filtered) and filtered[n] == event:
            n += 1
        else:
            assert fate == DOUBTFUL, f'event {n}: expected {event}, delivered {filtered[n:n + 1]}'
    assert n == len(filtered), f'event {n}: delivered {filtered[n]}'
    print(len(whole), len(filtered))


if sys.argv[1] == 'make':
    make(int(sys.argv[2]), sys.argv[3])
else:
    compare(*sys.argv[2:])
