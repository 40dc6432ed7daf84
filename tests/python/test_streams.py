"""Recordings as iterators of events."""

import gc
import os
import sys
import threading

import pytest

import tracehost
from conftest import recording
from tracehost import MalformedError, PartialError, UsageError


def test_an_event_has_the_parts_of_its_record(pingpong):
    with tracehost.open(pingpong) as stream:
        event = next(stream)
        assert (event.number, event.position, event.kind, event.tag, event.dropped) == (1, 0, 'trace', 'receive', 0)
        assert (event.time, event.time_kind) == (1795233753942463000, 'timestamp')
        assert str(event.tracee) == '<0.94.0>' and event.term[0] == 'trace_ts' and event.term[1] is event.tracee
        assert next(stream).term[3] == ('wl', 'pingpong', [20])
        assert stream.node == 'nonode@nohost' or stream.node is None
    with pytest.raises(UsageError):
        next(stream)
    stream.close()


@pytest.mark.parametrize('batch', [0, 1, 2, 5, 65536])
def test_batches_do_not_change_the_events(pingpong, batch):
    events = [(event.number, event.position, event.term) for event in tracehost.open(pingpong, batch=batch)]
    assert [number for number, _, _ in events] == list(range(1, 720))
    assert events == [(event.number, event.position, event.term) for event in tracehost.open(pingpong)]


def test_counts_and_description(pingpong):
    with tracehost.open(pingpong) as stream:
        assert sum(1 for _ in stream) == stream.records == 719
        assert stream.bytes == stream.all_bytes == os.path.getsize(pingpong)
        assert (stream.drops, stream.malformed, stream.damages, stream.faults) == (0, 0, 0, 0)
        assert stream.info['format'] == 'trace-port' and stream.info['file'] == pingpong


def test_drops_are_events():
    dropped = [event for event in tracehost.open(recording('s20_drops')) if event.kind == 'drop'] \
        if os.path.exists(recording('s20_drops')) else []
    for name in sorted(os.listdir('samples/recordings')):
        if name.endswith('.trace') and not dropped:
            stream = tracehost.open('samples/recordings/' + name, damaged='count')
            dropped = [event for event in stream if event.kind == 'drop']
            if dropped:
                assert stream.drops == sum(event.dropped for event in dropped)
    assert dropped and all(event.term == ('drop', event.dropped) and event.tag is None for event in dropped)


def test_damage_is_raised_behind_the_events_before_it(truncated):
    stream = tracehost.open(truncated)
    assert [next(stream).number for _ in range(14)][-1] == 14
    with pytest.raises(PartialError) as caught:
        next(stream)
    assert caught.value.causes == ('record 15 at byte 1172 is truncated', "the input ends after 72 of the record's 79 bytes")
    assert caught.value.status == 4 and stream.faults == stream.damages == 1
    assert list(stream) == []


def test_damage_is_counted(truncated):
    stream = tracehost.open(truncated, damaged='count')
    assert len(list(stream)) == 14 and stream.faults == 1


def broken(tmp_path):
    """A recording whose third record is no term."""
    content = bytearray(open(recording('s01_seed_local_caller'), 'rb').read())
    at = 0
    for _ in range(2):
        at += 5 + int.from_bytes(content[at + 1:at + 5], 'big')
    content[at + 6] = 255
    path = tmp_path / 'broken.trace'
    path.write_bytes(content)
    return path


def test_damage_is_given_to_a_function(tmp_path):
    found = []
    numbers = [event.number for event in tracehost.open(broken(tmp_path), damaged=found.append)]
    assert numbers == [1, 2] + list(range(4, 16))
    assert [type(error) for error in found] == [MalformedError] and 'record 3' in str(found[0])


def test_reading_continues_behind_damage(tmp_path):
    stream = tracehost.open(broken(tmp_path))
    assert [next(stream).number, next(stream).number] == [1, 2]
    with pytest.raises(MalformedError):
        next(stream)
    assert next(stream).number == 4


def test_an_exception_of_the_function_is_raised(tmp_path):
    def refuse(error):
        raise KeyError('refused')
    with pytest.raises(KeyError, match='refused'):
        list(tracehost.open(broken(tmp_path), damaged=refuse))


def test_the_function_may_close_the_stream(tmp_path):
    stream = tracehost.open(broken(tmp_path), damaged=lambda error: stream.close())
    with pytest.raises(UsageError, match='closed'):
        list(stream)


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(MalformedError) as caught:
        tracehost.open('/nowhere/x.trace')
    assert caught.value.causes[0] == 'cannot read /nowhere/x.trace'
    (tmp_path / 'text').write_text('no recording\n' * 10)
    with pytest.raises(MalformedError):
        tracehost.open(tmp_path / 'text')
    for options in {'max_memory': 5}, {'max_memory': -1}, {'batch': -1}, {'batch': 65537}, {'damaged': 'perhaps'}:
        with pytest.raises(UsageError):
            tracehost.open(recording('s13_procs'), **options)


def test_a_descriptor_stays_open(pingpong):
    with open(pingpong, 'rb') as file:
        assert sum(1 for _ in tracehost.open(file.fileno())) == 719
        file.seek(0)
        assert sum(1 for _ in tracehost.open(file.fileno())) == 719


def test_an_event_of_a_pipe_is_given_as_soon_as_it_is_there(pingpong):
    content = open(pingpong, 'rb').read()
    first = 5 + int.from_bytes(content[1:5], 'big')
    second = first + 5 + int.from_bytes(content[first + 1:first + 5], 'big')
    reader, writer = os.pipe()
    os.write(writer, content[:second])
    stream = tracehost.open(reader)
    assert next(stream).number == 1 and next(stream).number == 2
    taken = []
    thread = threading.Thread(target=lambda: taken.append(next(stream)))
    thread.start()  # waits for bytes without the lock
    while not taken and stream_is_free(stream):
        pass
    with pytest.raises(UsageError, match='another thread'):
        next(stream)
    os.write(writer, content[second:second + 2000])
    thread.join(20)
    assert taken[0].number == 3
    os.close(writer)
    os.close(reader)


def stream_is_free(stream):
    try:
        return bool(stream.info)
    except UsageError:
        return False


def test_stop(pingpong):
    stream = tracehost.open(pingpong, batch=1)
    next(stream)
    stream.stop()
    assert list(stream) == []


def test_calls_are_rows():
    rows = list(tracehost.open(recording('s01_seed_local_caller')).calls())
    assert len(rows) == 15
    row = rows[0]
    assert row._fields == ('number', 'time', 'clock', 'pid', 'module', 'function', 'arity', 'args')
    assert (row.number, row.time, row.clock, str(row.pid)) == (1, None, None, '<0.79.0>')
    assert (row.module, row.function, row.arity, row.args) == ('ex', 'foo', 0, ())
    row = next(tracehost.open(recording('s11_mnesia_arity')).calls())
    assert row.args is None and isinstance(row.arity, int)


def test_calls_make_a_frame(pingpong):
    pandas = pytest.importorskip('pandas')
    frame = pandas.DataFrame(tracehost.open(pingpong).calls())
    assert list(frame.columns) == list(tracehost.Call._fields) and len(frame) == 437
    assert str(frame.time.dtype) == 'int64' and str(frame.arity.dtype) == 'int64'
    counts = frame.groupby(['module', 'function', 'arity']).size()
    assert counts['gen_server', 'loop', 7] == 41
    assert len(frame.groupby('pid')) == 2


def test_streams_of_two_threads(pingpong):
    sums = []
    threads = [threading.Thread(target=lambda: sums.append(sum(len(tracehost.format(event.term))
                                                               for event in tracehost.open(pingpong)))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums[0] == sums[1] > 719


def resident():
    with open('/proc/self/statm') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def use_everything(tmp_path):
    for name in 's04_genserver_pingpong', 's16_terms', 's15_kitchen_sink':
        for event in tracehost.open(recording(name)):
            tracehost.decode(tracehost.encode(event.term))
            repr(event)
    list(tracehost.open(recording('trunc_body'), damaged='count'))
    list(tracehost.open(broken(tmp_path), damaged=lambda error: None))
    for wrong in lambda: tracehost.parse('{a'), lambda: tracehost.format([None]), lambda: tracehost.open('/nowhere'), \
            lambda: next(tracehost.open(recording('trunc_body'), damaged=print)) and tracehost.Match('[{'):
        with pytest.raises(Exception):
            wrong()
    match = tracehost.Match("[{['$1'],[{'>','$1',1}],[{message,{{'$1'}}}]}]")
    match.run([2])
    match.explain([0])


def test_memory_does_not_grow(tmp_path):
    if os.environ.get('LD_PRELOAD'):
        pytest.skip('the address sanitizer keeps memory that was freed')
    sizes = []
    for _ in range(5):
        for _ in range(6):
            use_everything(tmp_path)
        gc.collect()
        sizes.append(resident())
    assert sizes[-1] - sizes[1] < 1 << 20, sizes


def test_no_reference_to_a_shared_object_stays(pingpong):
    """Atoms, pids and small values are shared by events: a reference too many would not show as memory."""
    events = list(tracehost.open(pingpong))
    shared = [tracehost.Atom('call'), tracehost.Atom('timestamp'), tracehost.Atom('trace'), events[0].tracee]
    name = 'samples/recordings/' + 's04_genserver_pingpong.trace'
    del events
    before = [sys.getrefcount(value) for value in shared + [name]]
    for _ in range(2):
        for event in tracehost.open(name):
            event.tag, event.tracee, event.time_kind, event.kind, event.term, event.time
    del event
    list(tracehost.open(name).calls())
    assert [sys.getrefcount(value) for value in shared + [name]] == before


def test_no_reference_stays(pingpong):
    """Objects that stay after all of their owners are gone would have a reference too many."""
    list(tracehost.open(pingpong).calls())
    gc.collect()
    before, blocks = len(gc.get_objects()), sys.getallocatedblocks()
    for _ in range(200):
        tracehost.open(pingpong).close()
    for _ in range(3):
        list(tracehost.open(pingpong).calls())
    gc.collect()
    assert len(gc.get_objects()) - before < 100 and sys.getallocatedblocks() - blocks < 100
