#!/usr/bin/env python3
"""Writes a stream of 3000 records as JSON lines: work of eight processes, and between it the records that the crashes of
planted.c need. With --small only the first call of spec:first."""
import json
import sys

RECORDS = 3000
SPECIAL = {
    211: (101, 'call', '{spec,first,[7,{a,b}]}'),
    400: (102, 'send', '{deep,{a,{b,[1,{boom,x}]}}}', '<0.101.0>'),
    612: (103, 'register', 'victim'),
    777: (104, 'gc_major_end', '[{wordsize,0},{old_heap_block_size,1598},{heap_block_size,233}]'),
    905: (105, 'receive', '{data,<<"%s">>,[]}' % ('x' * 5000)),
    1100: (106, 'send', '#{a => 1,b => {c,d},key => [1,2]}', 'me'),
    1234: (107, 'call', '{spec,argument,[{key,1500,"abc"},other]}'),
    1300: (103, 'link', '<0.104.0>'),
    1350: (104, 'unlink', '<0.103.0>'),
    1420: (103, 'link', '<0.104.0>'),
    1500: (100, 'register', 'step'),
    1595: (100, 'unregister', 'step'),
    1800: (101, 'call', '{spec,slow,[1]}'),
    1900: (102, 'exit', '{shutdown,[1,2,3]}'),
    2000: (100, 'call', '{spec,leave,[]}'),
    2100: (101, 'call', '{spec,immediate,["a"]}'),
    2200: (104, 'call', '{spec,raw,[]}'),
    2300: (103, 'call', '{spec,list,["abcdefghijklmnopqrstuvwxyz"]}'),
    2400: (104, 'exception_from', '{spec,f,1}', '{error,{badmatch,[1,2]}}'),
    2500: (105, 'receive', '{a,{b,{c,{d,e}}}}'),
    2600: (106, 'call', '{spec,threaded,[x]}'),
    2789: (107, 'call', '{spec,second,[8]}'),
    2900: (100, 'call', '{spec,both,[]}'),
}
for step in range(10):
    SPECIAL[1600 + 10 * step] = (100 + step % 3, 'register', 'step')


def usual(number):
    """The work: a record of a kind."""
    pid = 100 + number % 8
    if number % 20 == 13:
        return pid, 'call', '{x,x,[%d,{n,%d}]}' % (number, number)
    return [
        (pid, 'call', '{work,do,[%d,"text"]}' % number),
        (pid, 'call', '{work,other,[{job,%d}]}' % number),
        (pid, 'send', '{job,%d,[1,2]}' % number, '<0.100.0>'),
        (pid, 'return_from', '{work,do,2}', '{ok,%d}' % number),
        (pid, 'receive', '{job,%d}' % number),
    ][number % 5]


def main():
    print('{"tracehost":1,"node":"shop@host","creation":7}')
    for number in [211] if '--small' in sys.argv else range(RECORDS):
        pid, tag, term, *extra = SPECIAL.get(number) or usual(number)
        line = {'ts': 1000 * number, 'tracee': '<0.%d.0>' % pid, 'tag': tag, 'term': term}
        if extra:
            line['extra'] = extra[0]
        if tag == 'call' and number % 2:
            line['external'] = True
        print(json.dumps(line, separators=(',', ':')))


main()
