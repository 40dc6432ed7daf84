#!/bin/sh
# NIF libraries that Debian ships ready compiled: each NAME.calls is evaluated here and in a real BEAM,
# and both must answer NAME.results. A line `%% load-info: TERM` tells what the library's load() is
# given; LIBRARY in it is the library's path without its ending.
set -u
calls=$SOURCE_DIR/tests/debian
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
skipped=0

# compare TITLE WANTED OUTPUT
compare() {
    if diff -u "$2" "$3" >"$work/difference"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $1"
        cat "$work/difference" "$work/errors"
    fi
}

command -v escript >/dev/null || { echo "no escript here (Debian: erlang-base)" && exit 77; }
root=$(erl -noshell -eval 'io:put_chars(code:root_dir()), halt().')
for file in "$calls"/*.calls; do
    name=$(basename "$file" .calls)
    library=$(ls "$root"/lib/*/priv/"$name".so "$root"/lib/*/priv/lib/"$name".so 2>/dev/null | head -n 1)
    if [ -z "$library" ]; then
        echo "skipped: no $name.so here ($(sed -n '1s/%% \([a-z0-9-]*\).*/Debian: \1/p' "$file"))"
        skipped=$((skipped + 1))
        continue
    fi
    info=$(sed -n "s|LIBRARY|${library%.so}|; s/^%% load-info: //p" "$file")
    "$TRACEHOST" call --load-info="${info:-0}" -f "$file" "$library" >"$work/here" 2>"$work/errors"
    compare "$name" "$calls/$name.results" "$work/here"
    escript "$calls/beam.escript" "$name" "$file" >"$work/beam" 2>"$work/errors"
    compare "$name in a BEAM" "$calls/$name.results" "$work/beam"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
