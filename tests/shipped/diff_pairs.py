#!/usr/bin/env python3
"""Generates pairs of recordings, and checks what `tracehost diff` finds in them.

pairs.py PROGRAM FOLDER FIRST LAST   pairs of the seeds FIRST to LAST, one with a planted difference and one without for
                                     each seed
pairs.py --write FILE SEED RECORDS VARIANT   writes one recording of about RECORDS records

A recording is of processes that start each other and call functions, in one of three forms: with events of their
starts, with registered names, or with neither. The two recordings of a pair differ in pids, references, times (each
call by up to 5 percent), and the order of events of different processes.
"""
import heapq
import json
import os
import random
import subprocess
import sys

FUNCTIONS = [('m%d' % (i % 4), 'f%d' % i, 1 + i % 2) for i in range(16)]
KINDS = ('dropped', 'arguments', 'exception', 'slower', 'slow call', 'pid')


class Call:
    def __init__(self, function, arguments, result, callees):
        self.function, self.arguments, self.result, self.callees = function, arguments, result, callees
        self.error = None
        self.factor = 1.0

    def all(self):
        yield self
        for callee in self.callees:
            yield from callee.all()


class Process:
    def __init__(self, number, parent):
        self.number, self.parent = number, parent
        self.roots = []

    def all(self):
        for root in self.roots:
            yield from root.all()


def term(chance, processes):
    """A term as a function of the pids and references of a recording."""
    kind = chance.randrange(7)
    number = chance.randrange(1000)
    if kind == 0:
        who = chance.randrange(processes)
        return lambda world: '{from,%s,%d}' % (world.pid(who), number)
    if kind == 1:
        return lambda world: '{call,%s,%d}' % (world.reference(), number)
    if kind == 2:
        who = chance.randrange(processes)
        return lambda world: '#{to=>%s,n=>%d}' % (world.pid(who), number)
    if kind == 3:
        return lambda world: '<<"text %d">>' % number
    if kind == 4:
        return lambda world: '[a,{b,%d.5},"list"]' % number
    return lambda world: '%d' % number


def tree(chance, processes, size):
    function = chance.choice(FUNCTIONS)
    callees, left = [], size - 1
    while left > 0:
        part = chance.randint(1, left)
        callees.append(tree(chance, processes, part))
        left -= part
    arguments = [term(chance, processes) for _ in range(function[2])]
    return Call(function, arguments, term(chance, processes), callees)


def program(chance, processes, size):
    made = [Process(i, None if i == 0 else chance.randrange(i)) for i in range(processes)]
    for process in made:
        left = size
        while left > 0:
            part = chance.randint(1, min(left, 12))
            process.roots.append(tree(chance, processes, part))
            left -= part
    return made


class World:
    """A run of a program: its pids, references and times."""

    def __init__(self, seed, form, variant):
        self.chance = random.Random('%s %s' % (seed, variant))
        self.form = form
        self.pids = {}
        self.next_pid = 80 + self.chance.randrange(500)
        self.references = self.chance.randrange(10 ** 6)
        self.base = {f: 1000 * (3 + i) for i, f in enumerate(FUNCTIONS)}

    def pid(self, number):
        if number not in self.pids:
            self.next_pid += 1 + self.chance.randrange(3)
            self.pids[number] = '<0.%d.0>' % self.next_pid
        return self.pids[number]

    def reference(self):
        self.references += 1
        return '#Ref<0.1.2.%d>' % self.references

    def call(self, process, call, now, events):
        pid = self.pid(process.number)
        events.append((now, pid, 'call', '{%s,%s,[%s]}' % (*call.function[:2], ','.join(a(self) for a in call.arguments)),
                       None))
        own = self.base[call.function] * call.factor * self.chance.uniform(0.95, 1.05)
        parts = len(call.callees) + 1
        for callee in call.callees:
            now = self.call(process, callee, now + own / parts, events)
        now += own / parts
        name = '{%s,%s,%d}' % call.function
        if call.error:
            events.append((now, pid, 'exception_from', name, '{error,%s}' % call.error))
        else:
            events.append((now, pid, 'return_from', name, call.result(self)))
        return now

    def run(self, processes):
        begins, streams = {0: 10000}, []
        for process in processes:
            events, now = [], begins[process.number]
            if self.form == 'spawn' and process.parent is not None:
                events.append((now, self.pid(process.number), 'spawned', self.pid(process.parent), '{m0,start,[%d]}' % (
                    process.number % 2)))
            if self.form == 'names':
                events.append((now, self.pid(process.number), 'register', 'server%d' % process.number, None))
            for child in processes:
                if child.parent == process.number:
                    if self.form == 'spawn':
                        events.append((now, self.pid(process.number), 'spawn', self.pid(child.number), '{m0,start,[%d]}' % (
                            child.number % 2)))
                    now += 100
                    begins[child.number] = now + self.chance.randrange(60000)
            for root in process.roots:
                now = self.call(process, root, now + 500, events)
            streams.append(events)
        return heapq.merge(*streams, key=lambda event: event[0])

    def write(self, processes, file):
        for now, pid, tag, content, extra in self.run(processes):
            line = {'ts': int(now), 'tracee': pid, 'tag': tag, 'term': content}
            if extra is not None:
                line['extra'] = extra
            file.write(json.dumps(line) + '\n')


def plant(chance, processes, kind):
    """Changes the program. Returns the function of the change, and the texts of the arguments that are not of a world."""
    if kind == 'slower':
        counts = {}
        for process in processes:
            for call in process.all():
                counts[call.function] = counts.get(call.function, 0) + 1
        function = max(sorted(counts), key=lambda f: counts[f])
        for process in processes:
            for call in process.all():
                call.factor = 3.0 if call.function == function else 1.0
        return function
    process = chance.choice(processes)
    if kind == 'dropped':
        lists = [process.roots] + [call.callees for call in process.all()]
        calls = chance.choice([some for some in lists if some])
        if calls is process.roots and len(calls) == 1:  # the process would vanish from the recording
            calls = process.roots[0].callees or calls
        return calls.pop(chance.randrange(len(calls))).function
    call = chance.choice(list(process.all()))
    if kind == 'slow call':
        call.factor = 30.0
        return call.function
    if kind == 'arguments':
        call.arguments[chance.randrange(len(call.arguments))] = lambda world: '{changed,here}'
    else:
        call.error = 'planted'
    return call.function


def name_process(chance, processes):
    """Gives one call the pid of a process. Returns a function that gives it that of another one, as plant() does."""
    call = chance.choice(list(chance.choice(processes).all()))
    first, second = chance.sample(range(len(processes)), 2)
    call.arguments[0] = lambda world: '{to,%s}' % world.pid(first)

    def change():
        call.arguments[0] = lambda world: '{to,%s}' % world.pid(second)
        return call.function
    return change


def write(path, seed, form, variant, processes):
    with open(path, 'w') as file:
        World(seed, form, variant).write(processes, file)


def compare(tracehost, before, after):
    done = subprocess.run([tracehost, 'diff', '--format=json', before, after], capture_output=True, text=True)
    if done.returncode != 0 or done.stderr:
        raise ValueError('status %d, %s' % (done.returncode, done.stderr))
    return json.loads(done.stdout)


def check_planted(found, kind, function):
    """Returns what is wrong."""
    name = '%s:%s' % function[:2]
    if kind == 'slower':
        first = found['functions'][0]
        if found['differences']:
            return 'calls differ'
        if first['change'] != 'slower' or first['function'] != '%s/%d' % (name, function[2]):
            return 'slower is %s/%d, but the first is %s: %s' % (name, function[2], first['function'], first['change'])
        return None
    if kind == 'slow call':
        if found['differences'] or found['unmatched']:
            return 'calls differ'
        rows = found['slowest']
        if len(rows) != 1 or rows[0]['function'] != '%s/%d' % (name, function[2]):
            return 'a slow call of %s/%d, but there are %s' % (name, function[2], rows)
        return None
    if not found['differences']:
        return 'nothing was found'
    first = found['differences'][0]
    if first['kind'] != ('arguments' if kind == 'pid' else kind) or not first['before'].startswith(name + '('):
        return '%s of %s, but the first is %s' % (kind, name, first)
    if kind == 'arguments' and '{changed,here}' not in first['after']:
        return 'the changed arguments are not shown: %s' % first
    if kind == 'exception' and first['outcome_after'] != '! {error,planted}':
        return 'the exception is not shown: %s' % first
    return 'processes have no partner' if found['unmatched'] else None


def check_same(found):
    if found['differences'] or found['unmatched']:
        return 'a difference was found: %s' % (found['differences'] or found['unmatched'])[0]
    if found['slowest']:
        return 'a slow call was found: %s' % found['slowest'][0]
    changes = [row['function'] for row in found['functions'] if row['change'] in ('slower', 'faster')]
    return 'times of %s' % changes if changes else None


def check_seed(tracehost, folder, seed):
    """Prints what is wrong. Returns the number of failures."""
    before, after = os.path.join(folder, 'before'), os.path.join(folder, 'after')
    form, kind = ('spawn', 'names', 'neither')[seed % 3], KINDS[seed // 3 % 6]
    failures = 0
    size = random.Random(seed).choice((6, 20, 60))
    for planted in (None, kind):
        count = 2 + seed % 7 + (6 if planted == 'slower' else 0)
        size = max(size, 40) if planted == 'slower' else size  # fewer calls decide nothing
        processes = program(random.Random(seed), count, size)
        change = name_process(random.Random(seed), processes) if kind == 'pid' else lambda: plant(
            random.Random(seed), processes, kind)
        write(before, seed, form, 'before', processes)
        function = change() if planted else None
        write(after, seed, form, 'after', processes)
        found = compare(tracehost, before, after)
        wrong = check_planted(found, kind, function) if planted else check_same(found)
        if wrong:
            print('seed %d (%s, %s): %s' % (seed, form, planted, wrong))
            failures += 1
    return failures


def main():
    if sys.argv[1] == '--write':
        path, seed, records, variant = sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
        write(path, seed, 'spawn', variant, program(random.Random(seed), 100, records // 200))
        return 0
    tracehost, folder, first, last = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    failures = sum(check_seed(tracehost, folder, seed) for seed in range(first, last + 1))
    print('%d pairs, %d failures' % (2 * (last + 1 - first), failures))
    return failures > 0


sys.exit(main())
