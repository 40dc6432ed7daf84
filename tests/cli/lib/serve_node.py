#!/usr/bin/env python3
"""Runs a command that connects to a node, and serves files to its clients as the node would.

  serve_node.py FILE[:MORE]... -- COMMAND...

A free port is used; PORT in COMMAND is replaced by its number. Each FILE is sent to one client, whose connection is
closed MORE seconds later. The exit status is the command's."""

import socket
import subprocess
import sys
import threading
import time

files, command = sys.argv[1:sys.argv.index('--')], sys.argv[sys.argv.index('--') + 1:]
listener = socket.create_server(('127.0.0.1', 0))


def serve():
    for file in files:
        name, _, more = file.partition(':')
        client, _ = listener.accept()
        with open(name, 'rb') as data, client:
            client.sendall(data.read())
            time.sleep(float(more or 0))
    listener.close()


threading.Thread(target=serve, daemon=True).start()
port = str(listener.getsockname()[1])
process = subprocess.run([word.replace('PORT', port) for word in command], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
for came, to in (process.stdout, sys.stdout), (process.stderr, sys.stderr):
    to.buffer.write(came.replace(port.encode(), b'PORT'))
sys.exit(process.returncode)
