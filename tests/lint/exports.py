"""Checks that the program and libtracehost.so export exactly the names for shared objects.

The linker's list is build/<mode>/exported.list: the functions of the NIF API, and those of the lists
beside it in plugin_api/. tracehost_node.so exports those of node.h, tracehost_nats.so its table,
tracehost_sql.so its two entries, Python's module its initialisation.
"""

import os
import re
import subprocess


def symbols(file, *options):
    """Returns the names that FILE defines, from nm."""
    said = subprocess.run(['nm', '--defined-only', '--format=posix', *options, file], text=True,
                          stdout=subprocess.PIPE, check=True).stdout
    return {line.split()[0] for line in said.splitlines() if line}


def listed(path):
    with open(path) as file:
        return set(re.findall(r'\b(\w+);', file.read()))


def faults(exported, defined, names):
    """Compares the EXPORTED and DEFINED symbols of one file with the NAMES of the list."""
    for name in sorted(exported - names):
        yield 'exports %s, which is not in the list' % name
    for name in sorted(names - exported):
        yield 'does not export %s, which %s' % (
            name, 'has hidden visibility' if name in defined else 'nobody defines')


def check(tree):
    build = os.environ.get('BUILD_DIR', os.path.join(tree.root, 'build/release'))
    for file in ('bin/tracehost', 'lib/libtracehost.so'):
        path = os.path.join(build, file)
        shown = os.path.relpath(path, tree.root)
        if not os.path.exists(path):
            yield shown, 1, 'is not built'
            continue
        names = listed(os.path.join(build, 'exported.list'))
        for message in faults(symbols(path, '-D'), symbols(path), names):
            yield shown, 1, message
    for file, names in (('lib/tracehost/tracehost_node.so', {'tracehost_node_serve', 'tracehost_node_list'}),
                        ('lib/tracehost/tracehost_nats.so', {'tracehost_nats'}),
                        ('lib/tracehost/tracehost_sql.so', {'sqlite3_tracehostsql_init', 'tracehost_sql'}),
                        ('python/tracehost/_tracehost.abi3.so', {'PyInit__tracehost'})):
        path = os.path.join(build, file)
        if os.path.exists(path):  # it is not built everywhere
            for message in faults(symbols(path, '-D'), symbols(path), names):
                yield os.path.relpath(path, tree.root), 1, message
