"""Checks the order of the rooms: which headers may be included from where.

A room of the host includes headers of the interfaces (faces.py) of rooms below it, its own headers by
their plain names, and plugin_api. A folder in a room's folder is a part of that room; headers are
included from one to the other by their whole path. Shared objects and plugin_api include no header of
the host. The tests of a room, or of a folder in a room, may include its inner headers, otherwise they
include faces.
"""

import os
import re

import faces

# From the ground up; rooms on one line must not include headers of each other.
ORDER = [
    ['base'],
    ['self'],
    ['term', 'progress'],
    ['process', 'match', 'shell'],
    ['library', 'file'],
    ['code'],
    ['breakpoint'],
    ['trace'],
    ['crash', 'check'],
    ['runtime'],
    ['nif', 'replay', 'probe'],
    ['sql'],
    ['control'],
    ['embed'],
    ['cli'],
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}
FREE_FOR_ALL = 'host/probe/probe.h'  # the macros of the probes

# An inner header of trace/ whose functions are inlined into the handlers of breakpoints, where each
# instruction counts, by the only header that may include it from another room.
INLINED = {'host/trace/live/live_delivery.h': 'host/runtime/traced/native_delivery.h'}

SHARED_OBJECTS = ('plugins', 'tracers')  # folders of tests/ that see no more than a user's

INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def fault_in_host(folder, header, interface):
    """Returns the fault if a file of host/FOLDER includes HEADER, which is in the host."""
    room = folder.split('/')[0] or None
    parts = header.split('/')
    other = parts[1]
    if header == FREE_FOR_ALL:
        return None
    if other not in LEVEL:
        return 'no such room: ' + other
    if other == room:
        return None if os.path.dirname(header) != 'host/' + folder else \
            'a header of the own folder is included by its plain name'
    if header not in interface and not faces.is_face(header):
        return 'an inner header of %s: host/%s/%s.h has what other rooms include' % (other, other, other)
    if room is None or LEVEL[other] >= LEVEL[room]:
        return '%s is not below %s' % (other, room or 'this file')
    return None


def fault(path, header, siblings, interface):
    """Returns the fault if PATH includes "HEADER". SIBLINGS are the files in PATH's folder, INTERFACE the
    headers that other rooms may include."""
    place = path.split('/')
    parts = header.split('/')
    if '..' in parts and place[0] in ('host', 'plugin_api', 'tests') and place[1] not in SHARED_OBJECTS:
        return 'an include goes by the top of the tree, not by ".."'
    if parts[0] == 'host':
        if INLINED.get(header) == path:
            return None
        if place[0] == 'host':
            return fault_in_host('/'.join(place[1:-1]), header, interface)
        if place[0] == 'tests' and place[1] not in SHARED_OBJECTS:
            # A fuzzer tests one room, as the tests in that room's folder do.
            return None if faces.is_face(header) or place[1] in parts[1:-1] + ['fuzz'] or header == FREE_FOR_ALL else \
                'an inner header of %s: only tests/%s may open it' % (parts[1], parts[1])
        return 'nothing of the host is seen from here'
    if len(parts) == 1 and place[0] == 'host' and header not in siblings:
        return 'no %s in this room' % header
    return None


def check(tree):
    folders = {}
    interface = faces.interface(faces.Headers(tree))
    for path in tree.files:
        folders.setdefault(os.path.dirname(path), set()).add(os.path.basename(path))
    for path in tree.c_files():
        place = path.split('/')
        if place[0] == 'host' and len(place) > 2 and place[1] not in LEVEL:
            yield path, 1, 'the room %s has no place in the order (tests/lint/rooms.py)' % place[1]
            continue
        for number, line in enumerate(tree.lines(path), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            quote, header = found.groups()
            wrong = fault(path, header, folders[os.path.dirname(path)], interface) if quote == '"' else \
                'a header of this project goes in quotes' if header.startswith('host/') else None
            if wrong:
                yield path, number, '%s: %s' % (header, wrong)
