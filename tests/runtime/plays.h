/* Sets up tests of the events of processes: a session `s`, and processes that run scripts of
 * tests/plugins/play.c. */
#ifndef PLAYS_H
#define PLAYS_H

#include "host/code/code.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"
#include "tests/support/loaded.h"
#include "tests/support/scene.h"

#include "host/runtime/traced/tracepoint.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct th_library *play_library;
static struct th_session *session;
static struct th_process *player;

static inline void begin_plays(unsigned schedulers)
{
    struct th_runtime_setup setup = {.schedulers = schedulers};

    scene_begin_empty(NULL);
    th_trace_share(scene_tracing());
    setup.tracing = scene_tracing();
    th_runtime_start(&setup);
    th_runtime_set_reports(false);
    play_library = loaded_plugin("tests/plugins/play.so", th_small(0));
    th_code_module_add(play_library);
    session = scene_create("s");
    player = th_runtime_run_start();
    scene_log();
}

static inline void end_plays(void)
{
    th_runtime_run_exit(player, TH_AM(normal));
    th_runtime_kill_all();
    th_code_module_remove(play_library);
    th_library_release(play_library);
    th_runtime_stop();
    scene_end();
}

static bool player_waits;

/* Runs under the mailbox's lock. */
static inline void look_at_player(void *context)
{
    player_waits = ((struct th_process *)context)->waiting;
}

/* True if all processes but the player have ended and the player waits: no event can come. */
static inline bool is_quiet(void)
{
    th_process_with(player->mailbox, look_at_player, player);
    return player_waits && th_runtime_processes() == 1;
}

static inline void await_quiet(void)
{
    const struct timespec moment = {0, 100000};

    for (int i = 0; i < 100000 && !is_quiet(); i++)
        nanosleep(&moment, NULL);
    assert_true(is_quiet());
}

/* Calls play:FUNCTION with the elements of ARGUMENTS, and waits until is_quiet(). */
static inline void call_play(const char *function, const char *arguments)
{
    const struct th_callee *callee;
    th_term argv[4], list, result;
    unsigned argc = 0;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    if (th_text_parse(&env, arguments, strlen(arguments), &list) != TH_OK)
        fail_msg("%s: %s", arguments, th_error_link(0));
    for (; th_is_list(list); list = th_cell(list)[1])
        argv[argc++] = th_cell(list)[0];
    callee = th_code_export_callee(th_code_export_find(th_atom("play"), th_atom(function), argc));
    assert_non_null(callee);
    th_runtime_run_call(player, callee, argv, &env, &result);
    th_env_release(&env);
    await_quiet();
}

static inline void play(const char *script)
{
    char *arguments = th_printf("[%s,#{}]", script);

    call_play("run", arguments);
    th_free(arguments);
}

/* Traces the player and its children with FLAGS. */
static inline void trace_player(uint32_t flags)
{
    assert_int_equal(th_trace_session_trace_one(session, th_runtime_run_pid(player), true,
                                                flags | TH_FLAG_SET_ON_SPAWN),
                     TH_OK);
    scene_log();
}

/* Appends TEXT with pids as A, B, ... by appearance, references as #R, ports as #Port<P>. */
static inline void add_renamed(struct th_buffer *out, const char *text)
{
    static char pids[26][32];
    static size_t count;
    const char *end;
    size_t i;

    count = 0;
    while (*text) {
        bool is_pid = *text == '<' && text[1] >= '0' && text[1] <= '9';
        bool is_reference = strncmp(text, "#Ref<", 5) == 0;
        bool is_port = strncmp(text, "#Port<", 6) == 0;
        if (is_port) {
            th_buffer_add_text(out, "#Port<P>");
            text = strchr(text, '>') + 1;
            continue;
        }
        if (!is_pid && !is_reference) {
            th_buffer_add_byte(out, (unsigned char)*text++);
            continue;
        }
        end = strchr(text, '>') + 1;
        for (i = 0; i < count && is_pid; i++)
            if (strncmp(pids[i], text, (size_t)(end - text)) == 0)
                break;
        if (is_pid && i == count) {
            assert_order(count, <, 26);
            snprintf(pids[count++], sizeof pids[0], "%.*s", (int)(end - text), text);
        }
        th_buffer_printf(out, is_pid ? "%c" : "#R", (int)('A' + i));
        text = end;
    }
}

/* Returns the callbacks since the last call, without lines that begin with SKIP (may be NULL).
 * Valid until the next call. */
static inline const char *played(const char *skip)
{
    static struct th_buffer kept, renamed;
    const char *line, *end;

    kept.size = renamed.size = 0;
    for (line = scene_log(); *line; line = end + 1) {
        end = strchr(line, '\n');
        if (!skip || strncmp(line, skip, strlen(skip)) != 0)
            th_buffer_add(&kept, line, (size_t)(end + 1 - line));
    }
    add_renamed(&renamed, th_buffer_text(&kept));
    return th_buffer_text(&renamed);
}

#endif
