"""Match specifications without a session."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence

from . import _tracehost
from .errors import Fault, MalformedError, MatchError, UsageError
from .values import Term

KINDS = ('call', 'send', 'receive')


class MatchResult(NamedTuple):
    """Result of Match.run()."""

    end: str               #: 'yes', 'no', or 'unknown' if it depends on a fact that was not given
    clause: int            #: number from 1 of the clause that matched or depends on an unknown fact; 0: none matched
    message: Term          #: 'true': nothing is added to the trace message; 'false': no trace message; another term:
    #:                        added to it; None: no match, or it depends on an unknown fact
    return_trace: bool
    exception_trace: bool
    callers_unknown: int   #: number of unknown callers that were requested
    unsure: int            #: number of actions skipped because they depend on an unknown fact


class Match:
    """A compiled match specification. It never changes: any number of threads may use it. It needs no host.

    specification: Erlang text; or one of the names of dbg: 'x' (exceptions), 'c' (callers), 'cx', 'r' (returns); or a
        value, in which variables and '_' are Atoms: [(Atom('_'), [], [(Atom('return_trace'),)])].
    kind: 'call' matches the list of a call's arguments; 'send' matches [Receiver, Message]; 'receive' matches
        [Node, Sender, Message].

    Errors: MatchError with the faults; MalformedError if the text is no term.
    """

    def __init__(self, specification: Term, kind: str = 'call') -> None:
        if kind not in KINDS:
            raise UsageError('a kind of match specifications is one of %s, not %r' % (', '.join(KINDS), kind))
        self.kind = kind
        try:
            self._match = _tracehost.match_compile(KINDS.index(kind), specification)
        except MalformedError as error:
            faults = [Fault(*fault) for fault in getattr(error, 'faults', [])]
            if not faults:
                raise
            told = MatchError(*error.causes)
            told.faults = faults
            raise told from None

    def run(self, target: Optional[Sequence[Term]], *, arity: Optional[int] = None, self_: Term = None,
            caller: Term = None) -> MatchResult:
        """Runs the specification, without its actions.

        target: the list that is matched; None: `arity` arguments that are not known.
        self_: the tracee, a Pid; None: unknown.
        caller: (module, function, arity), or Atom('undefined'); None: unknown.

        Errors: UsageError if the target does not fit the kind."""
        return MatchResult(*_tracehost.match_run(*self._subject(target, arity, self_, caller)))

    def explain(self, target: Optional[Sequence[Term]], *, arity: Optional[int] = None, self_: Term = None,
                caller: Term = None) -> str:
        """Returns a text: the result of erlang:match_spec_test/3, then the reason why each clause failed, and the actions.
        The arguments are those of run()."""
        return _tracehost.match_explain(*self._subject(target, arity, self_, caller))

    def _subject(self, target: Optional[Sequence[Term]], arity: Optional[int], self_: Term, caller: Term) -> tuple[Any, ...]:
        if target is None and arity is None:
            raise UsageError('a match needs the target, or the arity of an unknown one')
        items = None if target is None else list(target)
        return self._match, items, len(items) if items is not None else arity, self_, caller
