"""Reads recordings of Erlang's trace events, and replays them into tracers.

    import tracehost

    for event in tracehost.open('calls.trace'):
        print(event.number, event.tracee, event.term)

    pandas.DataFrame(tracehost.open('calls.trace').calls())

    with tracehost.Host() as host:
        host.session('count', {'top': 10})
        host.replay('calls.trace')

tracehost.values lists the classes of terms, tracehost.errors the exceptions.
"""

from . import errors, values
from ._tracehost import (Atom, Event, Fun, Identifier, Pid, Port, Reference, TraceEvent, console_pid, decode, encode, format, parse,
                         version)
from .errors import Error, FailedError, Fault, MalformedError, MatchError, PartialError, RefusedError, UsageError
from .hosts import Function, Host, HostCounts, ReplayCounts, Session, SessionCounts, Tracer
from .matches import Match, MatchResult
from .streams import Call, Stream, open
from .values import Bitstring, ImproperList, Map

__version__ = version

__all__ = [
    'Atom', 'Bitstring', 'Call', 'Error', 'Event', 'FailedError', 'Fault', 'Fun', 'Function', 'Host', 'HostCounts', 'Identifier',
    'ImproperList', 'MalformedError', 'Map', 'Match', 'MatchError', 'MatchResult', 'PartialError', 'Pid', 'Port', 'Reference',
    'RefusedError', 'ReplayCounts', 'Session', 'SessionCounts', 'Stream', 'TraceEvent', 'Tracer', 'UsageError', 'console_pid', 'decode', 'encode',
    'errors', 'format', 'open', 'parse', 'values', 'version',
]
