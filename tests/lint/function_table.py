#!/usr/bin/env python3
"""The table of functions in plugin_api/README.md is what plugin_api/nif_functions.h and host/nif say.

A row a group: its functions under the NIF version that has them first, what their failure looks like
(the group's contract says it after "On failure:"), the files that define them. A function of the list
that no file defines is a fault, too. Run with --fix, this writes the table.
"""

import os
import re
import sys

LIST = 'plugin_api/nif_functions.h'
README = 'plugin_api/README.md'
BEGIN, END = '<!-- functions: written by scons fmt -->', '<!-- end of functions -->'

GROUP = re.compile(r'/\*\n((?: \*[^\n]*\n)+?) \*/\n#define (TH_NIF_\w+)\(X\) \\\n((?:.*\\\n)*.*\n)')
ROW = re.compile(r'X\((\w+), [^,]+?, (\w+),(?:.|\n)*?, (\d+)\)(?= \\\n|\n)')
DEFINITION = re.compile(r'^[A-Za-z][\w *]*?\b(enif_\w+|erl_errno_id)\((?!.*;$)', re.M)


class Group:
    """A group of the list: its title, the line on failure, [(name, since)]."""

    def __init__(self, comment, rows):
        text = ' '.join(line[3:].strip() for line in comment.splitlines())
        self.title = comment.splitlines()[0][3:].split('. ')[0].rstrip('.')
        failure = re.search(r'On failure: (.*)', text)
        self.failure = failure[1].rstrip('. ') if failure else ''
        self.rows = [(name, int(since)) for _, name, since in ROW.findall(rows)]

    def is_of_no_version(self):
        return not any(since for _, since in self.rows)


def groups(text):
    """The groups of the list that have functions, those of the API first."""
    found = [Group(comment, rows) for comment, _, rows in GROUP.findall(text)]
    return sorted((group for group in found if group.rows), key=Group.is_of_no_version)


def definitions(tree):
    """Which file of host/nif defines a function: {name: file}."""
    found = {}
    for path in tree.files:
        if path.startswith('host/nif/') and path.endswith('.c'):
            for name in DEFINITION.findall('\n'.join(tree.lines(path))):
                found[name] = os.path.basename(path)
    return found


def code(text):
    """Names of functions as code."""
    return re.sub(r'\b((?:enif|erl|ERL)_\w+(?:\(\))?)', r'`\1`', text)


def version(since):
    return '%d.%d' % divmod(since, 100) if since else 'no version'


def cells(group, files):
    names = {}
    for name, since in group.rows:
        names.setdefault(since, []).append(name)
    functions = ['%s: `%s`' % (version(since), ' '.join(names[since])) for since in sorted(names)]
    where = sorted({files[name] for name, _ in group.rows if name in files})
    return group.title, '<br>'.join(functions), code(group.failure), ' '.join(where)


def table(tree):
    """The lines between the marks."""
    files = definitions(tree)
    listed = groups('\n'.join(tree.lines(LIST)) + '\n')
    rows = ['| %s | %s | %s | %s |' % cells(group, files) for group in listed]
    return ['| group | since: functions | on failure | in `host/nif` |', '|---|---|---|---|'] + rows


def split(lines):
    """The README before, between and after the marks."""
    begin, end = lines.index(BEGIN), lines.index(END)
    return lines[:begin + 1], lines[begin + 1:end], lines[end:]


def check(tree):
    if LIST not in tree.files:
        return
    files = definitions(tree)
    for number, line in enumerate(tree.lines(LIST), 1):
        row = re.match(r' *X\(\w+, [^,]+, (\w+),', line)
        if row and row[1] not in files:
            yield LIST, number, 'no file of host/nif defines %s' % row[1]
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
    fix(Tree(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))
