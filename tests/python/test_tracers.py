"""Tracers in Python."""

import collections
import os
import sys
import time

import pytest

import tracehost
from conftest import recording
from tracehost import Tracer


class Counter(Tracer):
    def __init__(self):
        self.tags, self.asked, self.ends, self.events = collections.Counter(), 0, 0, []

    def enabled(self, event):
        self.asked += 1
        assert event.term is None and event.time is None
        return event.tag != 'send'

    def trace(self, event):
        self.tags[event.tag] += 1
        self.events.append(event)

    def end(self):
        self.ends += 1


def test_a_tracer(host, pingpong):
    counter = Counter()
    with host.session(counter) as session:
        assert session.tracer == 'Counter'
        host.replay(pingpong)
        assert session.counts.discarded == 84 and session.counts.traced == 719 - 84
        assert counter.ends == 0
    assert counter.ends == 1 and counter.asked == 613
    assert counter.tags['call'] == 437 and 'send' not in counter.tags and sum(counter.tags.values()) == 719 - 84


def test_an_event_has_its_parts(host, pingpong):
    """Events of a tracer are those of the stream."""
    events = []
    session = host.session(events.append)
    host.replay(pingpong)
    assert len(events) == 719
    for event, recorded in zip(events, tracehost.open(pingpong)):
        assert (event.number, event.tag, event.tracee) == (recorded.number, recorded.tag, recorded.tracee)
        assert (event.time, event.time_kind, event.session) == (recorded.time, 'timestamp', session.number)
        assert event.term == recorded.term[3]
        assert event.extra == (recorded.term[4] if event.tag in ('return_from', 'send', 'spawn', 'spawned') else None)
    assert events[0].result is None and events[0].scheduler_id is None


def test_results_of_match_specifications(host):
    events = []
    host.session(events.append)
    host.replay(recording('s01_seed_local_caller'))
    assert [event.result for event in events] == [record.term[4] for record in
                                                  tracehost.open(recording('s01_seed_local_caller'))]


def test_functions_only(host):
    class Names(Tracer):
        functions_only = True
        seen = []

        def trace(self, event):
            self.seen.append((event.term, event.result))
    host.session(Names())
    host.replay(recording('s01_seed_local_caller'))
    assert Names.seen[0] == (('ex', 'foo', 0), None)


@pytest.mark.parametrize('answer, traced', [(True, 719), (False, 0), ('trace', 719), ('discard', 0), ('remove', 0)])
def test_answers_of_enabled(host, pingpong, answer, traced):
    class Answering(Tracer):
        number = 0

        def enabled(self, event):
            return answer

        def trace(self, event):
            self.number += 1
    tracer = Answering()
    session = host.session(tracer)
    host.replay(pingpong)
    assert tracer.number == (traced if traced else 0)
    assert (session.counts.removed > 0) == (answer == 'remove')


def test_an_answer_that_is_none(host, pingpong):
    class Answering(Tracer):
        def enabled(self, event):
            return 5

        def trace(self, event):
            pass
    host.session(Answering())
    with pytest.raises(TypeError, match='enabled.. must return'):
        host.replay(pingpong)


def test_an_exception_ends_the_replay(host, pingpong):
    seen = []

    def fail(event):
        seen.append(event.number)
        if event.number == 3:
            raise ValueError('third')
    host.session(fail)
    with pytest.raises(ValueError, match='third') as caught:
        host.replay(pingpong)
    assert caught.traceback[-1].name == 'fail' and seen == [1, 2, 3]
    with pytest.raises(ValueError):  # the host can be used again
        host.replay(pingpong)


def test_later_exceptions_are_reported(host, pingpong, monkeypatch):
    reported = []
    monkeypatch.setattr(sys, 'unraisablehook', lambda failure: reported.append(str(failure.exc_value)))

    def failing(name):
        def fail(event):
            raise ValueError(name)
        return fail
    host.session(failing('one'))
    host.session(failing('two'))
    with pytest.raises(ValueError) as caught:
        host.replay(pingpong)
    assert {str(caught.value), *reported} == {'one', 'two'}


def test_an_exception_of_end(host):
    class Ending(Tracer):
        def trace(self, event):
            pass

        def end(self):
            raise KeyError('end')
    session = host.session(Ending())
    with pytest.raises(KeyError, match='end'):
        session.destroy()
    assert not session.alive
    host.session(Ending())
    with pytest.raises(KeyError, match='end'):
        host.close()
    with tracehost.Host():
        pass


def test_a_tracer_without_trace(host, pingpong):
    host.session(Tracer())
    with pytest.raises(NotImplementedError):
        host.replay(pingpong)


def test_a_tracer_has_no_settings(host):
    with pytest.raises(tracehost.UsageError):
        host.session(Counter(), {'top': 1})
    with pytest.raises(tracehost.UsageError):
        host.session(Counter(), state=1)


def test_a_callback_changes_its_session(host, pingpong):
    tags = []

    def act(event):
        tags.append(event.tag)
        if len(tags) == 5:
            session.trace('processes', 'call', on=False)
            host.session('count', flags='').destroy()
    session = host.session(act)
    host.replay(pingpong)
    assert 'call' in tags[:5] and 'call' not in tags[5:] and 'receive' in tags[5:]


def test_a_callback_ends_its_session(host, pingpong):
    seen = []

    class Short(Counter):
        def trace(self, event):
            seen.append(event.number)
            if len(seen) == 2:
                session.destroy()
    tracer = Short()
    session = host.session(tracer)
    host.replay(pingpong)
    assert len(seen) == 2 and tracer.ends == 1 and not session.alive


def test_objects_of_a_tracer_are_freed(host, pingpong):
    counter = Counter()
    before = sys.getrefcount(counter)
    with host.session(counter):
        host.replay(pingpong)
    del counter.events[:]
    assert sys.getrefcount(counter) == before


@pytest.mark.skipif('PYTHON_LONG' not in os.environ, reason='PYTHON_LONG is not set')
def test_a_large_recording(large, capsys):
    """A recording of 245,099 records into a Python tracer, into count, and into a frame. Shows the times."""
    pandas = pytest.importorskip('pandas')
    with tracehost.Host() as host:
        session = host.session('count')
        times = [time.monotonic()]
        host.replay(large)
        times.append(time.monotonic())
        assert session.counts.traced == 245099
        session.destroy()
        number = [0]

        def count(event):
            number[0] += 1
        with host.session(count):
            host.replay(large)
        times.append(time.monotonic())
        assert number == [245099]
    frame = pandas.DataFrame(tracehost.open(large).calls())
    times.append(time.monotonic())
    with open(os.path.splitext(large)[0] + '.counts.txt') as file:
        calls = int(next(line.split()[1] for line in file if line.startswith('calls_total')))
    assert len(frame) == calls
    took = ['%.2f s' % (after - before) for before, after in zip(times, times[1:])]
    with capsys.disabled():
        print('\nPython %s, 245099 records: count %s, a function %s, %d calls as a frame %s' % (
            sys.version.split()[0], took[0], took[1], calls, took[2]))
