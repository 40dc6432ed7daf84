"""A page of `tracehost report` against a computation of its own: `report_check.py PAGE`.

Reads what `tracehost dump --format=jsonl` writes of the same streams. Functions are compared with times.py's figures,
stacks with own_times's; the rest is computed here, with lists and dictionaries, and knows nothing of limits but those
of what is shown.
"""
import collections
import importlib.machinery
import importlib.util
import json
import os
import sys

sys.dont_write_bytecode = True


def load(name):
    loader = importlib.machinery.SourceFileLoader(name.split('.')[0], os.path.join(os.path.dirname(sys.argv[0]), name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


times, own_times, page_data = load('times.py'), load('own_times'), load('page_data')
receivers = load('receivers.py')
SENDS = ('send', 'send_to_non_existing_process')
CALLS = ('call', 'return_from', 'exception_from', 'return_to')
WIDEST, DEEPEST, ALIASES, SLOWEST = 8, 3, 256, 200


def is_local(text):
    return isinstance(text, str) and (text.startswith('<0.') or text.startswith('#Port<0.'))


def clock_of(event):
    return event['ts_kind'] if event['ts_kind'] in ('timestamp', 'cpu_timestamp') else 'monotonic'


class Process:
    def __init__(self, identifier):
        self.id, self.name, self.entry, self.parent = identifier, None, None, None
        self.born = self.died = self.last = self.since = self.collects = None
        self.events = self.calls = self.sent = self.received = self.ran = self.collections = self.collecting = 0
        self.own, self.spans, self.times, self.mail = 0, [], [], []


class Recording:
    def __init__(self, events):
        self.events = events
        timed = [event for event in events if 'ts' in event]
        for event in timed:  # of one clock
            if clock_of(event) != clock_of(timed[0]):
                del event['ts']
        timed = [event for event in timed if 'ts' in event]
        self.first = timed[0]['ts'] if timed else 0
        self.kind = timed[0]['ts_kind'] if timed else 'none'
        self.last = max((event['ts'] - self.first for event in timed), default=0)
        self.last = max(self.last, 0)
        self.processes, self.names, self.aliases = {}, receivers.Receivers(), []
        self.pairs = collections.defaultdict(lambda: [0, 0, []])
        self.scheduling = any(event['tag'].startswith(('in', 'out')) for event in events)
        self.told = False
        for event in events:
            self.take(event)
        for process in self.processes.values():
            self.run_until(process, process.last)

    def process(self, identifier):
        if identifier not in self.processes:
            self.processes[identifier] = Process(identifier)
        return self.processes[identifier]

    def take(self, event):
        tag, now = event['tag'], event['ts'] - self.first if 'ts' in event else None
        if tag == 'seq_trace':
            return
        process = self.process(event['tracee'])
        process.events += 1
        if now is not None:
            process.last = now
            process.times.append(max(now, 0))
        process.calls += tag == 'call'
        process.sent += tag in SENDS
        process.received += tag == 'receive'
        self.live(event, process, tag, now)
        if tag in SENDS:
            self.send(event, process, now)
        elif tag == 'receive':
            self.receive(event, process, now)

    @staticmethod
    def run_until(process, now):
        if process.since is not None and now is not None:
            process.ran += max(now - process.since, 0)
            process.spans.append((process.since, now))
            process.since = None

    def live(self, event, process, tag, now):
        if tag.startswith(('in', 'out')):
            self.run_until(process, now)
            process.since = now if tag.startswith('in') else process.since
        elif tag.startswith('gc_') and tag.endswith('start'):
            process.collections += 1
            process.collects = now
        elif tag.startswith('gc_') and tag.endswith('end'):
            if process.collects is not None and now is not None:
                process.collecting += max(now - process.collects, 0)
            process.collects = None
        elif tag in ('spawn', 'spawned', 'open'):
            child, parent = (event['term'], process.id) if tag == 'spawn' else (process.id, event['term'])
            child = self.process(child)
            child.parent = parent
            child.entry = event['extra'] if tag == 'open' else own_times.function(event['extra']) or child.entry
            child.born = now if child.born is None else child.born
        elif tag in ('exit', 'closed'):
            process.died = now
        elif tag in ('register', 'unregister'):
            if tag == 'register':
                self.names.register(event['term'], process.id)
            else:
                self.names.unregister(event['term'])
            process.name = event['term'] if tag == 'register' else process.name

    # --- messages ---

    def references(self, term, depth=0):
        """Those in tuples and the first cells of lists."""
        if not isinstance(term, str) or not term:
            return
        if term.startswith('#Ref<'):
            yield term
        elif term[0] == '[' and '|' in term and len(own_times.parts(term)) == 1:
            tail = term[1:-1].split('|')[-1]
            if tail.startswith('#Ref<') and tail.endswith('>'):
                yield tail
        elif term[0] == '{' and depth < DEEPEST:
            for part in own_times.parts(term)[:WIDEST]:
                yield from self.references(part, depth + 1)

    def owner(self, reference):
        return next((owner for name, owner in self.aliases if name == reference), None)

    def receiver(self, to):
        if isinstance(to, str) and to.startswith('#Ref<'):
            to = self.owner(to)
        elif not is_local(to):
            to = self.names.who(to) if isinstance(to, str) else None
        return self.process(to) if is_local(to) else None

    def send(self, event, process, now):
        for reference in self.references(event['term']):
            if not self.owner(reference):
                self.aliases = (self.aliases + [(reference, process.id)])[-ALIASES:]
        to = self.names.name(event.get('extra'))
        if isinstance(to, str) and event['tag'] == 'send':
            self.names.send(json.dumps(event['term']), to, self.owner(to))
        to = self.receiver(to)
        self.pairs[process.id, to and to.id][0] += 1
        if to and event['tag'] == 'send':
            to.mail.append((json.dumps(event['term']), process.id, now))

    def receive(self, event, process, now):
        content = json.dumps(event['term'])
        self.names.receive(content, process.id)
        at = next((i for i, mail in enumerate(process.mail) if mail[0] == content), None)
        if at is None:
            return
        _, sender, sent = process.mail.pop(at)
        self.pairs[sender, process.id][1] += 1
        if now is not None and sent is not None:
            self.pairs[sender, process.id][2].append(max(now - sent, 0))


def same(what, said, wanted):
    assert said == wanted, '%s: %s, and not %s' % (what, said, wanted)


def check_percentile(what, said, took, percent):
    exact = sorted(took)[-(-len(took) * percent // 100) - 1]
    assert abs(said - exact) <= exact / 64, (what, percent, said, exact)


def check_summary(data, recording):
    events = recording.events
    tags = collections.Counter(event['tag'] for event in events)
    same('tags', sorted(map(tuple, data['tags'])), sorted(tags.items()))
    same('their order', [count for _, count in data['tags']], sorted(tags.values(), reverse=True))
    summary, active = data['summary'], [process for process in recording.processes.values() if process.events]
    same('events', summary['events'], len(events))
    same('calls', summary['calls'], tags['call'])
    same('errors', summary['errors'], tags['exception_from'])
    same('sent', summary['sent'], sum(tags[tag] for tag in SENDS))
    same('received', summary['received'], tags['receive'])
    same('processes', summary['processes'], sum(process.id.startswith('<') for process in active))
    same('ports', summary['ports'], sum(process.id.startswith('#') for process in active))
    kinds = {'timestamp': 'system', 'cpu_timestamp': 'cpu', 'strict_monotonic': 'strict'}
    same('time', data['time'], {
        'kind': kinds.get(recording.kind, recording.kind), 'first': 0, 'last': recording.last,
        'unix': str(recording.first) if recording.kind == 'timestamp' else None})


def check_functions(data, lines, scheduling):
    wanted = {name: row for (_, name), row in times.expected(lines, False).items() if row['calls'] or row['errors']}
    same('functions', data['summary']['functions'], len(wanted))
    ended, before = 0, None
    for name, calls, errors, still_open, untold, total, own, p50, p90, p99, most, *spent in data['functions']:
        name = data['names'][name]
        row = wanted.pop(name)
        took = row['took']
        same(name, (calls, errors, calls - still_open - untold), (row['calls'], row['errors'], len(took)))
        same(name, (total, own, most), (row['total_ns'], row['own_ns'], max(took)) if took else (None, None, None))
        wanted_spent = [row['on_ns'], row['off_ns'], row['own_on_ns']] if took else [None] * 3
        same(name, spent, wanted_spent if scheduling else [])
        for said, percent in (p50, 50), (p90, 90), (p99, 99):
            if took:
                check_percentile(name, said, took, percent)
        ended += len(took)
        assert before is None or before >= (own or 0, calls), (name, before)
        before = own or 0, calls
    same('functions that are not there', wanted, {})
    same('ended', data['summary']['ended'], ended)


def flame_of(recording):
    """{(process, function...): nanoseconds}."""
    stacks = collections.Counter()
    for process in own_times.play(recording.events):
        pid = process.name.split()[-1]
        if not recording.scheduling:
            recording.processes[pid].spans += [(begin - recording.first, end - recording.first)
                                               for begin, end in process.spans]
        for stack, own in process.own.items():
            stacks[(pid, *stack)] += own
    return stacks


def totals_of(stacks):
    totals = collections.Counter()
    for stack, own in stacks.items():
        for depth in range(len(stack) + 1):
            totals[stack[:depth]] += own
    return totals


def narrowed(stacks):
    """What is narrower than 1/20000 of all counts for what is below it."""
    totals = totals_of(stacks)
    least = totals[()] // 20000
    shown = collections.Counter()
    for stack, own in stacks.items():
        while stack and totals[stack] < max(least, 1):
            stack = stack[:-1]
        shown[stack] += own
    return +shown


def check_flame(data, recording):
    flame = data['flame']
    paths, said = [()], collections.Counter()
    for parent, name, own in flame['nodes'][1:]:
        name = data['processes'][-2 - name]['id'] if parent == 0 else data['names'][name]
        paths.append(paths[parent] + (name,))
        assert paths[-1] not in said
        said[paths[-1]] = own
    said[()] = flame['nodes'][0][2]
    stacks = flame_of(recording) if recording.kind != 'none' else {}
    recording.told = any(event['tag'] in ('return_from', 'exception_from', 'return_to') or event.get(
        'match_spec_result') and own_times.function(event['match_spec_result'])
        for event in recording.events if event['tag'] in CALLS)
    for stack, own in stacks.items():
        recording.processes[stack[0]].own += own
    if flame['unit'] == 'calls':
        assert not sum(stacks.values())
        same('calls by stack', sum(said.values()), data['summary']['calls'])
        return
    if not recording.told:
        flat = collections.Counter()
        for stack, own in stacks.items():
            flat[stack[0], stack[-1]] += own
        stacks = flat
    wanted = narrowed(stacks)
    same('stacks that differ', [(stack, said[stack], wanted[stack]) for stack in {**said, **wanted}
                                if said[stack] != wanted[stack]], [])


def check_processes(data, recording):
    timed = recording.kind != 'none'
    numbers = {process['id']: number for number, process in enumerate(data['processes'])}
    same('processes', list(numbers), list(recording.processes))
    for process in recording.processes.values():
        said = dict(data['processes'][numbers[process.id]])
        reason = said.pop('reason')
        assert (reason is None) == (process.died is None) or not timed, process.id
        same(process.id, said, {
            'id': process.id, 'name': process.name, 'kind': 'port' if process.id[0] == '#' else 'process',
            'entry': process.entry, 'parent': numbers.get(process.parent), 'born': process.born, 'died': process.died,
            'events': process.events, 'calls': process.calls, 'own': process.own if timed and process.calls else None,
            'running': process.ran if timed and recording.scheduling else None, 'sent': process.sent,
            'received': process.received, 'collections': process.collections,
            'collecting': process.collecting if timed and process.collections else None})
    return numbers


def levels_of(amounts, most):
    """From the first bin that has something."""
    if not amounts:
        return None
    first, last = min(amounts), max(amounts)
    levels = [max(int(min(amounts.get(i, 0) / most, 1) * 63), amounts.get(i, 0) > 0) for i in range(first, last + 1)]
    return [first, ''.join(chr(48 + level).replace('\\', '~') for level in levels)]


def check_timeline(data, recording, numbers):
    timeline, width = data['timeline'], data['timeline']['width']
    unit = 'events' if recording.kind == 'none' else 'running' if recording.scheduling else \
        'calls' if recording.told else 'events'
    same('unit', timeline['unit'], unit)
    bins = recording.last // width + 1 if recording.kind != 'none' else 0
    same('bins', timeline['bins'], bins)
    assert bins <= 600 and (width == 1 or not bins or recording.last * 2 // width >= 600), (bins, width)
    amounts = {}
    for process in recording.processes.values():
        here = amounts[numbers[process.id]] = collections.Counter()
        for time in process.times if unit == 'events' else ():
            here[time // width] += 1
        for begin, end in process.spans if unit != 'events' else ():
            for i in range(max(begin, 0) // width, (max(end, 1) - 1) // width + 1):
                here[i] += max(min(end, (i + 1) * width) - max(begin, i * width, 0), 0)
    most = max((max(here.values(), default=0) for here in amounts.values()), default=0) if unit == 'events' else width
    same('most', timeline['most'], most if unit == 'events' and most else None)
    wanted = [[number] + levels_of(+here, most) for number, here in sorted(amounts.items()) if +here]
    same('rows', timeline['rows'], wanted)


def check_messages(data, recording, numbers):
    wanted = {(numbers.get(sender, -1), numbers.get(to, -1)): pair for (sender, to), pair in recording.pairs.items()}
    order = []
    for pair in data['messages']:
        key = pair['from'], pair['to']
        sent, matched, took = wanted.pop(key)
        same(key, (pair['sent'], pair['matched'], pair['max'], pair['total']),
             (sent, matched, max(took) if took else None, sum(took) if took else None))
        for percent in (50, 90, 99) if took else ():
            check_percentile(key, pair['p%d' % percent], took, percent)
        order.append((-sent, *key))
    same('pairs that are not there', wanted, {})
    same('their order', order, sorted(order))


def records_of(recording):
    """The calls and ends of each life of each process, with their places: {(pid, life): [(place, event)]}."""
    lives, records = collections.Counter(), collections.defaultdict(list)
    for place, event in enumerate(recording.events):
        pid = event.get('tracee')
        if event['tag'] == 'exit':
            lives[pid] += 1
        elif event['tag'] in CALLS:
            records[pid, lives[pid]].append((place, next(times.events([json.dumps(event)]))[1]))
    return records


def slowest_of(recording):
    """The calls that took longest: name, process, at, took, error."""
    ended = []
    for (pid, _), of_it in records_of(recording).items():
        for (begin, _), (end, (number, i)), name, tag, _ in times.ended([record for _, record in of_it]):
            if begin is not None and end is not None:
                ended.append((-max(end - begin, 0), of_it[number][0], i, name, pid, begin - recording.first,
                              tag == 'exception_from', tag))
    return [(name, pid, at, -took, error, tag) for took, _, _, name, pid, at, error, tag in sorted(ended)[:SLOWEST]]


def check_slowest(data, recording):
    said = [(data['names'][call['name']], data['processes'][call['process']]['id'], call['at'], call['took'],
             call['error']) for call in data['slowest']]
    slowest = slowest_of(recording)
    same('slowest calls', said, [call[:2] + (max(call[2], 0),) + call[3:5] for call in slowest])
    for call, (*_, tag) in zip(data['slowest'], slowest):
        assert 0 <= call['own'] <= call['took'], call
        assert (call['outcome'] is None) == (tag == 'return_to'), call


def check_requests(data, recording):
    """The tree of an outermost call has all calls between its begin and its end, and their times."""
    keys = [(data['names'][call['name']], data['processes'][call['process']]['id'], call['at'], call['took'], call['error'])
            for call in data['requests']]
    inside = {key: [] for key in keys}
    for (pid, _), of_it in records_of(recording).items():
        found = [(begin[1][0], end[1], name, begin[0], end[0], tag)
                 for begin, end, name, tag, _ in times.ended([record for _, record in of_it])]
        for first, last, name, begin, end, tag in found:
            if begin is None or end is None:
                continue
            key = name, pid, begin - recording.first, max(end - begin, 0), tag == 'exception_from'
            if key not in inside:
                continue
            calls = collections.Counter(record[1] for _, record in of_it[first:last[0] + 1] if record[0] == 'call')
            took = collections.Counter()
            for other in found:
                if first <= other[0] and other[1] <= last and None not in other[3:5]:
                    took[other[2]] += max(other[4] - other[3], 0)
            contained = any(other[0] < first and other[1] >= last for other in found)
            inside[key].append((calls, took, contained))
    order = [call['took'] for call in data['requests']]
    same('order of trees', order, sorted(order, reverse=True))
    for key, call in zip(keys, data['requests']):
        calls, took, unknown = collections.Counter(), collections.Counter(), set()
        for _, name, count, time, untold, _ in call['nodes']:
            calls[data['names'][name]] += count
            took[data['names'][name]] += time
            if untold:
                unknown.add(data['names'][name])
        more = sum(node[5] for node in call['nodes'])
        assert any(sum(calls.values()) + more == sum(all_calls.values()) and not contained and
                   (more or (calls == all_calls and all(took[name] == all_took[name] for name in set(calls) - unknown)))
                   for all_calls, all_took, contained in inside[key]), (key, calls, took, inside[key])


def main():
    data = page_data.read(sys.argv[1])
    lines = [line for line in sys.stdin if '"tag"' in line]
    recording = Recording([json.loads(line) for line in lines])
    check_summary(data, recording)
    if recording.kind != 'none':
        check_functions(data, lines, recording.scheduling)
    check_flame(data, recording)
    numbers = check_processes(data, recording)
    check_timeline(data, recording, numbers)
    check_messages(data, recording, numbers)
    check_slowest(data, recording)
    check_requests(data, recording)


main()
