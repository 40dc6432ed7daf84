#!/usr/bin/env python3
"""Measures the inputs of at_scale.py, on the machine on which it runs.

  samples/measure_scale.py kinds FILE...        bytes in the log, publishing, consuming into `count`
  samples/measure_scale.py tracers FILE...      records a second of `replay -t TRACER`, from a file
  samples/measure_scale.py states FILE          states of workers, and what comes before a segment
  samples/measure_scale.py streams FILE COUNT   COUNT recordings in one stream, written at once
  samples/measure_scale.py replicas FILE COUNT  the same with one, and with three servers
  samples/measure_scale.py leader FILE          three servers, of which the stream's leader is killed
  samples/measure_scale.py ids FILE             memory of a server for the ids of messages
  samples/measure_scale.py clients              memory of a server for connections
  samples/measure_scale.py world FILE           beginning in the middle of a recording
  samples/measure_scale.py node                 `convert` of a running node with 10,000 events a second

A FILE is a recording; kinds, tracers, states, world and leader put copies of it together, up to 200 MB. Times of kinds
and tracers are the least of all rounds, as other programs may use the machine. nats-server must be installed, and
tracehost be in PATH. Each server has its files in a new folder in $TMPDIR.
"""

import base64
import contextlib
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 4
SIZE = 200e6
CLIENT = os.path.dirname(os.path.realpath(__file__)) + '/../tests/cli/lib/nats_client.py'
TICK = os.sysconf('SC_CLK_TCK')
TRACERS = ('count', 'time', 'flame', 'report')


class Server:
    """A nats-server with a store in FOLDER."""

    def __init__(self, folder, *options):
        os.makedirs(folder)
        self.process = subprocess.Popen(['setpriv', '--pdeathsig', 'KILL', 'nats-server', '-a', '127.0.0.1', '-p', '-1', '-sd', folder,
                                         '--ports_file_dir', folder, *options],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        path = '%s/nats-server_%d.ports' % (folder, self.process.pid)
        while not os.path.exists(path) or not os.path.getsize(path):
            if self.process.poll() is not None:
                sys.exit('nats-server has ended')
            time.sleep(0.05)
        with open(path) as file:
            ports = json.load(file)
        self.url, self.route = ports['nats'][0], ports.get('cluster', [''])[0]
        self.port = self.url.rpartition(':')[2]

    def cpu(self):
        """Returns the seconds of processors that it has taken."""
        with open('/proc/%d/stat' % self.process.pid) as file:
            words = file.read().rpartition(')')[2].split()
        return (int(words[11]) + int(words[12])) / TICK

    def memory(self):
        with open('/proc/%d/status' % self.process.pid) as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith('VmRSS'))

    def ask(self, subject, question=None):
        answer = subprocess.run([CLIENT, self.port, 'request', '$JS.API.' + subject, json.dumps(question) if question else ''],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return json.loads(answer.stdout) if answer.returncode == 0 else None

    def make(self, stream, **more):
        while not self.ask('STREAM.CREATE.' + stream, dict(
                name=stream, subjects=['tracehost.%s.records.*' % stream, 'tracehost.%s.world.*' % stream],
                discard='new', allow_direct=True, storage='file', **more)):
            time.sleep(0.2)


@contextlib.contextmanager
def servers(count=1):
    """Yields COUNT servers with JetStream; several are a cluster."""
    with tempfile.TemporaryDirectory() as folder:
        running = []
        try:
            if count == 1:
                running.append(Server(folder + '/0', '-js'))
                yield running
            else:
                cluster = '--cluster_name', 'scale', '--cluster', 'nats://127.0.0.1:-1'
                running.append(Server(folder + '/0', *cluster))  # it tells the members of each other
                running += [Server('%s/%d' % (folder, i), '-js', '-n', 'n%d' % i, '--routes', running[0].route, *cluster)
                            for i in range(1, count + 1)]
                yield running[1:]
        finally:
            for server in running:
                server.process.kill()
                server.process.wait()


def run(*words, env=None):
    """Runs tracehost; returns seconds by the clock, and of processors."""
    begin = time.monotonic()
    process = subprocess.Popen(['tracehost', *words], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, ended, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(ended)
    if process.returncode:
        sys.exit('tracehost %s: status %d' % (' '.join(words), process.returncode))
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime


def info(file):
    found = json.loads(subprocess.run(['tracehost', 'info', '--format=json', file], check=True, stdout=subprocess.PIPE).stdout)
    return found['total'], os.path.getsize(file)


@contextlib.contextmanager
def copies(file):
    """Yields the name of a recording that has copies of FILE."""
    with tempfile.TemporaryDirectory() as folder, open(file, 'rb') as one:
        data = one.read()
        with open(folder + '/all.trace', 'wb') as many:
            for _ in range(max(1, round(SIZE / len(data)))):
                many.write(data)
        yield folder + '/all.trace'


def show(name, **figures):
    print(name, ' '.join('%s=%.4g' % (key, value) for key, value in figures.items()), flush=True)


def stored(server, stream):
    """Returns messages, bytes of headers, of data, and of the data when it is plain, of the records and of the world."""
    sums = {'records': [0, 0, 0, 0], 'world': [0, 0, 0, 0]}
    for sequence in range(1, server.ask('STREAM.INFO.' + stream)['state']['last_seq'] + 1):
        message = server.ask('STREAM.MSG.GET.' + stream, {'seq': sequence})['message']
        heads = base64.b64decode(message['hdrs'])
        plain = int(re.search(rb'Tracehost-Bytes: (\d+)', heads)[1])
        sizes = 1, len(heads), len(base64.b64decode(message.get('data', ''))), plain
        found = sums[message['subject'].split('.')[2]]
        found[:] = [a + b for a, b in zip(found, sizes)]
    return sums


def kinds(*files):
    for file in files:
        with servers() as (server,), copies(file) as copy:
            records, size = info(copy)
            rows = []
            for i in range(ROUNDS):
                log = '%s/r%d' % (server.url, i)
                before = server.cpu()
                clock, cpu = run('convert', copy, log)
                middle = server.cpu()
                read, read_cpu = run('replay', '-t', 'count', log)
                rows.append((clock, cpu, middle - before, read, read_cpu, server.cpu() - middle))
            state = server.ask('STREAM.INFO.r0', {'subjects_filter': 'tracehost.r0.records.*'})['state']
            messages, batches = state['messages'], sum(state['subjects'].values())
            write, write_cpu, write_server, read, read_cpu, read_server = (min(column) for column in zip(*rows))
            run('convert', file, server.url + '/one')
            sums = stored(server, 'one')
        one, _ = info(file)
        show(file, records=records, plain=size / records, disk=state['bytes'] / records, batch=records / batches,
             heads=sums['records'][1] / sums['records'][0], data=sums['records'][2] / one,
             world_messages=sums['world'][0] / sums['records'][0], world_disk=sum(sums['world'][1:3]) / one,
             world_plain=sums['world'][3] / one)
        show('  write', M_s=records / write / 1e6, convert_us=write_cpu / records * 1e6, server_us_message=write_server / messages * 1e6)
        show('  read', M_s=records / read / 1e6, replay_us=read_cpu / records * 1e6, server_us_message=read_server / batches * 1e6)


def tracers(*files):
    for file in files:
        with copies(file) as copy:
            records, _ = info(copy)
            for tracer in TRACERS:
                pairs = [run('replay', '-t', tracer, copy) for _ in range(ROUNDS)]
                show(file + ' ' + tracer, M_s=records / min(pair[0] for pair in pairs) / 1e6,
                     cpu_us=min(pair[1] for pair in pairs) / records * 1e6)


def states(file, segment='8MiB'):
    with servers() as (server,), copies(file) as copy:
        records, _ = info(copy)
        run('convert', copy, server.url + '/r')
        for tracer in TRACERS:
            plain = min((run('replay', '-t', tracer, server.url + '/r') for _ in range(ROUNDS)), key=lambda times: times[1])
            rounds = []
            for _ in range(ROUNDS):
                server.ask('STREAM.DELETE.KV_tracehost_r')
                rounds.append(run('replay', '--join', '--segment=' + segment, '-t', tracer, server.url + '/r'))
            joined = min(rounds, key=lambda times: times[1])
            merged = run('merge', '--segment=' + segment, '-t', tracer, server.url + '/r')
            subjects = server.ask('STREAM.INFO.KV_tracehost_r', {'subjects_filter': '$KV.tracehost_r.*.*.segments.*'})['state']['subjects']
            marks = [base64.b64decode(server.ask('STREAM.MSG.GET.KV_tracehost_r', {'last_by_subj': subject})['message']['data']).split()
                     for subject in subjects]
            sizes = [int(mark[5]) for mark in marks if mark[0] == b'done']
            state = server.ask('STREAM.INFO.KV_tracehost_r')['state']
            before = records * (len(sizes) - 1) / len(sizes)  # records before the last segment
            if tracer == 'count':  # which does not get these
                each = (joined[1] - plain[1]) / len(sizes)
            show(tracer, segments=len(sizes), state=statistics.mean(sizes), most=max(sizes), bucket=state['bytes'],
                 replay_cpu=plain[1], join_cpu=joined[1], segment_ms=each * 1e3, past_us=(joined[1] - plain[1] - each * len(sizes)) / before * 1e6, replay_s=plain[0],
                 join_s=joined[0], merge_s=merged[0])


def write_at_once(file, url, count):
    begin = time.monotonic()
    writers = [subprocess.Popen(['tracehost', 'convert', file, url], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True) for _ in range(count)]
    for writer in writers:
        if writer.wait() != 0:
            sys.exit(writer.stderr.read())
    return time.monotonic() - begin


def streams(file, count):
    records, _ = info(file)
    with servers() as (server,):
        for number in 1, int(count):
            name = 'r%d' % number
            before = server.cpu()
            clock = write_at_once(file, server.url + '/' + name, number)
            messages = server.ask('STREAM.INFO.' + name)['state']['messages']
            show('write', recordings=number, messages=messages, messages_s=messages / clock, records_M=number * records / clock / 1e6,
                 server_us_message=(server.cpu() - before) / messages * 1e6)
            lines = subprocess.run(['tracehost', 'streams', server.url + '/' + name], check=True, stdout=subprocess.PIPE, text=True).stdout
            ids = [line.split()[1] for line in lines.splitlines() if line.startswith(name + ' ')]
            rows = []
            for i in range(ROUNDS):
                before = server.cpu()
                clock = run('replay', '-t', 'count', '%s/%s?recording=%s' % (server.url, name, ids[i * (len(ids) - 1) // ROUNDS]))[0]
                rows.append((clock, (server.cpu() - before) / messages * number * 1e6))
            show('read', recordings=number, seconds=statistics.median(row[0] for row in rows),
                 records_M=records / statistics.median(row[0] for row in rows) / 1e6,
                 server_us_get=statistics.median(row[1] for row in rows))


def replicas(file, count):
    records, _ = info(file)
    for size in 1, 3:
        with servers(size) as members:
            for number in 1, int(count):
                name = 'r%d' % number
                members[0].make(name, num_replicas=size)
                time.sleep(2)
                before = [member.cpu() for member in members]
                clock = write_at_once(file, members[0].url + '/' + name, number)
                messages = members[0].ask('STREAM.INFO.' + name)['state']['messages']
                spent = [member.cpu() - ago for member, ago in zip(members, before)]
                show('replicas', servers=size, recordings=number, messages=messages, messages_s=messages / clock,
                     ms_message=clock / messages * number * 1e3, records_M=number * records / clock / 1e6,
                     servers_us=sum(spent) / messages * 1e6, busiest_us=max(spent) / messages * 1e6)


def leader(file):
    with copies(file) as copy:
        for _ in range(ROUNDS):
            with servers(3) as members:
                members[0].make('r', num_replicas=3)
                time.sleep(2)
                url = '%s/r' % members[0].url
                quiet, _ = run('convert', copy, url)
                begin = time.monotonic()
                writer = subprocess.Popen(['tracehost', 'convert', copy, url], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(quiet / 3)
                name = members[0].ask('STREAM.INFO.r')['cluster']['leader']
                members[int(name[1:]) - 1].process.kill()
                status = writer.wait()
                show('leader', status=status, quiet=quiet, longer=time.monotonic() - begin - quiet)


def ids(file):
    grown = []
    for window in 120 * 10**9, 100 * 10**6:
        with servers() as (server,):
            server.make('r', duplicate_window=window)
            before = server.memory()
            run('convert', file, server.url + '/r?batch=1')
            time.sleep(5)
            messages = server.ask('STREAM.INFO.r')['state']['messages']
            grown.append((server.memory() - before) / messages)
            show('ids', window_s=window / 1e9, messages=messages, bytes_message=grown[-1])
    show('ids', bytes_id=grown[0] - grown[1])


def clients():
    with servers() as (server,):
        before, held = server.memory(), []
        for _ in range(1000):
            client = socket.create_connection(('127.0.0.1', int(server.port)))
            client.sendall(b'CONNECT {"verbose":false,"headers":true}\r\nSUB _INBOX.a.* 1\r\nPING\r\n')
            while b'PONG' not in client.recv(65536):
                pass
            held.append(client)
        show('clients', bytes_client=(server.memory() - before) / len(held))


def world(file):
    with servers() as (server,), copies(file) as copy:
        _, size = info(copy)
        run('convert', copy, server.url + '/r')
        subjects = server.ask('STREAM.INFO.r', {'subjects_filter': 'tracehost.r.world.*'})['state']['subjects']
        messages = sum(subjects.values())
        at = [min(run('replay', '-t', 'count', '%s/r?begin=%d&end=%d' % (server.url, place, place + (256 << 10)))[0]
                  for _ in range(ROUNDS)) for place in (1, int(size * 0.98))]
        show('world', messages=messages, near=at[0], far=at[1], us_message=(at[1] - at[0]) / messages / 0.98 * 1e6)


def node():
    os.environ.setdefault('BUILD_DIR', 'build/release')
    sys.path.insert(0, os.path.dirname(CLIENT) + '/../../bench')
    from node import Node
    with servers() as (server,), tempfile.TemporaryDirectory() as folder:
        subprocess.run(['erlc', '-o', folder, sys.path[0] + '/node.erl'], check=True)
        traced = Node(folder, 0)
        try:
            traced.ask('1000000000')
            traced.ask(str(round(traced.rate() / 10000)))
            words = 'convert', '-p', 'node:called/1', '--max-rate=0', 'node:bench'
            clock, cpu = run(*words, '--for=10s', server.url + '/r', env=traced.environment)
            state = server.ask('STREAM.INFO.r')['state']
            lines = subprocess.run(['tracehost', 'streams', server.url + '/r'], check=True, stdout=subprocess.PIPE, text=True).stdout
            records, size = (int(word) for word in lines.splitlines()[1].split()[3:5])
            show('node', seconds=clock, records=records, plain=size / records, disk=state['bytes'] / records,
                 messages=state['messages'], convert_us=cpu / records * 1e6)
            writer = subprocess.Popen(['tracehost', *words, server.url + '/stopped'], env=traced.environment, stderr=subprocess.PIPE, text=True)
            traced.await_traced(True)
            time.sleep(2)
            os.kill(server.process.pid, signal.SIGSTOP)
            begin = time.monotonic()
            traced.await_traced(False)
            show('node', seconds_of_silence=time.monotonic() - begin)
            os.kill(server.process.pid, signal.SIGCONT)
            print(writer.communicate()[1])
        finally:
            traced.process.stdin.close()
            traced.process.wait()
            subprocess.run(['epmd', '-kill'], env=traced.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if len(sys.argv) < 2 or sys.argv[1] not in ('kinds', 'tracers', 'states', 'streams', 'replicas', 'leader', 'ids', 'clients', 'world', 'node'):
    sys.exit(__doc__)
globals()[sys.argv[1]](*sys.argv[2:])
