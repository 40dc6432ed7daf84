#!/bin/sh
# Tests the header and the samples: they compile as C and C++ without a warning, by each installed compiler, with the
# flags of pkg-config; and libtracehost exports exactly the declared functions.
. tests/cli/lib/assertions.sh

ln -s "$BUILD_DIR" "$work/build" # its path may have blanks, at which the shell takes flags apart
export PKG_CONFIG_PATH="$work/build/lib/pkgconfig"
warnings='-Wall -Wextra -Wpedantic -Wshadow -Wundef -Wwrite-strings -Werror'

# shellcheck disable=SC2046,SC2086
compile() { "$@" $warnings $(pkg-config --cflags tracehost); }
link_with() { # COMPILER OUTPUT FILE
    # shellcheck disable=SC2046,SC2086
    "$1" $warnings -std=c11 -pthread $(pkg-config --cflags tracehost) -o "$2" "$3" $(pkg-config --libs tracehost)
}

check 'tracehost-plugin.pc names no library' test -z "$(pkg-config --libs tracehost-plugin)"
check 'tracehost.pc names libtracehost' eval 'pkg-config --libs tracehost | grep -q -e -ltracehost'

cat >"$work/alone.cc" <<'CC'
#include <tracehost.h>

int main()
{
    tracehost_setup setup = {};
    tracehost_host *host;
    setup.size = sizeof setup;
    setup.clock = TRACEHOST_CLOCK_WALL;
    tracehost_status status = tracehost_host_start(&setup, &host);
    return status == TRACEHOST_OK ? tracehost_host_stop(host) : status;
}
CC

for compiler in gcc clang; do
    if ! command -v $compiler >/dev/null; then
        skip "$compiler compiles the samples and the header" "no $compiler"
        continue
    fi
    for file in samples/embedding/*.c; do
        name=$(basename "$file" .c)
        check "$compiler compiles $name.c as C99 and C17" eval "compile $compiler -std=c99 -fsyntax-only $file &&
            compile $compiler -std=c17 -fsyntax-only $file"
    done
    # A compiler that is not the build's has other sanitizers.
    case $BUILD_DIR:$CC in
    */release:* | */debug:* | *:$compiler)
        check "$compiler links a program with libtracehost" link_with $compiler "$work/$compiler" samples/embedding/read_stream.c
        expect "a program that $compiler linked runs" "$work/$compiler" $recordings/s20_empty.trace <<'LINES'
-- stderr
trace-port: 0 records, 0 of 0 bytes
LINES
        ;;
    *) skip "$compiler links a program with libtracehost" 'the sanitizer is of another compiler' ;;
    esac
done

for compiler in g++ clang++; do
    if ! command -v $compiler >/dev/null; then
        skip "$compiler compiles the samples and the header" "no $compiler"
        continue
    fi
    for std in c++11 c++17 c++20; do
        check "$compiler compiles tracehost.h as $std" compile $compiler -std=$std -Wold-style-cast -fsyntax-only "$work/alone.cc"
    done
    for file in samples/embedding/*.c; do
        check "$compiler compiles $(basename "$file") as C++20" compile $compiler -std=c++20 -Wno-missing-field-initializers \
            -x c++ -fsyntax-only "$file"
    done
done
case $BUILD_DIR in
*/release | */debug)
    # shellcheck disable=SC2046
    links_as_cxx() {
        g++ -std=c++11 $(pkg-config --cflags tracehost) -o "$work/cxx" "$work/alone.cc" \
            $(pkg-config --libs tracehost) && "$work/cxx"
    }
    if command -v g++ >/dev/null; then check 'a program that g++ linked runs' links_as_cxx; fi
    ;;
esac

# Lists the functions that gcc itself finds declared in the header.
declared() {
    echo '#include <tracehost.h>' >"$work/declared.c"
    # shellcheck disable=SC2046
    gcc $(pkg-config --cflags tracehost) -fsyntax-only -aux-info "$work/declared" "$work/declared.c" &&
        sed -n 's,^/\* [^ ]*/tracehost\.h:[^*]*\*/ .*[ *]\(tracehost_[a-z0-9_]*\) (.*,\1,p' "$work/declared" | sort -u
}
exported() {
    nm -D --defined-only --format=posix "$BUILD_DIR/lib/libtracehost.so" | sed -n 's/^\(tracehost_[a-z0-9_]*\) T.*/\1/p' |
        sort -u
}
exports_what_is_declared() {
    declared >"$work/names" && exported >"$work/symbols" && [ "$(wc -l <"$work/names")" -gt 50 ] &&
        diff "$work/names" "$work/symbols"
}
if command -v gcc >/dev/null; then
    check 'libtracehost exports exactly the declared functions' exports_what_is_declared
else
    skip 'libtracehost exports exactly the declared functions' 'gcc lists what is declared'
fi
needs_no_tracehost() {
    for library in "$BUILD_DIR"/lib/tracehost/*/*.so "$BUILD_DIR"/samples/*.so; do
        if readelf -d "$library" | grep -q 'NEEDED.*tracehost'; then
            echo "$library"
            return 1
        fi
    done
}
check 'no plugin and no tracer is linked with libtracehost' needs_no_tracehost

finish
