#!/usr/bin/env python3
"""Checks that C files are formatted as clang-format does. With --fix, formats them in place."""

import os
import re
import subprocess
import sys

VIOLATION = re.compile(r'([^:\s]+):(\d+):\d+: (?:error|warning): code should be clang-formatted')


def run(tree, *options):
    files = tree.c_files()
    if not files:
        return ''
    try:
        return subprocess.run(['clang-format', *options, *files], cwd=tree.root, text=True,
                              stderr=subprocess.PIPE).stderr
    except FileNotFoundError:
        sys.exit('clang-format is not installed (Debian package clang-format)')


def check(tree):
    seen = set()
    for line in run(tree, '--dry-run').splitlines():
        found = VIOLATION.match(line)
        if found and found.groups() not in seen:
            seen.add(found.groups())
            yield found[1], int(found[2]), 'clang-format would write this otherwise (scons fmt)'


if __name__ == '__main__':
    sys.dont_write_bytecode = True
    from tree import Tree
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if sys.argv[1:] != ['--fix']:
        sys.exit('usage: clang_format.py --fix')
    sys.exit(run(Tree(top), '-i') or 0)
