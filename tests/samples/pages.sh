#!/bin/sh
# The manual pages do what they say.
if ! python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
    echo 'no terminals can be opened here (is /dev/pts mounted?)'
    exit 77
fi
exec python3 tests/samples/walkthrough --installed host/cli/manual/*.md
