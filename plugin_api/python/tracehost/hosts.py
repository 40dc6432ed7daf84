"""The host, its sessions, and replays."""

from __future__ import annotations

import atexit
import os
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple, Union

from . import _tracehost
from ._tracehost import Atom, Pid, Port, TraceEvent
from .errors import PartialError, UsageError
from .streams import Damaged, Stream, policy_of
from .values import Term

Flags = Union[str, Iterable[str]]
Tracee = Union[Pid, Port]

# Groups of tracees, in the order of enum tracehost_tracees.
GROUPS = ('processes', 'existing_processes', 'new_processes', 'ports', 'existing_ports', 'new_ports')

# Kinds of patterns, by their bits in enum tracehost_kind.
KINDS = {'local': 0x01, 'global': 0x02, 'meta': 0x04, 'call_count': 0x08, 'call_time': 0x10, 'call_memory': 0x20}

# Flags that parse_flags() does not know by name.
EVENTS, AS_RECORDED = 0x7FF, 1 << 30
FLAGS = ('send', 'receive', 'call', 'return_to', 'procs', 'ports', 'running', 'running_procs', 'running_ports', 'exiting',
         'garbage_collection', 'timestamp', 'cpu_timestamp', 'monotonic_timestamp', 'strict_monotonic_timestamp', 'arity',
         'scheduler_id', 'silent', 'set_on_spawn', 'set_on_first_spawn', 'set_on_link', 'set_on_first_link')


class HostCounts(NamedTuple):
    """Counts since the host was started."""

    sessions: int          #: sessions that are alive
    calls_forgotten: int   #: calls dropped for want of room: their ends can no longer be withheld
    returns_not_kept: int  #: returns requested of calls for which there was no room, or that were open when events were lost
    mail_dropped: int      #: messages of tracers to recorded processes, which do not run


class SessionCounts(NamedTuple):
    """Counts of a session's events, and of facts that were unknown at its patterns: struct tracehost_session_counts."""

    enabled: int
    traced: int
    discarded: int
    silenced: int
    untraced: int
    filtered: int
    removed: int
    kept: int
    refused: int
    status: int
    undecided: int
    callers_unknown: int
    actions_unsure: int
    external_unknown: int
    untimed: int
    returns_unknown: int
    lines_unknown: int
    messages_unmatched: int
    messages_silenced: int
    messages_undecided: int
    messages_unsure: int
    returns_doubtful: int


class ReplayCounts(NamedTuple):
    """Counts of a replay's records."""

    records: int    #: read, drops included
    played: int     #: offered to the sessions
    skipped: int    #: outside of the time range
    drops: int      #: drop records
    lost: int       #: events that the recorder dropped, as drop records state
    malformed: int  #: damaged records, skipped
    damages: int    #: places where the stream is truncated or damaged

    # With `min_duration` or `depth`:
    short_calls: int  #: calls left out, as they lasted less
    deep_calls: int   #: calls left out, as they are deeper
    left_ends: int    #: ends left out with their calls
    unended: int      #: calls offered, as no record shows how long they lasted
    shallow: int      #: calls offered, as calls around them may have ended
    untimed: int      #: calls offered, as they have no time
    held_most: int    #: calls offered, as too many records were held back (a million)
    doubtful: int     #: return_to offered, as they may be those of calls that were offered
    unmatched: int    #: ends offered, as their calls were not recorded


class Function(NamedTuple):
    """Breakpoints of a session at a function."""

    module: Atom
    function: Atom
    arity: int
    kinds: Tuple[str, ...]   #: 'local', 'global', 'meta', 'call_count', 'call_time', 'call_memory'
    active: Tuple[str, ...]  #: subset of the kinds that is not paused
    match: Term              #: match specification of 'local' or 'global'; Atom('true'): none
    meta_match: Term         #: match specification of 'meta'; Atom('true'): none; None: the function has no 'meta'
    calls: int               #: of 'call_count'
    time: int                #: of 'call_time': nanoseconds of all processes, by the records' clock
    time_calls: int          #: of 'call_time': calls
    usage: Dict[Pid, Tuple[int, int]]  #: of 'call_time': (calls, nanoseconds) of each process


def flags_of(flags: Flags) -> int:
    """Returns the bits of flag names: a text with commas between them, or several texts."""
    names = flags.split(',') if isinstance(flags, str) else flags
    bits = 0
    for name in names:
        bits |= EVENTS if name == 'events' else AS_RECORDED if name == 'as_recorded' else _tracehost.parse_flags(name)
    return bits


def names_of(bits: int) -> Tuple[str, ...]:
    return tuple(name for i, name in enumerate(FLAGS) if bits >> i & 1) + (('as_recorded',) if bits & AS_RECORDED else ())


def kinds_of(bits: int) -> Tuple[str, ...]:
    return tuple(name for name, bit in KINDS.items() if bits & bit)


def bits_of_kinds(kinds: Flags) -> int:
    names = kinds.split(',') if isinstance(kinds, str) else kinds
    bits = 0
    for name in names:
        if name not in KINDS:
            raise UsageError('a kind of pattern is one of %s, not %r' % (', '.join(KINDS), name))
        bits |= KINDS[name]
    return bits


def target_of(which: Union[str, Tracee]) -> Union[int, Tracee]:
    """Returns the number of a group, or the pid or port itself."""
    if not isinstance(which, str):
        return which
    if which not in GROUPS:
        raise UsageError('tracees are a Pid, a Port, or one of %s, not %r' % (', '.join(GROUPS), which))
    return GROUPS.index(which)


class Tracer:
    """A tracer in Python: a subclass has trace(), and may have enabled() and end(). Host.session() takes an object of it.

    The callbacks run in the thread that calls Host.replay(). They may call methods of the session and the host; a change takes
    effect with the next event. The first exception of a callback ends the replay after the current record, and Host.replay()
    raises it; Session.destroy() and Host.close() raise that of end(). sys.unraisablehook reports later ones."""

    #: True: the callbacks look at functions alone. They get (M, F, Arity) for (M, F, Args), 'undefined' as the term of events
    #: without a function, and neither extra nor result, which are not decoded.
    functions_only = False

    def enabled(self, event: TraceEvent) -> Union[bool, str]:
        """Decides whether trace() gets the event, of which session, tag, tracee and number are given. Ends of calls are not
        asked for: they follow the answer for their call.

        Returns True (or 'trace'), False (or 'discard'), or 'remove': the tracee is not traced any more."""
        return True

    def trace(self, event: TraceEvent) -> Any:
        """Gets an event. The result is ignored."""
        raise NotImplementedError

    def end(self) -> Any:
        """Called once, after the last callback of the session."""


def callbacks_of(tracer: Tracer) -> Tuple[Any, ...]:
    """Returns the functions as the C part takes them; those that a subclass does not have are not called."""
    own = type(tracer)
    return (None if own.enabled is Tracer.enabled else tracer.enabled, tracer.trace,
            None if own.end is Tracer.end else tracer.end, tracer.functions_only)


class Session:
    """A session of a host: a tracer with its settings, tracees and patterns. Host.session() makes it; a context manager that
    destroys it.

    Without any pattern a session gets calls, returns and exceptions as they were recorded; from its first pattern on it gets
    only those that its patterns request.

    Errors of all methods: UsageError if the session has ended, or another thread uses the host."""

    def __init__(self, number: int, tracer: str) -> None:
        self.number = number  #: of tracehost.h
        self.tracer = tracer  #: name or path, as it was given

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *failure: object) -> None:
        if self.alive:
            self.destroy()

    @property
    def alive(self) -> bool:
        """False once the session, or its host, has ended."""
        return _host is not None and _tracehost.session_alive(self.number)

    def destroy(self) -> None:
        """Ends the session; its tracer writes what it has left.

        Errors: FailedError if the tracer reports a failure; the session has ended all the same."""
        _tracehost.session_destroy(self.number)

    def attached(self) -> bool:
        """Calls the tracer for its trace_status. False: the tracer has no tracees any more."""
        return _tracehost.session_attached(self.number)

    @property
    def counts(self) -> SessionCounts:
        return SessionCounts(**_tracehost.session_counts(self.number))

    def trace(self, which: Union[str, Tracee], flags: Flags, on: bool = True) -> None:
        """Sets flags of tracees, or clears them if `on` is False; other flags stay.

        which: a Pid or Port of the recording; or a group: 'processes', 'existing_processes', 'new_processes', 'ports',
            'existing_ports', 'new_ports'. Flags of groups also apply to later recordings.
        flags: names as in trace:process/4, with commas between them, or a list of names; 'events' stands for all flags that
            select events, 'as_recorded' for time stamps and scheduler as they were recorded."""
        _tracehost.session_trace(self.number, target_of(which), on, flags_of(flags))

    def expect(self, who: Union[Tracee, Atom], flags: Flags) -> None:
        """Sets flags of `who` in this recording and later ones. An Atom stands for any process or port that registers this
        name."""
        _tracehost.session_expect(self.number, who, flags_of(flags))

    def flags(self, which: Union[str, Tracee]) -> Tuple[str, ...]:
        """Returns the names of the flags of a Pid, a Port, or a group as in trace(). Empty: not traced."""
        return names_of(_tracehost.session_flags(self.number, target_of(which)))

    def pattern(self, function: Term, match: Term = 'true', *, kinds: Flags = 'local', on_load: bool = False) -> int:
        """Sets, changes or clears breakpoints. Returns the number of functions matched so far.

        function: text M:F/A, M:F/_, M:_/_ or _:_/_, or as in Elixir M.F/A; or a tuple of Atoms and the arity.
        match: a match specification as text, or as for Match; 'false' clears these kinds; 'pause', 'restart'.
        kinds: 'local', 'global', 'meta', 'call_count', 'call_time': names with commas between them, or a list.
        on_load: True if the pattern applies to functions that come later, not to present ones.

        Errors: MalformedError or UsageError with the fault."""
        return _tracehost.session_pattern(self.number, function, match, bits_of_kinds(kinds), on_load)

    def send_pattern(self, match: Term) -> None:
        """Selects the sent messages that are traced: 'true', 'false', or a match specification for [Receiver, Message]."""
        _tracehost.session_messages(self.number, False, match)

    def receive_pattern(self, match: Term) -> None:
        """Selects the received messages that are traced: 'true', 'false', or a match specification for [Node, Sender,
        Message]. Recordings lack Node and Sender: a message whose match depends on them is excluded, and counted."""
        _tracehost.session_messages(self.number, True, match)

    def functions(self, function: Optional[str] = None) -> List[Function]:
        """Returns the functions at which the session has a breakpoint, in no order, or only `function`, a text M:F/A."""
        return [Function(**dict(found, kinds=kinds_of(found['kinds']), active=kinds_of(found['active'])))
                for found in _tracehost.session_functions(self.number, function)]


_host: Optional['Host'] = None  # the one that runs


class Host:
    """A host for tracers: loads them, and replays recordings into their sessions. A program has one host at a time. A context
    manager that stops the host.

    folders: searched first for tracers; then those of the variable TRACEHOST_PATH; then those that ship.
    clock: of tracers: 'recorded', the time of the event, or 'wall'.
    recorded_callers: True if recordings were made with the match specification {message,{caller}}.
    guard: True if a crash in a tracer ends the program with status 6 and a report that names the tracer.
    frames: maximum number of open calls kept for each process; 0: a million.
    display: function that gets the terms that match specifications display.

    One thread at a time uses a host, its sessions and replays. Other threads of Python run meanwhile.

    Errors: UsageError if a host runs already."""

    def __init__(self, folders: Iterable[Union[str, 'os.PathLike[str]']] = (), *, clock: str = 'recorded',
                 recorded_callers: bool = False, guard: bool = False, frames: int = 0,
                 display: Optional[Callable[[Term], Any]] = None) -> None:
        global _host
        if clock not in ('recorded', 'wall'):
            raise UsageError("`clock` is 'recorded' or 'wall', not %r" % (clock,))
        _tracehost.host_start(wall_clock=clock == 'wall', recorded_callers=recorded_callers, guard=guard, frames=frames,
                              display=display)
        _host = self
        for folder in folders:
            _tracehost.host_add_folder(folder)

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def _check(self) -> None:
        if _host is not self:
            raise UsageError('the host is stopped')

    def close(self) -> None:
        """Stops the host: ends all sessions, whose tracers write what they have left. A second call has no effect.

        Errors: FailedError with the latest failure that a tracer has reported; the host is stopped all the same."""
        global _host
        if _host is self:
            try:
                _tracehost.host_stop()
            except UsageError:
                raise
            except BaseException:
                _host = None
                raise
            _host = None

    def session(self, tracer: Union[str, 'os.PathLike[str]', Tracer, Callable[[TraceEvent], Any]],
                settings: Optional[Dict[str, Term]] = None, *, state: Term = None, name: Optional[str] = None,
                flags: Flags = 'events,as_recorded') -> Session:
        """Loads a tracer and begins a session.

        tracer: the name of a tracer, as 'count', or its path if it contains a '/'; or an object of a subclass of Tracer; or a
            function, which gets each event.
        settings: of a tracer that is a library: the state, as a map from atoms: {'top': 10, 'file': 'out.txt', 'to': tracehost.console_pid()}.
        state: the state as any other term. Without settings and state, the state is an empty map.
        name: for reports.
        flags: of every tracee that the recording shows, as in Session.trace(). '': none until Session.trace() adds some.

        Errors: RefusedError with the fault of the library; FailedError if the tracer returns `remove` or reports a failure;
        UsageError if the settings have a key or value that the tracer does not declare."""
        self._check()
        if settings is not None:
            if state is not None:
                raise UsageError('a session has `settings` or `state`, not both')
            state = {Atom(key): value for key, value in settings.items()}
        if isinstance(tracer, (str, os.PathLike)):
            text, callbacks = os.fspath(tracer), None
        elif settings is not None or state is not None:
            raise UsageError('a tracer in Python has no settings and no state but its own attributes')
        elif isinstance(tracer, Tracer):
            text, callbacks = type(tracer).__name__, callbacks_of(tracer)
        elif callable(tracer):
            text, callbacks = getattr(tracer, '__name__', 'function'), (None, tracer, None, False)
        else:
            raise UsageError('a tracer is a name, a path, a tracehost.Tracer or a function, not %r' % (tracer,))
        return Session(_tracehost.session_create(text, name, state, flags_of(flags) if flags else 0, callbacks), text)

    def replay(self, stream: Union[Stream, str, 'os.PathLike[str]'], *, from_: Optional[int] = None, to: Optional[int] = None,
               absolute: bool = False, max_events: int = 0, verify: bool = False, min_duration: int = 0, depth: int = 0,
               damaged: Damaged = 'raise') -> ReplayCounts:
        """Plays a stream into the sessions: to its end, until `max_events` records were read, until the stream is stopped, or
        until no session is attached any more. Returns the counts.

        stream: a Stream of which no event was read, which stays open; or a path, which is opened and closed.
        from_, to: time range of the events, with both ends, in nanoseconds since the stream's first time, or if `absolute`,
            of the recording's own clock. Records without a time pass.
        verify: True if every term of every record is decoded, even if no session uses it.
        min_duration: in nanoseconds: only calls that lasted so long are offered, with their ends. 0: all calls.
        depth: only calls that are at most so deep are offered, with their ends; the outermost recorded call of a process has
            the depth 1. 0: all calls.
        damaged: 'raise' a PartialError or MalformedError with the first damage at the end, when all undamaged records were
            played, with the counts as its attribute `counts`; 'count' damage; or a function that gets each exception.

        Other threads of Python run meanwhile. A signal such as Ctrl-C ends the replay between two records.
        Errors: those of the tracers' callbacks; UsageError for a stream that is in use or was read."""
        self._check()
        if max_events < 0:
            raise UsageError('`max_events` is a number of records, or 0 for no limit')
        if not 0 <= depth < 1 << 32:
            raise UsageError('`depth` is a number of calls, or 0 for any depth')
        opened = stream if isinstance(stream, Stream) else Stream(stream)
        try:
            counted, damage = _tracehost.replay(opened, start=from_, end=to, absolute=absolute, max_events=max_events,
                                                verify=verify, min_duration=min_duration, depth=depth,
                                                damaged=policy_of(damaged))
        finally:
            if opened is not stream:
                opened.close()
        counts = ReplayCounts(**counted)
        if damage is not None:
            damage.counts = counts
            raise damage
        return counts

    def delivered(self, done: Callable[[], Any], tracee: Optional[Tracee] = None) -> None:
        """Calls `done` when every event of the tracee, or of all tracees, up to now has been delivered to the tracers: before
        this returns, or, in a callback, after the current event."""
        self._check()
        _tracehost.host_delivered(done, tracee)

    @property
    def counts(self) -> HostCounts:
        self._check()
        return HostCounts(**_tracehost.host_counts())


def _stop_at_exit() -> None:
    """Lets tracers write what they have left, if the program did not."""
    if _host is not None:
        _host.close()


atexit.register(_stop_at_exit)
