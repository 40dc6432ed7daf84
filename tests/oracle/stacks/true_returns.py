"""true_returns.py TRUE TOLD DOUBTFUL: return_to events of calls that are traced again.

TRUE has the calls of some functions, and the return_to events that a BEAM sends if only these are traced; TOLD has those that
replay tells. All calls are there, and no other return_to events than in TRUE; at most DOUBTFUL of them are missing. Prints how
many events are missing.
"""
import collections
import json
import sys


def events(file):
    processes = collections.defaultdict(list)
    for line in open(file):
        event = json.loads(line)
        if event.get('tag') in ('call', 'return_to'):
            processes[event['tracee']].append((event['tag'], event['term']))
    return processes


def missing(true, told):
    """How many events of the one are not in the other, which has no others."""
    count, rest = 0, iter(told)
    expected = next(rest, None)
    for event in true:
        if event == expected:
            expected = next(rest, None)
        else:
            assert event[0] == 'return_to', (true, told)
            count += 1
    assert expected is None, (true, told)
    return count


def main():
    true, told, doubtful = events(sys.argv[1]), events(sys.argv[2]), int(sys.argv[3] or 0)
    assert sum(map(len, told.values())) > 200
    count, expected = sum(missing(true[process], told[process]) for process in told), sum(len(true[process]) for process in told)
    print('%d of %d events are missing, %d are doubtful' % (count, expected, doubtful))
    assert count <= doubtful and count * 4 < expected


main()
