/* Skips a CMocka test; the runner shows the reason. */
#ifndef TEST_SKIPPING_H
#define TEST_SKIPPING_H

/* Skips the test and leaves it. The arguments, a printf() format and values, are the reason. */
#define skip_because(...)                         \
    do {                                          \
        print_message("# skipped: " __VA_ARGS__); \
        print_message("\n");                      \
        skip();                                   \
    } while (0)

#endif
