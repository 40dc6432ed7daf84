/*
 * Where libraries are found.
 *
 * A name without '/' stands for NAME.so in the first folder that has it: those given with -L, then
 * those of $TRACEHOST_PATH (separated by ':'), then the built-in one, of which tracers and plugins
 * have one each. Anything with a '/' is a path
 * and is taken as it is. Nothing here opens a library or says whether it is any good.
 */
#ifndef TH_LIBRARY_FIND_H
#define TH_LIBRARY_FIND_H

#include "host/base/error.h"

/* What is looked for. */
enum th_search_kind { TH_SEARCH_TRACERS, TH_SEARCH_PLUGINS };

enum th_search_origin { TH_SEARCH_OPTION, TH_SEARCH_ENVIRONMENT, TH_SEARCH_BUILT_IN };

struct th_search {
    struct th_search_folder {
        char *path;
        enum th_search_origin origin;
    } * folders; /* in the order in which they are looked at, none twice */
    size_t count;
    size_t capacity;
    enum th_search_kind kind;
    bool replaceable; /* what is found is opened by th_library_open_replaceable() */
};

/*
 * Makes the list of folders: the COUNT folders of the command line, what $TRACEHOST_PATH says now,
 * the built-in folder. Empty entries are left out. Folders need not exist. End with
 * th_library_search_free().
 */
void th_library_search_init(struct th_search *search, enum th_search_kind kind,
                            const char *const *folders, size_t count);
void th_library_search_free(struct th_search *search);

/*
 * The folder of the tracers or plugins that ship with the host, which the caller frees. It is found
 * from where the running program lies, so that a build tree works as an installed one does:
 * PREFIX/bin/tracehost and PREFIX/LIBDIR/libtracehost.so.0 both have
 * PREFIX/LIBDIR/tracehost/tracers. LIBDIR is what the build was given ("lib" by default); in a
 * build tree it is always "lib".
 */
char *th_library_search_built_in_folder(enum th_search_kind kind);

/* How the folders of ORIGIN are told: "-L", "$TRACEHOST_PATH" or "built in". */
const char *th_library_search_origin_text(enum th_search_origin origin);

/*
 * The path of the library NAME, which the caller frees. TH_REFUSED if there is none: the chain says
 * which places were looked at and what may have been meant. Of a NAME with a '/' only that it is
 * there is checked.
 */
enum th_status th_library_search_find(const struct th_search *search, const char *name,
                                      char **path);

/* Every NAME.so of every folder, by name; of one name first the one that th_library_search_find()
 * finds. */
struct th_found_list {
    struct th_found {
        char *name;
        char *path;
        enum th_search_origin origin;
        bool shadowed; /* another of this name comes first */
    } * items;
    size_t count;
    size_t capacity;
};
void th_library_search_list(const struct th_search *search, struct th_found_list *list);
void th_library_found_list_free(struct th_found_list *list);

#endif
