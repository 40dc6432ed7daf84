"""Compares the flat rows of `tracehost dump --format=csv` with the JSON lines of the same recording: each field of
each event, as text, and the durations of calls, computed here from calls and their returns alone.

    flat_rows.py ROWS.csv ROWS.jsonl LINES.jsonl

The recording has a return_from or an exception_from for each call, or none.
"""
import csv
import json
import re
import sys

rows_csv, rows_jsonl, lines = sys.argv[1:]
with open(rows_csv, newline='', encoding='utf-8') as file:
    table = list(csv.DictReader(file, strict=True))
with open(rows_jsonl, encoding='utf-8') as file:
    flat = [json.loads(line) for line in file]
with open(lines, encoding='utf-8') as file:
    events = [json.loads(line) for line in file if not line.startswith('{"tracehost"')]
assert len(table) == len(flat) == len(events), (len(table), len(flat), len(events))

ATOM = r"('(?:[^'\\]|\\.)*'|[^':,]*)"
stacks = {}


durations = [None] * len(events)


def end_call(event, function):
    """Pops the nearest open call of the function, and notes how long it lasted."""
    stack = stacks.setdefault(event['tracee'], [])
    while stack:
        name, number = stack.pop()
        if name == function:
            if 'ts' in event and 'ts' in events[number]:
                durations[number] = event['ts'] - events[number]['ts']
            return


for number, (cells, row, event) in enumerate(zip(table, flat, events)):
    # The two formats have the same values.
    assert cells == {key: '' if value is None else str(value) for key, value in row.items()}, (number, cells, row)
    assert row['ts_ns'] == (str(event['ts']) if 'ts' in event else None), number
    assert row['tracee'] == event.get('tracee'), number
    tag = event.get('tag', 'drop' if 'drop' in event else 'other')
    assert row['tag'] == tag, number
    term, extra = event.get('term'), event.get('extra')
    if tag == 'call':
        exact = isinstance(term, str)  # else it is in the external format
        args = exact and re.fullmatch(r'\{' + ATOM + ',' + ATOM + r',(.*)\}', term, re.S)[3]
        assert not exact or row['args'] == (None if args.isdigit() else args), number
        function = (row['module'], row['function'], row['arity'])
        stacks.setdefault(event['tracee'], []).append((function, number))
    elif tag in ('return_from', 'exception_from'):
        assert row['result'] == extra or isinstance(extra, dict), number
        assert row['args'] is None, number
        end_call(event, (row['module'], row['function'], row['arity']))
    elif tag in ('send', 'send_to_non_existing_process'):
        assert (row['to'], row['term']) == (extra, term), number
    elif tag in ('spawn', 'spawned', 'link', 'unlink', 'getting_linked', 'getting_unlinked', 'open'):
        assert row['to'] == term, number
    elif tag in ('receive', 'register', 'unregister', 'exit', 'closed') or tag.startswith('gc_'):
        assert row['term'] == term, number
    elif tag == 'drop':
        assert row['term'] == str(event['drop']), number
for number, (row, duration) in enumerate(zip(flat, durations)):
    assert row['duration_ns'] == duration, (number, row, duration)
print(len(events), 'rows,', sum(row['duration_ns'] is not None for row in flat), 'durations')
