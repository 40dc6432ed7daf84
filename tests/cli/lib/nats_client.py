#!/usr/bin/env python3
"""A client of NATS that knows just the protocol's lines.

  nats_client.py PORT request SUBJECT [JSON]       prints the answer; fails if that has an error
  nats_client.py PORT publish SUBJECT TEXT [HEADER: VALUE]...
  nats_client.py PORT again STREAM SEQUENCE [s/FROM/TO/]... [damage]
                       publishes a message of the stream again, without its id; headers and data changed
  nats_client.py PORT sequence STREAM N            prints the sequence of the Nth message of records, from 1
"""

import base64
import json
import re
import socket
import sys


class Client:
    def __init__(self, port):
        self.file = socket.create_connection(('127.0.0.1', int(port)), 30).makefile('rwb')
        self.file.readline()
        self.send(b'CONNECT {"verbose":false,"pedantic":false,"headers":true,"no_responders":true}\r\n'
                  b'SUB inbox 1\r\nPING\r\n')
        self.answer(b'PONG')

    def send(self, data):
        self.file.write(data)
        self.file.flush()

    def answer(self, wanted):
        """Returns the next message, or returns at the line WANTED."""
        while True:
            line = self.file.readline()
            if not line or line.startswith(b'-ERR'):
                sys.exit('the server said %r' % line)
            line = line.rstrip()
            if line == b'PING':
                self.send(b'PONG\r\n')
            elif line == wanted:
                return None
            elif line.startswith((b'MSG ', b'HMSG ')):
                words = line.split()
                data = self.file.read(int(words[-1]) + 2)[:-2]
                return data[int(words[-2]):] if words[0] == b'HMSG' else data

    def publish(self, subject, data, headers=b'NATS/1.0\r\n\r\n'):
        self.send(b'HPUB %s inbox %d %d\r\n%s%s\r\n' % (
            subject.encode(), len(headers), len(headers) + len(data), headers, data))
        return self.answer(b'')

    def request(self, subject, text):
        self.send(b'PUB %s inbox %d\r\n%s\r\n' % (subject.encode(), len(text), text))
        said = self.answer(b'')
        if b'"error"' in said:
            sys.exit(said.decode())
        return said


def message(client, stream, sequence):
    """Returns the subject, the headers and the data of a message."""
    found = json.loads(client.request('$JS.API.STREAM.MSG.GET.' + stream, b'{"seq":%d}' % sequence))['message']
    return found['subject'], base64.b64decode(found['hdrs']), base64.b64decode(found.get('data', ''))


def records_message(client, stream, number):
    """Returns the sequence of message NUMBER of records."""
    sequence = 0
    while number > 0:
        sequence += 1
        number -= '.records.' in message(client, stream, sequence)[0]
    return sequence


def again(client, stream, sequence, *changes):
    subject, headers, data = message(client, stream, sequence)
    headers = re.sub(rb'Nats-(Msg-Id|Expected-Stream):[^\r]*\r\n', b'', headers)
    for change in changes:
        if change == 'damage':
            data = data[:len(data) // 2] + bytes(byte ^ 0x55 for byte in data[len(data) // 2:])
            continue
        before, after = change[2:-1].split('/')
        if not re.search(before.encode(), headers):
            sys.exit('%r is not in %r' % (before, headers))
        headers = re.sub(before.encode(), after.encode(), headers, count=1)
    return client.publish(subject, data, headers)


def main(port, command, *words):
    client = Client(port)
    if command == 'request':
        print(client.request(words[0], (words[1] if len(words) > 1 else '').encode()).decode())
    elif command == 'publish':
        lines = ''.join(word + '\r\n' for word in words[2:])
        print(client.publish(words[0], words[1].encode(), ('NATS/1.0\r\n%s\r\n' % lines).encode()).decode())
    elif command == 'sequence':
        print(records_message(client, words[0], int(words[1])))
    else:
        print(again(client, words[0], int(words[1]), *words[2:]).decode())


main(*sys.argv[1:])
