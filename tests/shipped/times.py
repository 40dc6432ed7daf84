"""What `time` must say of a recording, summed up in another way than it does.

times.py CSV < JSON LINES OF THE RECORDING: compares the tracer's CSV with it; by process if that has
such a column.

The calls that ended are intervals, found by walking back from each end to its call. A function's total
is the measure of the union of its intervals in a process, and its own time what a sweep over all
intervals gives to the innermost one, moment by moment.
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
ENDS = ('return_from', 'exception_from')


def arity_of(text):
    """How many elements the text of a list has, or the number."""
    if text[0] != '[':
        return int(text) if text.isdigit() else text_length(text)
    depth = commas = 0
    skipped = re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|\$\\?.', 'x', text)
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
    if isinstance(term, dict):
        return function_of_external(base64.b64decode(term['$etf']))
    found = re.match(r'\{%s,%s,(.*)\}$' % (NAME, NAME), term, re.DOTALL)
    return found.group(1), found.group(2), arity_of(found.group(3))


def events(lines):
    for line in lines:
        event = json.loads(line)
        if event.get('tag') == 'call' or event.get('tag') in ENDS:
            yield event['tracee'], event['tag'], '%s:%s/%d' % function_of(event['term']), event['ts']


def own_times(intervals):
    """Of [(begin, end, name)], in which each is inside of another or apart: {name: nanoseconds}."""
    marks = []
    for number, (begin, end, name) in enumerate(intervals):
        marks += [(begin[1], 1, number), (end[1], 0, number)]
    own, inside, before = defaultdict(int), [], None
    times = [time for interval in intervals for (time, _) in interval[:2]]
    at = {place: time for interval in intervals for (time, place) in interval[:2]}
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
        last, sum_of = (-1, -1), 0
        for begin, end in sorted(spans, key=lambda span: span[0][1]):
            if end[1] > last[1]:
                sum_of += end[0] - (begin[0] if begin[1] > last[1] else last[0])
                last = end
        total[name] = sum_of
    return total


def of_process(records):
    """{name: calls, errors, ended...} of [(tag, name, time)]."""
    rows = defaultdict(lambda: dict(calls=0, errors=0, total_ns=0, own_ns=0, took=[]))
    began, intervals = [], []
    for place, (tag, name, time) in enumerate(records):
        rows[name]['calls'] += tag == 'call'
        rows[name]['errors'] += tag == 'exception_from'
        if tag == 'call':
            began.append((name, (time, place)))
            continue
        behind = [i for i in range(len(began) - 1, -1, -1) if began[i][0] == name][:1]
        if behind:
            intervals.append((began[behind[0]][1], (time, place), name))
            rows[name]['took'].append(time - began[behind[0]][1][0])
            del began[behind[0]:]
    for name, own in own_times(intervals).items():
        rows[name]['own_ns'] = own
    for name, total in total_times(intervals).items():
        rows[name]['total_ns'] = total
    return rows


def expected(lines, by_process):
    records, rows = defaultdict(list), {}
    for tracee, tag, name, time in events(lines):
        records[tracee].append((tag, name, time))
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
        for what, number in own.items():
            if took or not what.endswith('_ns'):
                assert int(row[what]) == number, (key, what, row[what], number)
        assert int(row['calls']) - int(row['open']) - int(row['untold']) == len(took), key
        check_percentiles(key, row, took)
    assert not wanted, wanted


if __name__ == '__main__':
    main()
