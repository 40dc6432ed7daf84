"""Makes recordings whose durations are known from their making, and compares the rows of
`dump --format=jsonl-flat` with them.

    call_durations.py make COUNT FOLDER     writes FOLDER/NUMBER.jsonl, FOLDER/NUMBER.truth
    call_durations.py compare FOLDER        reads FOLDER/NUMBER.rows, too

Processes run as in a BEAM, with the flags call, arity and return_to; an even NUMBER also has return_from and
exception_from. Some functions are not traced, tail calls replace frames, and in recordings with an even NUMBER
exceptions pass frames: in the others an exception would look like a return. A duration that a row has must be the true
one, and most rows must have one.
"""
import glob
import json
import random
import sys


class Process:
    def __init__(self, pid, rng, returns, out):
        self.pid, self.rng, self.returns, self.out = pid, rng, returns, out
        self.frames = [['u0']]  # of functions; the name of a traced function begins with f
        self.calls = [[]]  # open calls of the frames: (number, time, function)

    def put(self, ts, tag, term, **more):
        self.out.lines.append({'ts': ts, 'tracee': self.pid, 'tag': tag, 'term': term, **more})

    def call(self, ts):
        function = self.rng.choice('fff' if self.rng.random() < 0.7 else 'u') + str(self.rng.randint(0, 5))
        is_open = any(function in frame for frame in self.frames)
        if self.rng.random() < 0.3 and (self.returns or not is_open):
            self.frames[-1].append(function)
        else:
            self.frames.append([function])
            self.calls.append([])
        if function[0] == 'f':
            self.put(ts, 'call', '{m,%s,1}' % function)
            self.calls[-1].append((len(self.out.truth), ts, function))
            self.out.truth.append(None)

    def leave(self, ts, tag):
        """Ends the topmost frame. Returns whether any of its calls is traced."""
        calls = self.calls.pop()
        self.frames.pop()
        for number, began, function in reversed(calls):
            self.out.truth[number] = ts - began
            if self.returns:
                self.put(ts, tag, '{m,%s,1}' % function, extra='ok' if tag == 'return_from' else '{error,x}')
        return bool(calls)

    def step(self, ts):
        what = self.rng.random()
        if len(self.frames) == 1 or (what < 0.5 and len(self.frames) < 20):
            self.call(ts)
        elif what < 0.95 or not self.returns:
            if self.leave(ts, 'return_from'):
                self.put(ts, 'return_to', '{m,%s,1}' % self.frames[-1][-1])
        else:
            catcher = self.rng.randrange(len(self.frames) - 1)
            traced = False
            while len(self.frames) > catcher + 1:
                traced |= self.leave(ts, 'exception_from')
            if traced:
                self.put(ts, 'return_to', '{m,%s,1}' % self.frames[-1][-1])


class Recording:
    def __init__(self, number):
        rng = random.Random(number)
        self.lines, self.truth = [], []
        processes = [Process(f'<0.{n}.0>', rng, number % 2 == 0, self) for n in range(9, 12)]
        ts = 1000
        for _ in range(600):
            ts += rng.randint(1, 1000)
            rng.choice(processes).step(ts)


def compare(folder):
    known = calls = 0
    for path in sorted(glob.glob(f'{folder}/*.rows')):
        truth = json.load(open(path.replace('.rows', '.truth')))
        rows = [json.loads(line) for line in open(path)]
        assert all(row['duration_ns'] is None for row in rows if row['tag'] != 'call'), path
        shown = [row['duration_ns'] for row in rows if row['tag'] == 'call']
        assert len(shown) == len(truth), (path, len(shown), len(truth))
        for number, (found, true) in enumerate(zip(shown, truth)):
            assert found is None or found == true, (path, number, found, true)
        known += sum(found is not None for found in shown)
        calls += sum(true is not None for true in truth)
    assert calls > 0 and known > 0.6 * calls, (known, calls)
    print(known, 'durations of', calls, 'ended calls')


if sys.argv[1] == 'make':
    for number in range(int(sys.argv[2])):
        made = Recording(number)
        with open(f'{sys.argv[3]}/{number}.jsonl', 'w') as file:
            file.writelines(json.dumps(line) + '\n' for line in made.lines)
        with open(f'{sys.argv[3]}/{number}.truth', 'w') as file:
            json.dump(made.truth, file)
else:
    compare(sys.argv[2])
