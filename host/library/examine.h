/*
 * Examining a library as data, before any of its code runs.
 *
 * What can be seen in the file: that the loader can load it here, how it says what it is, which
 * functions it needs and whether this host has them, what will be remarkable once it is loaded.
 * Files are untrusted: whatever is in them, examining ends with an answer.
 */
#ifndef TH_LIBRARY_EXAMINE_H
#define TH_LIBRARY_EXAMINE_H

#include "name_list.h"

#include "host/base/error.h"
#include "plugin_api/erl_nif.h"
#include "plugin_api/erl_tracer.h"

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

/* How a library says what is in it. */
enum th_library_form {
    TH_LIBRARY_ENTRY, /* nif_init() returns an ErlNifEntry */
    TH_LIBRARY_PLAIN  /* exported functions enabled, trace, enabled_call, ... */
};

/* Who has the function that a library imports. */
enum th_import_kind {
    TH_IMPORT_PROVIDED,      /* this program, or a library that it uses itself */
    TH_IMPORT_ELSEWHERE,     /* perhaps one of the libraries that are `needed` */
    TH_IMPORT_UNIMPLEMENTED, /* nobody: a function of the NIF API that this version lacks */
    TH_IMPORT_UNKNOWN,       /* nobody: enif_ something of which no version is known */
    TH_IMPORT_DRIVER,        /* nobody: the driver API, which is not the NIF API */
    TH_IMPORT_MODULE         /* as ELSEWHERE; or nobody: what another nif_module.h may have */
};

struct th_import {
    char *name;
    bool weak; /* the library can do without */
    enum th_import_kind kind;
    int since; /* the NIF version that has it first, 100 * major + minor; 0: it is not of the API */
};

/* Memory that will be the library's: from its base. */
struct th_extent {
    uint64_t address, size;
};
struct th_extents {
    struct th_extent *items;
    size_t count, capacity;
};

struct th_examination {
    char *path;
    char *copy; /* NULL, or the private copy of it that was examined (private_copy.h) */

    /* Which file lay at the path, to see if it has changed since. */
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;

    /* What it is. A function counts only if the file itself defines it. */
    enum th_library_form form;
    const char *init;           /* "nif_init" or "_nif_init", NULL in the plain form */
    bool plain[TH_SLOTS];       /* callbacks that are exported as symbols */
    bool load, upgrade, unload; /* these in the plain form only */
    bool upgrade_check;         /* th_upgrade_check(), in both */
    size_t settings;            /* size of th_tracer_settings in bytes, in both; 0: not there */
    struct th_names doubtful;   /* functions named like a callback that are none; plain form only */

    /* What it needs. */
    struct th_import *imports; /* by name */
    size_t import_count, import_capacity;
    struct th_names needed; /* libraries it depends on, as it names them */
    char *places;           /* where the loader is to look for these, "DIR:DIR"; NULL: no place */
    bool inherited_places;  /* and for what they need in turn (DT_RPATH, not DT_RUNPATH) */

    /* Where its code map is (code_map.h): the file's sections of those names. */
    struct th_extents patchable, locals;

    /* What is remarkable. */
    bool nameless_sections;     /* nobody can say what its sections are */
    struct th_names damaged;    /* sections of the code map that are, and are not looked at */
    struct th_names overridden; /* its own symbols, in whose place it will find the program's */
    char *unique;               /* a symbol with STB_GNU_UNIQUE, which keeps it loaded; NULL */
    bool no_delete;             /* asks never to be unloaded */
    char *leaves;               /* why code of it may run when nobody uses it; NULL: it cannot */
    size_t constructors;        /* how many functions run as it is opened, the compiler's too */
    bool constructors_may_start_threads;
    bool static_tls;       /* wants a share of the scarce memory for early thread-locals */
    bool executable_stack; /* makes all stacks of the process executable */
    bool text_relocations; /* its code is changed at load, and not shared */
};

/*
 * Examines the file PATH. TH_REFUSED if it cannot be loaded or is neither tracer nor plugin; the
 * chain says what is wrong and what would mend it, PATH being in it. RESULT then holds what was
 * found up to there. th_library_examination_free() ends it in both cases. Any thread.
 */
enum th_status th_library_examine(const char *path, struct th_examination *result);
void th_library_examination_free(struct th_examination *e);

/* False if another file lies at the path now, or that one was written to. */
bool th_library_examination_is_current(const struct th_examination *e);

/* The first of its imports that came last to the NIF API, NULL if it has none of known age. */
const struct th_import *th_library_examination_newest(const struct th_examination *e);

/* Appends what is remarkable, a sentence each. */
void th_library_examination_remarks(const struct th_examination *e, struct th_names *remarks);

/*
 * The address of a symbol that the program, or a library that it was started with, gives to the
 * libraries it opens; NULL if there is none. Of the NIF API the program exports exactly what it
 * implements.
 */
void *th_library_program_symbol(const char *name);

#endif
