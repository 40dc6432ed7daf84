"""Recordings as iterators of events."""

from __future__ import annotations

import os
from typing import Any, Callable, Iterator, NamedTuple, Optional, Tuple, Union

from . import _tracehost
from ._tracehost import Atom, Pid
from .errors import Error, UsageError

Damaged = Union[str, Callable[[Error], Any]]

POLICIES = {'raise': None, 'count': False}


def policy_of(damaged: Damaged) -> Any:
    """Returns the policy as the C part takes it: None to raise, False to count, or a function."""
    if callable(damaged):
        return damaged
    if damaged not in POLICIES:
        raise UsageError("`damaged` is 'raise', 'count' or a function, not %r" % (damaged,))
    return POLICIES[damaged]


class Call(NamedTuple):
    """A recorded call, a row of Stream.calls()."""

    number: int                     #: number of the record in its stream, from 1
    time: Optional[int]             #: nanoseconds of the clock `clock`; None if the record has no time
    clock: Optional[str]            #: 'timestamp' (since 1970), 'cpu', 'monotonic', 'strict_monotonic'; None: no time
    pid: Optional[Pid]              #: caller
    module: Atom                    #: module of the function
    function: Atom                  #: name of the function
    arity: int                      #: number of arguments
    args: Optional[Tuple[Any, ...]]  #: arguments; None if only their number was recorded


def call_of(event: _tracehost.Event) -> Call:
    module, function, arguments = event.term[3]
    known = isinstance(arguments, list)
    return Call(event.number, event.time, event.time_kind, event.tracee, module, function,
                len(arguments) if known else arguments, tuple(arguments) if known else None)


class Stream(_tracehost.Stream):
    """A recording: an iterator of Event, and a context manager that closes it. tracehost.open() makes it.

    Events are read and decoded in batches, without the interpreter's lock: each stream may have a thread of its own. One thread
    at a time uses a stream. The counts below are of what was read, up to a batch before the event that was given out.

    Errors of next(): MalformedError for a damaged record and PartialError for a damaged place, if `damaged` is 'raise'; next()
    then continues behind it. UsageError if the stream is closed or in use.
    """

    def __new__(cls, source: Union[str, 'os.PathLike[str]', int], *, scheduler_id: bool = False, max_memory: int = 0,
                damaged: Damaged = 'raise', batch: int = 0) -> Stream:
        by_fd = isinstance(source, int)
        # The library closes the descriptor that it gets: it gets one of its own.
        return super().__new__(cls, 'fd %d' % source if by_fd else source, os.dup(source) if by_fd else -1, scheduler_id,
                               max_memory, policy_of(damaged), batch)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def calls(self) -> Iterator[Call]:
        """Yields a Call for each call that is left in the stream, as for pandas.DataFrame(stream.calls()):

        number    int: number of the record in the stream, from 1
        time      int: nanoseconds of `clock`; None if the record has no time
        clock     str: 'timestamp' (system time since 1970), 'cpu', 'monotonic' or 'strict_monotonic'; None: no time
        pid       Pid of the caller
        module    Atom
        function  Atom
        arity     int: number of arguments
        args      tuple of the arguments; None if only their number was recorded

        There is no column for a duration: a call's end is in the stream only if its pattern requested it. Host.replay() into
        the tracer `time` counts times.

        Errors: as next()."""
        for event in self:
            if event.tag == 'call':
                yield call_of(event)

    @property
    def info(self) -> dict[str, Any]:
        """Description of the stream, a dict: format ('trace-port' or 'jsonl'), file (being read), note (how the name was
        understood, or None), node (Atom, or None if it is not known yet), and the counts below."""
        return self._describe()

    @property
    def node(self) -> Optional[Atom]:
        """The recorded node; None if no record has named it yet."""
        return self._describe()['node']

    @property
    def records(self) -> int:
        """Number of records read."""
        return self._describe()['records']

    @property
    def drops(self) -> int:
        """Number of events that the recorder lost, as it reported."""
        return self._describe()['drops']

    @property
    def malformed(self) -> int:
        """Number of damaged records."""
        return self._describe()['malformed']

    @property
    def damages(self) -> int:
        """Number of places where the stream is truncated or damaged."""
        return self._describe()['damages']

    @property
    def faults(self) -> int:
        """Number of damaged records and places that were raised, counted or given to a function."""
        return self._describe()['faults']

    @property
    def bytes(self) -> int:
        """Number of bytes read."""
        return self._describe()['bytes']

    @property
    def all_bytes(self) -> Optional[int]:
        """Size of all files of the stream in bytes; None if it is not known."""
        return self._describe()['all_bytes'] or None


def open(source: Union[str, 'os.PathLike[str]', int], *, scheduler_id: bool = False, max_memory: int = 0,
         damaged: Damaged = 'raise', batch: int = 0) -> Stream:
    """Opens a recording.

    source: a path; '-' for stdin; a wrapped set by its first file or as NAME*TAIL; 'tcp://HOST:PORT', a node that sends from
        dbg:trace_port(ip, PORT); or a file descriptor, which is duplicated: the caller's stays open.
    scheduler_id: True if the stream was recorded with the flag scheduler_id.
    max_memory: maximum memory for one event in bytes, 1 MiB or more; a larger event counts as damaged. 0: 512 MiB.
    damaged: 'raise' an exception for each damaged record or place, 'count' them, or a function that gets the exception.
    batch: maximum number of records that are read at a time. 0: 1024 for files; 1 for pipes and nodes, so that an event
        is given out as soon as it is there.

    Memory does not grow with the length of the stream: a batch ends behind 65536 items of terms or 1 MiB of binaries.

    Errors: MalformedError if the file cannot be read, or with the format that was found instead."""
    return Stream(source, scheduler_id=scheduler_id, max_memory=max_memory, damaged=damaged, batch=batch)
