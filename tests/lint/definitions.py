"""Checks that each function that plugin_api/erl_nif.h or plugin_api/nif_module.h declares has a comment of its own, and
a definition in host/nif."""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(1, os.path.join(ROOT, 'plugin_api'))
import declarations  # noqa: E402

HEADERS = ('plugin_api/erl_nif.h', 'plugin_api/nif_module.h')
DEFINITION = re.compile(r'^[A-Za-z][\w *]*?\b(enif_\w+|erl_errno_id|th_\w+)\((?!.*;$)', re.M)


def check(tree):
    defined = {name for path in tree.files if path.startswith('host/nif/') and path.endswith('.c')
               for name in DEFINITION.findall('\n'.join(tree.lines(path)))}
    for header in HEADERS:
        text = '\n'.join(tree.lines(header)) + '\n' if header in tree.files else ''
        for function in (one for group in declarations.groups(text) for one in group.functions):
            if function.name not in defined:
                yield header, function.line, 'no file of host/nif defines %s' % function.name
            if not function.comment:
                yield header, function.line, '%s has no comment of its own' % function.name
