#include "watch.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LINKS = 40 };

const char *th_control_watch_name_in(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The parts of AT before the byte END are no links. */
void th_control_watch_places(const char *path, struct th_names *places)
{
    char *at = th_strdup(path), link[PATH_MAX], *next;
    size_t end = 0, folder;
    ssize_t length;

    do {
        end += strspn(at + end, "/");
        end += strcspn(at + end, "/");
        next = th_printf("%.*s", (int)end, at);
        length = places->count < MOST_LINKS ? readlink(next, link, sizeof link - 1) : -1;
        if (length <= 0) {
            th_free(next);
            continue;
        }
        link[length] = 0;
        folder = *link == '/' ? 0 : (size_t)(th_control_watch_name_in(next) - next);
        th_library_names_take(places, next);
        next = th_printf("%.*s%s%s", (int)folder, at, link, at + end);
        th_free(at);
        at = next;
        end = folder;
    } while (length > 0 || at[end]);
    th_library_names_take(places, at);
}
