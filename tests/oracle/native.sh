#!/bin/sh
# Compares breakpoints in machine code with a BEAM's: functions that call each other, in Erlang and in a plugin made
# by each compiler; the same tracer must get the same events. tests/oracle/native/native.erl has the cases.
. tests/oracle/logging/node

erlc -Wall -Werror -o "$work" tests/oracle/native/*.erl || exit 1

# Without optimisation clang makes no call a jump, as Erlang's tail calls are.
# Sanitizers see to the host, to which these plugins are much the same: one of them will do.
for made in ${NATIVE_PLUGINS-gcc-O2 gcc-O0 clang-O2}; do
    plugins=$BUILD_DIR/tests/plugins/$made
    [ -e "$plugins/frames.so" ] || continue
    case $compared$BUILD_DIR${EMULATOR:+ emulated} in
    yes*san) break ;;
    yes*emulated)
        echo "# skipped: $made and later: each takes minutes in an emulator; tests/cross/run --short takes each compiler"
        break
        ;;
    esac
    compared=yes
    in_node 1 native main "$TRACEHOST" "$libraries" "$work" "$plugins" >"$work/said" || failed=yes
    sed "s/^ok /ok $made: /; s/^not ok /not ok $made: /" "$work/said" | tee -a "$work/all" | sed '/ passed, /d'
done
[ -n "$compared" ] || skip 'neither gcc nor clang is here'
echo "$(grep -c '^ok ' "$work/all") passed, $(grep -c '^not ok ' "$work/all") failed"
[ -z "$failed" ]
