"""Checks that scripts have valid syntax and can be started."""

import ast
import os
import re
import subprocess

SHELL = re.compile(r'#!\s*(?:/usr)?/bin/(?:env )?(sh|bash|dash)\b')
PYTHON = re.compile(r'#!.*\bpython3\b')


def shell_faults(root, path, shell):
    checked = subprocess.run([shell, '-n', path], cwd=root, text=True, stderr=subprocess.PIPE)
    for line in checked.stderr.splitlines():
        place = re.match(r'[^:]+: (?:line )?(\d+): (.*)', line)
        yield (int(place[1]), place[2]) if place else (1, line)


def python_faults(text):
    try:
        ast.parse(text)
    except SyntaxError as error:
        yield error.lineno, error.msg


def check(tree):
    for path in tree.files:
        lines = tree.lines(path)
        first = lines[0] if lines else ''
        shell = SHELL.match(first)
        faults = ()
        if shell or path.endswith('.sh'):
            faults = shell_faults(tree.root, path, shell[1] if shell else 'sh')
        elif PYTHON.match(first) or path.endswith(('.py', 'SConscript', 'SConstruct')):
            faults = python_faults('\n'.join(lines))
        for number, message in faults:
            yield path, number, message
        if first.startswith('#!') and not os.access(os.path.join(tree.root, path), os.X_OK):
            yield path, 1, 'starts with #! but is not executable'
