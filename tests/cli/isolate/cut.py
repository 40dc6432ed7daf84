#!/usr/bin/env python3
"""Removes from the trace-port file FILE the records that begin at the bytes POSITION... of it."""
import sys

path, *positions = sys.argv[1:]
with open(path, 'rb') as file:
    data = file.read()
for at in sorted(map(int, positions), reverse=True):
    data = data[:at] + data[at + 5 + int.from_bytes(data[at + 1:at + 5], 'big'):]
with open(path, 'wb') as file:
    file.write(data)
