#!/bin/sh
# Tests that programs can open libtracehost.so without being linked to it: one in C, and Python.
. tests/cli/lib/assertions.sh

library=$BUILD_DIR/lib/libtracehost.so

# Thread-local storage of a library that is loaded late comes from a small reserve of the dynamic linker.
tls_bytes() { LC_ALL=C readelf --segments --wide "$library" | awk '$1 == "TLS" { print $6 }'; }
tls_is_small() {
    bytes=$(tls_bytes) && echo "PT_TLS has ${bytes:-no} bytes" && [ $((bytes)) -gt 0 ] && [ $((bytes)) -lt 1024 ]
}
check 'the library has less than 1 KiB of thread-local storage' tls_is_small

case $BUILD_DIR in
*/release | */debug) ;;
*)
    skip 'programs in C and Python open the library' 'the sanitizer must be there before the program'
    finish
    ;;
esac

# Both programs trace a recording in a thread, with a tracer that finds the functions of the NIF API in the library. The
# one in C closes the library before that thread ends.
cat >"$work/opens.c" <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <tracehost.h>

static const char *const *arguments;
static pthread_barrier_t used, closed;

static void *need(void *found)
{
    if (found)
        return found;
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
}

static void *use(void *library)
{
#define FUNCTION(name) __typeof__(&tracehost_##name) name = (__typeof__(name))need(dlsym(library, "tracehost_" #name))
    FUNCTION(host_start);
    FUNCTION(session_create);
    FUNCTION(stream_open);
    FUNCTION(replay_begin);
    FUNCTION(replay_play);
    FUNCTION(replay_end);
    FUNCTION(stream_close);
    FUNCTION(host_stop);
    FUNCTION(error_print);
    FUNCTION(error_link);
    struct tracehost_session_setup setup = {.size = sizeof setup, .tracer = "text"};
    tracehost_host *host;
    tracehost_session session;
    tracehost_stream *stream;
    tracehost_replay *replay;

    setup.recorded_flags = TRACEHOST_FLAGS_EVENTS | TRACEHOST_FLAG_AS_RECORDED;
    if (stream_open("/nowhere", NULL, &stream) == TRACEHOST_OK)
        return library;
    printf("opens: %s\n", error_link(0));
    if (host_start(NULL, &host) != TRACEHOST_OK || session_create(host, &setup, &session) != TRACEHOST_OK ||
        stream_open(arguments[2], NULL, &stream) != TRACEHOST_OK ||
        replay_begin(host, stream, NULL, &replay) != TRACEHOST_OK || replay_play(replay) != TRACEHOST_OK) {
        error_print(stderr, "opens");
        return library;
    }
    replay_end(replay);
    stream_close(stream);
    return host_stop(host) == TRACEHOST_OK ? NULL : library;
}

static void *use_until_closed(void *library)
{
    void *failed = use(library);

    pthread_barrier_wait(&used);
    pthread_barrier_wait(&closed);
    return failed;
}

int main(int argc, const char **argv)
{
    void *library = need(argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL);
    void *failed;
    pthread_t thread;

    arguments = argv;
    pthread_barrier_init(&used, NULL, 2);
    pthread_barrier_init(&closed, NULL, 2);
    pthread_create(&thread, NULL, use_until_closed, library);
    pthread_barrier_wait(&used);
    dlclose(library);
    pthread_barrier_wait(&closed);
    pthread_join(thread, &failed);
    puts("closed");
    return failed != NULL;
}
C
cat >"$work/opens.py" <<'PYTHON'
import ctypes
import sys
import threading

library = ctypes.CDLL(sys.argv[1])
EVENTS, AS_RECORDED = 0x7FF, 1 << 30  # tracehost.h: enum tracehost_flag


class Setup(ctypes.Structure):
    _fields_ = [('size', ctypes.c_size_t), ('tracer', ctypes.c_char_p), ('name', ctypes.c_char_p),
                ('state', ctypes.c_uint64), ('state_text', ctypes.c_char_p), ('state_options', ctypes.c_char_p),
                ('recorded_flags', ctypes.c_uint32)]


def call(name, *arguments):
    if getattr(library, 'tracehost_' + name)(*arguments) != 0:
        library.tracehost_error_link.restype = ctypes.c_char_p
        raise OSError(library.tracehost_error_link(ctypes.c_size_t(0)).decode())


def use():
    host, stream, replay, session = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    setup = Setup(size=ctypes.sizeof(Setup), tracer=b'text', recorded_flags=EVENTS | AS_RECORDED)
    try:
        call('stream_open', b'/nowhere', None, ctypes.byref(stream))
    except OSError as error:
        print('opens:', error, flush=True)
    call('host_start', None, ctypes.byref(host))
    call('session_create', host, ctypes.byref(setup), ctypes.byref(session))
    call('stream_open', sys.argv[2].encode(), None, ctypes.byref(stream))
    call('replay_begin', host, stream, None, ctypes.byref(replay))
    call('replay_play', replay)
    library.tracehost_replay_end(replay)
    library.tracehost_stream_close(stream)
    call('host_stop', host)


thread = threading.Thread(target=use)
thread.start()
thread.join()
print('closed')
PYTHON

recording=$recordings/s02_seed_global_caller.trace
expected() {
    echo 'opens: cannot read /nowhere'
    "$TRACEHOST" replay -t text $recording
    echo closed
}
expected >"$work/expected"
opens() { # COMMAND...
    "$@" "$library" $recording >"$work/out" && diff "$work/expected" "$work/out"
}
# shellcheck disable=SC2046
check 'the program in C compiles' \
    "$CC" -std=gnu11 -Wall -Werror -pthread $(PKG_CONFIG_PATH="$BUILD_DIR/lib/pkgconfig" pkg-config --cflags tracehost) \
    -o "$work/opens" "$work/opens.c" -ldl
check 'a program in C opens, uses and closes the library' opens "$work/opens"
needs_machine 'a program in Python opens and uses the library' 'this Python is of another machine'
check 'a program in Python opens and uses the library' opens python3 "$work/opens.py"
finish
