#include "find.h"

#include "library_internal.h"

#include "host/base/buffer.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- The folders --------------------------------------------------------------------------- */

const char *th_library_search_kind_text(enum th_search_kind kind)
{
    return kind == TH_SEARCH_PLUGINS ? "plugins" : "tracers";
}

const char *th_library_search_origin_text(enum th_search_origin origin)
{
    switch (origin) {
    case TH_SEARCH_OPTION:
        return "-L";
    case TH_SEARCH_ENVIRONMENT:
        return "$TRACEHOST_PATH";
    default:
        return "built in";
    }
}

/* Cuts off the last part of PATH, in place, with its '/': "/x" becomes "". */
static void to_folder(char *path)
{
    char *slash = strrchr(path, '/');

    *(slash ? slash : path) = 0;
}

char *th_library_search_beside(const char *name)
{
    Dl_info info;
    struct link_map *map;
    char *path, *libraries, *folder;
    bool is_library, in_folder, installed;

    /* This code is in libtracehost.so, or in the program, whose name in the loader is empty. */
    is_library = dladdr1((void *)(uintptr_t)&th_library_search_beside, &info, (void **)&map,
                         RTLD_DL_LINKMAP) &&
                 map->l_name[0];
    path = is_library ? realpath(map->l_name, NULL) : th_alloc_zero(PATH_MAX);
    if (!path || (!is_library && readlink("/proc/self/exe", path, PATH_MAX - 1) <= 0)) {
        th_free(path);
        return NULL;
    }
    /* tracehost_sql.so has a copy of this code, and lies in PREFIX/LIBDIR/tracehost. */
    in_folder =
        is_library && strncmp(strrchr(path, '/'), "/tracehost_", strlen("/tracehost_")) == 0;
    to_folder(path);
    if (!is_library || in_folder)
        to_folder(path); /* from PREFIX/bin/tracehost; the library lies in PREFIX/LIBDIR */
    /* PREFIX/LIBDIR when installed, PREFIX/lib in a build tree. */
    libraries = th_printf("%s/" TH_LIBDIR "/tracehost", path);
    installed = access(libraries, F_OK) == 0;
    th_free(libraries);
    libraries =
        is_library ? th_strdup(path) : th_printf("%s/%s", path, installed ? TH_LIBDIR : "lib");
    folder = th_printf("%s/tracehost/%s", libraries, name);
    th_free(libraries);
    th_free(path);
    return folder;
}

enum th_status th_library_beside_symbol(const char *name, const char *without, const char *symbol,
                                        enum th_status status, void **found)
{
    char *path = th_library_search_beside(name);
    void *object = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;

    *found = object ? dlsym(object, symbol) : NULL;
    if (*found)
        status = TH_OK;
    else if (path && access(path, F_OK) != 0)
        th_error_raise(status, "there is no file %s: %s", path, without);
    else
        th_error_raise(status, "%s", path ? dlerror() : "the place of the program is unknown");
    th_free(path);
    return status;
}

char *th_library_search_built_in_folder(enum th_search_kind kind)
{
    return th_library_search_beside(th_library_search_kind_text(kind));
}

static void add_folder(struct th_search *search, const char *path, size_t length,
                       enum th_search_origin origin)
{
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (length == 0)
        return;
    for (size_t i = 0; i < search->count; i++) {
        const char *known = search->folders[i].path;
        if (strlen(known) == length && memcmp(known, path, length) == 0)
            return;
    }
    TH_ARRAY_GROW(search->folders, search->count, search->capacity);
    search->folders[search->count++] = (struct th_search_folder){
        .path = th_printf("%.*s", (int)length, path),
        .origin = origin,
    };
}

void th_library_search_init(struct th_search *search, enum th_search_kind kind,
                            const char *const *folders, size_t count)
{
    const char *rest = getenv("TRACEHOST_PATH");
    char *built_in = th_library_search_built_in_folder(kind);

    *search = (struct th_search){.kind = kind};
    for (size_t i = 0; i < count; i++)
        add_folder(search, folders[i], strlen(folders[i]), TH_SEARCH_OPTION);
    while (rest && *rest) {
        size_t length = strcspn(rest, ":");
        add_folder(search, rest, length, TH_SEARCH_ENVIRONMENT);
        rest += length + (rest[length] == ':');
    }
    if (built_in)
        add_folder(search, built_in, strlen(built_in), TH_SEARCH_BUILT_IN);
    th_free(built_in);
}

void th_library_search_free(struct th_search *search)
{
    for (size_t i = 0; i < search->count; i++)
        th_free(search->folders[i].path);
    th_free(search->folders);
    *search = (struct th_search){0};
}

/* --- Their content -------------------------------------------------------------------------- */

static bool is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

static void add_found(struct th_found_list *list, const struct th_search_folder *folder,
                      const char *file)
{
    size_t length = strlen(file);
    char *path;

    if (length <= 3 || file[0] == '.' || strcmp(file + length - 3, ".so") != 0)
        return;
    path = th_printf("%s/%s", folder->path, file);
    if (!is_file(path)) {
        th_free(path);
        return;
    }
    TH_ARRAY_GROW(list->items, list->count, list->capacity);
    list->items[list->count++] = (struct th_found){
        .name = th_printf("%.*s", (int)length - 3, file),
        .path = path,
        .origin = folder->origin,
    };
}

void th_library_search_list(const struct th_search *search, struct th_found_list *list)
{
    *list = (struct th_found_list){0};
    for (size_t i = 0; i < search->count; i++) {
        DIR *dir = opendir(search->folders[i].path);
        struct dirent *entry;
        while (dir && (entry = readdir(dir)))
            add_found(list, &search->folders[i], entry->d_name);
        if (dir)
            closedir(dir);
    }
    /* Insertion sort by name, which keeps the search order among equal names; the lists are short
     * and mostly sorted. */
    for (size_t i = 1; i < list->count; i++) {
        struct th_found item = list->items[i];
        size_t j = i;
        for (; j > 0 && strcmp(list->items[j - 1].name, item.name) > 0; j--)
            list->items[j] = list->items[j - 1];
        list->items[j] = item;
    }
    for (size_t i = 1; i < list->count; i++)
        list->items[i].shadowed = strcmp(list->items[i - 1].name, list->items[i].name) == 0;
}

void th_library_found_list_free(struct th_found_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        th_free(list->items[i].name);
        th_free(list->items[i].path);
    }
    th_free(list->items);
    *list = (struct th_found_list){0};
}

/* --- One library ----------------------------------------------------------------------------- */

static enum th_status refuse_missing(const struct th_search *search, const char *name)
{
    struct th_found_list list;
    struct th_names names = {0};
    const char *nearest;
    char *joined;

    /* The chain starts with the remedy. */
    th_library_search_list(search, &list);
    for (size_t i = 0; i < list.count; i++)
        th_library_names_add(&names, list.items[i].name);
    nearest = th_library_suggest_nearest(name, (const char *const *)names.items, names.count);
    if (nearest)
        th_error_raise(TH_REFUSED, "did you mean '%s'?", nearest);
    else if (is_file(name))
        th_error_raise(TH_REFUSED, "a path needs a '/': use ./%s", name);
    else
        th_error_raise(TH_REFUSED,
                       "add its folder with -L DIR or to $TRACEHOST_PATH, or give a path with a "
                       "'/'; `tracehost %s` lists all that are found",
                       th_library_search_kind_text(search->kind));
    th_library_names_free(&names);
    th_library_found_list_free(&list);

    for (size_t i = 0; i < search->count; i++)
        th_library_names_take(&names,
                              th_printf("%s (%s)", search->folders[i].path,
                                        th_library_search_origin_text(search->folders[i].origin)));
    joined = th_library_names_join(&names, names.count);
    th_error_context("looked for %s.so in %s", name, names.count ? joined : "no folder at all");
    th_free(joined);
    th_library_names_free(&names);
    return th_error_context("there is no library '%s'", name);
}

enum th_status th_library_search_find(const struct th_search *search, const char *name, char **path)
{
    if (strchr(name, '/')) {
        struct stat st;
        if (stat(name, &st) != 0) {
            char *with_suffix;
            th_error_raise(TH_REFUSED, "%s", strerror(errno));
            with_suffix = th_printf("%s.so", name);
            if (is_file(with_suffix))
                th_error_context("cannot open %s; did you mean '%s'?", name, with_suffix);
            else
                th_error_context("cannot open %s", name);
            th_free(with_suffix);
            return TH_REFUSED;
        }
        *path = th_strdup(name);
        return TH_OK;
    }
    for (size_t i = 0; *name && i < search->count; i++) {
        char *candidate = th_printf("%s/%s.so", search->folders[i].path, name);
        if (is_file(candidate)) {
            *path = candidate;
            return TH_OK;
        }
        th_free(candidate);
    }
    return refuse_missing(search, name);
}
