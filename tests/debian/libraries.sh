#!/bin/sh
# Tests NIF libraries as Debian ships them: each NAME.calls is evaluated in tracehost, in tracehost under valgrind,
# and in a real BEAM; all results must be NAME.results. Under global trace, a tracer must get as many events as
# breakpoints count. A line `%% load-info: TERM` is the argument of the library's load(); LIBRARY in it is the
# library's path without its suffix.
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
        cat "$work/difference"
    fi
}

# Sanitizers do not go together with valgrind.
memcheck=
case ${EMULATOR:+emulated/}$BUILD_DIR in
emulated/*)
    echo '# skipped: the results under valgrind: it runs programs of this machine'
    skipped=1
    ;;
*/release | */debug)
    memcheck="valgrind -q --leak-check=full --error-exitcode=9 --suppressions=tests/debian/memcheck.supp"
    ;;
esac
command -v "${memcheck%% *}" >/dev/null || memcheck=

export LSAN_OPTIONS="suppressions=$calls/openssl.lsan:print_suppressions=0"

# call OUTPUT COMMAND...: evaluates with it; the status and stderr are parts of the output.
call() {
    output=$1
    shift
    "$@" call --load-info="${info:-0}" -f "$file" "$library" >"$output" 2>"$work/errors"
    status=$?
    cat "$work/errors" >>"$output"
    [ $status = 0 ] || echo "status $status" >>"$output"
}

# The functions under global trace, called as above: the counts of the tracer `count`, and the counts of breakpoints
# counted, an answer each: lines of CALLS FUNCTION.
traced() {
    sed '/^%/d; s/^/catch /' "$file" >"$work/$name.calls"
    "$TRACEHOST" run --session told -t count -p _:_/_ --session counted -t count -p _:_/_ --kind=count \
        --format=json --load-info="${info:-0}" -f "$work/$name.calls" "$library" >"$work/run" 2>&1 || return
    sed -n 's/^ *\([1-9][0-9]*\) .* \([^ :]*:[^ ]*\/[0-9]*\)$/\1 \2/p' "$work/run" | sort >"$work/told"
    sed -n '/^{"session":"counted"/{s/{"function":"\([^"]*\)","calls":\([0-9]*\)}/\n\2 \1\n/g; p}' "$work/run" |
        grep '^[1-9][0-9]* ' | sort >"$work/counted"
    [ -s "$work/told" ]
}

command -v escript >/dev/null || { echo "no escript here (Debian: erlang-base)" && exit 77; }
root=$(erl -noshell -eval 'io:put_chars(code:root_dir()), halt().')
for file in "$calls"/*.calls; do
    name=$(basename "$file" .calls)
    library=$(ls "$root"/lib/*/priv/"$name".so "$root"/lib/*/priv/lib/"$name".so 2>/dev/null | head -n 1)
    if [ -z "$library" ]; then
        echo "# skipped: no $name.so here ($(sed -n '1s/%% \([a-z0-9-]*\).*/Debian: \1/p' "$file"))"
        skipped=$((skipped + 1))
        continue
    fi
    info=$(sed -n "s|LIBRARY|${library%.so}|; s/^%% load-info: //p" "$file")
    call "$work/here" "$TRACEHOST"
    compare "$name: the results are as expected" "$calls/$name.results" "$work/here"
    if [ -n "$memcheck" ]; then
        # shellcheck disable=SC2086
        call "$work/here" $memcheck "$TRACEHOST"
        compare "$name: the results under valgrind are as expected" "$calls/$name.results" "$work/here"
    fi
    if traced; then
        compare "$name: the tracer gets as many calls as breakpoints count" "$work/counted" "$work/told"
    else
        echo "FAILED: $name: the tracer gets as many calls as breakpoints count"
        cat "$work/run"
        failed=$((failed + 1))
    fi
    escript "$calls/beam.escript" "$name" "$file" >"$work/beam" 2>&1
    compare "$name: the results in a BEAM are as expected" "$calls/$name.results" "$work/beam"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
