/* Fuzzes lines of JSON: the one-pass reader and Jansson read the same events, terms and errors. */
#include "tests/replay/two_ways.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    bool quick;
    const char *difference = two_ways_differ((const char *)data, size, &quick);

    if (difference) {
        fprintf(stderr, "%s\n", difference);
        abort();
    }
    return 0;
}
