"""Compares profiles of the tracer `speedscope` with their recordings.

speedscope_check.py FILES RECORDING...: each line of FILES is one of the tracer's files; each RECORDING has the JSON lines of
the events. The profiles must be just the calls that the events make by the rules of spans.py, at the same times. Prints of
each recording how many profiles and calls there are, and the sum of the profiles' durations.

speedscope_check.py --imported FILES EXPORTED: each line of EXPORTED is what speedscope has exported after it imported that
line of FILES. Names, durations and calls must be the same, but for calls of no length, which speedscope leaves out. Prints
how many files and profiles there are.
"""
import json
import os
import sys

sys.dont_write_bytecode = True
import perfetto_check

TAKEN = ('call', 'return_from', 'exception_from', 'return_to', 'register', 'exit')


class Calls(perfetto_check.Recording):
    """Events by the clock of the first one; each call that is open at the end ends with its process's last event."""

    def take(self, lines):
        events = [json.loads(line) for line in lines]
        for event in events:
            if 'ts' in event:
                self.zeros.setdefault(perfetto_check.spans.clock_of(event), event['ts'])
        events = [event for event in events if event.get('tag') in TAKEN]
        clock = next((perfetto_check.spans.clock_of(event) for event in events if 'ts' in event), None)
        super().take(json.dumps(event) for event in events
                     if 'ts' not in event or perfetto_check.spans.clock_of(event) == clock)
        for process in self.processes.values():
            self.cut(process, 0, 'open')

    def profiles(self):
        for lane in self.lanes:
            events = [mark[:3] for mark in lane.tracks['calls'] if mark[0] != 'INSTANT']
            if events:
                yield lane, events


def strict(profile, frames):
    """The events by name, which begin and end one inside the other, in the order of their times."""
    events, stack, last = [], [], profile['startValue']
    for event in profile['events']:
        assert last <= event['at'] <= profile['endValue'], event
        last = event['at']
        if event['type'] == 'O':
            stack.append(event['frame'])
        else:
            assert stack.pop() == event['frame'], event
        events.append((event['type'], frames[event['frame']]['name'], event['at'] - profile['startValue']))
    assert not stack, stack
    return events


def lengthy(events):
    """EVENTS without those of calls of no length."""
    stack, left = [], set()
    for i, (kind, _, time) in enumerate(events):
        if kind == 'O':
            stack.append((i, time))
            continue
        begin, began = stack.pop()
        left |= {begin, i} if began == time else set()
    return [event for i, event in enumerate(events) if i not in left]


def compare_imported(file, exported):
    assert len(file['profiles']) == len(exported['profiles']), file['name']
    assert file['name'] == exported['name'] and exported['exporter'].startswith('speedscope@'), exported['name']
    calls = 0
    for one, other in zip(file['profiles'], exported['profiles']):
        for name in 'name', 'unit', 'type':
            assert one[name] == other[name], (one[name], other[name])
        assert other['endValue'] - other['startValue'] == one['endValue'] - one['startValue'], one['name']
        events = lengthy(strict(one, file['shared']['frames']))
        assert events == lengthy(strict(other, exported['shared']['frames'])), one['name']
        calls += len(events) // 2
    assert calls > 0, file['name']
    return len(file['profiles'])


def imported(files, exported):
    with open(files, encoding='utf-8') as file, open(exported, encoding='utf-8') as other:
        pairs = list(zip(file, other, strict=True))
    counts = [compare_imported(json.loads(one), json.loads(other)) for one, other in pairs]
    print('%d files, %d profiles' % (len(pairs), sum(counts)))


def compare(file, wanted):
    assert file['$schema'] == 'https://www.speedscope.app/file-format-schema.json', file['$schema']
    profiles, frames = file['profiles'], file['shared']['frames']
    names = [frame['name'] for frame in frames]
    assert len(set(names)) == len(names), names
    lanes = list(wanted.profiles())
    assert len(profiles) == len(lanes), (len(profiles), len(lanes))
    calls = duration = 0
    for profile, (lane, marks) in zip(profiles, lanes):
        assert profile['type'] == 'evented' and profile['unit'] == 'nanoseconds', profile['unit']
        assert profile['name'].split(' ')[-1] == lane.pid, (profile['name'], lane.pid)
        assert lane.name is None or profile['name'] == '%s %s' % (lane.name, lane.pid), (profile['name'], lane.name)
        events = strict(profile, frames)
        assert len(events) == len(marks), (lane.pid, len(events), len(marks))
        for (kind, name, time), (begins, other, moment) in zip(events, marks):
            assert kind == ('O' if begins == 'SLICE_BEGIN' else 'C') and name == (other or name), (kind, name, other)
            assert time == moment - marks[0][2] or lane.clock == 'none', (name, time, moment)
        weight = marks[-1][2] - marks[0][2]
        assert profile['endValue'] - profile['startValue'] == weight or lane.clock == 'none', (profile['endValue'], weight)
        calls += len(events) // 2
        duration += weight
    return len(profiles), calls, duration


def main():
    if sys.argv[1] == '--imported':
        imported(*sys.argv[2:])
        return
    with open(sys.argv[1], encoding='utf-8') as files:
        lines = files.readlines()
    assert len(lines) == len(sys.argv) - 2, (len(lines), len(sys.argv) - 2)
    for line, path in zip(lines, sys.argv[2:]):
        wanted = Calls()
        with open(path, encoding='utf-8') as recording:
            wanted.take(recording)
        try:
            print(os.path.basename(path).partition('.')[0], *compare(json.loads(line), wanted))
        except AssertionError as error:
            print(os.path.basename(path), 'differs:', error)


main()
