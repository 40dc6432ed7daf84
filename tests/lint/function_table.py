#!/usr/bin/env python3
"""Checks that the table of functions in plugin_api/README.md matches plugin_api/erl_nif.h and host/nif.

A row is a group: its functions, below the NIF version that introduced them; the results on failure
(after "On failure:" in the group's text); the files that define them. A declared function without a
definition or without a comment is a fault, too; also one of plugin_api/nif_module.h. With --fix, writes
the table.
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(1, os.path.join(ROOT, 'plugin_api'))
import declarations  # noqa: E402

HEADER = 'plugin_api/erl_nif.h'
HEADERS = (HEADER, 'plugin_api/nif_module.h')
README = 'plugin_api/README.md'
BEGIN, END = '<!-- functions: written by scons fmt -->', '<!-- end of functions -->'

DEFINITION = re.compile(r'^[A-Za-z][\w *]*?\b(enif_\w+|erl_errno_id|th_\w+)\((?!.*;$)', re.M)


def groups(tree, header):
    """Returns the groups of a header."""
    return declarations.groups('\n'.join(tree.lines(header)) + '\n') if header in tree.files else []


def definitions(tree):
    """Returns the file of host/nif that defines each function: {name: file}."""
    found = {}
    for path in tree.files:
        if path.startswith('host/nif/') and path.endswith('.c'):
            for name in DEFINITION.findall('\n'.join(tree.lines(path))):
                found[name] = os.path.basename(path)
    return found


def code(text):
    """Returns names of functions, marked as code."""
    return re.sub(r'\b((?:enif|erl|ERL)_\w+(?:\(\))?)', r'`\1`', text)


def version(since):
    return '%d.%d' % divmod(since, 100) if since else 'no version'


def cells(group, files):
    names = {}
    for function in group.functions:
        names.setdefault(function.since, []).append(function.name)
    functions = ['%s: `%s`' % (version(since), ' '.join(names[since])) for since in sorted(names)]
    where = sorted({files[one.name] for one in group.functions if one.name in files})
    failure = re.search(r'On failure: (.*)', group.text)
    return (group.title, '<br>'.join(functions), code(failure[1].rstrip('. ') if failure else ''),
            ' '.join(where))


def table(tree):
    """Returns the lines between the marks."""
    files = definitions(tree)
    rows = ['| %s | %s | %s | %s |' % cells(group, files) for group in groups(tree, HEADER)]
    return ['| group | since: functions | on failure | in `host/nif` |', '|---|---|---|---|'] + rows


def split(lines):
    """Returns the README before, between and after the marks."""
    begin, end = lines.index(BEGIN), lines.index(END)
    return lines[:begin + 1], lines[begin + 1:end], lines[end:]


def check(tree):
    if HEADER not in tree.files:
        return
    files = definitions(tree)
    for header in HEADERS:
        for function in (one for group in groups(tree, header) for one in group.functions):
            if function.name not in files:
                yield header, function.line, 'no file of host/nif defines %s' % function.name
            if not function.comment:
                yield header, function.line, '%s has no comment of its own' % function.name
    try:
        before, between, _ = split(tree.lines(README))
    except ValueError:
        yield README, 1, 'the marks of the table of functions are missing'
        return
    if between != table(tree):
        yield README, len(before) + 1, 'the table of functions is stale (scons fmt)'


def fix(tree):
    before, _, after = split(tree.lines(README))
    with open(os.path.join(tree.root, README), 'w') as file:
        file.write('\n'.join(before + table(tree) + after) + '\n')


if __name__ == '__main__':
    sys.dont_write_bytecode = True
    from tree import Tree
    if sys.argv[1:] != ['--fix']:
        sys.exit('usage: function_table.py --fix')
    fix(Tree(ROOT))
