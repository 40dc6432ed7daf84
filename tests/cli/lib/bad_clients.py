#!/usr/bin/env python3
"""Connects clients that misbehave to a control socket.

  bad_clients.py SOCKET N

Connects N clients, which misbehave in the ways below, in turn; up to 20 stay connected. Now and then a well-behaved
client checks that the host answers. Prints the number of clients for each way."""

import collections
import itertools
import json
import random
import socket
import sys

path, count = sys.argv[1], int(sys.argv[2])
chance = random.Random(1)
kept = collections.deque()  # those that are let hang


def connect():
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(30)
    client.connect(path)
    return client


def send(client, data):
    """Sends DATA. An error does not matter, as the host may have disconnected the client."""
    try:
        client.sendall(data)
    except OSError:
        pass


def vanishes(client):
    client.close()


def noise(client):
    send(client, chance.randbytes(chance.randrange(20000)) + b'\n')
    client.close()


def half_a_line(client):
    send(client, b'{"command": "sess')
    kept.append(client)


def never_reads(client):
    client.settimeout(0.1)
    for _ in range(20):
        send(client, b'{"command":"functions"}\n' * 100)
    kept.append(client)


def no_request(client):
    send(client, chance.choice([b'[]\n', b'{}\n', b'{"command":7}\n', b'null\n', b'{"command":"status","arguments":[1]}\n',
                                b'{"command":"\\u0000"}\n', b'[' * 5000 + b'\n', b'\xff\xfe\n', b'{"id":1e400}\n']))
    client.recv(1 << 16)
    client.close()


def wrong_words(client):
    words = [chance.choice(['-p', '--session=', '--flags', '--', '-', '', 'x:y/1', '--kind=count', '1', 'all', '-pq:r/_',
                            '--match-spec=[{', '--processes=<0.1.0>', 'ä' * 300]) for _ in range(chance.randrange(6))]
    command = chance.choice(['attach', 'pattern', 'flags', 'detach', 'info', 'functions', 'status', 'help'])
    send(client, json.dumps({'command': command, 'arguments': ['nobody'] + words}).encode() + b'\n')
    client.recv(1 << 16)
    client.close()


def shuts_down(client):
    send(client, b'{"command":"status"}\n')
    client.shutdown(socket.SHUT_WR)
    while client.recv(1 << 16):
        pass
    client.close()


def too_long(client):
    send(client, b'x' * (1 << 21) + b'\n')
    client.close()


ways = (vanishes, noise, half_a_line, no_request, wrong_words, shuts_down, too_long, never_reads)


def asks():
    """Checks that the host answers a well-behaved client."""
    client = connect()
    lines = client.makefile('rw')
    lines.readline()
    lines.write('{"id": "me", "command": "sessions"}\n')
    lines.flush()
    answer = json.loads(lines.readline())
    client.close()
    if not answer['ok'] or answer['id'] != 'me':
        sys.exit('answered %r' % answer)


done = collections.Counter()
for number, way in zip(range(count), itertools.cycle(ways)):
    if way is never_reads and number % 80 != 7:
        way = vanishes
    way(connect())
    done[way.__name__] += 1
    while len(kept) > 20:
        kept.popleft().close()
    if number % 25 == 0:
        asks()
asks()
for client in kept:
    client.close()
print(', '.join('%s %d' % item for item in sorted(done.items())))
