"""Checks faces and the number of included headers. The face of a room, host/NAME/NAME.h, describes the
room and includes the room's interface: the headers for other rooms. Each file of the host includes, by
name, the headers of interfaces that it uses, so that a change of one header compiles few files again;
tests may include the face. No room is above cli/, whose face is for tests."""

import os
import re

MOST = 60     # headers of the project that a C file of the host sees
SPEAKS = 3    # lines of comment that a face begins with

INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')
DECLARES = re.compile(r'(?!#|/\*|//)\S.*[;{,(]')


class Headers:
    """The headers that each file includes, directly and through others."""

    def __init__(self, tree):
        known = set(tree.files)
        self.direct = {}
        self.memory = {}
        for path in tree.c_files():
            self.direct[path] = []
            for line in tree.lines(path):
                found = INCLUDE.match(line)
                if found:
                    near = os.path.normpath(os.path.join(os.path.dirname(path), found.group(1)))
                    self.direct[path] += [name for name in (near, found.group(1)) if name in known][:1]

    def seen(self, path):
        if path not in self.memory:
            seen, left = set(), list(self.direct[path])
            while left:
                header = left.pop()
                if header not in seen:
                    seen.add(header)
                    left += self.direct.get(header, [])
            self.memory[path] = seen
        return self.memory[path]


def room_of(path):
    parts = path.split('/')
    return parts[1] if parts[0] == 'host' and len(parts) > 2 else None


def is_face(path):
    parts = path.split('/')
    return parts[0] == 'host' and len(parts) == 3 and parts[2] == parts[1] + '.h'


def interface(headers):
    """Returns the headers that other rooms may include: the faces, and the inner headers that each face includes."""
    found = set()
    for path in headers.direct:
        if is_face(path):
            found |= {path} | {header for header in headers.seen(path) if room_of(header) == room_of(path)}
    return found


def is_list(tree, path):
    return not any(DECLARES.match(line) for line in tree.lines(path))


def check(tree):
    headers = Headers(tree)
    used = set()  # by another room, or by tests
    lists = {path for path in headers.direct if is_face(path) and is_list(tree, path)}
    for path in headers.direct:
        outside = [header for header in headers.direct[path]
                   if room_of(header) and room_of(header) != room_of(path)]
        for header in outside:
            if header not in lists:
                used |= {header} | headers.seen(header)
            elif path.startswith('host/'):
                yield path, 1, '%s lists headers: include those that are used here' % header
        if path.startswith('host/') and path.endswith('.c') and len(headers.seen(path)) > MOST:
            yield path, 1, 'sees %d headers, %d at most' % (len(headers.seen(path)), MOST)
    for path in sorted(headers.direct):
        if not is_face(path):
            continue
        lines = tree.lines(path)
        speaks = next((number for number, line in enumerate(lines) if not line.startswith(('/*', ' *'))),
                      len(lines))
        if speaks < SPEAKS:
            yield path, 1, 'a face says first what its room is for, in %d lines at least' % SPEAKS
        for header in sorted(headers.seen(path)):
            if header.endswith('_internal.h'):
                yield path, 1, 'pulls in %s, which is for its own room' % header
            elif room_of(header) == room_of(path) != 'cli' and header not in used:
                yield path, 1, 'lists %s, which no other room uses' % header
