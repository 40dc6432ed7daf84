"""A BEAM: a local function and a NIF tracer. Its ratios are to its own untraced call."""

import os

import bench

OWN_PLAIN = True
TITLE = 'BEAM'
TRACER = bench.BUILD + '/tests/bench/libraries/as_told.so'
STUBS = '''-module(as_told).
-export([load/1, enabled/3, trace/5, enabled_call/3, trace_call/5]).
load(Library) -> erlang:load_nif(Library, 0).
enabled(_, _, _) -> erlang:nif_error(not_loaded).
trace(_, _, _, _, _) -> erlang:nif_error(not_loaded).
enabled_call(_, _, _) -> erlang:nif_error(not_loaded).
trace_call(_, _, _, _, _) -> erlang:nif_error(not_loaded).
'''
ROWS = (
    ('local call, not traced', 'untraced', bench.OFTEN),
    ('breakpoint, this process not traced', 'not_this_process', bench.OFTEN),
    ('match specification that rejects', 'filtered', bench.SELDOM),
    ('enabled_call discards', 'discarded', bench.SELDOM),
    ('traced, empty trace_call', 'traced', bench.SELDOM),
    ('traced with return_trace', 'returned', bench.SELDOM),
)


def title():
    bench.need('erl', 'erlang-base')
    bench.need('erlc', 'erlang-base')
    release = bench.said('erl', '-noshell', '-boot', 'no_dot_erlang', '-eval',
                         'io:put_chars(erlang:system_info(otp_release)), halt().')
    return 'erl_tracer, OTP %s; ratios to its own call' % release


def rows(at):
    if not os.path.exists(TRACER):
        raise bench.Missing('no erl_nif.h of OTP (Debian: erlang-dev)')
    with open(at.path('as_told.erl'), 'w') as file:
        file.write(STUBS)
    bench.said('erlc', '-o', at.folder, at.path('as_told.erl'), bench.HERE + '/peers_beam.erl')
    side = at.start(['erl', '-noshell', '-boot', 'no_dot_erlang', '-pa', at.folder, '-run',
                     'peers_beam', 'main', TRACER[:-len('.so')]])
    for title, question, calls in ROWS:
        yield bench.Row(title, side, calls, question=question)
