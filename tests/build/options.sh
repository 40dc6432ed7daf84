#!/bin/sh
# Tests wrong options of scons: each is refused with a hint to the right one. Nothing is built here.
case ${BUILD_DIR:-} in
*asan | *tsan) echo 'scons reads its options the same way for each build'; exit 77 ;;
esac
passed=0
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# scons may be called by this very test's scons: leave its build tree and its options alone.
dry_scons() { scons -Q -n "options=$work/options" "$@" >"$work/said" 2>&1 </dev/null; }

# refused TEXT COMMAND...: passes if the command fails and prints TEXT.
refused() {
    text=$1
    shift
    if ! "$@" && grep -qF -e "$text" "$work/said"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'not ok, wanted "%s": %s\n' "$text" "$*"
        cat "$work/said"
    fi
}

# says PATTERN COMMAND..., lacks PATTERN COMMAND...: the command's output contains PATTERN, or does not.
says() {
    pattern=$1
    shift
    "$@" >"$work/said"
    grep -q -e "$pattern" "$work/said"
}
lacks() { ! says "$@" && [ -s "$work/said" ]; }
check() {
    name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not ok $name"
        head -c 2000 "$work/said"
    fi
}

refused 'unknown variable mdoe; there are CC, CFLAGS,' dry_scons mdoe=asan
refused 'Invalid value for option mode: fast' dry_scons mode=fast
refused 'seconds=soon is not a number' dry_scons seconds=soon
refused 'seconds=0: a fuzzer runs for a second at least' dry_scons seconds=0
refused 'give it as the only target' dry_scons fuzz test
refused 'no tests for test/attic; there are test/base' dry_scons test/attic

refused 'LIBDIR=/usr/lib is not a folder below PREFIX' dry_scons LIBDIR=/usr/lib
refused 'Invalid value for option werror: perhaps' dry_scons werror=perhaps
refused 'HOST=a-machine needs SYSROOT=, a folder with the libraries of that machine' dry_scons HOST=a-machine
refused 'HOST=a-machine needs SYSROOT=' dry_scons HOST=a-machine SYSROOT="$work/none"

# Tools and folders of another machine are passed on to the commands that run.
mkdir "$work/cross"
cat >"$work/cross/pkg-config" <<'SH'
#!/bin/sh
echo "asked for $* in $PKG_CONFIG_LIBDIR below $PKG_CONFIG_SYSROOT_DIR" >>"$(dirname "$0")/asked"
exec pkg-config "$@"
SH
chmod +x "$work/cross/pkg-config"
dry_scons PKG_CONFIG="$work/cross/pkg-config" PKG_CONFIG_LIBDIR=/there PKG_CONFIG_SYSROOT_DIR=/below
check 'PKG_CONFIG and its folders are passed on' says 'asked for .*libelf in /there below /below' cat "$work/cross/asked"
commands() { scons -Q -n options=none verbose=yes mode=debug "$@" 2>/dev/null </dev/null; }
check 'by default, warnings are errors' says ' -Werror ' commands build/debug/objects/host/base
commands werror=no OBJCOPY=/there/objcopy RUN=there >"$work/commands"
check 'with werror=no, warnings are no errors' lacks ' -Werror ' cat "$work/commands"
check 'OBJCOPY is called' says '^/there/objcopy --redefine-sym' cat "$work/commands"
check 'RUN precedes the commands that run built programs' says 'make_page "there build/debug/bin/tracehost" ' cat "$work/commands"

# If the PATH has only the tools that scons itself needs, one message names all missing tools.
mkdir "$work/bin"
for tool in python3 sh env scons; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done
bare_scons() { PATH=$work/bin CC=gcc dry_scons "$@"; }
refused 'C compiler gcc' bare_scons
refused 'On Debian: apt-get install gcc pkgconf libjansson-dev liburcu-dev libelf-dev libdw-dev libedit-dev zlib1g-dev libzstd-dev' bare_scons
refused 'zlib1g-dev libzstd-dev systemtap-sdt-dev libcmocka-dev' bare_scons test
refused 'libclang-rt-dev' bare_scons fuzz

if [ -e "$work/options" ]; then
    failed=$((failed + 1))
    echo 'not ok a dry run writes no options'
else
    passed=$((passed + 1))
fi

echo "$passed passed, $failed failed"
[ $failed = 0 ]
