"""Text and Markdown as man(7) text.

The sources of manual pages are a small part of Markdown; anything else is refused with its line:

  # NAME(SECTION)        the first line, which is checked
  ## SECTION             .SH
  ### Subsection         .SS
  paragraphs             lines without a blank line between them
  * text                 an item of a list; its further lines are indented by two blanks
  * `term`: text         an item of a list of definitions: .TP; `term`, *term* or **term**, or several
  | term | text |        a table of two columns with a heading: definitions, too; \\| is a bar
  | a | b | c |          a table of more columns: tbl(1), with columns as wide as their texts need
  ```LANGUAGE            an example, up to ```, as it is
  <!-- @NAME@ -->        a place for what make_page inserts

In paragraphs, items and cells: `code` and **bold** are bold, *text* is italic, [text](target) is its text,
and name(N) is a reference to a page. TARGET is a file, from the folder of the page.
"""

import os
import re
import textwrap

WIDTH = 78
TABLE_WIDTH = 70  # of a page of 80 columns, without its margin
SPECIAL = {'\\': '\\e', '`': '\\(ga', '~': '\\(ti', '^': '\\(ha', '-': '\\-'}
OPTION = re.compile(r'(?<![\w:/.-])(--[a-z]+(?:-[a-z]+)*|-[A-Za-z?])(?![\w-])')
INLINE = re.compile(r'`(?P<code>[^`]+)`|\*\*(?P<bold>[^*]+)\*\*|\*(?P<italic>[^*\s](?:[^*]*[^*\s])?)\*|'
                    r'\[(?P<text>[^]]+)\]\((?P<target>[^)]+)\)|\b(?P<page>[a-z][\w.-]*)\((?P<section>[1-8])\)')
MARKED = r'(?:`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*)'
DEFINITION = re.compile(r'(%s(?:(?:, | or | )%s)*):\s+(.*)' % (MARKED, MARKED), re.S)
FENCE = re.compile(r'```\w+( >\S+)?$')
INSERT = re.compile(r'<!-- @(\w+)@ -->$')
UNKNOWN = re.compile(r'#|>|\s|<|[-+] |\d+[.)] |!\[|---|===')


class Fault(Exception):
    """Markdown that is not in the list above, or a page that lacks something."""


def literal(text):
    """Escapes TEXT so that each character is shown as it is typed."""
    text = ''.join(SPECIAL.get(c, '\\(aq' if c == "'" else c) for c in text)
    return '\\&' + text if text.startswith('.') else text


def bold(text):
    return '\\fB%s\\fP' % literal(text)


def italic(text):
    return '\\fI%s\\fP' % literal(text)


def plain(text):
    """Escapes a text of words: apostrophes within words stay, options are bold."""
    text = ''.join(SPECIAL.get(c, c) if c != '-' else c for c in text)
    text = re.sub(r"(?<!\w)'|'(?!\w)", r'\\(aq', text)
    return OPTION.sub(lambda found: '\\fB%s\\fP' % found[1].replace('-', '\\-'), text)


def unbroken(text):
    return text.replace(' ', '\0')


def lines_of(marked):
    lines = textwrap.wrap(marked, WIDTH, break_long_words=False, break_on_hyphens=False)
    return [guarded(line.replace('\0', ' ')) for line in lines]


def guarded(line):
    return '\\&' + line if line.startswith(('.', "'")) else line


def prose(text):
    """Converts a paragraph of the program's help: `code` is bold."""
    parts = re.split(r'`([^`]*)`', ' '.join(text.split()))
    return lines_of(''.join(unbroken(bold(part)) if odd % 2 else plain(part) for odd, part in enumerate(parts)))


def kept(line):
    """Returns a line that is not filled so that mandoc's HTML keeps it if it is empty or begins with a blank."""
    return {'': '\\~', ' ': '\\&'}.get(line[:1], '') + line


def example(lines):
    return ['.EX'] + [kept(literal(line)) for line in lines] + ['.EE']


def inline(text):
    """Converts a paragraph of Markdown to one line, in which blanks that must not break are NULs."""
    text, made, end = ' '.join(text.split()), '', 0
    for found in INLINE.finditer(text):
        made += plain(text[end:found.start()])
        end = found.end()
        if found['code']:
            made += unbroken(bold(found['code']))
        elif found['bold']:
            made += bold(found['bold'])
        elif found['italic']:
            made += italic(found['italic'])
        elif found['text']:
            made += inline(found['text'])
        else:
            made += '%s(%s)' % (bold(found['page']), found['section'])
    return made + plain(text[end:])


def cells(row):
    return [cell.strip().replace('\\|', '|') for cell in re.split(r'(?<!\\)\|', row.strip()[1:-1])]


def shown(text):
    """Returns TEXT without its marks."""
    return INLINE.sub(lambda found: found['code'] or found['bold'] or found['italic'] or found['text'] or found[0], text)


def widths_of(rows):
    """Returns the widths of columns, in proportion to the square roots of their lengths, which keeps rows low, but each
    at least as wide as its longest word."""
    columns = [[shown(cell) for cell in column] for column in zip(*rows)]
    widths = [max(len(word) for cell in column for word in re.split(r'[ -]', cell)) for column in columns]
    weights = [sum(map(len, column)) ** 0.5 for column in columns]
    room, free = TABLE_WIDTH - 3 * (len(columns) - 1), sorted(range(len(columns)), key=lambda i: -widths[i] / weights[i])
    while free:  # the tightest column first
        widths[free[0]] = max(widths[free[0]], int(room * weights[free[0]] / sum(weights[i] for i in free)))
        room -= widths[free.pop(0)]
    return widths if room >= 0 else None


def wide_table(rows, widths):
    """Converts a table to lines of tbl(1)."""
    made = ['.TS', ' '.join('lbw(%dn)' % width for width in widths), ' '.join('lw(%dn)' % width for width in widths) + '.']
    for row in rows:
        for i, cell in enumerate(row):
            made += [('T}\t' if i else '') + 'T{'] + (lines_of(inline(cell)) if cell else [])
        made += ['T}', '_']
    return made[:-1] + ['.TE']


class Markdown:
    """A page. Iteration yields ('section', title), ('insert', name) and ('text', lines), in the order of the file."""

    def __init__(self, path, title):
        with open(path) as file:
            self.lines = file.read().split('\n')
        self.path, self.start, self.at = path, 0, 1
        if self.lines[0] != '# ' + title:
            raise Fault('%s:1: is not "# %s"' % (path, title))

    def fault(self, text):
        return Fault('%s:%d: %s' % (self.path, self.start + 1, text))

    def taken(self, wanted):
        """Takes the lines from here on up to the first that is not WANTED."""
        start = self.at
        while self.at < len(self.lines) and wanted(self.lines[self.at]):
            self.at += 1
        return self.lines[start:self.at]

    def check_targets(self, text):
        for found in INLINE.finditer(text):
            target = found['target']
            if target and not re.match(r'\w+:', target) and not os.path.exists(
                    os.path.join(os.path.dirname(self.path), target.partition('#')[0])):
                raise self.fault('there is no ' + target)

    def fenced(self):
        if not FENCE.match(self.lines[self.at]):
            raise self.fault('an example is ```LANGUAGE or ```LANGUAGE >FILE')
        self.at += 1
        inside = self.taken(lambda line: line != '```')
        if self.at == len(self.lines):
            raise self.fault('an example without end')
        self.at += 1
        return ['.PP'] + example(inside)

    def definition(self, term, text):
        return ['.TP', guarded(inline(term).replace('\0', ' '))] + lines_of(inline(text))

    def table(self):
        rows = [cells(row) for row in self.taken(lambda line: line.startswith('|'))]
        if len(rows) < 3 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
            raise self.fault('a table has a heading, and two columns or more in all rows')
        if len(rows[0]) > 2:
            widths = widths_of(rows[:1] + rows[2:])
            if not widths:
                raise self.fault('the longest words of the columns need more than %d characters' % TABLE_WIDTH)
            return wide_table(rows[:1] + rows[2:], widths)
        return [line for term, text in rows[2:] for line in self.definition(term, text)]

    def item(self):
        first = self.lines[self.at][2:]
        self.at += 1
        text = ' '.join([first] + self.taken(lambda line: line.startswith('  ')))
        defined = DEFINITION.match(text)
        if defined:
            return self.definition(defined[1], defined[2])
        return ['.IP \\(bu 2'] + lines_of(inline(text))

    def paragraph(self):
        if UNKNOWN.match(self.lines[self.at]):
            raise self.fault('unknown Markdown: ' + self.lines[self.at])
        text = ' '.join(self.taken(lambda line: line and not line.startswith(('#', '|', '* ', '```'))))
        return ['.PP'] + lines_of(inline(text))

    def __iter__(self):
        while self.at < len(self.lines):
            line, self.start = self.lines[self.at], self.at
            heading, insert = re.match(r'(##|###) (.*)', line), INSERT.match(line)
            if not line:
                self.at += 1
                continue
            if heading or insert:
                self.at += 1
            if heading and heading[1] == '##':
                yield 'section', heading[2]
            elif heading:
                yield 'text', ['.SS ' + plain(heading[2])]
            elif insert:
                yield 'insert', insert[1]
            elif line.startswith('```'):
                yield 'text', self.fenced()
            elif line.startswith('|'):
                yield 'text', self.table()
            elif line.startswith('* '):
                yield 'text', self.item()
            else:
                yield 'text', self.paragraph()
            if not line.startswith('```'):
                self.check_targets('\n'.join(self.lines[self.start:self.at]))
