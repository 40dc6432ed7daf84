"""Checks that no file contains the path of a developer's folder."""

import re

PRIVATE = re.compile(r'(?<![\w.])/(?:work|home|root|Users)/\w[\w./-]*')


def check(tree):
    for path in tree.files:
        if path.startswith('tests/lint/test_'):
            continue
        for number, line in enumerate(tree.lines(path), 1):
            for found in PRIVATE.findall(line):
                yield path, number, 'a path of some machine: ' + found
