/*
 * Finds libraries by their names.
 *
 * A name without '/' stands for NAME.so in the first folder that has this file: the folders of -L,
 * then those of $TRACEHOST_PATH (separated by ':'), then the built-in one, of which tracers and
 * plugins have one each. A name with a '/' is a path. No function here opens a library or checks
 * its content.
 */
#ifndef TH_LIBRARY_FIND_H
#define TH_LIBRARY_FIND_H

#include "host/base/error.h"

/* The kind of library. */
enum th_search_kind { TH_SEARCH_TRACERS, TH_SEARCH_PLUGINS };

enum th_search_origin { TH_SEARCH_OPTION, TH_SEARCH_ENVIRONMENT, TH_SEARCH_BUILT_IN };

struct th_search {
    struct th_search_folder {
        char *path;
        enum th_search_origin origin;
    } * folders; /* in the order of search, without duplicates */
    size_t count;
    size_t capacity;
    enum th_search_kind kind;
    bool replaceable; /* open the result with th_library_open_replaceable() */
};

/*
 * Makes the list of folders: the COUNT folders of the command line, the present $TRACEHOST_PATH,
 * the built-in folder. Empty entries are left out. Folders need not exist.
 * Owner: the caller frees SEARCH with th_library_search_free().
 */
void th_library_search_init(struct th_search *search, enum th_search_kind kind,
                            const char *const *folders, size_t count);
void th_library_search_free(struct th_search *search);

/*
 * Returns the folder of the tracers or plugins that ship with the host, relative to the running
 * program, so that a build tree works like an installed one: PREFIX/bin/tracehost and
 * PREFIX/LIBDIR/libtracehost.so.0 both have PREFIX/LIBDIR/tracehost/tracers. LIBDIR is an option of
 * the build ("lib" by default); in a build tree it is always "lib".
 * Owner: the caller frees the text.
 * Errors: NULL if the place of the program is unknown.
 */
char *th_library_search_built_in_folder(enum th_search_kind kind);

/* Returns the path of the file NAME in that folder's parent, PREFIX/LIBDIR/tracehost: a part of the
 * program that is loaded on demand. The file need not exist. Owner and errors likewise. */
char *th_library_search_beside(const char *name);

/* Finds SYMBOL in the shared object NAME of that folder, which is opened and stays open. WITHOUT: why there
 * may be no such file, for messages.
 * Errors: STATUS with the cause. */
enum th_status th_library_beside_symbol(const char *name, const char *without, const char *symbol,
                                        enum th_status status, void **found);

/* Returns the text for ORIGIN in messages: "-L", "$TRACEHOST_PATH" or "built in". */
const char *th_library_search_origin_text(enum th_search_origin origin);

/*
 * Finds the path of the library NAME. A NAME with a '/' is only checked for existence.
 * Owner: the caller frees *PATH.
 * Errors: TH_REFUSED if there is none; the chain lists the folders that were searched and a similar
 * name.
 */
enum th_status th_library_search_find(const struct th_search *search, const char *name,
                                      char **path);

/* Lists each NAME.so of each folder, sorted by name. If several files have one name, the file that
 * th_library_search_find() finds comes first.
 * Owner: the caller frees LIST with th_library_found_list_free(). */
struct th_found_list {
    struct th_found {
        char *name;
        char *path;
        enum th_search_origin origin;
        bool shadowed; /* a file of the same name comes first */
    } * items;
    size_t count;
    size_t capacity;
};
void th_library_search_list(const struct th_search *search, struct th_found_list *list);
void th_library_found_list_free(struct th_found_list *list);

#endif
