"""Exceptions. Each failure of the library is an Error with its chain of causes."""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Sequence, Tuple, Type


class Error(Exception):
    """A failure of the library.

    causes: texts, the first one is the attempt that failed, the last one the first cause, with a remedy.
    status: number of enum tracehost_status in tracehost.h, also the exit status of the program `tracehost`.
    str() joins the causes by ': '."""

    status = 1

    def __init__(self, *causes: str) -> None:
        super().__init__(*causes)
        self.causes: Tuple[str, ...] = causes

    def __str__(self) -> str:
        return ': '.join(self.causes)


class FailedError(Error):
    """An attempt failed: a tracer reports a failure, a file cannot be written, memory runs out."""


class UsageError(Error):
    """A call that makes no sense, or not now."""

    status = 2


class MalformedError(Error):
    """Text, a term or input that cannot be read; a damaged record of a stream, behind which reading continues."""

    status = 3


class PartialError(Error):
    """Damaged input, of which a part was used: a stream is truncated or damaged at a place.

    counts: of Host.replay(), the ReplayCounts; otherwise None."""

    status = 4
    counts: Optional[object] = None


class RefusedError(Error):
    """A library that was refused, or failed to load."""

    status = 5


class Fault(NamedTuple):
    """A fault of a match specification."""

    clause: int          #: number from 1; 0: in no clause
    part: str            #: 'whole', 'head', 'guard' or 'body'
    item: int            #: number from 1 of the element of the head, guard, or expression of the body; 0: none
    text: str            #: text of erlang:match_spec_test/3
    term: Optional[str]  #: faulty part as Erlang text, cut if it is long; None: the whole
    place: str           #: 'clause 2, guard 1'; '' if the clause is 0


class MatchError(MalformedError):
    """A match specification that cannot be compiled.

    faults: list of Fault, all of the first clause that has any."""

    faults: List[Fault] = []


CLASSES: Tuple[Type[Error], ...] = (FailedError, UsageError, MalformedError, PartialError, RefusedError)


def from_chain(status: int, causes: Sequence[str]) -> Error:
    """Makes the exception of a status and a chain of causes."""
    found = next((known for known in CLASSES if known.status == status), FailedError)
    return found(*causes)
