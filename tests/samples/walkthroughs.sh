#!/bin/sh
# The walk-throughs of samples/ do what they say.
exec python3 tests/samples/walkthrough samples/*.md
