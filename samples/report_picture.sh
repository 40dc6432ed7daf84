#!/bin/sh
# Makes the pictures of README.md in a browser: a report page, and a sequence diagram.
#
#   samples/report_picture.sh [FOLDER]
#
# They are report.png and sequence.png in FOLDER, or in samples/ if no folder is given. Needs `tracehost` and Chromium in the
# PATH, and runs at the top of the source tree.

set -e
folder=${1:-samples}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

. tests/shipped/browser
if [ "$browser" = none ]; then
    echo 'report_picture.sh: no Chromium in the PATH' >&2
    exit 1
fi

tracehost report -o "$work/page.html" samples/recordings/s09_collections_return.trace
tracehost replay -t sequence,format=svg,output="$work/sequence.svg" samples/recordings/s15_kitchen_sink.trace
on_page "$work/page.html" <<STEPS
window 1280 844
wait document.documentElement.dataset.drawn !== undefined
run document.documentElement.style.scrollbarWidth = 'none'
run document.getElementById('flame').scrollIntoView()
picture $folder/report.png
open $work/sequence.svg
window 1280 780
wait document.documentElement.getAttribute('width') === '1280'
picture $folder/sequence.png
STEPS
