"""stack_cases.py TRACEHOST TABLE FOLDER: the cases of TABLE (tests/support/stack_cases), replayed by TRACEHOST.

Prints a line "ok CASE" or "not ok CASE: ..." for each. FOLDER is for what is written. The events of a case are a millisecond
apart. What a case says under `time` and `flame` is compared with these tracers' output; `--kind=time` with the own times that
follow from the ends under `host`.
"""
import collections
import json
import os
import subprocess
import sys


def cases(path):
    """The cases, each a dictionary of its lines."""
    case = {}
    for line in open(path):
        if line.startswith('#') or not line.strip():
            continue
        key, value = line.rstrip('\n').split(':', 1)
        if key == 'case' and case:
            yield case
            case = {}
        case[key] = value.strip()
    yield case


def term(name):
    return '{m,%s,0}' % name if name else 'undefined'


def record(at, word):
    name, _, caller = word[1:].partition('/')
    event = {'ts': at * 1000000, 'tracee': '<0.1.0>', 'term': term(name),
             'tag': {'?': 'call', '-': 'return_from', '!': 'exception_from', '>': 'return_to'}[word[0]]}
    if caller:
        event['match_spec_result'] = term(caller)
    if word[0] in '-!':
        event['extra'] = 'ok' if word[0] == '-' else '{error,x}'
    return json.dumps(event) + '\n'


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True, timeout=60,
                          check=True).stdout


def by_time(tracehost, path):
    """FUNCTION=MILLISECONDS of calls whose end is told; FUNCTION? for each that may have ended before; FUNCTION! is open."""
    told = []
    header, *rows = [line.split(',') for line in output(tracehost, 'replay', '-t', 'time,format=csv', path).splitlines()]
    for row in rows:
        of = dict(zip(header, row))
        name = of['function'].split(':')[1].split('/')[0]
        open_calls, untold = int(of.get('open', 0)), int(of.get('untold', 0))
        if int(of['calls']) > open_calls + untold:
            told.append('%s=%d' % (name, int(of['total_ns']) // 1000000))
        told += [name + '!'] * open_calls + [name + '?'] * untold
    return ' '.join(sorted(told))


def by_flame(tracehost, path):
    """Each stack, as a/b/c=CALLS."""
    drawn = [line.rsplit(' ', 1) for line in output(tracehost, 'replay', '-t', 'flame,by=calls', path).splitlines()]
    return ' '.join(sorted('/'.join(name.split(':')[1].split('/')[0] for name in stack.split(';')[1:]) + '=' + calls
                           for stack, calls in drawn))


def own_times(events, answers):
    """The milliseconds in which the calls of each function were on top, as the host's answers have it."""
    own, stack, answers = collections.Counter(), [], iter(answers.split())
    for word in events.split():
        if stack:
            own[stack[-1]] += 1
        if word[0] == '?':
            next(answers)
            stack.append(word[1:].split('/')[0])
            continue
        for ended in answers:
            if ended[0] == '>':
                break
            place = len(stack) - 1 - stack[::-1].index(ended[1:])
            del stack[place:]
    return own


def by_host(tracehost, path, case):
    """The own times of functions of which no call is open, by --kind=time; and what they are to be."""
    callers = ['--recorded-callers'] if '/' in case['events'] else []
    rows = [line.split() for line in output(tracehost, 'replay', '-p', 'm:_', '--kind=time', *callers, path).splitlines()[1:]]
    timed = {row[2].split(':')[1].split('/')[0]: round(float(row[1]) * 1000) for row in rows}
    return timed, own_times(case['events'], case['host'])


def differences(tracehost, path, case):
    found = {'time': by_time(tracehost, path), 'flame': by_flame(tracehost, path)}
    for key, value in found.items():
        if value != case.get(key):
            yield '%s: %s' % (key, value)
    timed, own = by_host(tracehost, path, case)
    if timed != {name: own[name] for name in timed}:
        yield '--kind=time: %s, not %s' % (timed, dict(own))


def main():
    tracehost, table, folder = sys.argv[1:]
    path = os.path.join(folder, 'case.jsonl')
    for case in cases(table):
        with open(path, 'w') as stream:
            stream.writelines(record(at, word) for at, word in enumerate(case['events'].split(), 1))
        wrong = '; '.join(differences(tracehost, path, case))
        print('not ok %s: %s' % (case['case'], wrong) if wrong else 'ok ' + case['case'])


main()
