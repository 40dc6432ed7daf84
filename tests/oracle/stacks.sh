#!/bin/sh
# Compares stacks computed from a BEAM's recording with `return_to`, in which only some functions are traced, with the
# true stacks.
. tests/cli/lib/assertions.sh
nodes_of_machine

command -v erlc >/dev/null || { echo 'no erl (Debian: erlang-base)'; exit 77; }
erlc -o "$work" tests/oracle/stacks/stacks.erl || exit 1
(cd "$work" && HOME=$work ERL_CRASH_DUMP_SECONDS=0 timeout 60 erl -boot no_dot_erlang -noshell -pa . -s stacks main </dev/null) || exit 1

# Prints the drawn stacks, each with its number of calls; stderr goes to `remarks`.
drawn() {
    "$tracehost" replay -t flame,by=calls "$work/$1.jsonl" 2>"$work/remarks" | LC_ALL=C sort >"$work/drawn"
}
true_stacks() {
    drawn "$1" && LC_ALL=C sort "$work/$1.stacks" | diff -u - "$work/drawn"
}
certain() {
    true_stacks "$1" && diff -u /dev/null "$work/remarks"
}
doubt='flame: returns that end an unknown number of calls'
doubtful() {
    true_stacks "$1" && grep "^$doubt: $2, the first to stacks:$3; " "$work/remarks"
}

# Compares the same slices in a timeline.
in_timeline() {
    "$tracehost" replay -t chrome,output="$work/chrome.json" "$work/$1.jsonl" 2>/dev/null &&
        tests/shipped/chrome_rules "$work/chrome.json" >/dev/null &&
        python3 - "$work/chrome.json" <<'SCRIPT' | LC_ALL=C sort | diff -u "$work/drawn" -
import collections, json, sys
stack, counts = [], collections.Counter()
for event in json.load(open(sys.argv[1])):
    if event['ph'] == 'B':
        stack.append(event['name'])
        counts[';'.join(['<0.1.0>'] + stack)] += 1
    elif event['ph'] == 'E':
        stack.pop()
for path, count in counts.items():
    print(path, count)
SCRIPT
}

for name in tail_calls nested recursion loop server exceptions generator callbacks two_callbacks; do
    check "stacks are true with recorded callers: $name" certain $name.callers
    check "slices equal the stacks with recorded callers: $name" in_timeline $name.callers
done
check 'tail calls without recorded callers are reported as doubtful' doubtful tail_calls.plain 6 tails/1
check 'a loop without recorded callers is reported as doubtful' doubtful loop.plain 1 "'-run/2-fun-1-'/2"
for name in tail_calls nested recursion loop server exceptions generator; do
    check "stacks are true without recorded callers: $name" true_stacks $name.plain
    check "slices equal the stacks without recorded callers: $name" in_timeline $name.plain
done

# An untraced function calls back: the stacks are reported as doubtful, and no call is drawn inside a call that has ended: each
# drawn stack is a true stack, or the end of a true stack.
doubted() {
    drawn "$1" && grep "^$doubt: [0-9]*, the first to stacks:each/2; " "$work/remarks" || return 1
    python3 - "$work/$1.stacks" "$work/drawn" <<'SCRIPT'
import sys
true, drawn = ([line.rsplit(' ', 1)[0].split(';')[1:] for line in open(name)] for name in sys.argv[1:])
ends = {tuple(stack[i:]) for stack in true for i in range(len(stack))}
wrong = [stack for stack in drawn if tuple(stack) not in ends]
sys.exit('\n'.join(map(str, wrong)) or 0)
SCRIPT
}
for name in callbacks two_callbacks tree; do
    check "callbacks from untraced functions are reported as doubtful: $name" doubted $name.plain
done

# A function that is not traced, and calls back what called it: its first round is doubtful, and drawn too low; the others are
# true.
tree() {
    doubted tree.callers && grep "^$doubt: 2, the first to stacks:each/2; " "$work/remarks" || return 1
    diff "$work/tree.callers.stacks" "$work/drawn" | grep '^[<>]' | sed 's/stacks:t_//g' | diff -u "$work/first_round" -
}
cat >"$work/first_round" <<'LINES'
< <0.1.0>;tree/1;leaf/1 6
< <0.1.0>;tree/1;tree/1 18
> <0.1.0>;tree/1;leaf/1 8
> <0.1.0>;tree/1;tree/1 24
< <0.1.0>;tree/1;tree/1;tree/1;leaf/1 24
< <0.1.0>;tree/1;tree/1;tree/1;tree/1 72
> <0.1.0>;tree/1;tree/1;tree/1;leaf/1 22
> <0.1.0>;tree/1;tree/1;tree/1;tree/1 66
LINES
check 'only the first round of a recursive callback is drawn too low' tree

# Once it is known which function calls back, its calls are as they were: all but those of the first round.
learned() {
    drawn callbacks.plain && grep -qx '<0.1.0>;stacks:t_all/1;stacks:t_each/1;stacks:t_leaf/1 16' "$work/drawn"
}
check 'a function that calls back is recognised after the first round' learned

# Times of calls that `return_to` ends: measured calls are as long as {exception_trace} shows.
measured() {
    python3 tests/oracle/stacks/true_ends.py "$1" <"$work/random.jsonl" >"$work/told.jsonl" 2>"$work/remarks" &&
        "$tracehost" replay -t "time,format=csv,by=process,output=$work/csv" "$work/told.jsonl" 2>>"$work/remarks" &&
        python3 tests/shipped/times.py "$work/csv" <"$work/told.jsonl" && cat "$work/remarks"
}
for told in plain callers some_plain some_callers returns; do
    check "measured times equal the true times: $told" measured $told
done

# The same calls traced again, those of one function alone, or all: a return_to that comes is one that a BEAM sends then, and
# those that are missing are counted as doubtful.
traced_again() {
    kind=$1 name=$2
    shift 2
    python3 tests/oracle/stacks/true_ends.py "$kind" <"$work/random.jsonl" >"$work/told.jsonl" 2>"$work/remarks" &&
        "$tracehost" replay -t "jsonl,output=$work/again.jsonl" --flags=call,return_to -p "stacks:$name/1" "$@" "$work/told.jsonl" \
            2>"$work/remarks" &&
        python3 tests/oracle/stacks/true_returns.py "$work/random.$name.jsonl" "$work/again.jsonl" \
            "$(sed -n "s/^tracehost replay: tracer 'jsonl': returns delivered, skipped.*: //p" "$work/remarks")"
}
for name in t_a t_b t_c; do
    for told in plain some_plain returns; do
        check "a replay that traces only $name delivers the return_to of a BEAM: $told" traced_again $told $name
    done
    for told in callers some_callers returns; do
        check "a replay that traces only $name delivers the return_to of a BEAM: $told, with callers" traced_again $told $name --recorded-callers
    done
done

# If all calls are wanted, each return_to comes, and none is doubtful.
all_again() {
    kind=$1
    shift
    python3 tests/oracle/stacks/true_ends.py "$kind" <"$work/random.jsonl" >"$work/told.jsonl" 2>"$work/remarks" &&
        "$tracehost" replay -t "jsonl,output=$work/again.jsonl" --flags=call,return_to -p 'stacks:_' "$@" "$work/told.jsonl" \
            2>"$work/remarks" &&
        ! grep doubt "$work/remarks" && python3 tests/oracle/stacks/true_returns.py "$work/told.jsonl" "$work/again.jsonl" ''
}
for told in plain some_plain returns; do
    check "a replay that traces all functions delivers each return_to: $told" all_again $told
done
for told in callers some_callers returns; do
    check "a replay that traces all functions delivers each return_to: $told, with callers" all_again $told --recorded-callers
done
finish
