/* Fuzzes JSON lines; see streams.h. */
#include "streams.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    if (size > 0 && data[0] > 1)
        check_stream(data, size);
    return 0;
}
