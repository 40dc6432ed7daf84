"""Checks decoded traces of Perfetto by the rules of the format, and compares them with their recordings.

perfetto_check.py NAME...: NAME.pf.json, lines of perfetto_decode, must have just the slices, instants, counters and flows
that the events of NAME.jsonl make by the rules of spans.py, at the same times by the same clocks; prints how many there
are. perfetto_check.py --show DECODED: only checks the rules of the format, and prints each event in a line.
"""
import collections
import json
import os
import re
import sys

sys.dont_write_bytecode = True
import spans

ORIGIN = 60 * 10**9
CLOCKS = {64: 'none', 65: 'timestamp', 66: 'cpu_timestamp', 67: 'monotonic'}
NAMES = {'none': "node's clock", 'timestamp': 'system time', 'cpu_timestamp': 'CPU time', 'monotonic': 'monotonic time'}
DRAWN, WAITING = 512, 10000
OF_PROCESSES = ('spawn', 'spawned', 'exit', 'closed', 'link', 'unlink', 'getting_linked', 'getting_unlinked', 'register',
                'unregister', 'open')


class Lane:
    """What one process does by one clock: marks of its calls, and of the tracks below."""

    def __init__(self, pid, clock):
        self.pid, self.clock, self.name = pid, clock, None
        self.tracks = {'calls': [], 'running': [], 'queue': [], 'heap': []}


# --- The trace ---

class Sequence:
    """Packets of one writer: names, clocks with the date of their zeros, and the clock of packets without another one."""

    def __init__(self, first):
        assert first['first_packet_on_sequence'] and first['sequence_flags'] == 3, first
        self.names, self.clocks = collections.defaultdict(dict), {}
        self.default = first['trace_packet_defaults']['timestamp_clock_id']

    def intern(self, data):
        for kind, names in data.items():
            for name in names:
                assert name['iid'] not in self.names[kind] and int(name['iid']) > 0, data
                self.names[kind][name['iid']] = name['name']

    def snapshot(self, clocks):
        own = [clock for clock in clocks if clock in CLOCKS]
        assert len(own) == 1 and own[0] not in self.clocks, clocks
        assert clocks.pop(own[0]) == clocks.pop(6) == ORIGIN and set(clocks) <= {1}, clocks
        self.clocks[own[0]] = clocks.get(1)


class Decoded:
    def __init__(self, lines):
        self.sequences, self.tracks, self.lanes, self.nodes, self.labels, self.events = {}, {}, [], {}, [], []
        self.last, self.open, self.flows, self.clock_of = {}, collections.defaultdict(list), {}, {}
        for line in lines:
            self.packet(json.loads(line))

    def packet(self, packet):
        number = packet['trusted_packet_sequence_id']
        if number not in self.sequences:
            self.sequences[number] = Sequence(packet)
        else:
            assert packet['sequence_flags'] == 2, packet
        sequence = self.sequences[number]
        sequence.intern(packet.get('interned_data', {}))
        if 'clock_snapshot' in packet:
            sequence.snapshot({clock['clock_id']: int(clock['timestamp']) for clock in packet['clock_snapshot']['clocks']})
        elif 'track_descriptor' in packet:
            self.track(packet['track_descriptor'])
        else:
            self.event(sequence, packet, packet['track_event'])

    def track(self, track):
        uuid = track['uuid']
        if 'process' in track:
            self.nodes.setdefault(uuid, track['process'])
            self.labels += track['process'].get('process_labels', [])
            assert self.nodes[uuid]['pid'] == track['process']['pid']
        elif 'thread' in track:
            assert track['thread']['pid'] == self.nodes[track['parent_uuid']]['pid'] and track['thread']['tid'] > 16, track
            name, _, clock = track['thread']['thread_name'].partition(', ')
            if uuid not in self.tracks:
                self.lanes.append(Lane(name.split(' ')[-1], clock))
                self.tracks[uuid] = (self.lanes[-1], 'calls')
            self.tracks[uuid][0].name = name
        else:
            lane = self.tracks[track['parent_uuid']][0]
            name, _, pid = track['name'].partition(' ')
            assert uuid not in self.tracks and not lane.tracks[name] and pid == lane.pid, track
            assert ('counter' in track) == (name in ('queue', 'heap')), track
            self.tracks[uuid] = (lane, name)

    def event(self, sequence, packet, event):
        uuid, time = event['track_uuid'], int(packet['timestamp'])
        clock = packet.get('timestamp_clock_id', sequence.default)
        assert clock in sequence.clocks and self.clock_of.setdefault(uuid, clock) == clock, packet
        assert time >= self.last.get(uuid, time), packet
        self.last[uuid] = time
        lane, kind = self.tracks[uuid]
        lane.clock = CLOCKS[clock]
        annotations = {sequence.names['debug_annotation_names'][one['name_iid']]: one.get('string_value', one.get('uint_value'))
                       for one in event.get('debug_annotations', [])}
        assert len(annotations) == len(event.get('debug_annotations', [])), packet
        name = sequence.names['event_names'][event['name_iid']] if 'name_iid' in event else event.get('name')
        category = [sequence.names['event_categories'][iid] for iid in event.get('category_iids', [])]
        mark = [event['type'][5:], name, time - ORIGIN, annotations, self.flow(event)]
        if kind in ('queue', 'heap'):
            assert mark[0] == 'COUNTER' and name is None and not category, packet
            mark[1] = int(event['counter_value'])
            assert mark[1] >= 0, packet
        elif mark[0] == 'SLICE_BEGIN':
            assert len(category) == 1 and name, packet
            self.open[uuid].append(name)
        elif mark[0] == 'SLICE_END':
            assert name is None and self.open[uuid].pop(), packet
        else:
            assert mark[0] == 'INSTANT' and len(category) == 1 and name, packet
        lane.tracks[kind].append(mark)
        self.events.append((lane, kind, mark, category))

    def flow(self, event):
        begins, ends = event.get('flow_ids', []), event.get('terminating_flow_ids', [])
        assert len(begins) + len(ends) <= 1, event
        for flow in begins:
            assert flow not in self.flows, event
            self.flows[flow] = 'sent'
        for flow in ends:
            assert self.flows[flow] == 'sent', event
            self.flows[flow] = 'received'
        return (begins + ends + [None])[0]


# --- The recording ---

class Process(spans.Process):
    def __init__(self, pid):
        super().__init__(pid)
        self.lanes, self.nows, self.clock, self.collection = {}, {}, None, False
        self.inbox, self.receives, self.counted, self.runs, self.exited = [], False, None, False, False
        self.name = None


class Recording(spans.Trace):
    def __init__(self):
        super().__init__(True)
        self.lanes, self.zeros, self.newest, self.first = [], {}, {}, None
        self.told_by = collections.Counter()

    def process(self, pid):
        if pid not in self.processes:
            self.processes[pid] = Process(pid)
        return self.processes[pid]

    def mark(self, process, kind, name, track='calls', time=None, **annotations):
        mark = [kind, name, process.now if time is None else time, annotations, None]
        process.lanes[process.clock].tracks[track].append(mark)
        return mark

    def pass_time(self, process, event):
        if 'ts' in event:
            clock = spans.clock_of(event)
            now = event['ts'] - self.zeros[clock]
            self.first = self.first or clock
            self.timed = True
        elif self.timed:
            clock = process.clock or self.first
            now = self.newest[clock]
        else:
            clock, now = 'none', 0
        self.newest[clock] = max(now, self.newest.get(clock, 0))
        if process.clock not in (None, clock):
            self.change_clock(process)
        process.clock = clock
        if clock not in process.lanes:
            self.lanes.append(Lane(process.pid, clock))
            process.lanes[clock] = self.lanes[-1]
        process.now = process.nows[clock] = max(now, process.nows.get(clock, now))
        process.lanes[clock].name = process.name

    def change_clock(self, process):
        for span in reversed(process.stack):
            if span.alive and span.drawn:
                self.mark(process, 'SLICE_END', None)
                span.drawn = False
        self.stop_collecting(process)
        if process.runs:
            self.mark(process, 'SLICE_END', None, 'running')
        process.runs, process.counted = False, None

    def stop_collecting(self, process):
        if process.collection:
            self.mark(process, 'SLICE_END', None)
        process.collection = False

    # --- Calls ---

    def leave(self, process, span, how, failed=None):
        if span.alive and span.drawn:
            self.mark(process, 'SLICE_END', None, **({'type': failed} if how == 'own' and failed else {}))
        span.alive = False

    def calls(self, process, name, caller):
        super().calls(process, name, caller)
        process.stack[-1].drawn = sum(span.alive for span in process.stack[-DRAWN * 4:]) <= DRAWN
        if process.stack[-1].drawn:
            self.mark(process, 'SLICE_BEGIN', name)

    def take_call(self, process, event):
        if event['tag'] == 'exception_from':
            found = re.fullmatch(r'\{(\w+),(.*)\}', event['extra'], re.DOTALL)
            self.mark(process, 'INSTANT', 'exception', type=spans.failure(*found.groups()))
        if spans.function(event['term']):
            self.stop_collecting(process)
            getattr(self, 'on_' + event['tag'])(process, event)

    # --- Messages ---

    def queue(self, process, receiver):
        if receiver.receives and receiver.clock == process.clock:
            receiver.counted = max(process.now, process.now if receiver.counted is None else receiver.counted)
            self.mark(receiver, 'COUNTER', len(receiver.inbox), 'queue', receiver.counted)

    def send(self, process, event):
        to, text = self.names.name(event['extra']), json.dumps(event['term'])
        who = to
        if not re.match('[<#]', str(to)):
            who = self.names.who(to)
            who = who if who in self.processes else None
        receiver = self.process(who) if re.fullmatch(r'<0\.\d+\.\d+>', str(who)) else None
        told = receiver and (to in self.names.told or who == to)
        self.names.send(text, to, who if told else to)
        mark = self.mark(process, 'INSTANT', 'send', to=event['extra'])
        if receiver:
            del receiver.inbox[:len(receiver.inbox) - WAITING + 1]
            mark[4] = object()
            receiver.inbox.append((text, mark, process.clock))
            self.queue(process, receiver)

    def receive(self, process, event):
        text = json.dumps(event['term'])
        self.names.receive(text, process.pid)
        process.receives = True
        mark = self.mark(process, 'INSTANT', 'receive')
        place = next((i for i, message in enumerate(process.inbox) if message[0] == text), None)
        if place is not None:
            _, sent, clock = process.inbox.pop(place)
            mark[4] = sent[4] if clock == process.clock else None
            self.queue(process, process)

    # --- Others ---

    def collect(self, process, event):
        self.stop_collecting(process)
        if event['tag'].endswith('_start'):
            process.collection = True
            self.mark(process, 'SLICE_BEGIN', 'gc ' + event['tag'].split('_')[1])
        sizes = dict(re.findall(r'\{(\w+),(\d+)\}', event['term']))
        self.mark(process, 'COUNTER', int(sizes.get('heap_size', 0)) + int(sizes.get('old_heap_size', 0)), 'heap')

    def run(self, process, event):
        runs = event['tag'] in ('in', 'in_exiting')
        if runs != process.runs:
            self.mark(process, *(('SLICE_BEGIN', 'running') if runs else ('SLICE_END', None)), 'running')
            process.runs = runs
            self.end(process)

    def end(self, process):
        if process.exited and not process.runs:
            del self.processes[process.pid]

    def live(self, process, event):
        tag = event['tag']
        self.mark(process, 'INSTANT', tag)
        if tag in ('exit', 'closed'):
            self.stop_collecting(process)
            self.cut(process, 0, 'exit')
            process.exited = True
            self.end(process)
        elif tag == 'register':
            self.names.register(event['term'], process.pid)
            process.name = event['term']
            process.lanes[process.clock].name = process.name

    def take(self, lines):
        events = [json.loads(line) for line in lines]
        for event in events:
            if 'ts' in event:
                self.zeros.setdefault(spans.clock_of(event), event['ts'])
        takes = dict.fromkeys(('call', 'return_from', 'exception_from', 'return_to'), self.take_call)
        takes.update(dict.fromkeys(('in', 'in_exiting', 'out', 'out_exiting', 'out_exited'), self.run))
        takes.update(dict.fromkeys(OF_PROCESSES, self.live))
        takes.update(send=self.send, send_to_non_existing_process=self.send, receive=self.receive)
        for event in events:
            tag = event.get('tag', '')
            take = takes.get(tag, self.collect if tag.startswith('gc_') else None)
            if take:
                process = self.process(event['tracee'])
                self.pass_time(process, event)
                take(process, event)


# --- Both ---

def compare(decoded, wanted):
    flows = spans.Numbers()
    assert len(decoded.lanes) == len(wanted.lanes), (len(decoded.lanes), len(wanted.lanes))
    for found, lane in zip(decoded.lanes, wanted.lanes):
        assert found.pid == lane.pid and found.clock == lane.clock, (found.pid, found.clock, lane.pid, lane.clock)
        assert lane.name is None or found.name == '%s %s' % (lane.name, lane.pid), (found.name, lane.name)
        for kind, marks in lane.tracks.items():
            there = found.tracks[kind]
            assert len(there) == len(marks), (lane.pid, kind, len(there), len(marks))
            for one, other in zip(there, marks):
                assert one[:2] == other[:2] and (one[2] == other[2] or lane.clock == 'none'), (lane.pid, kind, one, other)
                assert all(one[3].get(name) == text for name, text in other[3].items() if isinstance(text, str)), (one, other)
                assert ('type' in one[3]) == ('type' in other[3]) or one[1] in ('exit', 'closed'), (one, other)
                assert (one[4] is None) == (other[4] is None), (lane.pid, one, other)
                if one[4] is not None:
                    flows.check(one[4], other[4])
    clocks = [sequence.clocks for sequence in decoded.sequences.values()]
    assert len(clocks) == bool(wanted.lanes), clocks
    for clock, date in clocks[0].items() if clocks else ():
        assert date is None or CLOCKS[clock] != 'timestamp' or date == wanted.zeros['timestamp'], (clock, date)
        assert CLOCKS[clock] != 'timestamp' or date is not None or len(clocks[0]) > 1, clock


def show(decoded):
    for node in decoded.nodes.values():
        print('node', node['pid'], node['process_name'])
    for sequence in decoded.sequences.values():
        for clock, date in sequence.clocks.items():
            print('clock', CLOCKS[clock], *([date] if date is not None else []))
    for lane, kind, mark, category in decoded.events:
        print(lane.name, NAMES[lane.clock].split()[0], mark[2], mark[0].lower(), *([kind] if kind != 'calls' else []), *category,
              *([mark[1]] if mark[1] is not None else []),
              *('%s=%s' % pair for pair in mark[3].items()), *(['flow %s' % mark[4]] if mark[4] else []))
    for label in decoded.labels:
        print('label', label)


def check(name):
    with open(name + '.pf.json', encoding='utf-8') as file:
        decoded = Decoded(file)
    wanted = Recording()
    with open(name + '.jsonl', encoding='utf-8') as file:
        wanted.take(file)
    compare(decoded, wanted)
    kinds = collections.Counter(mark[0] for _, _, mark, _ in decoded.events)
    print(os.path.basename(name), *(kinds[kind] for kind in ('SLICE_BEGIN', 'SLICE_END', 'INSTANT', 'COUNTER')),
          len(decoded.flows), sum(how == 'received' for how in decoded.flows.values()))


def main():
    if sys.argv[1] == '--show':
        with open(sys.argv[2], encoding='utf-8') as file:
            show(Decoded(file))
        return
    for name in sys.argv[1:]:
        try:
            check(name)
        except AssertionError as error:
            print(os.path.basename(name), 'differs:', error)


if __name__ == '__main__':
    main()
