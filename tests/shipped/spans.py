"""What `otlp` must say of a recording, found in another way than it does.

spans.py OUTPUT [--open] < JSON LINES OF THE RECORDING: compares the spans in the tracer's output, one by one, with those that the recording's
events make by the rules of tracers/kit/stack.h: name, process, parent, trace, times, how each ended, its exception, its links and how many
events it has; and the counts in the last line. Messages are told apart by their text, and all are remembered. With
--open calls that have not ended are in the output, too.
"""

import json
import re
import sys
from collections import defaultdict, deque

import open_calls
import receivers
import times

REFERENCE = re.compile(r'#Ref<[\d.]+>')
ATOM = r"('(?:[^'\\]|\\.)*'|[a-z][\w@]*)"


class Span:
    def __init__(self, process, name, caller, parent, now):
        self.process, self.name, self.caller, self.parent, self.began = process, name, caller, parent, now
        self.links, self.events, self.alive, self.ended = [], 0, True, None
        self.met = self.chosen = self.held = False
        self.root = parent.root if parent else self


class Process:
    def __init__(self, pid):
        self.pid, self.now, self.stack, self.waiting, self.returned = pid, 0, [], [], False
        self.guess = None

    def highest(self, wanted):
        """Where the highest such span is, or None."""
        return next((i for i in range(len(self.stack) - 1, -1, -1) if wanted(self.stack[i])), None)

    def top(self):
        return next((span for span in reversed(self.stack) if span.alive), None)


def function(term):
    """M:F/A, `undefined`, or None for what is neither."""
    if term == 'undefined':
        return term
    if isinstance(term, str) and not re.fullmatch(r'\{%s,%s,(?:\d+|\[.*\]|".*")\}' % (ATOM, ATOM), term, re.DOTALL):
        return None
    return '%s:%s/%d' % times.function_of(term)


def failure(reason_class, reason):
    """error:badmatch of error and {badmatch,1}."""
    found = re.match(r'\{?%s(?![\w@(])' % ATOM, reason if isinstance(reason, str) else '')
    return reason_class + (':' + found.group(1) if found else '')


def clock_of(event):
    return event['ts_kind'].replace('strict_', '')


class Trace:
    def __init__(self, writes_open):
        self.writes_open = writes_open
        self.processes, self.owners, self.counts = {}, {}, defaultdict(int)
        self.names = receivers.Receivers()
        self.spans, self.sent = [], defaultdict(deque)
        self.told, self.timed, self.latest, self.shift = False, False, 0, None
        self.rule = open_calls.Rule()
        self.zero, self.clock = None, None  # the first record's time by another clock than system time

    def process(self, pid):
        if pid not in self.processes:
            self.processes[pid] = Process(pid)
        return self.processes[pid]

    def pass_time(self, process, event):
        if 'ts' in event:
            now = event['ts']
            if event['ts_kind'] != 'timestamp':
                if self.shift is None:
                    self.shift = self.latest - now if self.latest else -self.zero
                now += self.shift
            self.clock = self.clock or clock_of(event)
            self.counts['clocks'] += clock_of(event) != self.clock
            self.timed, self.latest = True, max(self.latest, now)
        else:
            self.counts['untimed'] += 1
            now = self.latest
        process.now = max(process.now, now)

    # --- Ends ---

    def leave(self, process, span, how, failed=None):
        """The span ends, if it has not; it stays on the stack."""
        if not span.alive:
            return
        span.alive = False
        if how == 'open':
            self.counts['calls.open'] += 1
        if not self.told or (how == 'open' and not self.writes_open):
            self.counts['calls.open'] += how != 'open'
            self.counts['links.unused'] += len(span.links)
            return
        span.ended, span.how, span.failed = process.now, how, failed
        span.events += failed is not None and how in ('own', 'exit')
        self.spans.append(span)

    def cut(self, process, left, how, failed=None):
        while len(process.stack) > left:
            self.leave(process, process.stack[-1], how, failed)
            process.stack.pop()

    def ends(self, process, name, failed):
        self.told = process.returned = True
        place = process.highest(lambda span: span.name == name and not span.met)
        if place is None:
            self.counts['returns.unknown'] += 1
            return
        self.counts['calls.cut'] += sum(span.alive for span in process.stack[place + 1:])
        self.cut(process, place + 1, 'caller')
        self.cut(process, place, 'own', failed)

    def returns_to(self, process, name):
        returned, process.returned, self.told = process.returned, False, True
        if not returned:
            self.cut(process, self.rule.left_by(process, name), 'return_to')
            self.rule.meet(process, name, lambda name: Span(process.pid, name, None, None, process.now))
            self.counts['returns.doubtful'] = self.rule.doubtful
            return
        self.rule.was_open(process, name, True)
        self.counts['returns.doubtful'] = self.rule.doubtful
        place = process.highest(lambda span: span.alive and name in (span.name, span.caller))
        for span in reversed(process.stack[place + 1:] if place is not None else ()):
            self.leave(process, span, 'return_to')

    # --- Beginnings ---

    def calls(self, process, name, caller):
        process.returned = False
        if caller is not None:
            self.told = True
            for span in self.rule.leaves(process, caller):
                self.leave(process, span, 'call')
        span = Span(process.pid, name, caller, process.top(), process.now)
        span.links, process.waiting = process.waiting, []
        process.stack.append(span)
        assert len(process.stack) < 16384, 'too deep for this'

    def link(self, process, sender, cause):
        links = process.top().links if process.top() else process.waiting
        if sender:
            links.append((sender, cause))

    # --- Events ---

    def on_call(self, process, event):
        name = function(event['term'])
        if name:
            self.calls(process, name, function(event['match_spec_result']) if 'match_spec_result' in event else None)

    def on_return_from(self, process, event):
        self.ends(process, function(event['term']), None)

    def on_exception_from(self, process, event):
        found = re.fullmatch(r'\{(\w+),(.*)\}', event['extra'], re.DOTALL)
        self.ends(process, function(event['term']), failure(*found.groups()))

    def on_return_to(self, process, event):
        self.returns_to(process, function(event['term']))

    def on_send(self, process, event, exists=True):
        to, text = event['extra'], json.dumps(event['term'])
        for reference in REFERENCE.findall(text):
            self.owners.setdefault(reference, process.pid)
        if process.top():
            process.top().events += 1
        to = self.names.name(to)
        if exists:
            self.names.send(text, to, self.owners.get(to))
        to = self.names.who(to) or to
        receiver = self.owners.get(to, to)
        self.counts['messages.unreceived'] += 1
        if exists and receiver.startswith('<0.'):
            self.sent[receiver, text].append(process.top())

    def on_send_to_non_existing_process(self, process, event):
        self.on_send(process, event, False)

    def on_receive(self, process, event):
        if process.top():
            process.top().events += 1
        self.names.receive(json.dumps(event['term']), process.pid)
        queue = self.sent[process.pid, json.dumps(event['term'])]
        if not queue:
            self.counts['messages.unsent'] += 1
            return
        self.counts['messages.unreceived'] -= 1
        self.link(process, queue.popleft(), 'message')

    def on_register(self, process, event):
        self.names.register(event['term'], process.pid)

    def on_spawn(self, process, event):
        if process.top() and event['term'].startswith('<0.'):
            self.link(self.process(event['term']), process.top(), 'spawn')

    def on_exit(self, process, event):
        ordinary = event['term'] in ('normal', 'shutdown') or re.match(r'\{shutdown,', str(event['term']))
        self.ends_all(process, 'exit', None if ordinary else failure('exit', event['term']))

    def ends_all(self, process, how, failed=None):
        self.cut(process, 0, how, failed)
        self.counts['links.unused'] += len(process.waiting)
        del self.processes[process.pid]

    def take(self, lines):
        for line in lines:
            event = json.loads(line)
            if self.zero is None and 'ts' in event and event['ts_kind'] != 'timestamp':
                self.zero = event['ts']
            take = getattr(self, 'on_' + event['tag'] if 'tag' in event else '', None)
            if take:
                process = self.process(event['tracee'])
                self.pass_time(process, event)
                take(process, event)
        for process in list(self.processes.values()):
            self.ends_all(process, 'open')


def read(path):
    """All spans of the output, and the counts that its last line tells."""
    spans, counts = [], {}
    with open(path, encoding='utf-8') as file:
        for line in file:
            scope = json.loads(line)['resourceSpans'][0]['scopeSpans'][0]
            spans += scope['spans']
            counts = {pair['key']: int(pair['value']['intValue']) for pair in scope['scope'].get('attributes', [])}
    return spans, counts


class Numbers:
    """Which of the wanted ones each identifier stands for: always the same, and another one for each."""

    def __init__(self):
        self.of, self.back = {}, {}

    def check(self, identifier, wanted):
        assert self.of.setdefault(identifier, wanted) is wanted, identifier
        assert self.back.setdefault(wanted, identifier) == identifier, identifier


def compare(said, wanted, timed, spans, traces):
    where = (said['name'], said['spanId'])
    attributes = {pair['key']: pair['value'].get('stringValue') for pair in said['attributes']}
    assert said['name'] == wanted.name and attributes['erlang.pid'] == wanted.process, where
    assert attributes['code.function.name'] == wanted.name.rpartition('/')[0], where
    spans.check(said['spanId'], wanted)
    traces.check(said['traceId'], wanted.root)
    assert ('parentSpanId' in said) == (wanted.parent is not None), where
    if wanted.parent:
        spans.check(said['parentSpanId'], wanted.parent)
    if timed:
        assert (int(said['startTimeUnixNano']), int(said['endTimeUnixNano'])) == (wanted.began, wanted.ended), where
    assert attributes.get('tracehost.end') == (None if wanted.how == 'own' else wanted.how), where
    failed = wanted.failed if wanted.how in ('own', 'exit') else None
    assert attributes.get('error.type') == failed and ('status' in said) == bool(failed), (where, failed)
    assert len(said.get('events', [])) + said.get('droppedEventsCount', 0) == wanted.events, where
    links = said.get('links', [])
    assert len(links) + said.get('droppedLinksCount', 0) == len(wanted.links), where
    for link, (span, cause) in zip(links, wanted.links):
        spans.check(link['spanId'], span)
        traces.check(link['traceId'], span.root)
        assert link['attributes'][0]['value']['stringValue'] == cause, where


def main():
    said, counts = read(sys.argv[1])
    trace = Trace('--open' in sys.argv)
    trace.take(sys.stdin)
    assert len(said) == len(trace.spans), (len(said), len(trace.spans))
    spans, traces = Numbers(), Numbers()
    for one, wanted in zip(said, trace.spans):
        compare(one, wanted, trace.timed, spans, traces)
    wanted = {'tracehost.' + key: count for key, count in trace.counts.items() if count}
    wanted['tracehost.spans'] = len(said)
    dropped = {key: counts.pop(key) for key in list(counts) if key.endswith('.dropped')}
    for kind in ('Links', 'Events'):
        assert sum(one.get('dropped%sCount' % kind, 0) for one in said) == dropped.get('tracehost.%s.dropped' % kind.lower(), 0)
    assert counts == wanted, (counts, wanted)
    print('%d spans, %d links' % (len(said), sum(len(one.get('links', [])) for one in said)))


if __name__ == '__main__':
    main()
