"""A C header of plugin_api as man(7) text: its comments, each with the declarations that it describes.

A header consists of

  /* TEXT */                    the introduction, at the top
  /* --- Title --- ... */       the beginning of a subsection
  /** @defgroup NAME Title      likewise; the lines behind are the subsection's text
  /* TEXT */ and declarations   an entry, if no blank line is between them; else TEXT is a paragraph of its own
  declarations                  an entry without text; macros without a comment are left out

Functions that a macro of the header defines are shown as declarations. The macro and others that the header undefines
are left out, and so are the comments of conditional lines (#if), and all from a comment on that begins with
"Internals". In a comment, indented lines are a list if they begin with "- ", terms with their texts if each has a gap of
two blanks, else an example. Lines "Owner:", "Errors:" and the like become tagged paragraphs. `code` and name() are
bold, names of the entry's parameters in capitals are italic.
"""

import csv
import functools
import re
import textwrap

from man_text import bold, example, italic, kept, lines_of, literal, plain, unbroken

WIDTH = 66  # of declarations
TAG = re.compile(r'(?:^|(?<=[.)] ))(Owner|Thread|Order|Errors|Source|Since|On failure): ')
SECTION = re.compile(r'/\* --- (.*?) -+ \*/$')
GROUP = re.compile(r'@defgroup \w+ (.*)')
HEADING = re.compile(r'[A-Z]\w*(?: (?!are )\w+){0,2}\.(?= )')
NOT_SHOWN = re.compile(r'\b(?:extern|TRACEHOST_API|TH_MODULE_API|ERL_NAPI_EXPORT|static (?:__)?inline(?:__)?)\s+|'
                       r'\s*\b(?:__attribute__\(\(.*\)\)|ERL_NAPI_ATTR_\w+(?:\([^)]*\))?)(?=\s*;)')
X_MACRO = re.compile(r'#define (\w+)\(([^)]*)\) *(.*?),?\n\s*(\w+)\(\1\)\n#undef \1')
COMMENT = re.compile(r'/\*.*?\*/', re.S)


def rows(text, table):
    """Yields the rows of the X-macro TABLE of the header TEXT, as they are written."""
    body = re.search(r'#define %s\(X\)(.*?[^\\])\n' % table, text, re.S)[1]
    yield from re.findall(r'X\(((?:[^()"]|"[^"]*")*)\)', body)


def cells(row):
    return next(csv.reader([row], skipinitialspace=True))


def split(text, separator):
    """Splits TEXT at each SEPARATOR outside of parentheses, braces and comments."""
    parts, depth, comment = [''], 0, False
    for i, c in enumerate(text):
        comment = text.startswith('/*', i) or (comment and text[i - 2:i] != '*/')
        depth += 0 if comment else {'(': 1, '{': 1, ')': -1, '}': -1}.get(c, 0)
        if c == separator and depth == 0 and not comment:
            parts.append('')
        else:
            parts[-1] += c
    return parts


def comment_lines(comment):
    """Returns the lines of a comment without its marks, and without what is for editors of the header."""
    inside = re.sub(r'^/\*+|\*/$', '', comment)
    lines = [re.sub(r'^ *\*(?= |$) ?', '', line).rstrip() for line in inside.split('\n')]
    lines[0] = lines[0].strip()
    text = '\n'.join(line for line in lines if not re.match(r'@', line))
    return re.sub(r'(?:^|\n\n)Long because: (?:.+\n?)*', '', text).strip('\n').split('\n')


def broken(text):
    """Breaks a declaration of one line behind the commas of its parameters."""
    lines = textwrap.wrap(text, WIDTH, subsequent_indent='    ', break_long_words=False, break_on_hyphens=False)
    if len(lines) == 1 or '(' not in text:
        return lines
    before, _, after = text.partition('(')
    lines = [before + '(']
    for piece in re.findall(r'[^,(]+(?:\([^)]*\)[^,(]*)*,?', after):
        for part in [piece.strip()] if len(piece) < WIDTH - 3 else re.findall(r'[^,]+,?', piece):
            if len(lines[-1]) + len(part) + 1 > WIDTH:
                lines.append('    ' + part.strip())
            else:
                lines[-1] += part if lines[-1].endswith('(') else ' ' + part.strip()
    return lines


def words(text, parameters=()):
    """Converts words of a comment to lines of man(7)."""
    made, end, text = '', 0, ' '.join(text.split())
    for found in re.finditer(r'`([^`]+)`|\b\w+\(\)|\b[A-Z][A-Z_0-9]*\b', text):
        if not found[1] and not found[0].endswith(')') and found[0].lower() not in (parameters or ()):
            continue
        if found[0].isupper() and '(' not in found[0]:
            marked = italic(found[0])
        else:
            marked = unbroken(bold(found[1] or found[0][:-2])) + ('' if found[1] else '()')
        made += plain(text[end:found.start()]) + marked
        end = found.end()
    return lines_of(made + plain(text[end:]))


def paragraph(text, parameters):
    """Converts a paragraph, whose later parts may have tags."""
    parts = TAG.split(text)
    heading = HEADING.match(parts[0])
    if heading and parameters is None:
        made = ['.PP'] + [bold(heading[0])] + words(parts[0][heading.end():], parameters)
    else:
        made = ['.PP'] + words(parts[0], parameters) if parts[0].strip() else []
    for tag, rest in zip(parts[1::2], parts[2::2]):
        made += ['.TP %d' % (9 if len(tag) < 8 else 13), bold(tag + ':')] + words(rest, parameters)
    return made


def indented(lines, parameters):
    """Converts lines that stand further right: a list, terms with texts, or an example."""
    lines = textwrap.dedent('\n'.join(lines)).strip('\n').split('\n')
    heads = [line for line in lines if line and not line.startswith(' ')]
    listed = all(line.startswith('- ') for line in heads)
    if not listed and not all(re.match(r'\S.*?\S?  +\S', line) for line in heads):
        return ['.PP'] + example(lines)
    made = []
    for item in re.split(r'\n(?! )', '\n'.join(line for line in lines if line)):
        if listed:
            made += ['.IP \\(bu 2'] + words(item[2:], parameters)
        else:
            term, text = re.match(r'(.*?)  +(.*)', item, re.S).groups()
            made += ['.TP', bold(term)] + words(text, parameters)
    return made


def text_of(lines, parameters=None):
    """Converts the LINES of a comment."""
    made, i = [], 0
    while i < len(lines):
        start, right = i, lines[i].startswith('  ')
        while i < len(lines) and (lines[i].startswith('  ') == right and (
                right or i == start or not TAG.match(lines[i])) and lines[i] or right and not lines[i]):
            i += 1
        if right:
            made += indented(lines[start:i], parameters)
        elif i > start:
            made += paragraph(' '.join(lines[start:i]), parameters)
        else:
            i += 1
    return made


def member_text(comment):
    """Converts the comment of a member: one paragraph."""
    return words(' '.join(comment_lines(comment)))


class Entry:
    """A comment and the declarations that follow it."""

    def __init__(self, header, comment, declarations):
        self.header = header
        self.comment = comment_lines(comment) if comment else []
        self.parameters, self.titles, self.members, self.declared = set(), [], [], bool(declarations)
        self.before = []  # the lines of declarations before the last one that has members
        for declaration in declarations:
            self.add(declaration)

    def add(self, declaration):
        if declaration.startswith('#'):
            self.add_macro(declaration)
            return
        brace = declaration.find('{')
        if brace >= 0 and re.match(r'(?:typedef )?(?:struct|enum|union)\b[^(]*$', declaration[:brace]):
            if self.members:
                self.before, self.comment = self.lines(), []
                self.titles, self.members = [], []
            end = declaration.rindex('}')
            before, after = declaration[:brace].strip(), declaration[end + 1:].strip()
            self.titles += ['%s {...}%s' % (before, ' ' * (after != ';') + after)]
            self.members += self.members_of(declaration[brace + 1:end], 'enum' in before)
            return
        if brace >= 0:
            declaration = declaration[:brace].strip() + ';'
        declaration = NOT_SHOWN.sub('', ' '.join(COMMENT.sub('', declaration).split()))
        self.add_prototype(re.sub(r'TH_FLAGS_OF\((\w+)\)', r'\1', declaration))

    def add_macro(self, declaration):
        name = re.match(r'#define (\w+(?:\([^)]*\))?)', declaration)[1]
        if '#undef %s\n' % name.partition('(')[0] in self.header or name.endswith('_API'):
            return
        short = ' '.join(declaration.split())
        if name.endswith('(X)'):
            self.titles.append('#define ' + name)
            lines = [line for row in rows(self.header, name[:-3]) for line in broken('X(%s)' % row)]
            self.members += ['.PP'] + example(lines)
        elif '\\\n' not in declaration and len(short) <= WIDTH:
            self.titles.append(short)
        else:
            self.titles.append('#define ' + name)

    def add_prototype(self, text):
        found = re.match(r'.*?\((.*)\).*', text)
        for argument in split(found[1] if found else '', ','):
            name = re.search(r'\(\*(\w+)\)', argument) or re.search(r'(\w+)(?:\[.*\])?$', argument)
            self.parameters |= {name[1].rstrip('_')} - {'void'} if name else set()
        self.titles += broken(text)

    def members_of(self, body, enum):
        """Converts the members of a structure, or the values of an enumeration."""
        for macro in X_MACRO.finditer(body):
            names = macro[2].split(', ')
            values = [re.sub(r'##(\w+)', lambda column: row[names.index(column[1])], macro[3])
                      for row in map(cells, rows(self.header, macro[4]))]
            body = body.replace(macro[0], ', '.join(values) + ',')
        made, members = [], []  # members: [comment before, declaration, comment behind]
        whole = re.match(r' (/\*.*?\*/)\n', body)
        if whole:
            made, body = ['.PP'] + member_text(whole[1]), body[whole.end():]
        for piece in split(body, ',' if enum else ';'):
            behind = re.match(r'[ ]*(/\*.*?\*/)', piece, re.S)
            if behind and members:
                members[-1][2] = behind[1]
                piece = piece[behind.end():]
            before = COMMENT.match(piece.strip())
            rest = COMMENT.sub('', piece).strip()
            if rest:
                last = re.search(r'\S[^\n]*(/\*.*?\*/)\s*$', piece, re.S) if not before else None
                members.append([before[0] if before else '', ' '.join(rest.split()), last[1] if last else ''])
        if enum and not any(before or behind for before, _, behind in members):
            return made + ['.PP'] + lines_of(', '.join(literal(name) for _, name, _ in members))
        for before, name, behind in members:
            if before and behind:
                made += ['.PP'] + member_text(before)
            lines = [bold(line) for line in broken(re.sub(r'\{.*\}', '{...}', name))]
            if before or behind:
                made += ['.TP'] + lines + member_text(behind or before)
            elif made[-1:] == ['.fi']:
                made[-1:] = lines + ['.fi']
            else:
                made += ['.PP', '.nf'] + lines + ['.fi']
        return made

    def marked(self, line):
        """Marks names in a line of a declaration: the declared one, which a parenthesis follows, and parameters."""
        made, end = '', 0
        for found in re.finditer(r'\w+(?=\()|(?:(?<=\(\*)|\b)(\w+)(?=\)\(|[,)]|\[)', line):
            if found[1] and found[1].rstrip('_') not in self.parameters:
                continue
            made += literal(line[end:found.start()]) + (italic if found[1] else bold)(found[0])
            end = found.end()
        return kept(made + literal(line[end:]))

    def lines(self):
        text = text_of(self.comment, self.parameters if self.declared else None)
        if not self.titles:
            return [] if self.declared else text
        made = ['.PP', '.nf'] + [self.marked(title) for title in self.titles] + ['.fi']
        inside = text + self.members
        return self.before + made + (['.RS 4'] + inside[inside[0] == '.PP':] + ['.RE'] if inside else [])


class Header:
    """A header that was read and split into comments and declarations. header_of() makes one of each file."""

    def __init__(self, path):
        with open(path) as file:
            self.text = re.sub(r'/\* clang-format o\w+ \*/\n', '', file.read())
        self.parts = list(self.read())

    def read(self):
        """Yields (comment, declarations) in the order of the header, up to the internals. One of both may be empty."""
        lines, comment, declarations = self.text[COMMENT.match(self.text).end():].split('\n') + [''], '', []
        i = 0
        while i < len(lines):
            line, start = lines[i], i
            i += 1
            if line.startswith('/*'):
                while '*/' not in lines[i - 1]:
                    i += 1
                if comment or declarations:
                    yield comment, declarations
                comment, declarations = '\n'.join(lines[start:i]), []
                if re.match(r'/\*\s*\**\s*Internals', comment):
                    return
            elif line.startswith('#'):
                while lines[i - 1].endswith('\\'):
                    i += 1
                if line.startswith('#define '):
                    declarations += ['\n'.join(lines[start:i])] if comment else []
                else:
                    if declarations:
                        yield comment, declarations
                    comment, declarations = '', []
            elif re.match(r'[A-Z_0-9]+\([^;]*\)$', line):
                declarations += self.defined_by(line)
            elif re.match(r'extern "C"|}$', line):
                pass
            elif line:
                while not self.ends('\n'.join(lines[start:i])):
                    i += 1
                declarations.append('\n'.join(lines[start:i]))
            elif comment or declarations:
                yield comment, declarations
                comment, declarations = '', []

    def defined_by(self, call):
        """Returns the functions that CALL of a macro defines, as declarations."""
        name, arguments = re.match(r'(\w+)\((.*)\)', call).groups()
        macro = re.search(r'#define %s\((\w+), \.\.\.\)(.*?[^\\])\n' % name, self.text, re.S)
        functions = re.findall(r'(static __inline__ [^{]*\))\s*\\\n *{', macro[2]) if macro else []
        made = []
        for function in functions:
            text, before = function.replace('##' + macro[1], arguments.partition(',')[0]), ''
            while text != before:
                before, text = text, re.sub(r'\bTH_\w+', lambda found: re.search(
                    r'#define %s (.*)' % found[0], self.text)[1], text)
            made.append(text + ';')
        return made

    @staticmethod
    def ends(text):
        text = COMMENT.sub('', text).rstrip()
        return text.count('{') == text.count('}') and text.count('(') == text.count(')') and text[-1] in ';}'

    def introduction(self):
        """Returns the comment at the top."""
        return text_of(comment_lines(COMMENT.match(self.text)[0]))

    def declarations(self):
        """Returns the subsections and entries below the top, up to the internals."""
        made = []
        for comment, declarations in self.parts:
            section, group = SECTION.match(comment), GROUP.search(comment)
            if section or group:
                made.append('.SS ' + plain(section[1] if section else group[1]))
            if not section:
                lines = Entry(self.text, comment, declarations).lines()
                made += lines[1:] if made and made[-1].startswith('.SS') and lines[:1] == ['.PP'] else lines
        return made


@functools.lru_cache(maxsize=None)
def header_of(path):
    """Returns the Header of PATH, which is parsed once."""
    return Header(path)
