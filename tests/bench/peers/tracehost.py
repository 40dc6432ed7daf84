"""tracehost: a plugin whose function calls another of its own, run by `tracehost run`."""

import os
import re
import shlex

import bench

OWN_PLAIN = False
TITLE = 'tracehost'
TRACER = bench.BUILD + '/tests/bench/libraries/as_told.so'
HIT = ('-p', 'peers:hit/1', '--kind=local')
ROWS = (  # title, tracer's state, options, how often a call comes to enabled_call and to trace_call
    ('no breakpoint', 'trace', ('--flags=send',), 0, 0),
    ('breakpoint, this process not traced', 'trace', ('--processes=new', *HIT), 0, 0),
    ('match specification that rejects', 'trace', (*HIT, '--match-spec=[{[-1],[],[]}]'), 1, 0),
    ('enabled_call discards', 'discard', HIT, 1, 0),
    ('traced, empty trace_call', 'trace', HIT, 1, 1),
    ('traced with return', 'trace', (*HIT, '--return'), 1, 2),
)


def title():
    return 'tracehost ' + bench.version(os.environ['TRACEHOST'], '--version')


def told(side, callbacks):
    """How often the tracer was called, as --stats has it."""
    found = re.search(r'(\d+)  calls of its %s callbacks' % callbacks, side.printed())
    return int(found[1]) if found else None


def checked(side, enabled, trace):
    def check(calls):
        found = told(side, 'enabled'), told(side, 'trace')
        return None if found == (enabled * calls, trace * calls) else \
            'told the tracer %s and %s times of %d calls' % (*found, calls)
    return check


def rows(at):
    if not os.path.exists(TRACER):
        raise bench.Missing('no erl_nif.h of OTP for the tracer (Debian: erlang-dev)')
    flags = bench.said('pkg-config', '--cflags', 'tracehost-plugin', env={
        **os.environ, 'PKG_CONFIG_PATH': bench.BUILD + '/lib/pkgconfig'})
    plugin = at.compile('peers.so', '-shared', '-fPIC', *shlex.split(flags),
                        sources=('plugin.c', 'answer.c', 'hit.c'))
    for title, state, options, enabled, trace in ROWS:
        side = at.start([os.environ['TRACEHOST'], 'run', '--stats', '-t',
                         '%s=%s' % (TRACER, state), *options, plugin, 'peers:answer(1)'])
        yield bench.Row(title, side, bench.OFTEN, check=checked(side, enabled, trace))
