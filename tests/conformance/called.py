"""Writes called.h: a macro for each function of the NIF API up to a version, which notes the call.

called.py SINCE <nif_functions.h after the preprocessor, one `name since` a line
"""

import sys

MOST = int(sys.argv[1])
TWINS = ('enif_get_int64', 'enif_get_uint64', 'enif_make_int64', 'enif_make_uint64')

rows = [line.split() for line in sys.stdin if line.startswith('enif_')]
names = [name for name, since in rows if int(since) <= MOST and name not in TWINS]
assert len(names) > 160, names

print('''\
/* Made by called.py. */
#define FUNCTION_COUNT %d
#define FUNCTION_NAMES %s
extern unsigned char function_called[FUNCTION_COUNT]; /* bytes that any thread sets */

static inline void note_call(int number)
{
    __atomic_store_n(&function_called[number], 1, __ATOMIC_RELAXED);
}

#ifndef UNCOUNTED''' % (len(names), ', '.join('"%s"' % name for name in names)))
for number, name in enumerate(names):
    print('#define %s (note_call(%d), %s)' % (name, number, name))
print('#endif')
