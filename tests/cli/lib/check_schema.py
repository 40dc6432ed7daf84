#!/usr/bin/env python3
"""Checks lines of JSON against a part of control.schema.json.

  check_schema.py SCHEMA greeting|answer <LINES    or COMMAND: answers whose results are those of that command
  check_schema.py SCHEMA --commands                lists the commands in the schema

Supports the keywords of draft 2020-12 that the schema uses; any other one is an error, so nothing in the schema is
left unchecked. Prints violations, and exits with 1 then."""

import json
import sys

TYPES = {'object': dict, 'array': list, 'string': str, 'boolean': bool, 'null': type(None)}


def is_type(value, name):
    if name == 'integer':
        return isinstance(value, int) and not isinstance(value, bool)
    if name == 'number':
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def same(a, b):
    return a == b and isinstance(a, bool) == isinstance(b, bool)


class Checker:
    def __init__(self, whole):
        self.whole = whole

    def follow(self, reference):
        part = self.whole
        for name in reference.removeprefix('#/').split('/'):
            part = part[name]
        return part

    def faults(self, schema, value, place='it'):
        for keyword, wanted in schema.items():
            yield from getattr(self, 'check_' + keyword.strip('$'))(schema, wanted, value, place)

    def check_description(self, *_):
        return ()

    def check_ref(self, schema, wanted, value, place):
        return self.faults(self.follow(wanted), value, place)

    def check_type(self, schema, wanted, value, place):
        names = wanted if isinstance(wanted, list) else [wanted]
        if not any(is_type(value, name) for name in names):
            yield '%s is no %s: %r' % (place, ' or '.join(names), value)

    def check_const(self, schema, wanted, value, place):
        if not same(value, wanted):
            yield '%s is not %r: %r' % (place, wanted, value)

    def check_enum(self, schema, wanted, value, place):
        if not any(same(value, one) for one in wanted):
            yield '%s is none of %r: %r' % (place, wanted, value)

    def check_minimum(self, schema, wanted, value, place):
        if is_type(value, 'number') and value < wanted:
            yield '%s is below %r: %r' % (place, wanted, value)

    def check_maximum(self, schema, wanted, value, place):
        if is_type(value, 'number') and value > wanted:
            yield '%s is above %r: %r' % (place, wanted, value)

    def check_minItems(self, schema, wanted, value, place):
        if isinstance(value, list) and len(value) < wanted:
            yield '%s has fewer than %d elements' % (place, wanted)

    def check_items(self, schema, wanted, value, place):
        for i, item in enumerate(value if isinstance(value, list) else ()):
            yield from self.faults(wanted, item, '%s[%d]' % (place, i))

    def check_properties(self, schema, wanted, value, place):
        for name, item in value.items() if isinstance(value, dict) else ():
            if name in wanted:
                yield from self.faults(wanted[name], item, '%s.%s' % (place, name))

    def check_additionalProperties(self, schema, wanted, value, place):
        for name in value if isinstance(value, dict) else ():
            if wanted is False and name not in schema['properties']:
                yield '%s has "%s"' % (place, name)

    def check_required(self, schema, wanted, value, place):
        for name in wanted if isinstance(value, dict) else ():
            if name not in value:
                yield '%s has no "%s"' % (place, name)

    def check_oneOf(self, schema, wanted, value, place):
        found = [list(self.faults(one, value, place)) for one in wanted]
        fitting = sum(not faults for faults in found)
        if fitting != 1:
            yield '%s fits %d of %d: %s' % (place, fitting, len(wanted), found)


def main():
    path, what = sys.argv[1:]
    with open(path) as file:
        schema = json.load(file)
    checker = Checker(schema)
    parts = schema['$defs']
    results = parts['results']['properties']
    if what == '--commands':
        print('\n'.join(results))
        return
    count = 0
    bad = []
    for line in sys.stdin:
        value = json.loads(line)
        count += 1
        if what in results:
            bad += checker.faults(parts['success'], value, 'the answer')
            bad += checker.faults(results[what], value.get('result'), 'the result')
        else:
            bad += checker.faults(parts[what], value, 'the ' + what)
    if not count:
        bad.append('there is nothing to check')
    print('\n'.join(bad) if bad else '%s conforms' % what)
    sys.exit(bool(bad))


main()
