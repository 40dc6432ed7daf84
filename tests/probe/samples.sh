#!/bin/sh
# Tests the scripts in samples/probes: bpftrace and SystemTap find the probes in the program and the library, and
# accept the scripts, without running them.
. tests/cli/lib/assertions.sh
needs_machine 'bpftrace and SystemTap accept the scripts' 'they read programs of this machine'

ln -s "$BUILD_DIR" "$work/build" # bpftrace takes no blanks, which the path of a checkout may have
tracehost=$work/build/bin/tracehost
library=$work/build/lib/libtracehost.so
usdt=$work/build/lib/tracehost/tracers/usdt.so

# Makes the kernel files that SystemTap needs before it reads a program.
make_kernel() {
    mkdir -p "$work/kernel/include/generated" "$work/kernel/include/config"
    printf 'CONFIG_%s=y\n' UPROBES INODE_UPROBES ARCH_SUPPORTS_UPROBES UPROBE_EVENTS TRACEPOINTS UTRACE X86_64 >"$work/kernel/.config"
    touch "$work/kernel/Makefile"
    echo '#define UTS_RELEASE "6.1.0"' >"$work/kernel/include/generated/utsrelease.h"
    echo 6.1.0 >"$work/kernel/include/config/kernel.release"
    printf '0000000000000000 T %s\n' task_user_regset_view uprobe_register register_uprobe >"$work/kernel/System.map"
    printf '0x00000000\ttask_user_regset_view\tvmlinux\tEXPORT_SYMBOL\t\n' >"$work/kernel/Module.symvers"
}

in_bpftrace() {
    bpftrace -d "$@"
}

in_stap() {
    HOME=$work stap -p2 -r "$work/kernel" "$@"
}

# fails WITH ARGUMENT...
fails() {
    ! "$@" >"$work/failed" 2>&1
}

# scripts WITH SUFFIX FILE...
scripts() {
    with=$1
    suffix=$2
    shift 2
    for file; do
        for script in samples/probes/*"$suffix"; do
            check "$script is accepted for $(basename "$file")" "$with" "$script" "$file"
        done
    done
}

# Each probe by name: a reader of the notes finds all of them.
every_probe() {
    for file in "$tracehost" "$library"; do
        bpftrace -l "usdt:$file:*" 2>/dev/null | sed "s|^usdt:.*:erlang:||" | sort >"$work/names"
        "$tracehost" probes | sed 's/^erlang:\([a-z_0-9]*\)(.*/\1/' | sort | diff - "$work/names" || return
    done
}

if ! command -v bpftrace >/dev/null; then
    skip 'bpftrace accepts the scripts' 'bpftrace is not installed'
elif ! in_bpftrace -e 'BEGIN { exit(); }' >"$work/why" 2>&1; then
    skip 'bpftrace accepts the scripts' "$(tail -1 "$work/why")"
else
    check 'bpftrace lists all probes' every_probe
    scripts in_bpftrace .bt "$tracehost" "$library" "$usdt"
    check 'bpftrace refuses a script with a mistake' fails in_bpftrace -e "usdt:$tracehost:erlang:message__send { prinf(); }"
fi

make_kernel
if ! command -v stap >/dev/null; then
    skip 'SystemTap accepts the scripts' 'SystemTap is not installed'
elif ! in_stap -e 'probe begin { exit() }' >"$work/why" 2>&1; then
    skip 'SystemTap accepts the scripts' "$(head -1 "$work/why")"
else
    scripts in_stap .stp "$tracehost" "$library" "$usdt"
    check 'SystemTap refuses a script with an unknown probe' fails in_stap -e "probe process(\"$tracehost\").mark(\"message__sent\") { exit() }"
fi
finish
