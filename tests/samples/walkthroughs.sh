#!/bin/sh
# README.md and the walk-throughs of samples/ do what they say.

# In one of them a library leaks on purpose, and is told so by us, not by the address sanitizer.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
exec python3 tests/samples/walkthrough README.md samples/*.md samples/embedding/*.md
