"""Terms as values of Python, and values as terms."""

import glob
import os
import pickle

import pytest

import tracehost
from tracehost import Atom, Bitstring, ImproperList, Map, decode, encode, format, parse

WITH_TERMS = sorted(name for name in glob.glob('samples/recordings/*.trace')
                    if os.path.exists(name.replace('.trace', '.term.txt')))

A = Atom('a')
VALUES = [
    ('ok', Atom('ok')), ("''", Atom('')), ("'é ü'", Atom('é ü')), ('true', Atom('true')),
    ('0', 0), ('-1', -1), ('9223372036854775807', 2 ** 63 - 1), ('-9223372036854775808', -2 ** 63),
    ('9223372036854775808', 2 ** 63), ('-9223372036854775809', -2 ** 63 - 1), (str(7 ** 999), 7 ** 999),
    (str(-7 ** 999), -7 ** 999), ('1.5', 1.5), ('-0.0', -0.0), ('1.0e300', 1e300),
    ('{}', ()), ('[]', []), ('{a,{b},[]}', (A, (Atom('b'),), [])), ('[1,[2],"ab"]', [1, [2], [97, 98]]),
    ('[1,2|c]', ImproperList((1, 2), Atom('c'))), ('[[1|2]|{}]', ImproperList((ImproperList((1,), 2),), ())),
    ('<<>>', b''), ('<<"ab">>', b'ab'), ('<<1,2:3>>', Bitstring(b'\x01\x40', 11)), ('<<1:1>>', Bitstring(b'\x80', 1)),
    ('#{}', {}), ('#{a => 1,{2} => [2]}', {A: 1, (2,): [2]}), ('#{[1] => 2}', Map((([1], 2),))),
    ('#{1 => a,1.0 => b}', Map(((1, A), (1.0, Atom('b'))))), ('#{#{} => 1}', Map((({}, 1),))),
]


@pytest.mark.parametrize('text, value', VALUES)
def test_a_term_has_its_value(text, value):
    parsed = parse(text)
    assert parsed == value and type(parsed) is type(value)
    assert format(value) == text
    assert decode(encode(value)) == value


def same_text(text):
    """Returns the text of a term that a node has written, as this library writes it; a fun cannot be read."""
    return text if '#Fun<' in text else format(parse(text))


@pytest.mark.parametrize('name', WITH_TERMS)
def test_terms_of_recordings_are_those_of_a_node(name):
    """Each record becomes values, and the values become the text that a node has written of it."""
    with open(name.replace('.trace', '.term.txt'), encoding='utf-8') as file:
        texts = [same_text(line.rstrip('.')) for line in file.read().splitlines()]
    terms = [event.term for event in tracehost.open(name, damaged='count')]
    assert [format(term) for term in terms] == texts[:len(terms)]


def test_an_atom_is_one_object():
    assert Atom('some') is Atom('some') is parse('some')
    assert Atom('some') == 'some' and {'some': 1}[Atom('some')] == 1
    assert pickle.loads(pickle.dumps(Atom('some'))) is Atom('some')


@pytest.mark.parametrize('name, error', [('x' * 256, ValueError), (b'x', TypeError), (1, TypeError)])
def test_no_atom_is_made_of(name, error):
    with pytest.raises(error):
        Atom(name)


IDENTIFIERS = [('<0.95.0>', tracehost.Pid), ('#Port<0.7>', tracehost.Port), ('#Ref<0.1.2.3>', tracehost.Reference),
               ('fun lists:map/2', tracehost.Fun)]


@pytest.mark.parametrize('text, kind', IDENTIFIERS)
def test_identifiers(text, kind):
    value = parse(text)
    assert type(value) is kind and isinstance(value, tracehost.Identifier)
    assert str(value) == repr(value) == format(value) == text
    assert value == parse(text) and hash(value) == hash(parse(text)) and value != Atom('x')
    assert pickle.loads(pickle.dumps(value)) == value
    with pytest.raises(TypeError):
        kind()


def test_pids_are_sorted_by_their_numbers():
    texts = ['<0.9.0>', '<0.9.1>', '<0.10.0>', '<0.300.0>']
    assert [str(pid) for pid in sorted(parse('[%s]' % ','.join(reversed(texts))))] == texts
    with pytest.raises(TypeError):
        sorted([parse('<0.9.0>'), parse('#Port<0.7>')])


def test_values_that_have_another_term():
    assert format('text') == '<<"text">>' and decode(encode('é')) == 'é'.encode()
    assert format(True) == 'true' and format(False) == 'false'


@pytest.mark.parametrize('value, error', [
    (None, TypeError), (object(), TypeError), ([1, {2}], TypeError), (float('inf'), ValueError),
    (float('nan'), ValueError), ({1: 'a', True: 'b', 'x': None}, TypeError), (Bitstring(b'', 3), ValueError),
    (Map(((1, 2), (1, 3))), ValueError), ('\ud800', UnicodeEncodeError)])
def test_no_term_is_made_of(value, error):
    with pytest.raises(error):
        format(value)


def test_a_value_that_contains_itself_is_refused():
    value = []
    value.append(value)
    with pytest.raises(RecursionError):
        format(value)


@pytest.mark.parametrize('text, place', [('{a,', 'line 1'), ('X', 'line 1'), ('', 'line 1')])
def test_text_that_is_no_term(text, place):
    with pytest.raises(tracehost.MalformedError) as caught:
        parse(text)
    assert place in str(caught.value)


@pytest.mark.parametrize('external', [b'', b'\x83', b'\x83a', b'\x83a\x01\x02', b'x'])
def test_bytes_that_are_no_term(external):
    with pytest.raises(ValueError):
        decode(external)


def nested(depth, begin, middle, end):
    return b'\x83' + begin * depth + middle + end * depth


def test_depth_has_no_limit():
    """A recorded term may be nested as deep as its bytes allow: values are made and freed without recursion."""
    depth = 200000
    tuples = decode(nested(depth, b'h\x01', b'j', b''))
    for _ in range(depth):
        tuples, = tuples
    assert tuples == []
    decode(nested(depth, b'l\0\0\0\1', b'j', b'j'))
    decode(nested(depth, b't\0\0\0\1a\1', b'j', b''))
    improper = decode(nested(1000, b'l\0\0\0\1a\1', b'j', b''))
    assert len(improper) == 1000


def test_a_deep_key_makes_no_dict():
    key = b'h\x01' * 400000 + b'j'
    assert isinstance(decode(b'\x83t\0\0\0\1' + key + b'a\1'), Map)
