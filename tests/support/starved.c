#include "starved.h"

#include "assertions.h"

#include "host/base/base.h"
#include "tests/support/skipping.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void *check_starved(void *context)
{
    bool (*const *holds)(void) = context;
    const struct rlimit none = {0, 0};
    volatile void *last;

    setrlimit(RLIMIT_AS, &none);
    for (size_t size = 1 << 20; size >= 16; size /= 2)
        while ((last = malloc(size)))
            ;
    _exit(!(*holds)());
}

bool holds_without_memory(bool (*holds)(void))
{
    pthread_t thread;
    pid_t child;
    int status;

#if defined(TH_ADDRESS_SANITIZER) || defined(__SANITIZE_THREAD__)
    skip_because("the sanitizer has an allocator of its own");
#endif
    if (emulated())
        skip_because("the emulator does not limit the memory of a program");
    child = fork();
    assert_order(child, >=, 0);
    if (child == 0) {
        if (pthread_create(&thread, NULL, check_starved, &holds) == 0)
            pthread_join(thread, NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
