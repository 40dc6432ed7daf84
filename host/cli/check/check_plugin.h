/* The state of `tracehost check` of a NIF library: what is known of its functions, and findings. */
#ifndef TH_CHECK_PLUGIN_H
#define TH_CHECK_PLUGIN_H

#include "check_arguments.h"
#include "check_call_search.h"
#include "check_options.h"
#include "check_result.h"

enum {
    TH_CHECK_MOST_ARITY = 255,
    TH_CHECK_MOST_MAKERS = 8 /* calls whose resources are arguments of others */
};

struct th_check_function {
    char *name; /* "m:f", quoted where necessary */
    unsigned arity;
    bool called;
    bool faulty;          /* it has a finding */
    unsigned deaths;      /* of trials, in calls of it */
    char *accepted;       /* arguments of the first call that returned; NULL: none did */
    uint32_t accepted_us; /* the least time of this call, where it is timed again */
    char **usual;         /* the arguments of `accepted`, each alone; NULL: none */
    char *longest;        /* arguments of the call that took longest; NULL: all were quick */
    uint32_t longest_us;
    uint32_t *types; /* for each argument, a bit for each type with which a call returned */
};

struct th_check_plugin {
    const struct th_check_options *options;
    struct th_check_call_setting setting; /* that of the command line */
    char *path, *folder;                  /* of the library; the current folder of trials */
    struct th_check_function *functions;
    size_t function_count;
    struct th_check_calls makers;            /* "R1 = m:f(...)": each list begins with these */
    size_t maker_count;                      /* of these, the lines that return a resource */
    char resources[TH_CHECK_MOST_MAKERS][8]; /* "'=R1'" */
    struct th_check_known known;
    uint64_t trials, calls;
    uint64_t seed, first_seed;
    bool failed; /* the allocation of the latest run has failed, as it had to */
};

/* Prepares to check the library of P->options.
 * Owner: th_check_plugin_end() frees P's members, whatever the status.
 * Errors: TH_FAILED. */
enum th_status th_check_plugin_begin(struct th_check_plugin *p);
void th_check_plugin_end(struct th_check_plugin *p);

/* Opens the library, in a process of its own, and lists its functions.
 * Errors: the refusal of the library. */
enum th_status th_check_plugin_examine(struct th_check_plugin *p);

/* Makes CALLS as SETTING says, notes which calls return, and prints new findings, each with the
 * smallest list of calls for it. If the library dies of a call, the run is repeated without this
 * call: so a bug does not hide those behind it.
 * Errors: TH_FAILED if trials cannot be made. */
enum th_status th_check_plugin_run_calls(struct th_check_plugin *p,
                                         const struct th_check_call_setting *setting,
                                         const struct th_check_calls *calls);

/* Adds the call of FUNCTION that was accepted first to those with which each list begins: other
 * functions may expect it. */
void th_check_plugin_add_setup(struct th_check_plugin *p, size_t function);

/* Returns the usual argument of FUNCTION at PLACE. */
const char *th_check_plugin_usual(const struct th_check_plugin *p, size_t function, unsigned place);

#endif
