"""Comments begin with their subject. One that opens with What, Who, Of, Where, Those, That or It has no
noun for the reader to hold on to; some words of everyday speech do not say which act is meant."""

import re

OPENS = re.compile(r'(?:What|Whatever|Who|Whoever|Whom|Of|Where|Wherever|Those|That|It)\b')
AVOIDED = ('heed', 'heeds', 'heeded', 'hands in', 'handed in', 'at most so many', 'at hand', 'none the less')
AVOIDED_WORD = re.compile(r'\b(%s)\b' % '|'.join(AVOIDED))
# Literals come first: a comment does not begin in them.
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*(.*?)\*/', re.S)
# A comment that has its lines to itself: (before the mark, text), the mark of each language.
LINES = {'#': re.compile(r'([ \t]*)#(?!!) ?(.*)'), '%': re.compile(r'([ \t]*)%+(?!!) ?(.*)')}
MARKS = {'.sh': '#', '.py': '#', 'SConscript': '#', 'SConstruct': '#', '.erl': '%', '.escript': '%'}
OLD_HEADERS = 'tests/plugin_api/first_release/'  # as they were published


def text_of(comment):
    """Without what frames its lines, and the dashes of a title."""
    return ' '.join(re.sub(r'\n[ \t]*\*?', ' ', comment).strip(' \t*-<').split())


def comments_in_slashes(lines):
    """Yields (line, text) of each comment in C, JavaScript or CSS."""
    source = '\n'.join(lines)
    for found in COMMENT.finditer(source):
        if found[1] is not None:
            yield source.count('\n', 0, found.start()) + 1, text_of(found[1])


def comments_in_lines(lines, mark):
    """Yields (line, text) of each group of lines that begin with MARK."""
    begin, texts = 0, []
    for number, line in enumerate(lines + [''], 1):
        found = LINES[mark].match(line)
        if found:
            begin = begin if texts else number
            texts.append(found[2])
        elif texts:
            yield begin, text_of('\n'.join(texts))
            texts = []


def comments_of(tree, path):
    lines = tree.lines(path)
    mark = next((mark for ending, mark in MARKS.items() if path.endswith(ending)), None)
    if mark is None and lines and re.match(r'#!.*\b(sh|bash|python3)$', lines[0]):
        mark = '#'
    if path in tree.c_files() or path.endswith(('.js', '.css')):
        return comments_in_slashes(lines)
    return comments_in_lines(lines, mark) if mark else ()


def check(tree):
    for path in tree.files:
        if path.startswith(OLD_HEADERS):
            continue
        for line, text in comments_of(tree, path):
            opening = OPENS.match(text)
            avoided = AVOIDED_WORD.search(text)
            if opening:
                yield path, line, 'a comment opens with "%s": name its subject' % opening[0]
            elif avoided:
                yield path, line, 'a comment says "%s": name the act' % avoided[0]
