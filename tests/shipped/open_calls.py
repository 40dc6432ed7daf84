"""The rule of tracers/kit/stack.h for return_to, in another language: own_times and spans.py follow it.

A process is an object with `stack`, the lowest first, and `guess`, None at first. What is on the stack has `name`, `caller`,
`alive`, `met`, `chosen` and `held`.
"""
import types

MET, LEARNED, GUESSED = 4, 64, 16


class Rule:
    """What is known of all processes."""

    def __init__(self):
        self.learned, self.doubtful = [], 0

    def calls_back(self, caller, callee):
        return (caller, callee) in self.learned[-LEARNED:]

    @staticmethod
    def find(stack, end, wanted):
        return next((i for i in range(end - 1, -1, -1) if wanted(stack[i])), None)

    def learn(self, caller, callee):
        if not self.calls_back(caller, callee):
            self.learned.append((caller, callee))

    def leaves(self, process, caller):
        """What is not on the process's own stack any more when CALLER makes a call, the highest first."""
        stack = process.stack
        top = self.find(stack, len(stack), lambda frame: frame.alive)
        if top is None:
            return []
        if not any(frame.alive and frame.name == caller for frame in stack):
            if stack[top].caller == caller and not self.calls_back(stack[top].name, caller):
                return [stack[top]]
            stack[top].held = True
            return []
        at = self.find(stack, len(stack), lambda frame: frame.alive and caller in (frame.name, frame.caller))
        return stack[at + (stack[at].name == caller):][::-1]

    def was_open(self, process, name, returned):
        """How many of the stack stay if one that is not alive has gone on; None if there is none."""
        stack = process.stack
        top = self.find(stack, len(stack), lambda frame: frame.alive)
        if top is not None and (stack[top].caller is None or name in (stack[top].caller, stack[top].name)):
            return None
        at = self.find(stack, len(stack), lambda frame: not frame.met and frame.caller == name)
        if at is None or (top is not None and at <= top):
            return None
        if not stack[at].held:
            stack[at].held = True
            self.learn(stack[at].name, name)
            self.doubtful += 1
        return at

    def left_by(self, process, name):
        """How many of the stack stay when control comes back to NAME, no return_from just before."""
        stack = process.stack
        top = self.find(stack, len(stack), lambda frame: frame.alive)
        open_at = self.was_open(process, name, False)
        if open_at is not None:
            left = open_at
        elif self.was_wrong(process, top, name) or top is None:
            left = len(stack)
        else:
            doubtful = self.doubtful
            left = self.below(process, top, name)
            if self.doubtful == doubtful:
                ended = [frame for frame in stack[left:] if frame.alive]
                self.doubtful += (any(frame.chosen for frame in ended[1:]) or
                                  any(frame.held and frame.caller != name for frame in ended))
        return left

    def below(self, process, top, name):
        stack, told = process.stack, process.stack[top].caller is not None
        if name == 'undefined':
            return 0
        called_by = self.find(stack, top + 1, lambda frame: frame.alive and frame.caller == name) if told else None
        if called_by is not None:
            return called_by
        is_it = lambda frame: (frame.met or frame.alive) and frame.name == name
        at = self.find(stack, top, is_it)
        if at is None:
            return self.guess(process, top, name)
        if not stack[at].met and not told and self.find(stack, at, is_it) is not None:
            stack[at].chosen = True
        left = self.after_met(stack, at + 1, top)
        self.doubtful += not told and stack[left - 1].met and sum(frame.alive for frame in stack[left:]) > 1
        return left

    @staticmethod
    def after_met(stack, left, top):
        while left < top and stack[left].met:
            left += 1
        return left

    def guess(self, process, top, name):
        stack = process.stack
        if sum(frame.alive for frame in stack) == 1:
            return top
        self.doubtful += 1
        at = self.find(stack, top, lambda frame: frame.alive and self.calls_back(frame.name, name))
        left = self.after_met(stack, 0 if at is None else at + 1, top)
        if left < top:
            ended = [frame.name for frame in stack[left:] if frame.alive][:GUESSED]
            process.guess = types.SimpleNamespace(to=name, ended=ended, other=bool(process.guess))
        return left

    def was_wrong(self, process, top, name):
        guess, stack = process.guess, process.stack
        if not guess or (top is not None and self.find(
                stack, top, lambda frame: (frame.met or frame.alive) and frame.name == name) is not None):
            return False
        twice = top is None or stack[top].name == name
        at = next((i for i in range(len(guess.ended), 0, -1) if guess.ended[i - 1] == name), 0)
        if at == (len(guess.ended) if twice else 0):
            return False
        if at == 0 and guess.other:
            return True
        caller = guess.ended[at if twice else at - 1]
        self.learn(caller, guess.to)
        for frame in stack:
            frame.met = frame.met and frame.name != guess.to
        process.guess = None
        return twice

    @staticmethod
    def meet(process, name, new):
        """NEW makes a frame of NAME that is not alive."""
        stack, first = process.stack, len(process.stack)
        while first and stack[first - 1].met:
            first -= 1
        at = {frame.name for frame in stack[first:]} | {frame.name for frame in stack[-1:] if frame.alive}
        if name == 'undefined' or name in at:
            return
        if len(stack) - first >= MET:
            del stack[first]
        stack.append(new(name))
        stack[-1].alive, stack[-1].met = False, True
