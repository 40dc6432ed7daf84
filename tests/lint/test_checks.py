#!/usr/bin/env python3
"""Tests each check on a small tree with faults: it reports all of them, and nothing else."""

import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import clang_format
import comments
import definitions
import exports
import faces
import host_map
import names
import paths
import prefixes
import probe_table
import rooms
import scripts
import sizes
import tags
from tree import Tree


class Checks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, path, text, mode=0o644):
        whole = os.path.join(self.folder.name, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, 'w') as file:
            file.write(text)
        os.chmod(whole, mode)

    def found(self, check):
        """Returns the places that CHECK reports: ["FILE:LINE", ...]."""
        return ['%s:%d' % finding[:2] for finding in check.check(Tree(self.folder.name))]

    def test_rooms_in_order(self):
        self.write('host/base/base.h', '')
        self.write('host/term/etf.h', '')
        self.write('host/term/etf.c', '#include "etf.h"\n#include "host/base/base.h"\n'
                   '#include "plugin_api/erl_nif.h"\n#include <stdio.h>\n')
        self.write('host/cli/main.c', '#include "host/replay/replay.h"\n')
        self.write('host/base/log.c', '#include "host/probe/probe.h"\n')
        self.write('host/probe/probe.h', '#include "plugin_api/probe_table.h"\n')
        self.write('tests/term/test_etf.c', '#include "host/term/etf.h"\n'
                   '#include "host/replay/replay.h"\n')
        self.write('host/term/text/print.c', '#include "print.h"\n#include "host/term/etf.h"\n'
                   '#include "host/base/base.h"\n')
        self.write('host/term/text/print.h', '')
        self.write('host/term/term.h', '#include "host/term/text/print.h"\n')
        self.write('host/process/process.c', '#include "host/term/text/print.h"\n')
        self.write('plugin_api/erl_nif.h', '#include "erl_drv_nif.h"\n')
        self.assertEqual(self.found(rooms), [])

    def test_rooms_out_of_order(self):
        self.write('host/base/up.c', '#include "host/term/term.h"\n')
        self.write('host/cli/inner.c', '\n#include "host/term/etf.h"\n')
        self.write('host/replay/beside.c', '#include "host/nif/nif.h"\n')
        self.write('host/term/own.c', '#include "host/term/etf.h"\n#include "../base/base.h"\n'
                   '#include "nowhere.h"\n#include <host/base/base.h>\n')
        self.write('host/attic/old.c', '')
        self.write('host/cli/top/view.c', '#include "view.h"\n#include "host/cli/top/view.h"\n'
                   '#include "host/term/text/print.h"\n')
        self.write('host/cli/top/view.h', '')
        self.write('host/progress/inner.c', '#include "host/probe/watcher.h"\n')
        self.write('plugin_api/erl_nif.h', '  # include "host/term/term.h"\n')
        self.write('tracers/text/text.c', '#include "host/base/base.h"\n')
        self.write('tests/cli/test_x.c', '#include "host/term/etf.h"\n')
        self.assertEqual(self.found(rooms), [
            'host/attic/old.c:1', 'host/base/up.c:1', 'host/cli/inner.c:2', 'host/cli/top/view.c:2',
            'host/cli/top/view.c:3',
            'host/progress/inner.c:1', 'host/replay/beside.c:1',
            'host/term/own.c:1', 'host/term/own.c:2', 'host/term/own.c:3', 'host/term/own.c:4',
            'plugin_api/erl_nif.h:1', 'tests/cli/test_x.c:1', 'tracers/text/text.c:1'])

    def test_faces(self):
        speaks = '/*\n * A room.\n */\n'
        self.write('host/base/base.h', speaks + '#include "error.h"\n')
        self.write('host/base/error.h', 'void th_error_clear(void);\n')
        self.write('host/base/base_internal.h', 'void th_base_begin(void);\n')
        self.write('host/term/term.h', speaks + '#include "atom.h"\nint th_term(void);\n')
        self.write('host/term/atom.h', '#include "host/base/error.h"\n')
        self.write('host/cli/main.c', '#include "host/term/term.h"\n')
        self.assertEqual(self.found(faces), [])

    def test_faces_that_are_wrong(self):
        for number in range(61):
            self.write('host/base/h%d.h' % number, '')
        self.write('host/base/many.c', ''.join('#include "h%d.h"\n' % number for number in range(61)))
        self.write('host/base/base.h', '/* Short. */\n#include "base_internal.h"\n#include "unused.h"\n')
        self.write('host/base/base_internal.h', '')
        self.write('host/base/unused.h', '')
        self.write('host/term/list.c', '#include "host/base/base.h"\n')
        self.assertEqual(sorted(self.found(faces)), ['host/base/base.h:1'] * 3 + [
            'host/base/many.c:1', 'host/term/list.c:1'])

    def test_names(self):
        for path in ('host/x86_64.S', 'tests/term/test_utf8.c', 'host/commonly.c'):
            self.write(path, '')
        for path in ('host/utils.c', 'host/term/etf_helpers.h', 'host/misc/a.c', 'host/trace_2.c',
                     'host/etf-v2.c', 'tests/20240131.sh'):
            self.write(path, '')
        self.assertEqual(self.found(names), [
            'host/etf-v2.c:1', 'host/misc:1', 'host/term/etf_helpers.h:1', 'host/trace_2.c:1',
            'host/utils.c:1', 'tests/20240131.sh:1'])

    def test_names_of_files(self):
        for path in ('host/term/atom.c', 'host/nif/nif_atoms.c', 'host/cli/replay.c', 'host/embed/replay.c'):
            self.write(path, '')
        self.assertEqual(self.found(names), [])
        self.write('host/process/thread.h', '')
        self.write('host/trace/thread.h', '')
        self.assertEqual(self.found(names), ['host/trace/thread.h:1'])

    def test_names_of_static_functions(self):
        self.write('host/term/atom.c', 'static int add(int a);\n\nstatic int add(int a)\n{\n}\n')
        self.write('host/term/map.c', 'static struct x *map_add(int (*each)(int a),\n'
                   '                         int b)\n{\n}\nstatic int add;\n')
        self.assertEqual(self.found(names), [])
        self.write('host/trace/tag.c', '\nstatic inline void *add(\n    int (*one)(int), int b)\n{\n}\n')
        self.assertEqual(self.found(names), ['host/trace/tag.c:2'])

    def test_comments(self):
        self.write('host/term/atom.c', '/* Adds NAME. It stays. */\nint a; /* bytes */\n'
                   'const char *b = "/* What stays */";\n/*\n * Italics; Offset; Whole.\n */\n')
        self.write('tests/plugin_api/first_release/old.h', '/* What was published. */\n')
        self.assertEqual(self.found(comments), [])
        self.write('host/term/map.h', '/* --- What it is --- */\n\n/*\n * Who is told.\n */\nint a; /* of B */\n'
                   '/** It stays. */\n/* Takes what is handed in. */\n')
        self.assertEqual(self.found(comments), ['host/term/map.h:%d' % line for line in (1, 3, 7, 8)])
        os.remove(os.path.join(self.folder.name, 'host/term/map.h'))
        self.write('tests/cli/a.sh', '#!/bin/sh\n# Prints the size.\n# What is large is cut.\necho "#" # What it is\n')
        self.write('tests/oracle/a.erl', '%% A list.\n%% It has one.\na() -> "% It". % It\n')
        self.assertEqual(self.found(comments), [])
        self.write('tests/cli/a.sh', '# Of all\n\n    # of some\n    # It stays.\n    # Those')
        self.write('tests/oracle/a.erl', '%%% --- What is asked ---\n%% A list is handed in.\n\n  % It\n')
        self.write('tests/run', '#!/bin/sh\n\n# Who\n')
        self.write('tracers/page.js', 'a(); /* Where it is */ // Where\n')
        self.assertEqual(self.found(comments), ['tests/cli/a.sh:1', 'tests/oracle/a.erl:1', 'tests/oracle/a.erl:4',
                                                'tests/run:3', 'tracers/page.js:1'])

    def test_prefixes(self):
        self.write('plugin_api/nif_module.h', 'int th_spawn(int a);\n')
        self.write('host/base/error.h', 'void th_error_clear(void);\nvoid *th_alloc(int size);\n')
        self.write('host/trace/live/call.h', 'void th_live_call(void);\nint th_trace_find(void);\n'
                   'int th_spawn(int a);\nextern struct th_x *th_live_first;\n'
                   '/* th_other() is spoken of */\nstatic inline int th_live_one(void)\n{\n    return th_two();\n}\n')
        self.assertEqual(self.found(prefixes), [])
        self.write('host/base/log.h', 'void th_error_print(void);\nvoid th_tell(void);\n')
        self.write('host/trace/trace.h', 'static inline void\nth_live_end(int a)\n{\n}\n'
                   'extern _Thread_local int th_current\n    __attribute__((unused));\n')
        self.assertEqual(self.found(prefixes), [
            'host/base/log.h:2', 'host/trace/trace.h:2', 'host/trace/trace.h:5'])

    def test_tags(self):
        self.write('host/base/log.h', 'struct th_line {\n};\nenum th_kind { A };\nstruct th_line *th_log(void);\n')
        self.write('host/term/line.c', 'struct line {\n};\n')
        self.assertEqual(self.found(tags), [])
        self.write('host/term/line.c', 'struct th_line {\n};\nunion th_kind {\n};\n')
        self.assertEqual(self.found(tags), ['host/term/line.c:1', 'host/term/line.c:3'])

    def test_sizes(self):
        body = 'int f(void)\n{\n%s}\n'
        self.write('host/fits.c', body % ('    f();\n' * 78))
        self.write('host/long.c', body % ('    f();\n' * 79))
        self.write('host/table.h', '/* Long because: one row for each tag. */\n' * 601)
        self.write('host/list.h', '#define A\n' * 601)
        self.write('tests/notes.txt', '\n' * 1000)
        self.assertEqual(self.found(sizes), ['host/list.h:601', 'host/long.c:2'])

    def test_paths(self):
        self.write('host/a.c', 'f("/usr/lib", "x/home/y", a/root/b)\n/* see /home/me/x.c */\n')
        self.write('samples/x.sh', 'cd /work/main\n')
        self.assertEqual(self.found(paths), ['host/a.c:2', 'samples/x.sh:1'])

    def test_host_map(self):
        self.write('host/a/a.c', 'static void f(void)\n{\n    th_a_begin();\n}\n')
        self.write('plugin_api/a.h', '#define TH_A 1\n')
        self.write('host/README.md', 'a/a.c f() and `a/a.c` `th_a_begin()`: a/, plugin_api/a.h\n'
                   'a/b.c\nb/\n`th_a_end()`\na/a.c g()\nhost/ and th_*, e.g. a part of it\n'
                   ' 1  base/  x\n 1  term/  x\n')
        for room in ('base', 'term', 'trace'):
            self.write('host/%s/%s.h' % (room, room), '')
        self.assertEqual(self.found(host_map), [
            'host/README.md:8', 'host/README.md:1', 'host/README.md:2', 'host/README.md:3', 'host/README.md:4', 'host/README.md:5'])

    def test_scripts(self):
        self.write('tests/cli/good.sh', 'if true; then echo; fi\n')
        self.write('tests/cli/bad.sh', 'if true; then\n')
        self.write('tests/run', '#!/bin/bash\na=(1 2)\n', 0o755)
        self.write('samples/start', '#!/bin/sh\n')
        self.write('tests/x.py', 'def f(:\n')
        self.assertEqual(sorted({place.split(':')[0] for place in self.found(scripts)}),
                         ['samples/start', 'tests/cli/bad.sh', 'tests/x.py'])

    def test_clang_format(self):
        self.write('.clang-format', 'BasedOnStyle: LLVM\n')
        self.write('host/good.c', 'int a;\n')
        self.write('host/bad.c', 'int a;\nint   b;\n')
        self.assertEqual(self.found(clang_format), ['host/bad.c:2'])

    HEADER = ('/**\n * @defgroup nif_tuples Tuples\n * A contract.\n *\n * On failure: 0, and\n * enif_b() too.\n'
              ' * @{\n */\n\n/** Does a. */\nERL_NAPI_EXPORT int enif_a(int a);\n\n'
              '/** Does b.\n * Since: 2.14. */\nERL_NAPI_EXPORT int enif_b(int a, int (*b)(int),\n'
              '                           int c) SOME_ATTRIBUTE(1);\n\n/** @} */\n\n'
              '/**\n * @defgroup nif_companions Companions\n * @{\n */\n\n'
              '/** Names it.\n * Since: no version. */\nERL_NAPI_EXPORT char *erl_errno_id(int error);\n')
    def test_definitions(self):
        self.write('plugin_api/erl_nif.h', self.HEADER)
        self.write('host/nif/a.c', 'int enif_a(int a)\n{\n    return enif_c(a);\n}\n')
        self.write('host/nif/b.c', 'int enif_b(int a,\n           int b)\n{\n}\n'
                   'char *erl_errno_id(int e)\n{\n}\n')
        self.assertEqual(self.found(definitions), [])
        self.write('host/nif/a.c', 'int enif_a(int a);\n')
        self.assertEqual(self.found(definitions), ['plugin_api/erl_nif.h:11'])
        self.write('host/nif/a.c', 'int enif_a(int a)\n{\n}\n')
        self.write('plugin_api/erl_nif.h', self.HEADER.replace('/** Does a. */\n', ''))
        self.assertEqual(self.found(definitions), ['plugin_api/erl_nif.h:10'])

    PROBES = ('#define TH_PROBES(X) \\\n    X(copy__struct, live, "it is copied", \\\n      (uint32, size)) \\\n'
              '    X(port__busy, never, "no port is", \\\n      (string, port), \\\n      (int64, size))\n')

    def test_probe_table(self):
        self.write('plugin_api/probe_table.h', self.PROBES)
        self.write('host/probe/README.md', 'x\n%s\n%s\n' % (probe_table.BEGIN, probe_table.END))
        self.write('host/a.c', '    TH_PROBE(copy__struct, size());\n')
        self.assertEqual(self.found(probe_table), ['host/probe/README.md:3'])
        probe_table.fix(Tree(self.folder.name))
        self.assertEqual(self.found(probe_table), [])
        with open(os.path.join(self.folder.name, 'host/probe/README.md')) as file:
            self.assertIn('| `port__busy(char *port, int64_t size)` | never | no port is |\n', file.read())
        self.write('host/a.c', '\n    TH_PROBE(port__busy, name, 0);\n')
        self.assertEqual(self.found(probe_table), ['host/a.c:2'])
        self.write('host/probe/README.md', 'x\n')
        self.assertEqual(self.found(probe_table), ['host/a.c:2', 'host/probe/README.md:1'])

    def test_exports(self):
        listed, defined = {'enif_a', 'enif_b'}, {'enif_a', 'enif_b', 'th_x'}
        self.assertEqual(list(exports.faults({'enif_a', 'enif_b'}, defined, listed)), [])
        self.assertEqual(len(list(exports.faults({'enif_a', 'th_x'}, defined, listed))), 2)
        self.assertEqual(list(exports.faults({'enif_a', 'enif_b'}, defined, listed | {'enif_c'})),
                         ['does not export enif_c, which nobody defines'])


if __name__ == '__main__':
    unittest.main()
