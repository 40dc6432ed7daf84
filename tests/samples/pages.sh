#!/bin/sh
# Tests that the commands in the manual pages have the described results.
. tests/samples/leave_out

pages=$(ls host/cli/manual/*.md)
case ${BUILD_DIR:-} in
*asan | *tsan)
    leave_out '-fsanitize=thread -fPIC' 'pages that load the thread sanitizer into a program with another one'
    leave_out '^\$ export PYTHONPATH=' 'pages with Python, as the sanitizer must be there before the program'
    ;;
esac
walkthrough --installed
