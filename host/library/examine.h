/*
 * Examines a library as data, before any of its code runs.
 *
 * The file shows whether the loader can load it here, which form it has, which functions it needs
 * and whether this host has them, and which of its properties deserve a remark. Files are
 * untrusted: examining ends with an answer for any content.
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

/* The form in which a library declares its callbacks. */
enum th_library_form {
    TH_LIBRARY_ENTRY, /* nif_init() returns an ErlNifEntry */
    TH_LIBRARY_PLAIN  /* exported functions enabled, trace, enabled_call, ... */
};

/* The provider of a function that a library imports. */
enum th_import_kind {
    TH_IMPORT_PROVIDED,      /* this program, or a library that it uses itself */
    TH_IMPORT_ELSEWHERE,     /* maybe one of the libraries that are `needed` */
    TH_IMPORT_UNIMPLEMENTED, /* none: a function of the NIF API that this version lacks */
    TH_IMPORT_UNKNOWN,       /* none: an enif_ function of no known version */
    TH_IMPORT_DRIVER,        /* none: a function of the driver API */
    TH_IMPORT_MODULE         /* as ELSEWHERE; or none: maybe of another nif_module.h */
};

struct th_import {
    char *name;
    bool weak; /* the library works without it */
    enum th_import_kind kind;
    int since; /* first NIF version with it, 100 * major + minor; 0: not of the API */
};

/* Memory of a library, counted from its base, in bytes. */
struct th_extent {
    uint64_t address, size;
};
struct th_extents {
    struct th_extent *items;
    size_t count, capacity;
};

struct th_examination {
    char *path;
    char *copy; /* the private copy that was examined instead (private_copy.h); NULL: none */

    /* Identity of the file at the path, to detect later changes. */
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;

    /* Form and functions; only functions that the file itself defines. */
    enum th_library_form form;
    const char *init;           /* "nif_init" or "_nif_init"; NULL in the plain form */
    bool plain[TH_SLOTS];       /* callbacks that are exported as symbols */
    bool load, upgrade, unload; /* used in the plain form only */
    bool upgrade_check;         /* th_upgrade_check(), in both forms */
    bool save, merge, past;     /* save(), merge(), th_tracer_past, in both forms */
    bool past_calls;            /* past_calls(), in both forms */
    size_t settings;            /* size of th_tracer_settings in bytes, in both; 0: none */
    bool functions_only;        /* th_tracer_functions_only, in both */
    bool gathers;               /* th_tracer_gathers, in both */
    struct th_names doubtful;   /* functions with names like callbacks'; plain form only */

    /* Requirements. */
    struct th_import *imports; /* by name */
    size_t import_count, import_capacity;
    struct th_names needed; /* libraries it depends on, by its names for them */
    char *places;           /* search path for these, "DIR:DIR"; NULL: none */
    bool inherited_places;  /* also for what they need in turn (DT_RPATH, not DT_RUNPATH) */

    /* Extents of the code map (code_map.h): the file's sections of these names. */
    struct th_extents patchable, locals;

    /* Properties for remarks. */
    bool nameless_sections;     /* its sections have no names */
    struct th_names damaged;    /* sections of the code map that are damaged, and ignored */
    struct th_names overridden; /* its own symbols in whose place the program's will be used */
    char *unique;               /* a symbol with STB_GNU_UNIQUE, which keeps it loaded; NULL */
    bool no_delete;             /* linked so that it is never unloaded */
    char *leaves;               /* reason why its code may run after its last use; NULL: none */
    size_t constructors;        /* functions that run when it is opened, also the compiler's */
    bool constructors_may_start_threads;
    bool static_tls;       /* uses the scarce memory for early thread-locals */
    bool executable_stack; /* makes all stacks of the process executable */
    bool text_relocations; /* its code is changed at load, and not shared */
};

/*
 * Examines the file PATH.
 * Owner: the caller frees RESULT with th_library_examination_free(), also after an error.
 * Errors: TH_REFUSED if the file cannot be loaded or is neither tracer nor plugin; the chain names
 * PATH, the fault and a remedy, and RESULT holds the facts found before.
 * Thread: any.
 */
enum th_status th_library_examine(const char *path, struct th_examination *result);
void th_library_examination_free(struct th_examination *e);

/* True if the file is still at its path and was not written to. */
bool th_library_examination_is_current(const struct th_examination *e);

/* Returns the first of the imports that are newest in the NIF API; NULL if none is of known age. */
const struct th_import *th_library_examination_newest(const struct th_examination *e);

/* Appends remarks, a sentence each. */
void th_library_examination_remarks(const struct th_examination *e, struct th_names *remarks);

/*
 * Returns the address of a symbol that the program, or a library that it was started with, exports
 * to the libraries that it opens; NULL if there is none. The program exports exactly those
 * functions of the NIF API that it implements.
 */
void *th_library_program_symbol(const char *name);

#endif
