"""true_ends.py KIND < random.jsonl > what a recording of that KIND has of it.

    plain           calls and return_to
    callers         calls with callers, and return_to
    some_plain      calls, return_to and the ends of one function's calls
    some_callers    these and callers
    returns         all

Where neither callers nor all ends are recorded, an exception may end calls without a trace: processes that have one are left
out. Events of one moment have one time. Fails if times.py has an end of a call in what it prints that differs from the true one,
which {exception_trace} tells, or too few.
"""
import collections
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../shipped'))
import times

ENDS = ('return_from', 'exception_from')
LEAST = {'plain': 40, 'callers': 70, 'some_plain': 40, 'some_callers': 70, 'returns': 100}  # percent of calls that are measured


def has(kind, event):
    return event['tag'] not in ENDS or kind == 'returns' or kind.startswith('some') and 't_b' in event['term']


def at_one_time(events):
    """Returns come when the return_to does that follows them, if one does."""
    for event, following in reversed(list(zip(events, events[1:]))):
        if event['tag'] in ENDS and following['tag'] in ENDS + ('return_to',):
            event['ts'] = following['ts']


def begun_and_ended(events):
    records = [next(times.events([json.dumps(event)]))[1] for event in events]
    return collections.Counter((name, begin[0], end[0]) for begin, end, name, *_ in times.ended(records))


def main():
    kind, processes = sys.argv[1], collections.defaultdict(list)
    for line in sys.stdin:
        event = json.loads(line)
        processes[event['tracee']].append(event)
    calls = measured = 0
    for events in processes.values():
        at_one_time(events)
        true = begun_and_ended([event for event in events if event['tag'] != 'return_to'])
        if kind.endswith('plain'):
            if any(event['tag'] == 'exception_from' for event in events):
                continue
            for event in events:
                event.pop('match_spec_result', None)
        told = [event for event in events if has(kind, event)]
        found = begun_and_ended(told)
        assert not found - true, (told, found - true)
        calls += sum(true.values())
        measured += sum(found.values())
        for event in told:
            print(json.dumps(event))
    print('%d of %d calls are measured' % (measured, calls), file=sys.stderr)
    assert calls > 200 and measured * 100 >= calls * LEAST[kind], (measured, calls)


main()
