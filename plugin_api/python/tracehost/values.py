"""Classes for terms that no type of Python can hold. The other classes of terms are in C: Atom, Pid, Port, Reference, Fun.

==================  ======================================================================================
term                value
==================  ======================================================================================
atom                Atom, a str; also true, false, undefined and nil
integer, float      int, float
binary              bytes
bitstring           Bitstring, if its number of bits is no multiple of 8
tuple, list         tuple, list; a string is a list of int
improper list       ImproperList
map                 dict; Map, if its keys cannot be the keys of a dict
pid, port           Pid, Port
reference, fun      Reference, Fun
==================  ======================================================================================

In the other direction, a str that is no Atom is a binary in UTF-8, and True and False are the atoms true and false. No term
is made of None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, Tuple

# A term as a value of Python.
Term = Any


@dataclass(frozen=True)
class Bitstring:
    """A bitstring whose number of bits is no multiple of 8."""

    data: bytes  #: the bits, the first one in the highest bit of the first byte; unused bits of the last byte are 0
    bits: int    #: number of bits

    def external(self) -> bytes:
        """Returns the external term format (BIT_BINARY_EXT).

        Errors: ValueError if `data` has not as many bytes as the bits need."""
        if len(self.data) != (self.bits + 7) // 8:
            raise ValueError('%d bits need %d bytes, not %d' % (self.bits, (self.bits + 7) // 8, len(self.data)))
        return b'\x83\x4d' + len(self.data).to_bytes(4, 'big') + bytes([(self.bits - 1) % 8 + 1 if self.bits else 0]) + self.data


@dataclass(frozen=True)
class ImproperList:
    """A list that ends in a term other than []: [a, b | c] is ImproperList(('a', 'b'), 'c')."""

    items: Tuple[Term, ...]  #: the elements before the tail
    tail: Term               #: the term at the end


class Map:
    """A map whose keys cannot be the keys of a dict: a key contains a list or a map, two keys are equal in Python (1 and
    1.0), or tuples are nested in a key more than 32 deep."""

    __slots__ = ('pairs',)

    def __init__(self, pairs: Tuple[Tuple[Term, Term], ...]) -> None:
        self.pairs = tuple(pairs)  #: (key, value) of each association

    @classmethod
    def of_elements(cls, elements: Tuple[Term, ...]) -> Map:
        """Makes a map of key, value, key, value, ..."""
        return cls(tuple(zip(elements[::2], elements[1::2])))

    def keys(self) -> list[Term]:
        return [key for key, _ in self.pairs]

    def values(self) -> list[Term]:
        return [value for _, value in self.pairs]

    def __iter__(self) -> Iterator[Tuple[Term, Term]]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def __eq__(self, other: object) -> bool:
        """Compares the associations in their order, which is the same for equal maps of recordings."""
        return self.pairs == other.pairs if isinstance(other, Map) else NotImplemented

    def __repr__(self) -> str:
        return 'Map(%r)' % (self.pairs,)
