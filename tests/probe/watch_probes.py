"""For gdb: writes each hit of each probe of the program to the file $HITS as `tracehost run --probe`
would, by what gdb itself reads of the arguments. The program writes to $SAID. OF_FILE=usdt.so:
are those of that library, once it is loaded."""

import os
import re

import gdb

ROW = re.compile(r'^    X\((\w+), (?:live|replay|never), "[^"]*", \\\n((?:      \(.*\n)+)', re.M)
ARGUMENT = re.compile(r'\((\w+), (\w+)\)')


def read(kind, number):
    value = gdb.parse_and_eval('$_probe_arg%d' % number)
    if kind == 'string':
        return value.cast(gdb.lookup_type('char').pointer()).string()
    return str(int(value))


class Hit(gdb.Breakpoint):
    def __init__(self, name, arguments):
        super().__init__('-probe-stap %serlang:%s' % (os.environ.get('OF_FILE', ''), name))
        self.silent = True
        self.name, self.arguments = name, arguments

    def stop(self):
        count = int(gdb.parse_and_eval('$_probe_argc'))
        values = [read(kind, i) for i, (kind, _) in enumerate(self.arguments)]
        if count != len(values):
            print('%s: %d arguments' % (self.name, count), file=hits)
        print(self.name + ''.join(
            ' %s=%s' % (name, value) for (_, name), value in zip(self.arguments, values)),
            file=hits, flush=True)
        return False


hits = open(os.environ['HITS'], 'w')
with open('plugin_api/probe_table.h') as table:
    for name, arguments in ROW.findall(table.read()):
        Hit(name, ARGUMENT.findall(arguments))
shown = gdb.execute('show args', to_string=True)  # ... is "ARGS".
arguments = shown[shown.index('"') + 1:shown.rindex('"')]
gdb.execute('set args %s >%s' % (arguments, os.environ['SAID']))
gdb.execute('run')
