/*
 * Libraries that are loaded into a host that runs, several at once: found, prepared side by side,
 * and finished as one.
 *
 *   list = {.names = names, .count = count, .search = &search};
 *   th_control_module_list_prepare(&list);
 *   th_control_module_list_finish(&list);
 *   ... list.finished, list.rounds ...
 *   th_control_module_list_free(&list);
 *
 * By a thread that th_crash_thread_begin() was called in, that may wait, and holds no lock:
 * constructors, load() and upgrade() of the libraries run meanwhile, and a hard purge takes as long
 * as those who are in old code. Such lists may be loaded by several threads at once.
 */
#ifndef TH_MODULE_LIST_H
#define TH_MODULE_LIST_H

#include "host/crash/crash.h"
#include "host/runtime/runtime.h"

struct th_control_module_list {
    const char *const *names; /* of libraries, as th_library_search_find() takes them */
    size_t count;
    const struct th_search *search;
    th_term info; /* for load() and upgrade() */
    enum th_purge purge;

    /* What came of it, in the order of the names. */
    struct th_control_module_made {
        char *path;                     /* what was found */
        struct th_prepared *prepared;   /* NULL: it was refused, or is finished */
        struct th_error_chain *refusal; /* why; NULL: it was not */
    } * made;
    struct th_finished *finished;
    unsigned rounds; /* of thread progress that were waited for */
};

/* Opens a private copy of each, in several threads. Else the status and the chain of the first one
 * that was refused. */
enum th_status th_control_module_list_prepare(struct th_control_module_list *list);

/* Makes all that was prepared visible at one instant, or none: th_code_finish(). */
enum th_status th_control_module_list_finish(struct th_control_module_list *list);

/* Drops what was prepared and not finished. After th_control_module_list_prepare(). */
void th_control_module_list_free(struct th_control_module_list *list);

/* What load() is to be given, the term of TEXT in ENV; of NULL 0. TH_USAGE. */
enum th_status th_control_load_info_read(const char *text, th_env *env, th_term *info);

#endif
