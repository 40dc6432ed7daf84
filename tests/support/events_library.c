#include "events_library.h"

#include "assertions.h"

#include "host/base/base.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FILES = 64 };

static char *files[MOST_FILES]; /* copies of the library, removed at exit */
static size_t file_count;

static void remove_files(void)
{
    while (file_count > 0) {
        unlink(files[--file_count]);
        th_free(files[file_count]);
    }
}

/* Copies the library to a new file, which is not open yet. */
static const char *copy_library(void)
{
    const char *where = getenv("TMPDIR");
    char *path = th_printf("%s/tracehost-events-XXXXXX", where ? where : "/tmp");
    char *command;

    assert_order(file_count, <, MOST_FILES);
    if (file_count == 0)
        atexit(remove_files);
    files[file_count++] = path;
    close(mkstemp(path));
    command = th_printf("cp '%s/tests/plugins/events.so' '%s'", getenv("BUILD_DIR"), path);
    assert_int_equal(system(command), 0);
    th_free(command);
    return path;
}

struct th_library *events_load(struct events_journal *journal, struct th_library *old)
{
    th_term info = th_small((int64_t)(uintptr_t)journal / 16);
    struct th_library *library;

    pthread_mutex_init(&journal->lock, NULL);
    if (th_library_open(copy_library(), &library) != TH_OK ||
        th_library_load(library, old, info) != TH_OK)
        fail_msg("%s", th_error_link(0));
    return library;
}

struct events_object *events_object(struct events_journal *journal, int type, int number)
{
    struct events_object *object =
        th_resource_alloc(journal->types[type], sizeof(struct events_object));

    *object = (struct events_object){.number = number};
    return object;
}

th_term events_call(struct th_library *library, const char *function, th_env *env, int argc,
                    const th_term argv[])
{
    const ErlNifFunc *code =
        th_library_entry_function(th_library_entry(library), function, (unsigned)argc);

    assert_non_null(code);
    return code->fptr(env, argc, argv);
}

/* Counts the words in TEXT, which commas separate. */
static unsigned count_noted(const char *text)
{
    unsigned count = *text != 0;

    for (; *text; text++)
        count += *text == ',';
    return count;
}

const char *events_await(struct events_journal *journal, unsigned count)
{
    static char taken[sizeof journal->text];
    struct timespec nap = {0, 1000000};
    bool enough = false;

    for (int naps = 0; !enough && naps < 10000; naps++) {
        pthread_mutex_lock(&journal->lock);
        enough = count_noted(journal->text) >= count;
        if (enough) {
            strcpy(taken, journal->text);
            journal->text[0] = 0;
        }
        pthread_mutex_unlock(&journal->lock);
        if (!enough)
            nanosleep(&nap, NULL);
    }
    if (!enough)
        fail_msg("not %u callbacks: %s", count, journal->text);
    return taken;
}

const char *events_noted(struct events_journal *journal)
{
    return events_await(journal, 0);
}
