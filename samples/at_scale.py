#!/usr/bin/env python3
"""Computes what a log on NATS costs for many nodes: the tables of at-scale.md.

  samples/at_scale.py TABLE [NODES [EVENTS]]

TABLE is measured, needs, waits or day. NODES nodes (1000) have EVENTS events a second each (10000).

The inputs were measured on two processors of a virtual machine, which other programs used, too, with nats-server 2.9.10 on
the same processors. Above each group is the command that measures it. To compute for other events and machines, measure
there, and change the figures here. The examples are recordings of one node each: `compiler`, calls and returns with arity
and time stamps; `database`, Mnesia's calls with arguments, and messages, with time stamps; `sorting`, calls and returns with
long lists. With fewer events than RECORDS * FLUSHES a second, batches are not full, and LOG is too small.
"""

import sys

# --- Inputs -------------------------------------------------------------------------------------------------------------

KINDS = 'compiler', 'database', 'sorting'

# samples/measure_scale.py kinds FILE...
PLAIN = 107.6, 190.3, 635.8  # bytes of a record, as a node sends it
LOG = 5.48, 16.66, 16.77  # bytes of a record in the stream's files, with headers and the world's copies
RECORDS = 1216, 687, 205  # in a message
WORLD = 0, 0.99, 0  # messages of the world's copies, for each message of records
CONVERT_US = 0.417, 1.12, 1.94  # of processors, a record: `convert` from a file to the log
REPLAY_US = 0.441, 0.772, 1.79  # ... `replay -t count` from the log
WRITE_US = 174, 200, 133  # of the server's processors, a message that is stored, one replica
READ_US = 192, 247, 127  # ... a message that is read

# samples/measure_scale.py tracers FILE...
TRACERS = 'count', 'time', 'flame', 'report'
SHOWN = 'count', 'time', 'report'  # the others are between these
TRACER_US = {  # of processors, a record: `replay -t TRACER` from a file
    'count': (0.133, 0.280, 0.505), 'time': (0.430, 0.597, 1.28), 'flame': (0.281, 0.514, 1.15),
    'report': (0.787, 2.15, 1.60)}

# samples/measure_scale.py states FILE, of the compiler run, in 26 segments of 8 MiB
STATE = {'count': 91e3, 'time': 206e3, 'flame': 640e3, 'report': 973e3}  # bytes of a worker's state, plain
PAST_US = {'time': 0.39, 'flame': 0.38, 'report': 1.04}  # of processors, a record before a worker's last segment
SEGMENT_MS = 24  # of processors, a segment, beside its records

# samples/measure_scale.py world FILE, of Mnesia
WORLD_US = 244  # by the clock, a message of the world before the records that were asked for

# samples/measure_scale.py replicas FILE 32, of the compiler run
REPLICAS_US = 550  # of all three servers' processors, a message that each stores, from 32 writers
LEADER_US = 225  # ... of the busiest server
TRIP_MS = 0.86, 1.7  # by the clock, a message of a single writer: one server, three servers

# samples/measure_scale.py leader FILE: a recording takes at most 8.2 s longer if the leader of three servers is killed

# samples/measure_scale.py streams FILE 128, of the compiler run
SHARED_US = 343  # of the server's processors, a message that is read, of one of 128 recordings that came at once

# samples/measure_scale.py ids FILE; clients
ID_BYTES = 269  # of a server's memory, for each message of the last two minutes
CLIENT_BYTES = 24.2e3  # of a server's memory, for a connection

# samples/measure_scale.py node
NODE_US = 2.8  # of processors, a record: `convert` from a running node to the log

# host/replay/log/log_writer.c, host/cli/workers.h, host/replay/node/tracehost_agent.erl; nats-server's default
FLUSHES = 5  # a second: a batch does not wait longer for more records
SEGMENT = 64 << 20  # bytes of records in a worker's segment
NODE_BYTES = 16 << 20  # of events, that wait in a node before it ends the tracing
WINDOW_S = 120  # for which a server keeps the ids of messages

DAY_S = 86400

# --- Tables -------------------------------------------------------------------------------------------------------------


def shown(cell):
    """Text of a cell: three digits of a number."""
    if isinstance(cell, str):
        return cell
    return format(round(cell, 3 - len(str(round(cell)))), ',.0f') if cell >= 100 else '%.3g' % cell


def show(*rows):
    """Prints ROWS, the heads of the columns first."""
    rows = [[shown(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*rows)]
    for row in rows:
        print('  '.join([row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]).rstrip())


def each(compute):
    """Returns COMPUTE of each kind, which is a number."""
    return [compute(kind) for kind in range(len(KINDS))]


def batches(kind, events):
    """Messages of records, a second, of a node with EVENTS events."""
    return max(events / RECORDS[kind], min(events, FLUSHES))


def worlds(kind, events):
    """Messages of the world's copies, a second: at least those of the note of the clocks."""
    return max(1, WORLD[kind] * batches(kind, events))


def messages(kind, events):
    return batches(kind, events) + worlds(kind, events)


def from_log(tracer, kind):
    """Microseconds of processors for a record that TRACER gets from the log."""
    return TRACER_US[tracer][kind] + REPLAY_US[kind] - TRACER_US['count'][kind]


def measured(nodes, events):
    show(('', *KINDS),
         ('bytes of a record, from the node', *PLAIN),
         ('bytes of a record, in the log', *LOG),
         ('records in a message', *RECORDS),
         ('messages of the world for each of these', *WORLD),
         ('us of processors for a record: convert a file', *CONVERT_US),
         ('... convert from a running node', NODE_US, '', ''),
         ('... replay -t count from the log', *REPLAY_US),
         *(('... replay -t %s from a file' % tracer, *TRACER_US[tracer]) for tracer in SHOWN),
         ('us of the server for a message: stored', *WRITE_US),
         ('... stored by three servers, all together', REPLICAS_US, '', ''),
         ('... stored by three servers, the busiest', LEADER_US, '', ''),
         ('... read', *READ_US),
         ('... read, one of 128 recordings in the stream', SHARED_US, '', ''))


def needs(nodes, events):
    total = nodes * events / 1e6

    def of_messages(us):
        return each(lambda kind: nodes * messages(kind, events) * us / 1e6)

    def of_bytes(sizes, times=1):
        return [total * size * times for size in sizes]

    show(('all nodes, all the time', *KINDS),
         ('processors for convert from nodes', *each(lambda kind: total * max(NODE_US, CONVERT_US[kind]))),
         ('... for three servers', *of_messages(REPLICAS_US)),
         ('...... for the leaders of streams', *of_messages(LEADER_US)),
         ('...... for reading all once', *each(lambda kind: nodes * batches(kind, events) * READ_US[kind] / 1e6)),
         *(('... for replay -t %s of all' % tracer, *each(lambda kind: total * from_log(tracer, kind))) for tracer in SHOWN),
         ('MB/s from nodes to convert', *of_bytes(PLAIN)),
         ('MB/s into the log', *of_bytes(LOG)),
         ('MB/s from leaders to two replicas', *of_bytes(LOG, 2)),
         ('messages a second', *of_messages(1e6)),
         ('TB on the disks of three replicas, a day', *of_bytes(LOG, 3 * DAY_S / 1e6)),
         ('MB of memory for ids of messages', *of_messages(WINDOW_S * ID_BYTES)),
         ('MB of memory for connections', *(nodes * CLIENT_BYTES / 1e6 for _ in KINDS)))


def waits(nodes, events):
    """What one message in flight allows, and how long a node can wait."""
    trips = *TRIP_MS, 10, 30, 100
    show(('thousand events a second, if a message takes', *('%g ms' % ms for ms in trips), 'node waits'),
         *((name, *(RECORDS[kind] / (1 + WORLD[kind]) / ms for ms in trips), '%.2g s' % (NODE_BYTES / events / PLAIN[kind]))
           for kind, name in enumerate(KINDS)))


def day(nodes, events):
    records = events * DAY_S
    hours = records / 3600e6  # for each microsecond of a record
    segments = records * PLAIN[0] / SEGMENT
    before = each(lambda kind: DAY_S * worlds(kind, events))
    show(('a day of one node', *KINDS),
         ('minutes of a processor: replay -t report', *each(lambda kind: 60 * hours * from_log('report', kind))),
         ('thousand world messages before its end', *(count / 1e3 for count in before)),
         ('minutes until a replay begins there', *(count * WORLD_US / 60e6 for count in before)))
    print()
    play = [hours * (from_log(tracer, 0) + SEGMENT_MS * 1e3 * segments / records) for tracer in TRACERS]
    past = [hours * PAST_US.get(tracer, 0) for tracer in TRACERS]
    show(('workers, %s' % KINDS[0], *TRACERS),
         ('hours of a processor: one replay', *(hours * from_log(tracer, 0) for tracer in TRACERS)),
         *(('... %d worker%s, together' % (workers, 's'[workers == 1:]), *(a + workers * b for a, b in zip(play, past))) for workers in (1, 4, 16)),
         *(('hours until %d workers end' % workers, *(a / workers + b for a, b in zip(play, past))) for workers in (4, 16)),
         ('GB of states that merge holds', *(segments * STATE[tracer] / 1e9 for tracer in TRACERS)))


TABLES = {'measured': measured, 'needs': needs, 'waits': waits, 'day': day}


def main():
    words = sys.argv[1:]
    if not 1 <= len(words) <= 3 or words[0] not in TABLES or not all(word.isdigit() and int(word) for word in words[1:]):
        sys.exit(__doc__)
    nodes, events = [int(word) for word in words[1:]] + [1000, 10000][len(words) - 1:]
    TABLES[words[0]](nodes, events)


main()
