/* Skips a CMocka test; the runner shows the reason. */
#ifndef TEST_SKIPPING_H
#define TEST_SKIPPING_H

#include <stdbool.h>
#include <stdlib.h>

/* True if this program runs in an emulator, whose own threads and system calls the kernel shows. */
static inline bool emulated(void)
{
    const char *emulator = getenv("EMULATOR");

    return emulator && *emulator;
}

/* Skips the test and leaves it. The arguments, a printf() format and values, are the reason. */
#define skip_because(...)                         \
    do {                                          \
        print_message("# skipped: " __VA_ARGS__); \
        print_message("\n");                      \
        skip();                                   \
    } while (0)

#endif
