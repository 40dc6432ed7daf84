#!/bin/sh
# Uses OTP 27 as a second oracle: runs tests of this folder and of tests/conformance again with the BEAM that
# tests/unpack-otp27 has unpacked instead of the installed one. Where OTP 27 differs from OTP 25 (the table "OTP 27" of
# tracehost(7)), the tests require the difference. OTP 27 also has functions that OTP 25 lacks.
otp=$SOURCE_DIR/build/otp27

[ -x "$otp/bin/erl" ] || {
    echo "no OTP 27 of Debian 13: $([ -e "$otp.log" ] && tail -n 1 "$otp.log" || echo 'tests/unpack-otp27 was not run')"
    exit 77
}
case $BUILD_DIR in
*/release | */debug) ;;
*)
    echo 'in release and debug mode only; the others have OTP 25'
    exit 77
    ;;
esac

PATH=$otp/bin:$PATH OTP_INCLUDE=$otp/include NATIVE_PLUGINS=gcc-O2
export PATH OTP_INCLUDE NATIVE_PLUGINS
unset TEST_SUMMARY
set --
for name in etf execution match terms text; do
    set -- "$@" "$BUILD_DIR/tests/oracle/test_$name"
done
set -- "$@" tests/oracle/encoding.sh tests/oracle/expressions.sh
if [ -n "${EMULATOR:-}" ]; then
    echo '# skipped: tests whose libraries OTP 27 loads: it is of this machine'
else
    set -- "$@" "$BUILD_DIR/tests/oracle/test_live"
    for name in calls logging native nif_scenarios node patterns; do
        set -- "$@" "tests/oracle/$name.sh"
    done
    set -- "$@" tests/conformance/conformance.sh
fi
# Each in turn, but for two at once: so many processors have the machines that the tests are for.
exec python3 tests/runner --jobs=2 "$@"
