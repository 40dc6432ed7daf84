"""What `time` must say of a recording, summed up in another way than it does.

times.py CSV < JSON LINES OF THE RECORDING: compares the tracer's CSV with it; by process if that has
such a column.

The calls that ended are intervals, found by walking back from each end to its call; ended() has the rule of
tracers/kit/calls.h for a return_to. A function's total
is the measure of the union of its intervals in a process, and its own time what a sweep over all
intervals gives to the innermost one, moment by moment. Where the CSV has times on and off schedulers, each gap between two events of a process
is on, off, or unknown, and a call has spent what the gaps between its events add up to.
"""

import base64
import csv
import json
import re
import sys
from collections import defaultdict

# {M,F,[...]} or {M,F,Arity}: names may be quoted.
NAME = r"('(?:[^'\\]|\\.)*'|[a-z][\w@]*)"
RESERVED = ('after', 'begin', 'case', 'end', 'fun', 'if', 'of', 'receive', 'try', 'when')
SCHEDULED = {'in': 'on', 'in_exiting': 'on', 'out': 'off', 'out_exiting': 'off', 'out_exited': 'off'}
ENDS = ('return_from', 'exception_from', 'return_to')
DOUBTED = 16384


def arity_of(text):
    """How many elements the text of a list has, or the number."""
    if text[0] != '[':
        return int(text) if text.isdigit() else text_length(text)
    depth = commas = 0
    skipped = re.sub(r'"(?:[^"\\]|\\.)*"|<<[\d,:]*>>|\'(?:[^\'\\]|\\.)*\'|\$\\?.', 'x', text)
    for char in skipped:
        depth += (char in '[{(') - (char in ']})')
        commas += char == ',' and depth == 1
    return 0 if skipped == '[]' else commas + 1


def text_length(text):
    """Arguments that are a list of characters are printed as a string."""
    return len(re.findall(r'\\(?:x\{[0-9A-Fa-f]+\}|.)|[^\\]', text[1:-1]))


def atom_at(data, at):
    """The atom that an external term has there, as it is printed, and where the next term is."""
    begin, length = (at + 2, data[at + 1]) if data[at] == 119 else (at + 3, data[at + 1] << 8 | data[at + 2])
    name = data[begin:begin + length].decode('utf-8' if data[at] in (118, 119) else 'latin-1')
    plain = re.fullmatch(NAME, name) and name not in RESERVED
    return name if plain else "'%s'" % name, begin + length


def function_of_external(data):
    """Of {M,F,Arguments} or {M,F,Arity}."""
    assert data[:3] == bytes((131, 104, 3))
    module, at = atom_at(data, 3)
    name, at = atom_at(data, at)
    sizes = {97: 1, 98: 4, 106: 0, 107: 2, 108: 4}
    return module, name, int.from_bytes(data[at + 1:at + 1 + sizes[data[at]]], 'big')


def function_of(term):
    if term == 'undefined':
        return None
    if isinstance(term, dict):
        return function_of_external(base64.b64decode(term['$etf']))
    found = re.match(r'\{%s,%s,(.*)\}$' % (NAME, NAME), term, re.DOTALL)
    return found.group(1), found.group(2), arity_of(found.group(3))


def name_of(term):
    function = function_of(term)
    return '%s:%s/%d' % function if function else 'undefined'


def caller_of(event):
    """None if it is not known."""
    result = event.get('match_spec_result')
    is_function = result == 'undefined' or isinstance(result, str) and re.fullmatch(r'\{%s,%s,\d+\}' % (NAME, NAME), result)
    return name_of(result) if is_function else None


def events(lines):
    for line in lines:
        event = json.loads(line)
        if event.get('tag') in SCHEDULED:
            yield event['tracee'], (event['tag'], None, event.get('ts'), None)
        elif event.get('tag') == 'exit':
            yield event['tracee'], ('exit', None, None, None)
        elif event.get('tag') == 'call' or event.get('tag') in ENDS:
            yield event['tracee'], (event['tag'], name_of(event['term']), event.get('ts'), caller_of(event))


def own_times(intervals):
    """Of [(begin, end, name)], in which each is inside of another or apart: {name: nanoseconds}."""
    marks = []
    for number, (begin, end, name) in enumerate(intervals):
        marks += [(begin[1], 1, number), (end[1], 0, number)]
    own, inside, before = defaultdict(int), [], None
    times = [time for interval in intervals for (time, _) in interval[:2]]
    at = {place: time for interval in intervals for (time, place) in interval[:2]}  # places are all different
    assert len(at) == len(times)
    for place, begins, number in sorted(marks):
        if inside:
            own[intervals[inside[-1]][2]] += at[place] - before
        before = at[place]
        if begins:
            inside.append(number)
        else:
            assert inside.pop() == number
    return own


def total_times(intervals):
    by_name, total = defaultdict(list), {}
    for begin, end, name in intervals:
        by_name[name].append((begin, end))
    for name, spans in by_name.items():
        last, sum_of = (-1, (-1,)), 0
        for begin, end in sorted(spans, key=lambda span: span[0][1]):
            if end[1] > last[1]:
                sum_of += end[0] - (begin[0] if begin[1] > last[1] else last[0])
                last = end
        total[name] = sum_of
    return total


class Call:
    def __init__(self, name, caller, begin):
        self.name, self.caller, self.begin, self.doubted = name, caller, begin, False


def last(calls, wanted):
    return next((i for i in range(len(calls) - 1, -1, -1) if wanted(calls[i])), None)


def doubt(calls):
    for call in calls:
        call.doubted = True


def left_by(calls, to, returned):
    """How many of the calls are open when control comes back to TO."""
    top, below = len(calls) - 1, calls if returned else calls[:-1]
    at = last(below, lambda call: call.name == to)
    if at is not None:
        caller = calls[at].caller
        if caller == to if caller else any(call.name == to for call in calls[:at]):
            other = last(calls[:at], lambda call: call.name == to)
            doubt(calls[at if other is None else other + 1:at + 1])
        return at + 1
    if to == 'undefined':
        return 0
    if returned:
        doubt(calls)
        return len(calls)
    called = last(calls, lambda call: call.caller == to) if calls[top].caller else None
    if called is None:
        left = top + bool(calls[top].caller)
        doubt(calls[:left])
        return left
    doubt(calls[1 + max((i for i in range(called) if calls[i].caller != to), default=-1):called])
    return called


def ended(records):
    """[(begin, end, name, how it ended, if it was in no other one)] of [(tag, name, time, caller)], if the end is known."""
    calls, found, returned = [], [], False
    outermost = lambda i: all(call.name != calls[i].name for call in calls[:i])
    for number, (tag, name, time, caller) in enumerate(records):
        if tag in SCHEDULED or tag == 'exit':
            continue
        was, returned = returned, tag in ('return_from', 'exception_from')
        if tag == 'call':
            at = last(calls, lambda call, caller=caller: call.name == caller)
            if at is not None:
                tail = last(calls, lambda call, caller=caller: call.caller == caller)
                doubt(calls[max(at, -1 if tail is None else tail) + 1:])
            calls.append(Call(name, caller, (time, (number, 0))))
        elif tag != 'return_to':
            at = last(calls, lambda call, name=name: call.name == name)
            if at is not None:
                found.append((calls[at].begin, (time, (number, 0)), name, tag, outermost(at)))
                del calls[at:]
        elif calls:
            calls[0].doubted &= was or len(calls) > 1
            left = left_by(calls, name, was)
            doubt([call for call in calls[left:] if call.caller not in (None, name)])
            if sum(call.doubted for call in calls[:left]) > DOUBTED:
                doubt(calls[:left])
                left = 0
            found += [(calls[i].begin, (time, (number, -i)), calls[i].name, tag, outermost(i))
                      for i in range(len(calls) - 1, left - 1, -1) if not calls[i].doubted]
            del calls[left:]
    return found


def sum_up(records):
    """What a process has spent on and off schedulers up to each record: [{'on': nanoseconds, 'off': nanoseconds}]."""
    sums, state, before, missing = [{'on': 0, 'off': 0}], None, None, False
    for tag, _, time, _ in records:
        sums.append(dict(sums[-1]))
        if tag == 'exit':
            state = before = None
            continue
        if state == 'off' and tag not in SCHEDULED:
            state, missing = 'on', True  # the `in` before it is missing
        if state and not missing:
            sums[-1][state] += max(time - before, 0)
        state, before, missing = SCHEDULED.get(tag, state), time, False
        if tag == 'out_exited':
            state = None
    return sums[1:]


def add_spent(rows, records, found):
    sums, inside, marks = sum_up(records), [], {}
    spent = lambda first, last, where: sums[last][where] - sums[first][where]
    for number, (begin, end, name, _, outermost) in enumerate(found):
        marks.setdefault(begin[1][0], []).append((0, number))
        marks.setdefault(end[1][0], []).append((1, -end[1][1], number))
        for where in ('on', 'off'):
            rows[name][where + '_ns'] += outermost * spent(begin[1][0], end[1][0], where)
    for place in range(len(records)):
        for where in ('on', 'off') if inside and place else ():
            rows[found[inside[-1]][2]]['own_%s_ns' % where] += spent(place - 1, place, where)
        # A return_to ends the call on top first.
        for mark in sorted(marks.get(place, ()), key=lambda mark: mark[:1] + (-mark[-1] if mark[0] == 0 else mark[1],)):
            if mark[0] == 0:
                inside.append(mark[-1])
            else:
                inside.remove(mark[-1])


def of_process(records):
    """{name: calls, errors, ended...} of [(tag, name, time, caller)]."""
    rows = defaultdict(lambda: dict(calls=0, errors=0, total_ns=0, own_ns=0, took=[],
                                    on_ns=0, off_ns=0, own_on_ns=0, own_off_ns=0))
    for tag, name, _, _ in records:
        if tag in ('call', 'return_from', 'exception_from'):
            rows[name]['calls'] += tag == 'call'
            rows[name]['errors'] += tag == 'exception_from'
    found = ended(records)
    intervals = [interval[:3] for interval in found]
    for begin, end, name in intervals:
        rows[name]['took'].append(end[0] - begin[0])
    for name, own in own_times(intervals).items():
        rows[name]['own_ns'] = own
    for name, total in total_times([interval[:3] for interval in found if interval[4]]).items():
        rows[name]['total_ns'] = total
    add_spent(rows, records, found)
    return rows


def expected(lines, by_process):
    records, rows = defaultdict(list), {}
    for tracee, record in events(lines):
        records[tracee].append(record)
    for tracee, of_it in records.items():
        for name, row in of_process(of_it).items():
            key = (tracee if by_process else '', name)
            if key not in rows:
                rows[key] = row
                continue
            for what in row:
                rows[key][what] += row[what]
    return rows


def check_percentiles(key, row, took):
    took.sort()
    assert (row['max_ns'] == '') == (not took), key
    for percent in (50, 90, 99) if took else ():
        exact = took[-(-len(took) * percent // 100) - 1]
        said = int(row['p%d_ns' % percent])
        assert abs(said - exact) <= exact / 64, (key, percent, said, exact)
    assert not took or int(row['max_ns']) == took[-1], key


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        said = list(csv.DictReader(file))
    wanted = expected(sys.stdin, 'process' in said[0])
    for row in said:
        key = (row.get('process', ''), row['function'])
        own = wanted.pop(key)
        took = own.pop('took')
        if row.get('on_ns'):
            unknown = int(row['total_ns']) - int(row['on_ns']) - int(row['off_ns'])
            assert unknown == int(row['unknown_ns']) >= 0, key
        for what, number in own.items():
            if what not in row:
                assert 'own_on_ns' not in row, key
            elif took or not what.endswith('_ns'):
                assert int(row[what]) == number, (key, what, row[what], number)
        assert int(row['calls']) - int(row['open']) - int(row['untold']) == len(took), key
        check_percentiles(key, row, took)
    assert not wanted, wanted


if __name__ == '__main__':
    main()
