#!/bin/sh
# README.md and the walk-throughs of samples/ do what they say.
exec python3 tests/samples/walkthrough README.md samples/*.md
