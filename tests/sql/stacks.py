"""Callers and depths of recorded calls, by stacks of this file's own.

A recording whose calls tell whether they are tail calls (`tail`) shows the caller of a call that follows a call, or a
return to a known function, and of the first call of a process that was spawned in it. In other recordings a record of a
call has its caller, or nothing shows it. After a loss of events each stack begins anew.

A call has the depth that its stack has. Without `tail`, a return_to that does not stand behind the end which it belongs
to leaves open which calls have ended: then `Stack.vague` is set, and only bounds of the depth are known.
"""

import re

ENDS = ('return_from', 'exception_from')


class Stack:
    """`frames`: of each frame the executing function, and the numbers of its calls: several if they are tail calls of each
    other. `below`: the function to which the lowest frame returns; None: unknown, 'undefined': the process begins there."""

    def __init__(self, below=None):
        self.frames, self.below = [], below
        self.ended = self.vague = False

    def executing(self):
        return self.frames[-1][0] if self.frames else self.below

    def call(self, number, function, tail):
        """Returns the caller."""
        self.ended = False
        replaced = self.frames.pop()[1] if tail and self.frames else []
        if tail and not replaced and self.below != 'undefined':
            self.below = None
        caller = self.executing() if tail is not None else None
        self.frames.append((function, replaced + [number]))
        return caller

    def end(self, function):
        """Ends the nearest frame of FUNCTION and all above. Returns the numbers of its calls."""
        self.ended, ended = True, []
        if any(frame[0] == function for frame in self.frames):
            name = None
            while name != function:
                name, ended = self.frames.pop()
        else:
            self.below = None
        if not self.frames and self.below == 'undefined':
            self.below = None
        return ended

    def return_to(self, function):
        if not self.frames:
            self.below = function
        elif not self.ended or self.executing() != function:
            self.vague = True
        self.ended = False


def told_by(records, function_of, recorded_caller_of):
    """Returns what RECORDS show of their calls, by number: {'caller', 'depth', and in an execution 'end_record'}. The depth
    is None if only bounds are known; both are None of processes of unknown nodes. FUNCTION_OF gives 'm:f/a' of a record,
    RECORDED_CALLER_OF the caller in the record of a call; None: there is none."""
    stacks, told = {}, {}
    executes = any('tail' in record['line'] for record in records)
    for record in records:
        tag, tracee, number = record['tag'], record['flat']['tracee'], record['number']
        if tag == 'drop':
            stacks.clear()
        elif tag == 'call' and not re.match(r'<0\.|#Port<0\.', tracee):
            told[number] = {'caller': None, 'depth': None}
        elif tag == 'call':
            stack = stacks.setdefault(tracee, Stack())
            caller = stack.call(number, function_of(record), record['line'].get('tail'))
            told[number] = {'caller': recorded_caller_of(record) or caller,
                            'depth': None if stack.vague else len(stack.frames)}
            if executes:
                told[number]['end_record'] = None
        elif tag == 'spawned':
            stacks[tracee] = Stack('undefined')
        elif tag == 'exit':
            stacks.pop(tracee, None)
        elif tag in ENDS:
            for ended in stacks.setdefault(tracee, Stack()).end(function_of(record)):
                if executes:
                    told[ended]['end_record'] = number
        elif tag == 'return_to':
            stacks.setdefault(tracee, Stack()).return_to(function_of(record))
    return told


def depth_faults(rows, records):
    """Yields rows of `calls` whose depth their own ends contradict: each earlier call that ends later is open, and no
    other than those whose end is not shown."""
    began = {}
    calls = {int(row['record']): row for row in rows}
    for record in records:
        tag, tracee = record['tag'], record['flat']['tracee']
        if tag == 'drop':
            began.clear()
        elif tag in ('spawned', 'exit'):
            began.pop(tracee, None)
        elif tag == 'call' and calls[record['number']]['depth'] is not None:
            row = calls[record['number']]
            earlier = [call for call in began.get(tracee, []) if call['end_record'] is None or
                       int(call['end_record']) > record['number']]
            least = 1 + sum(call['end_record'] is not None for call in earlier)
            if not least <= row['depth'] <= 1 + len(earlier):
                yield 'depth is not from %d to %d: %r' % (least, 1 + len(earlier), row)
            began[tracee] = earlier + [row]


def own_durations(calls):
    """Returns the own duration of each row of `calls` that has a duration, by recording and record: that of the call without
    those of the timed calls in it that are in no other timed call in it; 0 where these took longer, as the times of a damaged
    record may go back."""
    own, opened = {}, {}
    for row in sorted((row for row in calls if row['duration'] is not None), key=lambda row: int(row['record'])):
        outer = opened.setdefault((row['recording'], row['tracee']), [])
        while outer and int(outer[-1]['end_record']) < int(row['end_record']):
            outer.pop()
        if outer:
            own[outer[-1]['recording'], outer[-1]['record']] -= int(row['duration'])
        own[row['recording'], row['record']] = int(row['duration'])
        outer.append(row)
    return {key: max(0, ns) for key, ns in own.items()}
