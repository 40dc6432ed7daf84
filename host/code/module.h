/*
 * Modules: names that have code, or had it. Inner header of code/.
 */
#ifndef TH_MODULE_H
#define TH_MODULE_H

#include "index.h"

#include "host/term/term.h"

struct th_instance;

/* It stays for ever, at its place. */
struct th_module {
    th_term name;                /* an atom */
    struct th_code_word current; /* a struct th_instance's address, 0: none */
    struct th_instance *old;     /* NULL: none; with the code modification permission */
    uint64_t generations;        /* that were loaded; likewise */
    struct th_module *next;      /* th_code_modules */
};

/* The module NAME, made if there is none. Any thread. */
struct th_module *th_code_module_get(th_term name);
struct th_module *th_code_module_known(th_term name); /* NULL: there never was one */

/* All, the latest first. Release: it is complete; acquire. */
extern struct th_module *_Atomic th_code_modules;

/* In a read section, with the index that was read in it; or with the permission. */
static inline struct th_instance *th_code_module_current(const struct th_module *module,
                                                         unsigned index)
{
    return (struct th_instance *)th_code_word(&module->current, index);
}

#endif
