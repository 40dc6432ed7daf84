#!/bin/sh
# Tests that the commands in the manual pages have the described results.
. tests/samples/leave_out

pages=$(ls host/cli/manual/*.md)
walkthrough --installed
