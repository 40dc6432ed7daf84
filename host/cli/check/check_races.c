#include "check_races.h"

#include "host/base/buffer.h"
#include "host/base/memory.h"
#include "host/check/check.h"
#include "host/control/argument.h"
#include "host/library/examine.h"
#include "host/library/find.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>

static int reports = -1; /* the file for reports; -1: races are not examined */

/* Returns the name of the sanitizer's library that the tracer needs; NULL: none. Owner: the caller
 * frees the name. */
static char *find_sanitizer(const char *tracer, const struct th_texts *folders)
{
    char *name = th_printf("%.*s", (int)strcspn(tracer, "=,"), tracer), *path, *needed = NULL;
    struct th_examination facts;
    struct th_search search;

    th_library_search_init(&search, TH_SEARCH_TRACERS, folders->items, folders->count);
    if (th_library_search_find(&search, name, &path) == TH_OK) {
        if (th_library_examine(path, &facts) == TH_OK) {
            for (size_t i = 0; i < facts.needed.count && !needed; i++)
                if (strncmp(facts.needed.items[i], "libtsan.so", strlen("libtsan.so")) == 0)
                    needed = th_strdup(facts.needed.items[i]);
            th_library_examination_free(&facts);
        }
        th_free(path);
    }
    th_error_clear();
    th_library_search_free(&search);
    th_free(name);
    return needed;
}

static void put_before(const char *variable, const char *text)
{
    const char *old = getenv(variable);
    char *both = old && *old ? th_printf("%s:%s", text, old) : th_strdup(text);

    setenv(variable, both, 1);
    th_free(both);
}

enum th_status th_check_races_begin(const char *tracer, const struct th_texts *folders, char **argv)
{
    static const char tried[] = "TRACEHOST_CHECK_RACES";
    char *library = find_sanitizer(tracer, folders);

    if (library && dlsym(RTLD_DEFAULT, "__tsan_init")) {
        reports = memfd_create("races", MFD_CLOEXEC);
    } else if (library && !getenv(tried)) {
        setenv(tried, "1", 1);
        put_before("LD_PRELOAD", library);
        put_before("TSAN_OPTIONS", "report_signal_unsafe=0:intercept_tls_get_addr=0");
        /* The sanitizer needs certain addresses. */
        personality((unsigned long)personality(0xFFFFFFFF) | ADDR_NO_RANDOMIZE);
        execv("/proc/self/exe", argv);
    }
    if (library && reports < 0) {
        th_error_raise(TH_FAILED, "%s cannot be loaded before the program", library);
        th_error_context("the tracer is compiled for the thread sanitizer");
        th_free(library);
        return TH_FAILED;
    }
    th_free(library);
    return TH_OK;
}

bool th_check_races_seen(void)
{
    return reports >= 0;
}

void th_check_races_catch(void)
{
    if (reports >= 0)
        dup2(reports, STDERR_FILENO);
}

/* --- Reports ---------------------------------------------------------------------------------- */

/* An access, as the sanitizer reports it: "  Previous write of size 8 at ...", and frames below,
 * "    #0 FUNCTION FILE:LINE (MODULE+0x1)". */
struct access {
    bool writes;
    char function[64], place[128];
};

/* Reads the frame in LINE into ACCESS if it is of MODULE. Paths may have blanks. */
static bool read_frame(const char *line, const char *module, struct access *access)
{
    const char *number = strstr(line, "    #"), *function = number ? strchr(number + 5, ' ') : NULL;
    const char *place = function ? strchr(function + 1, ' ') : NULL;
    const char *in = strrchr(line, '('), *end = in ? strrchr(in, '+') : NULL, *slash;

    if (number != line || !place || !end || in <= place ||
        strlen(module) != (size_t)(end - in) - 1 || strncmp(in + 1, module, strlen(module)) != 0)
        return false;
    snprintf(access->function, sizeof access->function, "%.*s", (int)(place - function - 1),
             function + 1);
    slash = memrchr(place, '/', (size_t)(in - place));
    place = slash ? slash + 1 : place + 1;
    snprintf(access->place, sizeof access->place, "%.*s", (int)(in - place - 1), place);
    return true;
}

/* Reads a report at *TEXT, and moves *TEXT behind it. Returns the number of accesses of MODULE. VARIABLE
 * gets the name of the variable, or "". */
static int read_report(char **text, const char *module, struct access accesses[2],
                       char variable[64])
{
    static const char global[] = "  Location is global '";
    int begun = 0, found = 0;
    char *line;

    *variable = '\0';
    while ((line = strsep(text, "\n")) && strncmp(line, "==================", 18) != 0) {
        bool head = strstr(line, " of size ") && strstr(line, " by ");
        if (head && begun < 2)
            accesses[begun++].writes = strcasestr(line, "write of size");
        else if (head || strncmp(line, "  Location is", 13) == 0 || strstr(line, " created by "))
            begun = 3; /* frames of other things follow */
        if (begun > found && begun <= 2 && read_frame(line, module, &accesses[begun - 1]))
            found = begun;
        if (strncmp(line, global, strlen(global)) == 0)
            snprintf(variable, 64, "%.*s", (int)strcspn(line + strlen(global), "'"),
                     line + strlen(global));
    }
    return found;
}

/* The sanitizer reports the later access first, which is a matter of chance: puts a write first, and of
 * two accesses of a kind that of the smaller place. */
static void put_in_order(struct access accesses[2])
{
    const struct access first = accesses[0];
    int order = accesses[1].writes - accesses[0].writes;

    order = order ? order : strcmp(accesses[0].place, accesses[1].place);
    if (order > 0) {
        accesses[0] = accesses[1];
        accesses[1] = first;
    }
}

void th_check_races_read(const char *path, void (*found)(const char *first, const char *text))
{
    const char *slash = strrchr(path, '/'), *module = slash ? slash + 1 : path;
    off_t size = reports >= 0 ? lseek(reports, 0, SEEK_END) : 0;
    char *text, *rest;

    if (size <= 0)
        return;
    text = th_alloc_zero((size_t)size + 1);
    rest = text;
    if (pread(reports, text, (size_t)size, 0) < 0)
        *text = '\0';
    while (rest) {
        struct access accesses[2] = {0};
        char variable[64], *line = strsep(&rest, "\n"), *shown;
        if (!line || !strstr(line, "ThreadSanitizer: data race") ||
            read_report(&rest, module, accesses, variable) != 2 || th_check_is_counter(variable))
            continue;
        put_in_order(accesses);
        shown = th_printf("%s (%s) %s %s%s%s while %s (%s) %s it in another thread",
                          accesses[0].function, accesses[0].place,
                          accesses[0].writes ? "writes" : "reads", *variable ? "'" : "memory",
                          variable, *variable ? "'" : "", accesses[1].function, accesses[1].place,
                          accesses[1].writes ? "writes" : "reads");
        found(accesses[0].function, shown);
        th_free(shown);
    }
    th_free(text);
    if (ftruncate(reports, 0) == 0)
        lseek(reports, 0, SEEK_SET);
}
