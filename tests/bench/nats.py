#!/usr/bin/env python3
"""Records a second through a log on NATS JetStream, beside the same through a file: the large recording l1 is written, and
read into `count`. The server is on the same processors; its log is on the file system of the temporary folder. Time is
that of a clock on the wall."""

import json
import os
import shutil
import subprocess
import tempfile
import time

import figures

TRACEHOST = os.environ['TRACEHOST']
L1 = '../shared/recordings/large/l1_compile_compiler_arity.trace'
ROUNDS = 9
NAMES = ('nats/publish', 'nats/consume')


def seconds(*words):
    begin = time.monotonic()
    subprocess.run([TRACEHOST, *words], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return time.monotonic() - begin


def missing():
    """Returns why nothing can be measured here, or None."""
    if not os.path.exists(os.environ['BUILD_DIR'] + '/lib/tracehost/tracehost_nats.so'):
        return 'no libnats'
    if not shutil.which('nats-server'):
        return 'no nats-server'
    return None if os.path.exists(L1) else 'no large recordings'


def address(server, folder):
    """Waits until the server listens, and returns its URL."""
    path = '%s/nats-server_%d.ports' % (folder, server.pid)
    while server.poll() is None:
        try:
            with open(path) as file:
                return json.load(file)['nats'][0]
        except (OSError, ValueError):
            time.sleep(0.05)
    raise SystemExit('nats-server has ended')


def measure(url, folder):
    info = json.loads(subprocess.run([TRACEHOST, 'info', '--format=json', L1], check=True, stdout=subprocess.PIPE).stdout)
    records = info['total'] / 1e6
    rows = []
    for i in range(ROUNDS):
        log, file = '%s/round%d' % (url, i), folder + '/l1.trace'
        rows.append([records / seconds(*words) for words in (
            ('convert', L1, log), ('convert', L1, file), ('replay', '-t', 'count', log), ('replay', '-t', 'count', file))])
    for name, at in zip(NAMES, (0, 2)):
        ours, peer = [row[at] for row in rows], [row[at + 1] for row in rows]
        figures.pair(name, ours, peer)
        print('%s: %.2f million records a second, %.2f through a file' % (
            name, sorted(ours)[ROUNDS // 2], sorted(peer)[ROUNDS // 2]))


def main():
    why = missing()
    if why:
        for name in NAMES:
            figures.missing(name, why)
        print(why)
        return
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(['setpriv', '--pdeathsig', 'KILL', 'nats-server', '-a', '127.0.0.1', '-p', '-1', '-js', '-sd',
                                   folder, '--ports_file_dir', folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            measure(address(server, folder), folder)
        finally:
            server.kill()
            server.wait()


main()
