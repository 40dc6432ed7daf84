#!/usr/bin/env python3
"""Compares what `tracehost merge` prints with what one replay prints, while workers and the server are killed.

  nats_workers.py FOLDER SEEDS WORKERS TRACER[+...] RECORDING...

FOLDER is an empty folder for the server. WORKERS is a list such as 1,2,4. A run is a recording, a tracer, a number of workers
and a seed. In each run three workers and the server are killed with SIGKILL, when the bucket has got as many messages as the
seed says; a killed worker is replaced, and the server starts again with its files. A run that was over before all were killed
is made again, with other moments. A run fails if merge prints anything else on stdout or stderr than a replay, or if it has not
merged all segments.
"""

import glob
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time

TRACEHOST = os.environ['TRACEHOST']
SEGMENTS, DEATHS, LEASE, TRIES = 16, 3, '--lease=1s', 20
STREAM = 'chaos'
BUCKET = 'KV_tracehost_' + STREAM


class Server:
    def __init__(self, folder):
        self.folder, self.port = folder, -1
        self.start()

    def start(self):
        ports = os.path.join(self.folder, 'ports')
        os.makedirs(ports, exist_ok=True)
        self.process = subprocess.Popen(
            ['setpriv', '--pdeathsig', 'KILL', 'nats-server', '-a', '127.0.0.1', '-p', str(self.port), '--ports_file_dir', ports,
             '-js', '-sd', os.path.join(self.folder, 'store')], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        file = os.path.join(ports, 'nats-server_%d.ports' % self.process.pid)
        found = None
        while not found:
            for name in glob.glob(file):
                found = re.search(r'127\.0\.0\.1:(\d+)', open(name).read())
            time.sleep(0.02)
        self.port = int(found[1])
        self.connection = None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ask(self, subject, text=b''):
        """Returns the answer of the API; None while there is none."""
        try:
            if not self.connection:
                self.connection = socket.create_connection(('127.0.0.1', self.port), 5).makefile('rwb')
                self.connection.write(b'CONNECT {"verbose":false,"pedantic":false}\r\nSUB inbox 1\r\n')
            self.connection.write(b'PUB $JS.API.%s inbox %d\r\n%s\r\n' % (subject.encode(), len(text), text))
            self.connection.flush()
            while line := self.connection.readline():
                if line.startswith(b'MSG '):
                    return json.loads(self.connection.read(int(line.split()[-1]) + 2))
        except OSError:
            pass
        self.connection = None
        return None

    def writes(self):
        """Returns the number of messages that the bucket has ever got."""
        answer = self.ask('STREAM.INFO.' + BUCKET)
        return answer['state']['last_seq'] if answer and 'state' in answer else 0

    def url(self, recording):
        return 'nats://127.0.0.1:%d/%s?recording=%s' % (self.port, STREAM, recording)


def output_of(*words):
    """Returns stdout, stderr without times, the status, and the number of shares that were merged."""
    done = subprocess.run([TRACEHOST, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    shares = re.search(rb', in (\d+) shares', done.stderr)
    return done.stdout, re.sub(rb'(?m)^played in .*', b'played', done.stderr), done.returncode, int(shares[1]) if shares else 1


class Run:
    def __init__(self, server, recording, size, tracer, seed):
        self.server, self.random = server, random.Random(seed)
        self.words = [server.url(recording), '--segment=%d' % (size // SEGMENTS + 1), '-t', tracer]
        self.workers, self.deaths = [], 0

    def start(self):
        self.workers.append(subprocess.Popen([TRACEHOST, 'replay', '--join', LEASE, *self.words], stdin=subprocess.DEVNULL,
                                             stderr=subprocess.PIPE, start_new_session=True))

    def kill_worker(self):
        alive = [worker for worker in self.workers if worker.poll() is None]
        if not alive:
            return
        worker = self.random.choice(alive)
        os.killpg(worker.pid, signal.SIGKILL)
        worker.communicate()
        self.deaths += 1
        self.workers.remove(worker)
        self.start()

    def are_alive(self):
        """Starts workers again that began while the server was killed. Returns whether there are any."""
        for worker in list(self.workers):
            if worker.poll() == 3 and b'cannot join' in worker.communicate()[1]:
                self.workers.remove(worker)
                self.start()
        return any(worker.poll() is None for worker in self.workers)

    def play(self, count):
        """Returns what is wrong; None: nothing."""
        while self.server.ask('STREAM.DELETE.' + BUCKET) is None:
            time.sleep(0.02)
        # A segment takes at least three messages: a claim, a piece, a mark.
        moments = sorted([(self.random.randrange(2, 2 * SEGMENTS), self.kill_worker) for _ in range(DEATHS)] +
                         [(self.random.randrange(2, 2 * SEGMENTS), self.restart)], key=lambda moment: moment[0])
        for _ in range(count):
            self.start()
        while moments and self.are_alive():
            if self.server.writes() >= moments[0][0]:
                moments.pop(0)[1]()
        while self.workers:
            worker = self.workers.pop()
            said = worker.communicate()[1].decode()
            if worker.returncode == 3 and 'cannot join' in said: # it began while the server was killed
                self.start()
            elif worker.returncode != 0:
                return 'a worker has ended with %d: %s' % (worker.returncode, said)
        return None

    def restart(self):
        self.server.kill()
        self.server.start()
        self.deaths += 1


def main(folder, seeds, counts, tracers, *recordings):
    server = Server(folder)
    failures = runs = deaths = 0
    for path in recordings:
        said = subprocess.run([TRACEHOST, 'convert', path, 'nats://127.0.0.1:%d/%s?batch=%d' % (
            server.port, STREAM, max(os.path.getsize(path) // (8 * SEGMENTS), 256) if os.path.getsize(path) < 8 << 20 else 65536)],
            stderr=subprocess.PIPE, check=True).stderr.decode()
        recording = re.search(r'recording ([0-9a-f]+)', said)[1]
        for tracer in tracers.split('+'):
            wanted = output_of('replay', '--stats', server.url(recording), '-t', tracer)
            if wanted[:2] != output_of('replay', '--stats', server.url(recording), '-t', tracer)[:2]:
                print('%s %s: two replays differ, as there are no times' % (os.path.basename(path), tracer))
                continue
            for count in map(int, counts.split(',')):
                for seed in range(int(seeds)):
                    for again in range(TRIES):
                        run = Run(server, recording, os.path.getsize(path), tracer, '%s %s %d %d %d' % (path, tracer, count, seed, again))
                        fault = run.play(count)
                        if fault or run.deaths == DEATHS + 1:
                            break
                    if not fault and run.deaths <= DEATHS:
                        fault = 'only %d workers and servers died, in each of %d runs' % (run.deaths, TRIES)
                    got = output_of('merge', '--stats', *run.words)
                    if not fault and got[:3] != wanted[:3]:
                        fault = 'merge differs: %s' % got[1].decode()
                    if not fault and got[3] < SEGMENTS // 2:
                        fault = 'the states were not merged: %d shares' % got[3]
                    runs, deaths, failures = runs + 1, deaths + run.deaths, failures + bool(fault)
                    if fault:
                        print('%s %s, %d workers, seed %d: %s' % (path, tracer, count, seed, fault))
    server.kill()
    print('%d runs, %d deaths, %d failures' % (runs, deaths, failures))
    sys.exit(failures > 0 or runs == 0)


main(*sys.argv[1:])
