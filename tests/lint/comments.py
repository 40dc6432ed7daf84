"""Comments begin with their subject. One that opens with What, Who, Of, Where, Those, That or It has no
noun for the reader to hold on to; some words of everyday speech do not say which act is meant."""

import re

OPENS = re.compile(r'(?:What|Whatever|Who|Whoever|Whom|Of|Where|Wherever|Those|That|It)\b')
AVOIDED = ('heed', 'heeds', 'heeded', 'hands in', 'handed in', 'at most so many', 'at hand', 'none the less')
AVOIDED_WORD = re.compile(r'\b(%s)\b' % '|'.join(AVOIDED))
# Literals come first: a comment does not begin in them.
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*(.*?)\*/', re.S)
OLD_HEADERS = 'tests/plugin_api/first_release/'  # as they were published


def text_of(comment):
    """Without what frames its lines, and the dashes of a title."""
    return ' '.join(re.sub(r'\n[ \t]*\*?', ' ', comment).strip(' \t*-<').split())


def check(tree):
    for path in tree.c_files():
        if path.startswith(OLD_HEADERS):
            continue
        source = '\n'.join(tree.lines(path))
        for found in COMMENT.finditer(source):
            if found[1] is None:
                continue
            text = text_of(found[1])
            line = source.count('\n', 0, found.start()) + 1
            opening = OPENS.match(text)
            avoided = AVOIDED_WORD.search(text)
            if opening:
                yield path, line, 'a comment opens with "%s": name its subject' % opening[0]
            elif avoided:
                yield path, line, 'a comment says "%s": name the act' % avoided[0]
