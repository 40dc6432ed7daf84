"""Names of files and folders: what they are for, not what they are or when they were made."""

import os
import re

MEANINGLESS = {'util', 'utils', 'helper', 'helpers', 'misc', 'common', 'stuff'}
NUMBERED = re.compile(r'(_|-|^)(v?\d+)$')
FIELD_WORDS = ('x86_64',)  # they end in a number and number nothing


def fault(name):
    stem = os.path.splitext(name)[0]
    words = re.split(r'[^a-z0-9]+', stem.lower())
    meaningless = MEANINGLESS.intersection(words)
    if meaningless:
        return '"%s" says nothing' % meaningless.pop()
    if NUMBERED.search(stem) and not stem.endswith(FIELD_WORDS):
        return 'a number is not a name'
    return None


def check(tree):
    seen = set()
    for path in tree.files:
        parts = path.split('/')
        for depth, name in enumerate(parts, 1):
            place = '/'.join(parts[:depth])
            if place not in seen:
                seen.add(place)
                wrong = fault(name)
                if wrong:
                    yield place, 1, wrong
