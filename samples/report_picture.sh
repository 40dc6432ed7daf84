#!/bin/sh
# Makes the picture of README.md, a report page in a browser:
#
#   samples/report_picture.sh [FILE.png]
#
# FILE.png is samples/report.png if no name is given. Needs `tracehost` and Chromium in the PATH, and runs at the top of the
# source tree.

set -e
picture=${1:-samples/report.png}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

. tests/shipped/browser
if [ "$browser" = none ]; then
    echo 'report_picture.sh: no Chromium in the PATH' >&2
    exit 1
fi

tracehost report -o "$work/page.html" samples/recordings/s09_collections_return.trace
on_page "$work/page.html" <<STEPS
window 1280 844
wait document.documentElement.dataset.drawn !== undefined
run document.documentElement.style.scrollbarWidth = 'none'
run document.getElementById('flame').scrollIntoView()
picture $picture
STEPS
