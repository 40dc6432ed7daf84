"""Checks sizes: a function fits a screen, a file holds one idea."""

import re

MOST_OF_FUNCTION = 80
MOST_OF_FILE = 600
REASON = re.compile(r'\bLong because: \S')
SOURCES = ('.c', '.h', '.S', '.py', '.sh', 'SConstruct', 'SConscript')


def functions(lines):
    """Yields the first and last line of each C function, whose braces are alone at the margin."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == '{':
            start = number
        elif line == '}' and start:
            yield start, number
            start = None


def check(tree):
    for path in tree.files:
        if not path.endswith(SOURCES):
            continue
        lines = tree.lines(path)
        if len(lines) > MOST_OF_FILE and not any(REASON.search(line) for line in lines):
            yield path, MOST_OF_FILE + 1, \
                '%d lines: split the file, or say in a comment "Long because: ..."' % len(lines)
        if path.endswith(('.c', '.h')):
            for start, end in functions(lines):
                if end - start + 1 > MOST_OF_FUNCTION:
                    yield path, start, 'a function of %d lines' % (end - start + 1)
