#!/usr/bin/env python3
"""`past.py LIBRARY COPY PERCENT`: copies a tracer, with another value of th_tracer_past."""
import subprocess
import sys


def rows(option, library):
    for line in subprocess.run(['readelf', option, library], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
        yield line.replace('[', '').replace(']', '').split()


library, copy, percent = sys.argv[1:]
value, section = next((int(row[1], 16), row[6]) for row in rows('-sW', library) if row[7:] == ['th_tracer_past'])
address, offset = next((int(row[3], 16), int(row[4], 16)) for row in rows('-SW', library) if row[:1] == [section])
data = bytearray(open(library, 'rb').read())
data[value - address + offset] = int(percent)
open(copy, 'wb').write(data)
