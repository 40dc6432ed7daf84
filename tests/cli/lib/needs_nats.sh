# Sourced by the tests of logs on NATS.
# shellcheck shell=sh disable=SC2154 # the tests set these variables

# needs_nats TITLE: skips the rest of the test if logs cannot be tried here.
needs_nats() {
    if [ ! -e "$BUILD_DIR/lib/tracehost/tracehost_nats.so" ] || ! command -v nats-server >/dev/null; then
        skip "$1" 'no libnats-dev, or no nats-server'
        finish
    fi
    if [ "${EMULATOR:-}" ]; then
        skip "$1" 'the emulator fails at times when a forked process makes threads (qemu_plugin_vcpu_init_hook)'
        finish
    fi
}
