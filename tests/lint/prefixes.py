"""Checks that an external name begins with its room's: th_<room>_, or th_<folder in the room>_.

base/ and term/ are the vocabulary of all other rooms. A name there begins with that of its header,
th_error_, th_env_, th_text_, or is one of WORDS. Names declared in plugin_api/ are those that users know.
"""

import os
import re

VOCABULARY = ('base', 'term')
WORDS = re.compile(
    # base/: memory.h, log.h
    r'th_(try_)?(alloc|realloc|free|strdup|v?printf)(_|$)|th_(has_)?(give|given)_|th_(bug|warn|warnings|write_text)(_|$)|'
    r'th_may_realloc$|'
    # term/: word.h, make.h, compare.h and, for copies, env.h concern terms as such
    r'th_(is|make|get|key|magic|shared|sort|sorted)_|th_copy(_|$)|th_(small|tuple|cell|header|boxed|immediate|identical|reference|'
    r'local|pid|port|atomic|utf8|phash2|internal_hash|binary|bits|string|list|integer|float)')

# A name that a header declares, at the margin: that of a function, also in the second line of the
# declaration, or that of a variable.
FUNCTION = re.compile(r'^(?!typedef|#|/)(?:[A-Za-z_][\w \*]*?\W)?\**(th_\w+)\(')
VARIABLE = re.compile(r'^extern\b[^(]*?\b(th_\w+)(?:\[|;|$|\s+__attribute__| = )')
API_NAME = re.compile(r'\bth_\w+')


def declared(lines):
    """Yields (line number, name) of each function and variable that a header declares."""
    for number, line in enumerate(lines, 1):
        found = VARIABLE.match(line) or FUNCTION.match(line)
        if found:
            yield number, found.group(1)


def is_good(name, folders, headers):
    if any(name == 'th_' + folder or name.startswith('th_%s_' % folder) for folder in folders):
        return True
    return folders[0] in VOCABULARY and (
        WORDS.match(name) is not None or
        any(name == 'th_' + header or name.startswith('th_%s_' % header) for header in headers))


def check(tree):
    headers = [path for path in tree.files if path.startswith('host/') and path.endswith('.h')]
    of_room = {}
    for path in headers:
        stem = os.path.splitext(os.path.basename(path))[0]
        of_room.setdefault(path.split('/')[1], set()).update({stem, stem.replace('_internal', '')})
    api = {name for path in tree.files if path.startswith('plugin_api/') and path.endswith('.h')
           for line in tree.lines(path) for name in API_NAME.findall(line)}
    for path in headers:
        folders = path.split('/')[1:-1]
        for number, name in declared(tree.lines(path)):
            if name not in api and not is_good(name, folders, of_room[folders[0]]):
                yield path, number, '%s: its name is to begin with th_%s_' % (name, '_ or th_'.join(folders))
