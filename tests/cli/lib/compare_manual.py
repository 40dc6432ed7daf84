#!/usr/bin/env python3
"""Compares manual pages with the output of the program.

  compare_manual.py compare PROGRAM MAN     each command's page below the folder MAN with the command's --help
  compare_manual.py help PROGRAM            checks the width, the length and the options of --help and --help=all
  compare_manual.py references MAN          checks that the pages to which pages refer exist
  compare_manual.py fields PAGE             prints the names listed in the DESCRIPTION of a page
  compare_manual.py choices PROGRAM         checks that options accept the values of their lists, and no others

Pages are read as man shows them. Differences are printed, and the exit status is 1 then.
"""

import glob
import json
import os
import re
import subprocess
import sys


MOST_LINES = 60  # of --help


def words(text):
    """Returns TEXT in one line, with the characters of --help; `code` without its quotes."""
    for shown, typed in (('\u2019', "'"), ('\u2018', "'"), ('\u2010', '-'), ('\u2212', '-')):
        text = text.replace(shown, typed)
    return ' '.join(text.replace('`', '').split())


class Page:
    """The sections of a page: titles, and one line for each paragraph."""

    def __init__(self, path):
        # Longer than any line of a page.
        settings = dict(os.environ, LC_ALL='C.UTF-8', MANWIDTH='5000', MANPAGER='cat', MANROFFOPT='')
        shown = subprocess.run(['man', '--nh', '--nj', '-l', path], env=settings, text=True, check=True,
                               stdout=subprocess.PIPE).stdout
        self.sections, section = {}, None
        self.name = os.path.basename(path).partition('.')[0]
        for line in shown.split('\n')[1:-2]:
            if line and not line.startswith(' '):
                section = self.sections[line] = []
            elif section is not None:
                section.append(line)

    def text(self, title):
        return words('\n'.join(self.sections.get(title, [])))

    def entries(self, title):
        """Returns the entries that .TP made: [(name, text)], and those of .SS: ('TITLE:', '')."""
        found = []
        for line in self.sections.get(title, []):
            if re.match(r' {3}\S', line):
                found.append([line.strip() + ':', ''])
            elif re.match(r' {7}\S', line):
                short = len(line) > 14 and line[13] == ' ' and line[14] != ' ' and len(line[7:13].strip()) < 7
                found.append([words(line[7:13] if short else line), words(line[14:]) if short else ''])
            elif found and line.strip():
                found[-1][1] = words(found[-1][1] + ' ' + line)
        return [tuple(entry) for entry in found]


class Help:
    """The help of a command: usage, summary, options and headings [(title, text)], other paragraphs."""

    def __init__(self, program, command, option='--help=all'):
        self.said = subprocess.run([program, command, option], text=True, stdout=subprocess.PIPE,
                                   check=True).stdout
        head, *self.rest = re.split(r'\n\n', self.said.rstrip('\n'))
        self.usage = words(re.match(r'Usage: (.*(?:\n {2,}.*)*)', head)[1])
        self.before = words(head.split('\n', 1)[1])
        self.options = []
        while re.search(r'^(  -|      --)', self.rest[0], re.M):
            for line in self.rest.pop(0).split('\n'):
                found = re.match(r' +((?:-\S, )?--\S+|-\S(?: \S+)?)(?:  |$)(.*)|(\S.*:)$', line)
                if found:
                    self.options.append((found[1] or found[3], words(found[2] or '')))
                else:
                    self.options[-1] = (self.options[-1][0], words(self.options[-1][1] + ' ' + line))
        self.names = [re.split(r'\[?=| [A-Z]', title)[0] for title, _ in self.options if not title.endswith(':')]


def statuses(text):
    return re.findall(r'(\d+(?:\+n)?) (.*?)(?:, (?=\d)|\.?$)', text)


def compare_options(page, said):
    there, told = dict(page.entries('OPTIONS')), dict(said.options)
    for option in sorted(set(told) - set(there)):
        yield 'lacks %s' % option
    for option in sorted(set(there) - set(told)):
        yield 'has %s, which --help has not' % option
    for option in sorted(set(told) & set(there)):
        if told[option] != there[option]:
            yield 'of %s it says "%s", --help "%s"' % (option, there[option], told[option])
    if set(told) == set(there) and list(told) != list(there):
        yield 'has the options in another order or other groups'


def compare_rest(page, said):
    """Compares the paragraphs after the options."""
    for paragraph in said.rest:
        first, *lines = paragraph.split('\n')
        if lines and re.match(r'Examples?:', first):
            shown = [line.strip() for line in page.sections.get('EXAMPLES', [])]
            missing = [line.strip() for line in lines if line.strip() and line.strip() not in shown]
        elif lines and re.match(r'\w+:$', first):
            shown = page.entries(first[:-1].upper())
            told = [tuple(line.split(None, 1)) for line in lines if line.strip()]
            missing = [' '.join(entry) for entry in told if entry not in shown]
        elif first.startswith('Exit status:'):
            missing = [] if page.entries('EXIT STATUS') == statuses(words(paragraph)[13:]) else [first]
        else:
            known = page.text('DESCRIPTION') + words('man %s describes the options.' % page.name)
            missing = [] if words(paragraph) in known else [paragraph]
        for text in missing:
            yield 'lacks "%s"' % text


def compare_command(page, said, of_program):
    yield from compare_options(page, said)
    if page.text('SYNOPSIS') != said.usage:
        yield 'SYNOPSIS is "%s", --help says "%s"' % (page.text('SYNOPSIS'), said.usage)
    if not page.text('DESCRIPTION').startswith(said.before):
        yield 'DESCRIPTION does not begin with "%s"' % said.before
    yield from compare_rest(page, said)
    own = any(paragraph.startswith('Exit status:') for paragraph in said.rest)
    if not own and page.entries('EXIT STATUS') != of_program:
        yield 'EXIT STATUS is not that of tracehost --help'


def compare(program, folder):
    """Compares each command of --help, and the program itself."""
    said = subprocess.run([program, '--help'], text=True, stdout=subprocess.PIPE, check=True).stdout
    commands = re.findall(r'^  (\w+)  +(\S.*)$', said, re.M)
    of_program = statuses(words(said.split('Exit status: ')[1].split('\n\n')[0]))
    main = Page(folder + '/man1/tracehost.1')
    if main.entries('COMMANDS') != [('tracehost-%s(1)' % name, text) for name, text in commands]:
        yield 'tracehost.1: COMMANDS are not those of --help'
    if main.entries('EXIT STATUS') != of_program:
        yield 'tracehost.1: EXIT STATUS is not that of --help'
    paths = sorted(glob.glob(folder + '/man1/tracehost-*.1'))
    expected = sorted('%s/man1/tracehost-%s.1' % (folder, name) for name, _ in commands)
    for path in sorted(set(paths) ^ set(expected)):
        yield '%s: %s' % (os.path.basename(path), 'there is no such command' if path in paths else 'is not there')
    for name, text in commands:
        path = '%s/man1/tracehost-%s.1' % (folder, name)
        if path in paths:
            page = Page(path)
            if page.text('NAME') != 'tracehost-%s - %s' % (name, text):
                yield 'tracehost-%s.1: NAME is not the summary of --help' % name
            for fault in compare_command(page, Help(program, name), of_program):
                yield 'tracehost-%s.1: %s' % (name, fault)


def check_help(program):
    """Checks --help and --help=all of each command: they fit the terminal, and have the options that they should."""
    for command in json.loads(subprocess.check_output([program, 'help', '--json']))['commands']:
        name = command['command']
        shown, everything = Help(program, name, '--help'), Help(program, name)
        told = json.loads(subprocess.check_output([program, 'help', '--json', name]))['options']
        forms = [(', '.join(dash + option[key] for key, dash in (('letter', '-'), ('name', '--')) if option[key]),
                  option['rare']) for option in told]
        if everything.names != [form for form, _ in forms]:
            yield '%s --help=all has %s, not %s' % (name, everything.names, forms)
        if shown.names != [form for form, rare in forms if not rare]:
            yield '%s --help has %s, not %s' % (name, shown.names, forms)
        if not set(shown.options) <= set(everything.options):
            yield '%s --help has texts that --help=all has not' % name
        for line in [line for line in (shown.said + everything.said).split('\n') if len(line) > 80]:
            yield '%s: too wide: %s' % (name, line)
        lines = shown.said.count('\n')
        if lines > MOST_LINES:
            yield '%s --help has %d lines' % (name, lines)


def references(folder):
    paths = sorted(glob.glob(folder + '/man*/*'))
    for path in paths:
        page = Page(path)
        named = re.findall(r'((?:tracehost|erl_|nif_)[\w.-]*)\((\d)\)', ' '.join(page.text(t) for t in page.sections))
        for name, section in sorted(set(named)):
            if '%s/man%s/%s.%s' % (folder, section, name, section) not in paths:
                yield '%s: there is no %s(%s)' % (os.path.basename(path), name, section)
        if 'SEE ALSO' not in page.sections:
            yield '%s: no SEE ALSO' % os.path.basename(path)


def fields(path):
    return [name for name, _ in Page(path).entries('DESCRIPTION') if re.match(r'[a-z_]+$', name)]


def refuses(program, command, option, value):
    """True if the error is about the option. Other arguments are missing, so the command does nothing in any case."""
    # Options of a pattern follow a pattern.
    pattern = ['-p', 'm:f/1'] if '-p, --pattern' in Help(program, command).names else []
    said = subprocess.run([program, command] + pattern + ['--%s=%s' % (option, value)], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    return '--%s ' % option in said.split('\n')[0] or "'%s'" % value in said.split('\n')[0]


def choices(program):
    for command in json.loads(subprocess.check_output([program, 'help', '--json']))['commands']:
        name = command['command']
        told = json.loads(subprocess.check_output([program, 'help', '--json', name]))
        for option in told['options']:
            values = option['choices']
            for value in values + [','.join(values)] * option['list']:
                # Global breakpoints exclude other kinds.
                alone = value.replace('global,', '') if option['name'] == 'kind' else value
                if refuses(program, name, option['name'], alone):
                    yield '%s --%s=%s is refused' % (name, option['name'], alone)
            if values and not option['others'] and not refuses(program, name, option['name'], 'unheard'):
                yield '%s --%s=unheard is taken' % (name, option['name'])


def main():
    what, *arguments = sys.argv[1:]
    lines = list({'compare': compare, 'help': check_help, 'references': references, 'fields': fields,
                  'choices': choices}[what](*arguments))
    print(''.join(line + '\n' for line in lines), end='')
    return 1 if lines and what in ('compare', 'help', 'references', 'choices') else 0


if __name__ == '__main__':
    sys.exit(main())
