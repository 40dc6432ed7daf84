/* Patches the sleds that clang left, before main(), with a handler that only counts. */
#include "hit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOT_TRACED __attribute__((xray_never_instrument))

/* Declarations of <xray/xray_interface.h>, which only C++ can include. */
enum xray_entry_type { XRAY_ENTRY, XRAY_EXIT, XRAY_TAIL };
enum { XRAY_PATCHED = 1 };
extern int __xray_set_handler(void (*handler)(int32_t function, enum xray_entry_type type));
extern int __xray_patch(void);

static unsigned seen;

NOT_TRACED static void count(int32_t function, enum xray_entry_type type)
{
    (void)function;
    (void)type;
    seen++;
}

NOT_TRACED static void ignore(int32_t function, enum xray_entry_type type)
{
    (void)function;
    (void)type;
}

/* A call must raise two events; otherwise the measurement would be of something else. */
NOT_TRACED __attribute__((constructor)) static void patch(void)
{
    const term argv[] = {1};

    __xray_set_handler(count);
    if (__xray_patch() != XRAY_PATCHED || hit(NULL, 1, argv) != 1 || seen != 2) {
        fprintf(stderr, "xray: %u events of a call\n", seen);
        exit(1);
    }
    __xray_set_handler(ignore);
}
