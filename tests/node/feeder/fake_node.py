#!/usr/bin/env python3
"""Runs the feeder against peers that are no nodes, or nodes that send nonsense. Prints, for each peer, the exit
status and the lines of the feeder.

    fake_node.py DRIVER OBJECT WISH table       each peer of the table
    fake_node.py DRIVER OBJECT WISH random N    N sessions with changed bytes; prints those that end badly

The fake epmd and the fake node are one process. A peer closes its connection after the last thing that it sends.
"""

import hashlib
import os
import random
import socket
import struct
import subprocess
import sys
import threading

COOKIE = 'our_cookie'
CHALLENGE = 12345


# --- Terms in external format ---------------------------------------------------------------------------

def atom(name):
    return b'w' + bytes([len(name)]) + name.encode()


def tuple_of(*elements):
    return b'h' + bytes([len(elements)]) + b''.join(elements)


def list_of(*elements):
    return b'l' + struct.pack('>I', len(elements)) + b''.join(elements) + b'j'


def string(text):
    return b'k' + struct.pack('>H', len(text)) + text


def binary(content):
    return b'm' + struct.pack('>I', len(content)) + content


PID = b'X' + atom('fake@localhost') + struct.pack('>III', 77, 0, 1)
STARTED = list_of(tuple_of(atom('module'), atom('tracehost_agent')),
                  tuple_of(atom('ok'), PID, PID, b't\0\0\0\0'))
RECORD = b'\0' + struct.pack('>I', 3) + b'\x83a\1'
DEEP = b'l\0\0\0\1' * 3000000 + b'j' * 3000001
CREATION = b'\xfe\xfe\xfe\xfe'  # stands for the client's, which its handshake tells
CLIENT = b'X' + atom('tracehost1@localhost') + struct.pack('>II', 1, 0) + CREATION
EARLIER_CLIENT = CLIENT[:-4] + b'\0\0\0\7'


def message(term, control=tuple_of(b'a\2', atom(''), CLIENT)):
    body = b'p\x83' + control + b'\x83' + term
    return struct.pack('>I', len(body)) + body


def answer(term):
    return message(tuple_of(atom('rex'), term))


def data(content):
    return message(tuple_of(atom('data'), binary(content)))


def clocks(monotonic, system):
    return message(tuple_of(atom('clocks'), monotonic, system))


def ended(reason):
    return message(tuple_of(atom('ended'), reason, b't\0\0\0\0'))


# --- The fake node: what it sends at each step; None: what a node sends -------------------------------

# The steps: status, challenge, acknowledgement of the handshake; the answers to the calls system_info,
# is_loaded, zipwith3; and what comes after `go`, and, in a peer that has it, after {ack, Bytes}.
STEPS = ('status', 'challenge', 'acknowledgement', 'release', 'loaded', 'started', 'fed')
EPMD = 'epmd'

PEERS = {
    'an epmd that sends nonsense': {EPMD: b'hello'},
    'an epmd that closes': {EPMD: b''},
    'a node that closes': {'status': b''},
    'a web server': {'status': b'HTTP/1.1 400 Bad Request\r\n\r\n'},
    'a long status': {'status': b'\xff\xffs' + b'x' * 70000},
    'an unknown status': {'status': b'\0\6smaybe'},
    'a short challenge': {'challenge': b'\0\2N\0'},
    'a challenge of another kind': {'challenge': b'\0\5xabcd'},
    'a wrong acknowledgement': {'acknowledgement': b'\0\x11a' + b'0' * 16},
    'a message without end': {'release': b'\xf0\0\0\0p'},
    'a message of another kind': {'release': b'\0\0\0\4quit'},
    'an answer to an earlier client': {
        'release': message(tuple_of(atom('rex'), string(b'9')), tuple_of(b'a\2', atom(''), EARLIER_CLIENT)) + answer(string(b'25'))},
    'an old node': {'release': answer(string(b'23'))},
    'a call that fails': {'release': answer(tuple_of(atom('badrpc'), tuple_of(
        atom('EXIT'), tuple_of(atom('undef'), list_of(atom('erlang'), b'a\1', b'F' + bytes(8), string(b'x\ny'))))))},
    'a deep term': {'release': answer(DEEP)},
    'cut terms': {'release': message(b'h\2' + atom('rex')) + message(b'l\xff\xff\xff\xffa') + message(b'm\0\0\0\x09abc') +
                  message(b'n\xff\0') + message(b'w\xffabc') + message(b'X' + atom('x')) + message(b'')},
    'a module that is there': {'loaded': answer(tuple_of(atom('file'), string(b'x')))},
    'a start without pids': {'started': answer(list_of(atom('x'), tuple_of(atom('ok'), b'a\1', b'a\2', b't\0\0\0\0')))},
    'an unknown reason': {'started': answer(list_of(atom('x'), tuple_of(atom('error'), tuple_of(atom('moon'), b'a\7'))))},
    'whole records': {'fed': data(RECORD * 3) + ended(atom('stopped'))},
    'messages that are not understood': {'fed': message(atom('x')) + message(tuple_of(atom('data'), atom('x'))) + b'\0\0\0\0' +
                                         message(atom('y'), tuple_of(b'a\3', PID, PID)) + data(RECORD) +
                                         ended(tuple_of(atom('agent'), binary(b'killed')))},
    'clocks that are none, that were asked for, and that were not': {
        'fed': clocks(atom('x'), b'a\1') + data(RECORD) + clocks(b'a\2', b'b\xff\xff\xff\xff') + clocks(b'a\4', b'a\5'),
        'acknowledged': ended(atom('stopped'))},
    'a binary that is longer than its message': {'fed': message(b'h\2' + atom('data') + b'm\x7f\xff\xff\xff' + RECORD) +
                                                 ended(atom('stopped'))},
    'a record that is cut': {'fed': data(RECORD) + data(RECORD[:-1])},
    'a connection that ends in a message': {'fed': data(RECORD * 2) + data(RECORD * 100)[:-1]},
}


class FakeNode:
    def __init__(self, sends):
        self.sends = sends
        self.acknowledged = None
        self.epmd = socket.create_server(('127.0.0.1', 0))
        self.node = socket.create_server(('127.0.0.1', 0))
        for server, serve in ((self.epmd, self.serve_epmd), (self.node, self.serve_node)):
            threading.Thread(target=self.accept, args=(server, serve), daemon=True).start()

    @staticmethod
    def accept(server, serve):
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            try:
                serve(connection)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):  # unread bytes would make a reset of the end
                    pass
            except OSError:
                pass
            connection.close()

    def close(self):
        for server in (self.epmd, self.node):
            server.shutdown(socket.SHUT_RDWR)
            server.close()

    def serve_epmd(self, connection):
        connection.recv(300)
        port = self.node.getsockname()[1]
        connection.sendall(self.sends.get(EPMD, b'\x77\0' + struct.pack('>H', port) + b'M\0\0\6\0\5\0\4fake\0\0'))

    def serve_node(self, connection):
        stream = connection.makefile('rb')

        def packet(size):
            head = stream.read(size)
            return stream.read(int.from_bytes(head, 'big')) if len(head) == size else b''

        def call():
            while not packet(4):
                pass

        name = packet(2)
        flags, creation = name[1:9], name[9:13]
        usual = {
            'status': lambda: b'\0\3sok',
            'challenge': lambda: b'\0\x21N' + flags + struct.pack('>IIH', CHALLENGE, 1, 14) + b'fake@localhost',
            'acknowledgement': lambda: b'\0\x11a' + hashlib.md5(
                (COOKIE + str(struct.unpack('>I', packet(2)[1:5])[0])).encode()).digest(),
            'release': lambda: (call(), answer(string(b'25')))[1],
            'loaded': lambda: (call(), answer(atom('false')))[1],
            'started': lambda: (call(), answer(STARTED))[1],
            'fed': lambda: (call(), data(RECORD) + ended(atom('stopped')))[1],
        }
        for step in STEPS:
            bytes_of_node = usual[step]()
            connection.sendall(self.sends.get(step, bytes_of_node).replace(CREATION, creation))
            if step in self.sends:
                break
        if 'acknowledged' in self.sends:
            term = b''
            while b'ack' not in term:
                term = packet(4)
            self.acknowledged = term[-1]
            connection.sendall(self.sends['acknowledged'].replace(CREATION, creation))


# --- The feeder -------------------------------------------------------------------------------------------

def run_feeder(driver, object_path, wish, sends):
    fake = FakeNode(sends)
    environment = dict(os.environ, ERL_EPMD_PORT=str(fake.epmd.getsockname()[1]))
    said = subprocess.run([driver, object_path, 'fake@localhost', wish, 'cookie=' + COOKIE],
                          env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    lines = said.stderr.decode('utf-8', 'replace')
    for server in (fake.epmd, fake.node):
        lines = lines.replace(str(server.getsockname()[1]), 'PORT')
    fake.close()
    if fake.acknowledged is not None:
        lines += 'acknowledged: %d bytes\n' % fake.acknowledged
    return said.returncode, lines, len(said.stdout)


def show_table(*feeder):
    for name, sends in PEERS.items():
        status, lines, records = run_feeder(*feeder, sends)
        print('%s: status %d, %d bytes' % (name, status, records))
        print(''.join('    %s\n' % line for line in lines.splitlines()), end='')


def changed(chance, content):
    """CONTENT with some bytes replaced, or cut."""
    content = bytearray(content)
    for _ in range(chance.randrange(1, 4)):
        content[chance.randrange(len(content))] = chance.randrange(256)
    return bytes(content[:chance.randrange(1, len(content) + 1)] if chance.random() < 0.2 else content)


def run_random(count, *feeder):
    usual = {
        'status': b'\0\3sok', 'challenge': b'\0\x21N' + bytes(8) + struct.pack('>IIH', CHALLENGE, 1, 14) + b'fake@localhost',
        'acknowledgement': b'\0\x11a' + bytes(16), 'release': answer(string(b'25')), 'loaded': answer(atom('false')),
        'started': answer(STARTED), 'fed': data(RECORD * 5) + ended(atom('stopped')),
    }
    statuses = set()
    for seed in range(count):
        chance = random.Random(seed)
        step = chance.choice(STEPS + STEPS[3:])
        status, lines, _ = run_feeder(*feeder, {step: changed(chance, usual[step])})
        statuses.add(status)
        understood = all(line == 'ok' or line.startswith('error: ') for line in lines.splitlines())
        # An end for a reason that is not known is told, but loses nothing.
        fails = 'error: ' in lines.replace('error: fake@localhost ended the tracing: ', '')
        if status not in (0, 3, 4) or not understood or (status != 0) != fails:
            print('seed %d, %s: status %d: %s' % (seed, step, status, lines))
    print('statuses: ' + ' '.join(map(str, sorted(statuses))))


if sys.argv[4] == 'table':
    show_table(*sys.argv[1:4])
else:
    run_random(int(sys.argv[5]), *sys.argv[1:4])
