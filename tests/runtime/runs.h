/* Helpers for the tests of runtime/: the library `runner`, and calls written as Erlang text. */
#ifndef RUNS_H
#define RUNS_H

#include "host/base/base.h"
#include "host/code/code.h"
#include "host/runtime/queue.h"
#include "host/term/term.h"
#include "tests/plugins/runner.h"
#include "tests/support/assertions.h"
#include "tests/support/loaded.h"

#include <stddef.h>
#include <stdlib.h>

/* The library, opened and loaded, and its variable. */
static struct th_library *runner_library;
static struct runner *runner_state;

/* Opens FOLDER/runner.so. */
static inline void open_runner(const char *folder)
{
    char *file = th_printf("tests/plugins/%s/runner.so", folder);

    runner_library = loaded_plugin(file, th_small(0));
    runner_state = loaded_variable(file, "runner");
    th_free(file);
}

static inline void start_runner(unsigned schedulers)
{
    struct th_runtime_setup setup = {.schedulers = schedulers};

    th_runtime_start(&setup);
    open_runner(".");
}

static inline void stop_runner(void)
{
    th_library_release(runner_library);
    th_runtime_stop();
}

/* Makes PROCESS call NAME with the elements of the list ARGUMENTS. TERM gets the result, in ENV. */
static inline enum th_call_end run_in(struct th_process *process, const char *name,
                                      const char *arguments, th_env *env, th_term *term)
{
    struct th_callee callee = {.library = runner_library};
    th_term argv[8];
    th_term list, head;
    unsigned argc = 0;
    char *text;
    enum th_call_end end;

    assert_int_equal(th_text_parse(env, arguments, strlen(arguments), &list), TH_OK);
    while (th_is_list(list)) {
        head = th_cell(list)[0];
        list = th_cell(list)[1];
        argv[argc++] = head;
    }
    callee.function = th_library_entry_function(th_library_entry(runner_library), name, argc);
    if (!callee.function)
        fail_msg("no runner:%s/%u", name, argc);
    callee.name = text = th_printf("runner:%s/%u", name, argc);
    end = th_runtime_run_call(process, &callee, argv, env, term);
    th_free(text);
    return end;
}

/* Calls NAME and returns the result as text, or "error: Reason" for an exception. Valid until the
 * thread's next call. */
static inline const char *run(struct th_process *process, const char *name, const char *arguments)
{
    static _Thread_local char last[8192];
    struct th_buffer text = {0};
    th_term term;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    if (run_in(process, name, arguments, &env, &term) == TH_CALL_RAISED)
        th_buffer_add_text(&text, "error: ");
    th_text_print(&text, term);
    th_env_release(&env);
    assert_order(text.size, <, sizeof last);
    strcpy(last, th_buffer_text(&text));
    th_buffer_free(&text);
    return last;
}

#endif
