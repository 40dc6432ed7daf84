#!/bin/sh
# Tests compressed and packed recordings that are cut off, whose recorder is killed, or whose disk is full; see the script
# `unfinished_outputs`. SEED chooses the places, COUNT is their number.
. tests/cli/lib/assertions.sh

sum() {
    python3 tests/cli/unfinished_outputs "$1" >"$work/judged"
    status=$?
    tail -n 20 "$work/judged"
    return $status
}
check 'a torn file gives what is before, and status 4' sum torn
check 'a recorder that is killed leaves what it has flushed' sum killed
full='a full disk is reported, and no file is left'
if unshare -rm mount -t tmpfs none /mnt 2>/dev/null; then
    check "$full" sum full
else
    skip "$full" 'the system refuses user namespaces'
fi

finish
