#!/usr/bin/env python3
"""Makes a table for the C preprocessor of the functions that a header declares.

declarations.py HEADER >TABLE

HEADER is erl_nif.h, nif_module.h or tracehost.h. A function without a comment shares the comment of the
function above. A line "Since: VERSION" in the comment names the first version that has the function.
"@defgroup NAME_GROUP TITLE" begins a group, which ends at the next one.
"""

import os
import re
import sys

DECLARATION = re.compile(
    r'^(?P<comment>(?:/\*\*(?:(?!\*/)[^#])*\*/\n)?)'
    r'(?:ERL_NAPI_EXPORT|TH_MODULE_API|TRACEHOST_API)\s(?P<type>[^;(]*[\s*])(?P<name>\w+)\(', re.M)
GROUP = re.compile(r'^/\*\*\n \* @defgroup [a-z]+_(\w+) ', re.M)


class Function:
    """A declaration. `since` is 100 * major + minor for functions of erl_nif.h, 0 for "no version"."""

    def __init__(self, text, match):
        self.name = match['name']
        self.type = ' '.join(match['type'].split())
        self.parameters = ' '.join(parameters(text, match.end() - 1).split())
        self.comment = match['comment']
        self.line = text.count('\n', 0, match.start('type')) + 1
        since = re.search(r'Since: (no version|\d+(?:\.\d+)?)', self.comment)
        self.since = version(since[1]) if since else 200


class Group:
    """A @defgroup: its name and functions."""

    def __init__(self, name):
        self.name, self.functions = name, []


def version(text):
    """Returns a version as one number."""
    major, _, minor = text.partition('.')
    return 0 if text == 'no version' else 100 * int(major) + int(minor or 0)


def parameters(text, start):
    """Returns the parameters with their parentheses; the first one is at START."""
    depth = 0
    for end in range(start, len(text)):
        depth += {'(': 1, ')': -1}.get(text[end], 0)
        if depth == 0:
            return text[start:end + 1]
    raise SystemExit('the parameters at %d do not end' % start)


def groups(text):
    """Returns the groups of a header's TEXT. Functions outside of all groups are in one without a name."""
    found = [Group('')]
    marks = sorted(list(GROUP.finditer(text)) + list(DECLARATION.finditer(text)),
                   key=lambda match: match.start())
    for match in marks:
        if match.re is GROUP:
            found.append(Group(match[1]))
        else:
            found[-1].functions.append(Function(text, match))
    return [group for group in found if group.functions]


def table(name, rows):
    return '#define %s(X) \\\n    %s\n' % (name, ' \\\n    '.join(rows))


def nif_rows(chosen):
    return ['X(%s, %s, %s, %s, %d)' % (group.name, function.type, function.name, function.parameters,
                                       function.since)
            for group in chosen for function in group.functions]


def nif_tables(found):
    companions = [group for group in found if group.name == 'companions']
    return ('/* X(group, type, name, (parameters), since): `since` is 100 * major + minor of the first NIF\n'
            ' * version that has the function, 200 for 2.0 and all before. An X that uses `name` pastes or\n'
            ' * stringises `name` directly, as erl_nif.h has macros such as enif_get_int64. */\n' +
            table('TH_NIF_FUNCTIONS', nif_rows(g for g in found if g not in companions)) +
            '\n/* The same for functions without a version: `since` is 0. */\n' +
            table('TH_NIF_COMPANIONS', nif_rows(companions)))


def module_tables(found):
    return '/* X(group, type, name, (parameters)) */\n' + table('TH_MODULE_FUNCTIONS', [
        'X(%s, %s, %s, %s)' % (group.name, function.type, function.name, function.parameters)
        for group in found for function in group.functions])


def embedding_tables(found):
    return '/* X(name) */\n' + table('EMBEDDING_FUNCTIONS', [
        'X(%s)' % function.name for group in found for function in group.functions])


TABLES = {'erl_nif.h': nif_tables, 'nif_module.h': module_tables, 'tracehost.h': embedding_tables}


def main(path):
    name = os.path.basename(path)
    with open(path) as file:
        found = groups(file.read())
    print('/* A table of the functions of %s, made from its declarations. The types are those of that\n'
          ' * header; a use of the names alone does not need it. */' % name)
    print('#pragma once\n\n' + TABLES[name](found), end='')


if __name__ == '__main__':
    main(sys.argv[1])
