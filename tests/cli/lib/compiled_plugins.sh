# Sourced by the tests of breakpoints in machine code: compiles plugins as their authors would.
. tests/cli/lib/assertions.sh

# The shell splits the output of pkg-config at blanks, which the path of a checkout may contain.
ln -s "$BUILD_DIR" "$work/build"
export PKG_CONFIG_PATH="$work/build/lib/pkgconfig"
ulimit -c 0

# compile OUTPUT SOURCE COMPILER FLAG...: compiles a plugin, never with a sanitizer, which adds a call at the end of
# functions, so that no other call there is a jump.
compile() {
    output=$1
    source=$2
    compiler=$3
    shift 3
    case $compiler in
    *clang*) of_gcc= ;;
    *) of_gcc=$(pkg-config --variable=gcc_cflags tracehost-plugin) ;;
    esac
    # shellcheck disable=SC2046,SC2086
    $compiler "$@" $(pkg-config --cflags tracehost-plugin) $of_gcc -Wall -Wextra -Werror -fPIC -shared -o "$output" "$source"
}

run() {
    "$tracehost" run --schedulers=1 "$@"
}
