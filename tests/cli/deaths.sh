#!/bin/sh
# Tests deaths of libraries: each report names the library, the cause and the record, and other output is complete.
# `tests/cli/deaths.sh --update` writes the rows that differ into tests/cli/deaths/expected; --only=KIND,... and
# --commands=NAME,... select rows.
. tests/cli/lib/assertions.sh

export TRACEHOST BUILD_DIR
unset DIES DIES_AFTER DIES_READY
ulimit -c 0
# build FOLDER FLAG...
build() {
    mkdir "$work/$1"
    folder=$1
    shift
    "$CC" -g -fPIC -shared -pthread -fstack-protector-all "$@" -Iplugin_api -o "$work/$folder/dies.so" \
        tests/cli/deaths/deaths.c
}
ln -s "$BUILD_DIR" "$work/build" # its path may have blanks, at which the shell takes flags apart
case $BUILD_DIR in
*/release | */debug)
    PKG_CONFIG_PATH=$work/build/lib/pkgconfig
    export PKG_CONFIG_PATH
    # shellcheck disable=SC2046
    "$CC" -std=c11 $(pkg-config --cflags tracehost) -o "$work/embedding" tests/cli/deaths/embedding.c \
        $(pkg-config --libs tracehost)
    ;;
esac
build tracer && build library -DPLUGIN && tests/cli/deaths/table.py "$work" tests/cli/deaths/expected "$@"
