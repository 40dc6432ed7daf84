#include "check_line.h"

#include "host/base/error.h"
#include "host/cli/trial_process.h"
#include "host/crash/crash.h"
#include "host/library/code_map.h"
#include "host/library/debuginfo/line.h"
#include "host/library/load.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { TEXT = 4096 };

struct line_search {
    const char *path;
    uintptr_t frame;
    char *text; /* shared memory of TEXT bytes */
};

/* The library is opened in a process of its own: its constructors run. */
static void look_up_line(void *context)
{
    const struct line_search *search = context;
    struct th_library *library;
    struct th_line line;

    if (th_library_open(search->path, &library) == TH_OK &&
        th_library_line(library, th_library_base(library) + search->frame, &line) && line.code_file)
        snprintf(search->text, TEXT, " at %s:%u", line.code_file, line.code_line);
    th_crash_end_trial();
}

/* Returns whether the file NAME is that at PATH, or a private copy of that file: x.so, x.1.so. */
static bool is_of_library(const char *name, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t length = strcspn(base, ".");

    return strncmp(name, base, length) == 0 && name[length] == '.';
}

const char *th_check_line(const struct th_check_options *options,
                          const struct th_check_found *found)
{
    enum { LIMIT_NS = 1000000000 };
    static char *text;
    int status;

    if (!found->frame || !options->path || !is_of_library(found->file, options->path))
        return "";
    if (!text) {
        void *memory = mmap(NULL, TEXT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            return "";
        text = memory;
    }
    *text = '\0';
    th_cli_trial_process(
        look_up_line,
        &(struct line_search){.path = options->path, .frame = found->frame, .text = text}, LIMIT_NS,
        &status);
    return text;
}
