#!/usr/bin/env python3
"""Checks that the table of probes in host/probe/README.md matches plugin_api/probe_table.h, and that no
code fires a probe that is documented as never fired.

With --fix, writes the table.
"""

import os
import re
import sys

LIST = 'plugin_api/probe_table.h'
README = 'host/probe/README.md'
BEGIN, END = '<!-- probes: written by scons fmt -->', '<!-- end of probes -->'

ROW = re.compile(r'^    X\((\w+), (live|replay|never), "([^"]*)", \\\n((?:      \(.*\n)+)', re.M)
ARGUMENT = re.compile(r'\((\w+), (\w+)\)')
FIRED = re.compile(r'\bTH_PROBE\((\w+),')
TYPES = {'string': 'char *', 'int': 'int ', 'uint32': 'uint32_t ', 'int64': 'int64_t '}


def rows(text):
    """Returns [(name, fires, where, [(type, name)])]."""
    return [(name, fires, where, ARGUMENT.findall(arguments))
            for name, fires, where, arguments in ROW.findall(text)]


def prototype(name, arguments):
    return '%s(%s)' % (name, ', '.join(TYPES[type] + argument for type, argument in arguments))


def listed(tree):
    return rows('\n'.join(tree.lines(LIST)) + '\n')


def table(tree):
    """Returns the lines between the marks."""
    return ['| probe | fires | when, or why not |', '|---|---|---|'] + [
        '| `%s` | %s | %s |' % (prototype(name, arguments), fires, where)
        for name, fires, where, arguments in listed(tree)]


def split(lines):
    """Returns the README before, between and after the marks."""
    begin, end = lines.index(BEGIN), lines.index(END)
    return lines[:begin + 1], lines[begin + 1:end], lines[end:]


def fired(tree):
    """Yields (name, path, line) of each probe that the host fires."""
    for path in tree.files:
        if path.startswith('host/') and path.endswith(('.c', '.h')) and path != 'host/probe/probe.h':
            for number, line in enumerate(tree.lines(path), 1):
                for name in FIRED.findall(line):
                    yield name, path, number


def check(tree):
    if LIST not in tree.files:
        return
    never = {name for name, fires, _, _ in listed(tree) if fires == 'never'}
    for name, path, number in fired(tree):
        if name in never:
            yield path, number, '%s fires, which it never does by %s' % (name, LIST)
    try:
        before, between, _ = split(tree.lines(README))
    except ValueError:
        yield README, 1, 'the marks of the table of probes are missing'
        return
    if between != table(tree):
        yield README, len(before) + 1, 'the table of probes is stale (scons fmt)'


def fix(tree):
    before, _, after = split(tree.lines(README))
    with open(os.path.join(tree.root, README), 'w') as file:
        file.write('\n'.join(before + table(tree) + after) + '\n')


if __name__ == '__main__':
    sys.dont_write_bytecode = True
    from tree import Tree
    if sys.argv[1:] != ['--fix']:
        sys.exit('usage: probe_table.py --fix')
    fix(Tree(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))
