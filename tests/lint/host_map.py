"""Checks that everything named in host/README.md exists.

A path is a file's below host/, or from the top of the tree; a name with one of the prefixes below is a
name of the host or of plugin_api; a function after a file's path, "replay/player.c step()", is a
function of that file. Each room is listed, at its floor.
"""

import os
import re

import rooms

PAGE = 'host/README.md'

PATH = re.compile(r'(?<![\w./-])[\w-]+(?:/[\w.-]+)*\.(?:c|h|S|py|json|md)\b')
FOLDER = re.compile(r'(?<![\w./-])((?:[\w-]+/)+)(?![\w*])')
ROOM = re.compile(r'\s*(\d+)  (\w+)/  ')
NAME = re.compile(r'\b(?:th|enif|tracehost)_\w+\b')
FUNCTION_OF = re.compile(r'(?<![\w./-])([\w-]+(?:/[\w.-]+)+\.(?:c|h|S))`? `?(\w+)\(\)')


def names_in(tree):
    names = set()
    for path in tree.files:
        if path.startswith(('host/', 'plugin_api/')) and path.endswith(('.c', '.h', '.S')):
            for line in tree.lines(path):
                names.update(NAME.findall(line))
    return names


def check_floors(tree):
    """Compares the rows of the picture, "11  cli/  ...", with the order of the rooms."""
    drawn = {}
    for number, line in enumerate(tree.lines(PAGE), 1):
        found = ROOM.match(line)
        if found:
            drawn[found.group(2)] = int(found.group(1)) - 1
            if rooms.LEVEL.get(found.group(2)) != int(found.group(1)) - 1:
                yield PAGE, number, 'not the floor of %s (tests/lint/rooms.py)' % found.group(2)
    for room in rooms.LEVEL:
        if room not in drawn and 'host/%s/%s.h' % (room, room) in tree.files:
            yield PAGE, 1, 'the room %s is missing' % room


def check(tree):
    if PAGE not in tree.files:
        return
    yield from check_floors(tree)
    files = set(tree.files)
    folders = {os.path.dirname(path) for path in files}
    folders |= {os.path.dirname(path) for path in folders}
    inner = {part for folder in folders for part in folder.split('/')}
    names = names_in(tree)
    for number, line in enumerate(tree.lines(PAGE), 1):
        for path in PATH.findall(line):
            if 'host/' + path not in files and path not in files and \
                    not ('/' not in path and 'plugin_api/' + path in files):
                yield PAGE, number, 'there is no ' + path
        for folder in FOLDER.findall(line):
            place = folder.rstrip('/')
            if 'host/' + place not in folders and place not in folders and place not in inner:
                yield PAGE, number, 'there is no folder ' + folder
        for name in NAME.findall(line):
            if name not in names and not name.endswith('_'):
                yield PAGE, number, 'nothing is called ' + name
        for path, function in FUNCTION_OF.findall(line):
            path = 'host/' + path
            if path in files and not any(re.search(r'\b%s\(' % function, text)
                                         for text in tree.lines(path)):
                yield PAGE, number, 'no %s() in %s' % (function, path)
