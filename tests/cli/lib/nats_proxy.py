#!/usr/bin/env python3
"""Stands between clients and a server of NATS, and holds back what a client sends from a message on.

  nats_proxy.py PORT FILE PATTERN

Listens at a free port of 127.0.0.1, whose number it writes to FILE, and connects to PORT. The bytes of a client, up to those
that match the regular expression PATTERN, reach the server; from the match on they do not. Then there is FILE.met.
"""

import os
import re
import socket
import sys
import threading


def copy(source, target):
    try:
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def copy_until(source, target, pattern, met):
    """Copies up to the first match, which lies in the bytes of one write by libnats."""
    try:
        while data := source.recv(1 << 16):
            found = re.search(pattern, data)
            if found:
                target.sendall(data[:found.start()])
                open(met, 'w').close()
                return
            target.sendall(data)
    except OSError:
        pass


def main(port, file, pattern):
    listener = socket.create_server(('127.0.0.1', 0))
    with open(file + '.part', 'w') as out:
        out.write(str(listener.getsockname()[1]))
    os.rename(file + '.part', file)
    while True:
        client = listener.accept()[0]
        server = socket.create_connection(('127.0.0.1', int(port)))
        threading.Thread(target=copy, args=(server, client), daemon=True).start()
        threading.Thread(target=copy_until, args=(client, server, pattern.encode(), file + '.met'), daemon=True).start()


main(*sys.argv[1:])
