"""Whose names are that no registration tells, as of tracers/kit/receivers.h, for report_check.py and spans.py."""
import collections
import re

EACH = 8


class Receivers:
    def __init__(self, node='nonode@nohost'):
        self.node, self.told, self.guessed = node, {}, {}
        self.sent = collections.defaultdict(list)

    def name(self, to):
        """The name in {Name,Node} of this node, else what it is given."""
        found = re.fullmatch(r"\{('(?:[^'\\]|\\.)*'|[a-z][\w@]*),'?([^',]*)'?\}", to) if isinstance(to, str) else None
        return found.group(1) if found and found.group(2) == self.node else to

    def register(self, name, pid):
        self.told[name] = pid

    def unregister(self, name):
        self.told.pop(name, None)
        self.guessed.pop(name, None)

    def who(self, name):
        return self.told[name] if name in self.told else self.guessed.get(name)

    def send(self, content, to, owner):
        """OWNER of an alias, or None."""
        self.sent[content].append(self.told.get(to, to) if owner is None else owner)
        del self.sent[content][:-EACH]

    def receive(self, content, pid):
        sent = self.sent[content]
        if pid in sent:
            sent.remove(pid)
            return
        others = {to for to in sent if not to.startswith('<0.')}
        if len(others) == 1 and re.fullmatch(r"'.*'|[a-z][\w@]*", list(others)[0]):
            name = others.pop()
            sent.remove(name)
            if name not in self.told:
                self.guessed[name] = pid
