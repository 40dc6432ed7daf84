/*
 * Measures external calls: the cost of being able to replace functions while they are called. The
 * called function returns its argument.
 *
 *   pointer    a call through a pointer
 *   section    the same, after an empty reader section
 *   found      looks the function up in the active code index in that section, where entering its
 *              code is counted; calls; counts leaving
 *   external   th_call_export() of a plugin: besides that, all that a call must do
 *
 *   external PLUGIN [CASE]    tests/plugins/party.so; only the calls of one case, for callgrind
 */
#include "measure.h"

#include "host/base/base.h"
#include "host/code/code.h"
#include "host/library/library.h"
#include "host/progress/progress.h"
#include "host/runtime/runtime.h"
#include "host/self/self.h"
#include "host/term/term.h"

#include <stdlib.h>
#include <string.h>

/* Rounds are shorter than a scheduler's time slice, also on a busy machine. */
enum { CALLS = 50000, ROUNDS = 301 };

static struct th_library *library;
static struct th_process *process;
static const struct th_export *volatile entry; /* party:echo/1 */
static th_env env;

/* --- Cases ------------------------------------------------------------------------------------ */

static uint64_t call_by_pointer(void)
{
    ERL_NIF_TERM(*volatile echo)
    (ErlNifEnv *, int, const ERL_NIF_TERM[]) = th_code_export_callee(entry)->function->fptr;
    const th_term argv[] = {th_small(1)};

    for (long i = 0; i < CALLS; i++)
        echo(&env, 1, argv);
    return CALLS;
}

static uint64_t call_after_section(void)
{
    ERL_NIF_TERM(*volatile echo)
    (ErlNifEnv *, int, const ERL_NIF_TERM[]) = th_code_export_callee(entry)->function->fptr;
    const th_term argv[] = {th_small(1)};

    for (long i = 0; i < CALLS; i++) {
        th_progress_enter();
        th_progress_leave();
        echo(&env, 1, argv);
    }
    return CALLS;
}

static uint64_t call_what_is_found(void)
{
    const th_term argv[] = {th_small(1)};

    for (long i = 0; i < CALLS; i++) {
        const struct th_callee *callee;
        th_progress_enter();
        callee = th_code_export_callee(entry);
        th_code_instance_enter(callee->instance);
        th_progress_leave();
        callee->function->fptr(&env, 1, argv);
        th_code_instance_leave(callee->instance);
    }
    return CALLS;
}

static uint64_t call_externally(void)
{
    const th_term count = th_small(CALLS);
    th_term result;

    th_env_clear(&env);
    if (th_runtime_run_call_export(process,
                                   th_code_export_find(th_atom("party"), th_atom("exports"), 1),
                                   &count, &env, &result, NULL) != TH_CALL_RETURNED)
        th_bug("party:exports/1 failed");
    return CALLS;
}

static const struct measure_case cases[] = {
    {"pointer", call_by_pointer},
    {"section", call_after_section},
    {"found", call_what_is_found},
    {"external", call_externally},
};
enum { POINTER, SECTION, FOUND, EXTERNAL, CASES };

/* Differences are of ratios within a round: other load slows the cases of a round alike, but two
 * medians perhaps not. */
static void measure_all(void)
{
    double nanoseconds[CASES], ratios[CASES], section, found;

    printf("Calls of a function that returns its argument:\n");
    measure_pairs(stdout, cases, CASES, ROUNDS, nanoseconds, ratios);
    section = (ratios[SECTION] - 1) * nanoseconds[POINTER];
    found = (ratios[FOUND] - ratios[SECTION]) * nanoseconds[POINTER];
    printf("  a read section %.2f ns; what finds the code and counts who is in it %.2f ns more\n",
           section, found);
    measure_figure("external/found", found);
}

/* Runs one case for callgrind. */
static void repeat(const char *name)
{
    for (size_t i = 0; i < CASES; i++)
        if (strcmp(cases[i].name, name) == 0) {
            cases[i].run();
            return;
        }
    th_bug("no case '%s'", name);
}

/* --- The scene -------------------------------------------------------------------------------- */

static void begin(const char *path)
{
    th_env_init(&env, TH_ENV_PLAIN);
    th_runtime_start(&(const struct th_runtime_setup){.schedulers = 1});
    if (th_library_open(path, &library) != TH_OK ||
        th_library_load(library, NULL, th_small(0)) != TH_OK) {
        th_error_print(stderr, "bench");
        exit(1);
    }
    th_code_module_add(library);
    process = th_runtime_run_start();
    entry = th_code_export_find(th_atom("party"), th_atom("echo"), 1);
    th_self.code_slot = 1; /* a scheduler would do this; none runs while this thread calls */
}

static void end(void)
{
    th_runtime_run_exit(process, TH_AM(normal));
    th_runtime_kill_all();
    th_code_module_remove(library);
    th_library_release(library);
    th_env_release(&env);
    th_runtime_stop();
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3)
        return TH_USAGE;
    begin(argv[1]);
    if (argc == 3)
        repeat(argv[2]);
    else
        measure_all();
    end();
    return 0;
}
