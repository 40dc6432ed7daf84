#!/usr/bin/env python3
"""How much of its throughput a node keeps while a command traces it from outside, at 1,000 and 10,000 events a second. The
node has one processor, the command another one. Windows with and without tracing alternate; a round is one of each."""

import os
import subprocess
import sys
import tempfile
import time

import figures

BUILD = os.environ['BUILD_DIR']
PROGRAM = BUILD + '/bin/tracehost'
RATES = 1000, 10000
ROUNDS = 11
SECONDS = 0.7


class Node:
    """The node of node.erl on processor CPU, with the folder of its code and of its cookie."""

    def __init__(self, folder, cpu):
        self.environment = dict(os.environ, HOME=folder, ERL_EPMD_PORT=free_port())
        with open(os.open(folder + '/.erlang.cookie', os.O_CREAT | os.O_WRONLY, 0o400), 'w') as cookie:
            cookie.write('bench')
        self.process = subprocess.Popen(
            ['taskset', '-c', str(cpu), 'erl', '+S', '1:1', '-noshell', '-boot', 'no_dot_erlang', '-sname', 'bench', '-pa',
             folder, '-s', 'node', 'main'], env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line=''):
        """Units of work so far, seconds of the node's clock, and whether it is traced."""
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()
        units, ns, traced = self.process.stdout.readline().split()
        return int(units), int(ns) / 1e9, traced == 'true'

    def rate(self):
        """Units of work in a second, in a window from now on."""
        units, begin, _ = self.ask()
        time.sleep(SECONDS)
        more, end, _ = self.ask()
        return (more - units) / (end - begin)

    def await_traced(self, traced):
        while self.ask()[2] != traced:
            time.sleep(0.02)

    def traced_rate(self, cpu):
        client = subprocess.Popen(
            ['taskset', '-c', str(cpu), PROGRAM, 'replay', '-p', 'node:called/1', '--max-rate=0', '-t', 'count,output=/dev/null',
             'node:bench'], env=self.environment, stderr=subprocess.PIPE, text=True)
        self.await_traced(True)
        rate = self.rate()
        client.terminate()
        client.communicate()
        self.await_traced(False)
        return rate


def free_port():
    import socket
    with socket.socket() as one:
        one.bind(('', 0))
        return str(one.getsockname()[1])


def measure(node, rate, cpu):
    node.ask('1000000000')
    node.await_traced(False)
    node.ask(str(max(1, round(node.rate() / rate))))
    with_tracing, without = [], []
    for _ in range(ROUNDS):
        without.append(node.rate())
        with_tracing.append(node.traced_rate(cpu))
    figures.pair('node/%d' % rate, with_tracing, without)
    kept = sorted(mine / its for mine, its in zip(with_tracing, without))
    print('%6d events a second: %.3f of its throughput (quartiles %.3f, %.3f)' % (
        rate, kept[ROUNDS // 2], kept[ROUNDS // 4], kept[-1 - ROUNDS // 4]))


def why_not():
    if not os.path.exists(BUILD + '/lib/tracehost/tracehost_node.so'):
        return 'no part for running nodes (Debian: erlang-dev)'
    if len(os.sched_getaffinity(0)) < 2:
        return 'one processor'
    return None


def main():
    missing = why_not()
    if missing:
        print(missing + ': nothing is measured')
        for rate in RATES:
            figures.missing('node/%d' % rate, missing)
        return
    own, other = sorted(os.sched_getaffinity(0))[:2]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(['erlc', '-o', folder, 'tests/bench/node.erl'], check=True)
        node = Node(folder, own)
        try:
            for rate in RATES:
                measure(node, rate, other)
        finally:
            node.process.stdin.close()
            node.process.wait()
            subprocess.run(['epmd', '-kill'], env=node.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if __name__ == '__main__':
    sys.exit(main())
