"""Checks names of files and folders: they state a purpose, not a kind or a date. No two C files of the host
have one name: a backtrace and an #include name them without their folder. No two static functions of the
host have one name: a debugger and a profiler name them without their file."""

import os
import re

MEANINGLESS = {'util', 'utils', 'helper', 'helpers', 'misc', 'common', 'stuff'}
NUMBERED = re.compile(r'(_|-|^)(v?\d+)$')
FIELD_WORDS = ('x86_64',)  # they end in a number and number nothing


# Files in several rooms that are named after the same command of the program.
COMMANDS = ('replay.c', 'match.c')


# The definition of a static function: its name, and its parentheses with their content, over several lines.
STATIC = re.compile(r'^static\b[^;{}=()]*?\b(\w+)\((?:[^(){};]|\([^()]*\))*\)\s*\{', re.M)


def fault(name):
    stem = os.path.splitext(name)[0]
    words = re.split(r'[^a-z0-9]+', stem.lower())
    meaningless = MEANINGLESS.intersection(words)
    if meaningless:
        return '"%s" says nothing' % meaningless.pop()
    if NUMBERED.search(stem) and not stem.endswith(FIELD_WORDS):
        return 'a number is not a name'
    return None


def static_functions(lines):
    """Yields each static function that a file defines, with its line."""
    text = '\n'.join(lines)
    for found in STATIC.finditer(text):
        yield found.group(1), text.count('\n', 0, found.start()) + 1


def check(tree):
    seen = set()
    stems = {}
    statics = {}
    for path in tree.c_files():
        if path.startswith('host/') and path.endswith('.c'):
            for name, line in static_functions(tree.lines(path)):
                first = statics.setdefault(name, path)
                if first != path:
                    yield path, line, '%s() is a static function of %s, too' % (name, first)
    for path in tree.files:
        parts = path.split('/')
        for depth, name in enumerate(parts, 1):
            place = '/'.join(parts[:depth])
            if place not in seen:
                seen.add(place)
                wrong = fault(name)
                if wrong:
                    yield place, 1, wrong
        if path.startswith('host/') and path.endswith(('.c', '.h')):
            first = stems.setdefault(parts[-1], path)
            if first != path and parts[-1] not in COMMANDS:
                yield path, 1, '%s has the same name' % first
