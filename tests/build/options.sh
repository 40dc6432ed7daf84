#!/bin/sh
# What scons is asked wrongly is refused with what would be right. Nothing is built here.
passed=0
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# scons may be called by this very test's scons: leave its build tree and its options alone.
dry_scons() { scons -Q -n "options=$work/options" "$@" >"$work/said" 2>&1 </dev/null; }

# says TEXT COMMAND...: the command fails and says so.
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

refused 'unknown variable mdoe; there are CC, CFLAGS,' dry_scons mdoe=asan
refused 'Invalid value for option mode: fast' dry_scons mode=fast
refused 'seconds=soon is not a number' dry_scons seconds=soon
refused 'seconds=0: a fuzzer runs for a second at least' dry_scons seconds=0
refused 'give it as the only target' dry_scons fuzz test
refused 'no tests for test/attic; there are test/base' dry_scons test/attic

# With no tool in sight but what scons itself needs, all that is missing is named at once.
mkdir "$work/bin"
for tool in python3 sh env scons; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done
bare_scons() { PATH=$work/bin CC=gcc dry_scons "$@"; }
refused 'C compiler gcc' bare_scons
refused 'On Debian: apt-get install gcc pkgconf libjansson-dev liburcu-dev libelf-dev libdw-dev zlib1g-dev' bare_scons
refused 'zlib1g-dev systemtap-sdt-dev libcmocka-dev' bare_scons test
refused 'libclang-rt-dev' bare_scons fuzz

if [ -e "$work/options" ]; then
    failed=$((failed + 1))
    echo 'not ok: a dry run remembers options'
else
    passed=$((passed + 1))
fi

echo "$passed passed, $failed failed"
[ $failed = 0 ]
