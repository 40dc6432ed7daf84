/*
 * Unloading is one rule.
 *
 * When the last share of a library is dropped, nobody uses it: no call and no continuation is in
 * its code, and no resource with a destructor is left. unload() is called in any case. Then the
 * library is closed, unless code of it could run all the same: a thread, a handler of a signal, a
 * destructor of thread-local data. A library that has asked for one of these is never closed: it
 * is pinned. Which functions a library imports tells that (imports.h). Threads that it has made by
 * enif_thread_create() are known one by one, so they pin it only if they have not ended.
 *
 * A library is pinned for good, with its instance and the file of its copy, where debuggers find
 * it. A warning says so when another library of that module takes its place, once for each path.
 */
#include "library_internal.h"

#include "private_copy.h"
#include "origin.h"

#include "host/base/base.h"
#include "host/library/elf/imports.h"
#include "host/library/resource/resource_type.h"

#include <dlfcn.h>

/* --- Shares and users ------------------------------------------------------------------------ */

/* Relaxed: whoever takes a share knows of another, which orders everything that matters. */
void th_library_hold(struct th_library *library)
{
    atomic_fetch_add_explicit(&library->shares, 1, memory_order_relaxed);
}

/* Release, so that what this holder did comes before unload(); acquire with the last share, so that
 * unload() comes after what all other holders did. */
void th_library_drop(struct th_library *library)
{
    if (atomic_fetch_sub_explicit(&library->shares, 1, memory_order_acq_rel) > 1)
        return;
    th_library_unload(library);
    th_library_retire(library);
}

void th_library_release(struct th_library *library)
{
    if (!th_library_registry_leave(library))
        return;
    th_resource_types_orphan(library);
    th_resource_reap();
    th_library_drop(library);
}

/* --- Pinned libraries ------------------------------------------------------------------------ */

void th_library_note_pinned(struct th_library *library)
{
    const struct th_examination *facts = &library->facts;

    if (facts->unique || facts->no_delete)
        library->pinned = th_strdup("the loader never closes it");
    else if (facts->leaves)
        library->pinned = th_strdup(facts->leaves);
    else
        library->pinned = th_elf_imports_brought(facts);
}

/* Acquire, with the release in th_library_thread_ends(): closing comes after what they did. */
static void note_threads(struct th_library *library)
{
    if (!library->pinned && atomic_load_explicit(&library->threads, memory_order_acquire) > 0)
        library->pinned = th_strdup("threads that it has made by enif_thread_create() still run "
                                    "(join them in unload())");
}

/* --- Closing --------------------------------------------------------------------------------- */

void th_library_remove_files(const struct th_library *library)
{
    char *carrier;

    if (!library->facts.copy)
        return;
    if (library->needs) {
        carrier = th_library_origin_file(&library->facts);
        th_library_copy_remove(carrier);
        th_free(carrier);
    }
    th_library_copy_remove(library->facts.copy);
}

void th_library_close(struct th_library *library)
{
    struct th_library_frame call;

    th_library_begin(&call, library->facts.path, "a destructor of the library");
    if (library->handle)
        dlclose(library->handle);
    if (library->needs)
        dlclose(library->needs);
    th_library_end(&call);
}

void th_library_free(struct th_library *library)
{
    th_library_entry_free(&library->entry);
    th_library_examination_free(&library->facts);
    th_library_names_free(&library->remarks);
    th_library_code_map_free(&library->code);
    th_library_lines_free(library->lines);
    th_library_memory_free(&library->memory);
    th_resource_types_settle(library);
    th_free(library->pinned);
    th_free(library);
}

void th_library_retire(struct th_library *library)
{
    note_threads(library);
    if (library->pinned) {
        th_library_registry_pin(library);
        return;
    }
    th_library_close(library);
    /* Not before it is closed, so that nobody takes its handle for that of a new one. */
    th_library_registry_remove(library);
    th_library_remove_files(library);
    th_library_free(library);
}
