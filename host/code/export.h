/*
 * Exports: what can be called from outside, by module, function and arity.
 *
 * An external call looks its export entry up each time, and calls what that holds then. An entry is
 * made when a function of that name is first there, and stays for ever, at its place: who has it
 * need not look again. While no loaded module has such a function it holds nothing, and a call
 * raises `undef`.
 */
#ifndef TH_EXPORT_H
#define TH_EXPORT_H

#include "host/library/library.h"
#include "plugin_api/erl_nif.h"

#include <stdatomic.h>

/* What is called. The name is "module:function/arity", for reports; it must stay. */
struct th_callee {
    struct th_library *library; /* loaded; whoever calls is a user of it */
    const ErlNifFunc *function;
    const char *name;
};

struct th_export {
    th_term module, function; /* atoms */
    unsigned arity;
    const struct th_callee *_Atomic callee; /* NULL: undefined. Release: it is complete; acquire. */
};

/* The entry, NULL if there never was such a function. Any thread, without a lock. */
struct th_export *th_export_find(th_term module, th_term function, unsigned arity);

/* What a call of it reaches now, NULL: nothing. */
static inline const struct th_callee *th_export_callee(const struct th_export *entry)
{
    return entry ? atomic_load_explicit(&entry->callee, memory_order_acquire) : NULL;
}

/*
 * Makes the functions of LIBRARY, which is loaded, the exports of its module; takes them away. Who
 * calls them in between must have returned before they are taken away. No other library may be the
 * module of that name: th_module_check() is TH_USAGE if one is. One thread at a time.
 */
enum th_status th_module_check(const struct th_library *library);
void th_module_add(struct th_library *library);
void th_module_remove(struct th_library *library);

/* The library that is the module NAME, an atom; NULL: none. By the thread that adds and removes. */
struct th_library *th_module_find(th_term name);

#endif
