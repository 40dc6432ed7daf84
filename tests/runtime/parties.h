/* Helpers for the tests of running processes: the module `party`, and calls as Erlang text. */
#ifndef PARTIES_H
#define PARTIES_H

#include "host/base/base.h"
#include "host/code/code.h"
#include "host/process/process.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"
#include "tests/support/lines.h"
#include "tests/support/loaded.h"

#include "host/runtime/runtime_internal.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static struct th_library *party;
static struct th_runtime_setup party_setup;

static inline void start_party(unsigned schedulers)
{
    party_setup.schedulers = schedulers;
    th_runtime_start(&party_setup);
    party = loaded_plugin("tests/plugins/party.so", th_small(0));
    th_code_module_add(party);
}

static inline void stop_party(void)
{
    th_runtime_kill_all();
    th_code_module_remove(party);
    th_library_release(party);
    th_runtime_stop();
    assert_int_equal(th_runtime_processes(), 0);
}

static bool lines_shown; /* lines in stack traces are kept */

static inline const char *show(const char *prefix, th_term term)
{
    static _Thread_local char last[8192];
    struct th_buffer text = {0};

    th_buffer_add_text(&text, prefix);
    th_text_print(&text, term);
    assert_order(text.size, <, sizeof last);
    strcpy(last, th_buffer_text(&text));
    if (!lines_shown)
        drop_lines(last);
    th_buffer_free(&text);
    return last;
}

/* Makes PROCESS call MODULE:NAME with the elements of the list TEXT. Returns the result as text, or
 * "error: Reason" and the like for an exception.
 * Owner: valid until the thread's next call. */
static inline const char *call_module(struct th_process *process, const char *module,
                                      const char *name, const char *text)
{
    static const char *const prefixes[] = {"", "error: ", "throw: ", "exit: ", "ended: "};
    const struct th_callee *callee;
    th_term argv[8], list, result;
    unsigned argc = 0;
    const char *shown;
    th_env env;
    enum th_call_end end;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, text, strlen(text), &list), TH_OK);
    for (; th_is_list(list); list = th_cell(list)[1])
        argv[argc++] = th_cell(list)[0];
    callee = th_code_export_callee(th_code_export_find(th_atom(module), th_atom(name), argc));
    if (!callee)
        fail_msg("no %s:%s/%u", module, name, argc);
    end = th_runtime_run_call(process, callee, argv, &env, &result);
    shown = show(prefixes[end], result);
    th_env_release(&env);
    return shown;
}

/* Calls party:NAME; ARGUMENTS is a format of printf(). */
static inline const char *call_in(struct th_process *process, const char *name,
                                  const char *arguments, ...) __attribute__((format(printf, 3, 4)));
static inline const char *call_in(struct th_process *process, const char *name,
                                  const char *arguments, ...)
{
    char text[512];
    va_list more;

    va_start(more, arguments);
    vsnprintf(text, sizeof text, arguments, more);
    va_end(more);
    return call_module(process, "party", name, text);
}

/* Returns the next message to PROCESS as text, or "no message" after ten seconds. */
static inline const char *message_to(struct th_process *process)
{
    struct th_message *message = th_runtime_run_receive(process, (int64_t)10 * 1000 * 1000 * 1000);
    const char *shown;

    if (!message)
        return "no message";
    shown = show("", message->term);
    th_process_message_free(message);
    return shown;
}

/* Returns the text of a pid, which the caller frees. */
static inline char *text_of_pid(th_term pid)
{
    return th_strdup(show("", pid));
}

#endif
