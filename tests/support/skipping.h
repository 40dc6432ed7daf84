/* How a CMocka test is skipped: the runner shows the reason. */
#ifndef TEST_SKIPPING_H
#define TEST_SKIPPING_H

/* WHY is a format of printf() with its arguments. The test ends here. */
#define skip_because(...)                         \
    do {                                          \
        print_message("# skipped: " __VA_ARGS__); \
        print_message("\n");                      \
        skip();                                   \
    } while (0)

#endif
