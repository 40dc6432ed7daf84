"""What the tests of the package share."""

import os

import pytest

import tracehost

RECORDINGS = 'samples/recordings'
LARGE = os.environ.get('RECORDINGS', '../shared/recordings') + '/large/l1_compile_compiler_arity.trace'


def recording(name):
    return '%s/%s.trace' % (RECORDINGS, name)


@pytest.fixture
def host():
    with tracehost.Host() as made:
        yield made


@pytest.fixture
def pingpong():
    return recording('s04_genserver_pingpong')


@pytest.fixture
def truncated():
    """A recording of 14 records, whose 15th is truncated."""
    return recording('trunc_body')


@pytest.fixture(scope='session')
def large():
    if not os.path.exists(LARGE):
        pytest.skip('no large recordings')
    return LARGE
