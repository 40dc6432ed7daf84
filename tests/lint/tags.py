"""Checks that a struct, enum or union tag is defined in one place of the whole host."""

import re

DEFINITION = re.compile(r'^(?:typedef\s+)?(struct|enum|union)\s+(th_\w+)\s*\{')


def check(tree):
    places = {}
    for path in tree.c_files():
        if not path.startswith(('host/', 'plugin_api/')):
            continue
        for number, line in enumerate(tree.lines(path), 1):
            found = DEFINITION.match(line)
            if found and places.setdefault(found.group(2), (path, number)) != (path, number):
                yield path, number, '%s %s is defined in %s, too' % (*found.groups(), places[found.group(2)][0])
