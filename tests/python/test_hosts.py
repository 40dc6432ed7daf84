"""The host, sessions and replays."""

import os
import re
import signal
import subprocess
import sys
import threading

import pytest

import tracehost
from conftest import recording
from tracehost import Atom, FailedError, PartialError, RefusedError, UsageError


def test_a_replay_into_count(pingpong):
    """The tracer writes the same as with the program."""
    script = 'import tracehost\nwith tracehost.Host() as host:\n' \
             '    host.session("count", {"top": 2})\n    print(host.replay(%r)[:3], flush=True)' % pingpong
    said = subprocess.run([sys.executable, '-c', script], text=True, stdout=subprocess.PIPE, check=True).stdout
    program = subprocess.run([os.environ['TRACEHOST'], 'replay', '-t', 'count,top=2', pingpong], text=True,
                             stdout=subprocess.PIPE, env={**os.environ, 'LD_PRELOAD': ''}).stdout
    assert said == '(719, 719, 0)\n' + program
    assert re.search(r'437 +60.78  call', program)


def test_one_host_at_a_time(host):
    with pytest.raises(UsageError):
        tracehost.Host()
    host.close()
    host.close()
    with tracehost.Host() as second:
        assert second.counts.sessions == 0
        with pytest.raises(UsageError, match='stopped'):
            host.session('count')


def test_without_a_host():
    with pytest.raises(UsageError):
        tracehost.Host(clock='sun')
    with tracehost.Host() as host:
        session = host.session('text', flags='')
    assert not session.alive
    with pytest.raises(UsageError):
        session.counts


def test_what_no_session_is_made_of(host):
    with pytest.raises(RefusedError) as caught:
        host.session('no_such_tracer')
    assert caught.value.causes[0] == "there is no library 'no_such_tracer'" and len(caught.value.causes) > 1
    for arguments in {'settings': {'no_such': 1}}, {'settings': {}, 'state': 1}, {'flags': 'no_such'}:
        with pytest.raises(UsageError):
            host.session('count', **arguments)
    with pytest.raises(UsageError):
        host.session(5)
    with pytest.raises(TypeError):
        host.session('count', {'top': None})
    assert host.counts.sessions == 0


def test_a_session(host, pingpong):
    with host.session('count', {'top': 0}, name='mine') as session:
        assert session.alive and session.attached() and host.counts.sessions == 1
        host.replay(pingpong)
        assert session.counts.traced == 719 and session.counts.enabled == 613
        assert 'call' in session.flags('processes') and 'as_recorded' in session.flags('processes')
        session.trace('processes', 'events', on=False)
        assert 'call' not in session.flags('processes')
    assert not session.alive and host.counts.sessions == 0
    with pytest.raises(UsageError):
        session.destroy()


def test_a_failing_tracer(host, pingpong, tmp_path):
    with pytest.raises(FailedError, match='cannot write /nowhere/x.html'):
        host.session('report', {'output': '/nowhere/x.html'})
    folder = tmp_path / 'removed'
    folder.mkdir()
    session = host.session('report', {'output': str(folder / 'x.html')})
    host.replay(pingpong)
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    with pytest.raises(FailedError, match='cannot write .*/removed/x.html'):
        host.close()
    assert not session.alive


def names(host, pingpong, act):
    seen = []
    with host.session(lambda event: seen.append('%s:%s/%d' % (event.term[0], event.term[1], len(event.term[2]))
                                                if event.tag == 'call' else event.tag)) as session:
        act(session)
        host.replay(pingpong)
        return seen, session


def test_patterns(host, pingpong):
    def act(session):
        assert session.pattern('wl:pingpong/1', 'x') == 1
        assert session.pattern((Atom('gen_server'), Atom('loop'), 7), [(Atom('_'), [], [])]) == 1
        assert {(f.module, f.function, f.arity, f.kinds) for f in session.functions()} == {
            ('wl', 'pingpong', 1, ('local',)), ('gen_server', 'loop', 7, ('local',))}
        found, = session.functions('wl:pingpong/1')
        assert found.match == [(Atom('_'), [], [(Atom('exception_trace'),)])] and found.active == ('local',)
    seen, _ = names(host, pingpong, act)
    assert seen.count('gen_server:loop/7') == 41 and seen.count('wl:pingpong/1') == 1
    assert {name for name in seen if ':' in name} == {'gen_server:loop/7', 'wl:pingpong/1'}


def test_counting_patterns(host, pingpong):
    with host.session('text', flags='call') as session:
        session.pattern('gen_server:loop/7', kinds='call_count,call_time')
        host.replay(pingpong)
        found, = session.functions()
        assert found.calls == found.time_calls == 41 and found.time > 0
        assert sum(calls for calls, _ in found.usage.values()) == 41
        session.pattern('gen_server:loop/7', 'pause', kinds=['call_count'])
        assert session.functions()[0].active == ('call_time',)


def test_message_patterns(host, pingpong):
    seen, session = names(host, pingpong, lambda session: (
        session.send_pattern("[{['_',{'$gen_call','_','_'}],[],[]}]"), session.receive_pattern('false')))
    assert 0 < seen.count('send') < 84 and 'receive' not in seen
    assert session.alive is False


def test_faulty_patterns(host):
    with host.session('text') as session:
        for arguments in ('nonsense',), ('a:b/c',), ('a:b/1', '[{'), ('a:b/1', [(1, 2)]):
            with pytest.raises(tracehost.Error):
                session.pattern(*arguments)
        for wrong in lambda: session.pattern('a:b/1', kinds='no_such'), lambda: session.trace('cats', 'call'), \
                lambda: session.trace(Atom('x'), 'call'), lambda: session.expect(5, 'call'):
            with pytest.raises(UsageError):
                wrong()


def test_tracees(host, pingpong):
    numbers = []
    with host.session(lambda event: numbers.append(str(event.tracee)), flags='') as session:
        session.expect(tracehost.parse('<0.95.0>'), 'call,as_recorded')
        host.replay(pingpong)
    assert set(numbers) == {'<0.95.0>'}


def test_ranges_of_a_replay(host, pingpong):
    host.session(lambda event: None)
    assert host.replay(pingpong, max_events=10).records == 10
    counts = host.replay(pingpong, from_=100000, to=500000)
    assert 0 < counts.skipped and counts.played + counts.skipped == 719
    again = host.replay(pingpong, from_=1795233753942463000 + 100000, to=1795233753942463000 + 500000, absolute=True)
    assert again == counts
    with pytest.raises(UsageError):
        host.replay(pingpong, max_events=-1)
    with pytest.raises(OverflowError):
        host.replay(pingpong, from_=1 << 70)


def test_short_and_deep_calls_are_left_out(host):
    """The counts are those of `tracehost replay --stats`."""
    events = []
    host.session(events.append)
    counts = host.replay(recording('s03_exceptions_return_to'), min_duration=10_000)
    assert len(events) == 42 and (counts.short_calls, counts.deep_calls, counts.left_ends) == (19, 0, 26)
    events.clear()
    counts = host.replay(recording('s03_exceptions_return_to'), min_duration=3000, depth=3)
    assert len(events) == 45 and (counts.short_calls, counts.deep_calls, counts.left_ends) == (3, 16, 23)
    for wrong in {'min_duration': -1}, {'depth': -1}, {'depth': 1 << 32}:
        with pytest.raises(UsageError):
            host.replay(recording('s03_exceptions_return_to'), **wrong)


def test_a_damaged_replay(host, truncated):
    host.session(lambda event: None)
    with pytest.raises(PartialError) as caught:
        host.replay(truncated)
    assert caught.value.counts.played == 14 and caught.value.counts.damages == 1
    assert host.replay(truncated_stream := tracehost.open(truncated), damaged='count').damages == 1
    found = []
    assert host.replay(truncated, damaged=found.append).played == 14
    assert [type(error) for error in found] == [PartialError]
    truncated_stream.close()


def test_streams_of_a_replay(host, pingpong):
    host.session(lambda event: None)
    stream = tracehost.open(pingpong)
    assert host.replay(stream, max_events=700).records == 700
    assert [event.number for event in stream] == list(range(701, 720))
    with pytest.raises(UsageError, match='were read already'):
        host.replay(stream)
    stream.close()
    with pytest.raises(UsageError, match='closed'):
        host.replay(stream)
    with pytest.raises(TypeError):
        tracehost._tracehost.replay(5, start=None, end=None, absolute=False, max_events=0, verify=False, min_duration=0, depth=0,
                                     damaged=None)


def test_a_stream_cannot_be_used_during_its_replay(host, pingpong):
    stream, said = tracehost.open(pingpong), []

    def act(event):
        for use in stream.close, stream.__next__, lambda: host.replay(stream):
            with pytest.raises(UsageError):
                use()
            said.append(event.number)
        stream.stop()
    host.session(act)
    assert host.replay(stream).records == 1 and said == [1, 1, 1]


def test_another_thread_is_refused(host, pingpong):
    said = []

    def use():
        try:
            host.counts
        except UsageError as error:
            said.append(str(error))

    def act(event):
        if not said:
            thread = threading.Thread(target=use)
            thread.start()
            thread.join()
    host.session(act)
    host.replay(pingpong)
    assert said == ['another thread uses the host: one thread at a time may']
    use()
    assert len(said) == 1


def test_other_threads_run_during_a_replay(host, tmp_path):
    """A replay of a pipe, whose bytes another thread of Python writes: neither holds the lock while it waits."""
    content = open(recording('s04_genserver_pingpong'), 'rb').read() * 5  # more than fits into the pipe
    reader, writer = os.pipe()

    def write():
        for at in range(0, len(content), 4096):
            os.write(writer, content[at:at + 4096])
        os.close(writer)
    thread = threading.Thread(target=write)
    thread.start()
    seen = []
    host.session(seen.append)
    assert host.replay(tracehost.open(reader)).records == len(seen) == 5 * 719
    thread.join()
    os.close(reader)


def test_a_signal_ends_a_replay(host, pingpong):
    def act(event):
        if event.number == 3:
            os.kill(os.getpid(), signal.SIGINT)
    host.session(act)
    with pytest.raises(KeyboardInterrupt):
        host.replay(pingpong)
    assert host.replay(pingpong, max_events=2).records == 2


def test_a_signal_ends_a_replay_into_a_library(host, pingpong):
    """The handler, a function of Python, runs between two turns of the replay, not at its end."""
    content = open(pingpong, 'rb').read() * 100
    reader, writer = os.pipe()

    def write():
        os.write(writer, content[:4096])
        begun.wait()
        os.kill(os.getpid(), signal.SIGUSR1)
        try:
            for at in range(4096, len(content), 4096):
                os.write(writer, content[at:at + 4096])
        except BrokenPipeError:
            pass
        os.close(writer)

    def interrupt(number, frame):
        raise InterruptedError('handler')
    before = signal.signal(signal.SIGUSR1, interrupt)
    begun, thread = threading.Event(), threading.Thread(target=write)
    thread.start()
    try:
        with host.session('count', {'top': 0}) as session, tracehost.open(reader) as stream:
            os.close(reader)
            begun.set()
            with pytest.raises(InterruptedError, match='handler'):
                host.replay(stream)
            assert session.counts.traced < 71900
    finally:
        begun.set()
        thread.join()
        signal.signal(signal.SIGUSR1, before)


def test_delivered(host):
    said = []
    host.delivered(lambda: said.append(1))
    host.delivered(lambda: said.append(2), tracehost.parse('<0.95.0>'))
    assert said == [1, 2]
    with pytest.raises(ZeroDivisionError):
        host.delivered(lambda: 1 / 0)


def test_display(pingpong):
    shown = []
    with tracehost.Host(display=shown.append) as host:
        session = host.session(lambda event: None)
        session.pattern('wl:pingpong/1', "[{['$1'],[],[{display,{{n,'$1'}}}]}]")
        host.replay(pingpong)
    assert shown == [('n', 20)]


def test_the_host_is_stopped_at_exit(pingpong):
    script = 'import tracehost\nhost = tracehost.Host()\nhost.session("count")\nhost.replay(%r)' % pingpong
    said = subprocess.run([sys.executable, '-c', script], text=True, stdout=subprocess.PIPE, check=True).stdout
    assert re.search(r'719 +100.00  all', said)


def test_subinterpreters_are_refused():
    interpreters = pytest.importorskip('_xxsubinterpreters' if sys.version_info < (3, 13) else '_interpreters')
    script = 'try:\n    import tracehost\nexcept ImportError as error:\n    print("refused:", error)\nelse:\n    print("imported")'
    outer = 'import sys, %s as i\nimport tracehost\ni.run_string(i.create(), %r)\n' % (interpreters.__name__, script)
    said = subprocess.run([sys.executable, '-c', outer], text=True, stdout=subprocess.PIPE, check=True).stdout
    assert said.startswith('refused:')


def test_matches():
    match = tracehost.Match("[{['$1'],[{'>','$1',3}],[{message,{{'$1'}}},{return_trace}]}]")
    result = match.run([4])
    assert (result.end, result.clause, result.message, result.return_trace) == ('yes', 1, (4,), True)
    assert match.run([2]).end == 'no' and match.run(None, arity=1).end == 'unknown'
    assert 'gives false' in match.explain([2])
    assert tracehost.Match([([Atom('$1')], [], [(Atom('message'), Atom('$1'))])]).run([7]).message == 7
    assert tracehost.Match('c').run([], caller=(Atom('m'), Atom('f'), 1)).message == ('m', 'f', 1)
    with pytest.raises(tracehost.MatchError) as caught:
        tracehost.Match("[{'_',[{'>','$2',1}],[]}]")
    assert caught.value.faults == [tracehost.Fault(1, 'guard', 1, 'Variable $2 is unbound.', "'$2'", 'clause 1, guard 1')]
    with pytest.raises(tracehost.MalformedError):
        tracehost.Match('[{')
    with pytest.raises(UsageError):
        tracehost.Match('x', kind='letter')
    with pytest.raises(UsageError):
        match.run(None)
    assert tracehost.Match("[{[node,'_',hi],[],[]}]", kind='receive').run([Atom('node'), 1, Atom('hi')]).end == 'yes'
