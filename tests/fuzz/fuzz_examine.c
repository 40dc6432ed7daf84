/* Any bytes as a library: examining it ends with an answer. */
#include "host/library/library.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct th_examination e;
    struct th_names remarks = {0};
    char path[64];
    int file = memfd_create("library", MFD_CLOEXEC);

    if (file < 0 || write(file, bytes, size) != (ssize_t)size)
        th_bug("no memory for a file of %zu bytes", size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    th_examine(path, &e);
    th_examination_remarks(&e, &remarks);
    th_names_free(&remarks);
    th_examination_free(&e);
    close(file);
    return 0;
}
