#include "check_call_trial.h"

#include "check_call_growth.h"
#include "check_lines.h"

#include "host/base/memory.h"
#include "host/cli/call_arguments.h"
#include "host/cli/call_session.h"
#include "host/cli/interrupt.h"
#include "host/cli/trial_process.h"
#include "host/code/loading.h"
#include "host/control/commands/commands.h"
#include "host/library/entry.h"
#include "host/library/examine.h"
#include "host/library/load.h"
#include "host/library/node_loading.h"
#include "host/term/atom.h"
#include "host/term/clock.h"
#include "host/term/make.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const int64_t MS = 1000000;

static struct th_check_page *page;
static struct th_check_call_results *results;

/* A trial, and the thread that watches its calls. */
struct call_trial {
    const struct th_check_call_setting *setting;
    const struct th_check_calls *calls;
    struct th_call_session session;
    pthread_mutex_t lock; /* guards `began_ns`, `killed`, and the process of `session` */
    int64_t began_ns;     /* of the running call; 0: none runs */
    bool killed, over;
};

/* --- The watch -------------------------------------------------------------------------------- */

/* Notes the name of the function that hangs. */
static void note_running(void *context, const char *function)
{
    struct th_crash_signature *crash = context;

    if (!*crash->function && strchr(function, ':'))
        snprintf(crash->function, sizeof crash->function, "%s", function);
}

static void look_at_call(struct call_trial *trial, int64_t most)
{
    int64_t now = th_clock_real_monotonic(), since = now - trial->began_ns;

    if (!trial->began_ns || since < most)
        return;
    if (!trial->killed) {
        th_runtime_run_kill(trial->session.process);
        trial->killed = true;
    } else if (since > most + trial->setting->limit_ns / 2) {
        page->crash.kind = TH_CRASH_HANG;
        th_runtime_each_running(note_running, &page->crash);
        th_crash_end_trial();
    }
}

static void *watch_calls(void *context)
{
    static const struct timespec pause = {0, 500000};
    struct call_trial *trial = context;
    const struct th_check_call_setting *setting = trial->setting;
    bool over = false;

    while (!over) {
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&trial->lock);
        over = trial->over;
        look_at_call(trial, setting->kill_ms ? (int64_t)setting->kill_ms * MS : setting->limit_ns);
        pthread_mutex_unlock(&trial->lock);
    }
    return NULL;
}

/* --- Calls, one after the other --------------------------------------------------------------- */

static enum th_check_call_end end_of_value(th_term value)
{
    if (value == TH_NONE)
        return TH_CHECK_CALL_RAISED;
    if (th_is_magic(value))
        return TH_CHECK_CALL_MADE;
    if (th_is_tuple(value) && th_tuple_arity(value) == 2 &&
        th_is_magic(th_tuple_elements(value)[1]))
        return TH_CHECK_CALL_PAIR;
    return TH_CHECK_CALL_RETURNED;
}

/* Replaces the library by a copy of itself. A refusal is no finding. */
static void replace_library(const struct th_check_call_setting *setting)
{
    struct th_finish finish = {.count = 1, .purge = TH_PURGE_HARD};
    struct th_library *library;
    struct th_instance *prepared;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    if (th_control_load_info_read(setting->info, &env, &finish.info) == TH_OK &&
        th_library_open_copy(setting->path, &library) == TH_OK) {
        prepared = th_code_prepare(library);
        finish.prepared = &prepared;
        if (th_code_finish(&finish) != TH_OK)
            th_code_prepared_drop(prepared);
    }
    th_error_clear();
    th_env_release(&env);
}

/* Evaluates FORM, line INDEX. */
static void evaluate_line(struct call_trial *trial, const struct th_program *program, size_t index)
{
    struct th_call_session *session = &trial->session;
    int64_t began = th_clock_real_monotonic();
    th_term value;

    page->played = index + 1;
    th_runtime_run_yield(session->process);
    pthread_mutex_lock(&trial->lock);
    trial->began_ns = began;
    trial->killed = false;
    pthread_mutex_unlock(&trial->lock);
    value = th_shell_evaluate_form(&session->evaluation, program, program->forms[index]);
    pthread_mutex_lock(&trial->lock);
    trial->began_ns = 0;
    if (trial->killed) {
        th_runtime_run_exit(session->process, TH_AM(normal));
        session->process = th_runtime_run_start();
    }
    pthread_mutex_unlock(&trial->lock);
    results->took_us[index] = (uint32_t)((th_clock_real_monotonic() - began) / 1000);
    results->ends[index] = (unsigned char)(trial->killed && value == TH_NONE ? TH_CHECK_CALL_KILLED
                                                                             : end_of_value(value));
    th_shell_collect(&session->evaluation);
}

/* Returns whether the function of line INDEX has often been too slow. */
static bool is_too_slow(const struct call_trial *trial, size_t index)
{
    enum { MOST_KILLS = 3 };
    const struct th_check_call_line *lines = trial->calls->items;
    int kills = 0;

    if (trial->setting->kill_ms || lines[index].function == SIZE_MAX)
        return false;
    for (size_t i = 0; i < index; i++)
        kills +=
            results->ends[i] == TH_CHECK_CALL_KILLED && lines[i].function == lines[index].function;
    return kills >= MOST_KILLS;
}

static void evaluate_lines(struct call_trial *trial, const struct th_program *program)
{
    struct th_call_work work = {.rounds = 1, .sessions = 1};
    pthread_t thread;

    th_cli_call_session_start(&trial->session, &work, 1);
    if (pthread_create(&thread, NULL, watch_calls, trial) != 0)
        th_crash_end_trial(); /* without a result: the trial has not ended */
    for (size_t i = 0; i < program->count && i < TH_CHECK_MOST_LINES; i++) {
        if (is_too_slow(trial, i))
            continue;
        evaluate_line(trial, program, i);
        if (trial->setting->replaces)
            replace_library(trial->setting);
    }
    pthread_mutex_lock(&trial->lock);
    trial->over = true;
    pthread_mutex_unlock(&trial->lock);
    pthread_join(thread, NULL);
    th_cli_call_session_end(&trial->session);
}

/* --- The trial -------------------------------------------------------------------------------- */

static void begin_call_trial(void *context)
{
    const struct call_trial *trial = context;

    th_cli_interrupted = 0; /* this child does not go on with its parent's work */
    th_check_watch_findings(th_check_page_note);
    th_crash_begin_trial(&page->crash);
    th_check_fail(trial->setting->fails, &page->allocation_failed);
}

static enum th_status evaluate_calls(void *context, const struct th_program programs[],
                                     size_t count)
{
    struct call_trial *trial = context;
    const struct th_check_call_setting *setting = trial->setting;
    struct th_call_work work = {
        .programs = programs,
        .program_count = count,
        .rounds = 20,
        .sessions = setting->threads,
        .together = true,
        .ending = &(struct th_run_limit){
            .command = "check", .duration = -1, .passed = true, .grace = -1}};
    struct th_library *library;

    if (!setting->replaces && th_library_open(setting->path, &library) == TH_OK) {
        th_check_lines_note(library);
        th_library_release(library);
    }
    page->played = setting->threads || setting->rounds ? trial->calls->count : 0;
    page->phase = TH_CHECK_PLAYING;
    if (setting->threads) {
        th_cli_call_work_run(&work);
        if (work.ends)
            th_cli_run_limit_end(work.ending);
    } else if (setting->rounds) {
        th_check_call_growth(&trial->session, &programs[0], setting->rounds,
                             trial->calls->items[trial->calls->count - 1].call);
    } else {
        evaluate_lines(trial, &programs[0]);
    }
    th_library_halt();
    th_runtime_kill_all();
    page->phase = TH_CHECK_UNLOADING;
    return TH_OK;
}

static void carry_out_calls(void *context)
{
    struct call_trial *trial = context;
    const struct th_check_call_setting *setting = trial->setting;
    struct th_call_arguments arguments = {.info = setting->info, .check = !setting->rounds};
    const struct th_texts none = {0};
    struct th_buffer text = {0};
    struct th_call_host host = {.command = "check",
                                .arguments = &arguments,
                                .folders = &none,
                                .copies = setting->replaces,
                                .setup = {.schedulers = setting->threads},
                                .begin = begin_call_trial,
                                .evaluate = evaluate_calls,
                                .context = trial};

    if (chdir(setting->folder) != 0)
        _exit(1);
    TH_ARRAY_GROW(arguments.libraries.items, arguments.libraries.count,
                  arguments.libraries.capacity);
    arguments.libraries.items[arguments.libraries.count++] = setting->path;
    th_check_calls_print(trial->calls, &text);
    th_cli_call_arguments_add(&arguments, NULL, th_buffer_text(&text));
    th_cli_call_host_run(&host);
    page->phase = TH_CHECK_ENDED;
    th_check_lines_write();
    th_crash_end_trial();
}

/* Notes the first release of OTP that loads LIBRARY, and reasons for which nodes refuse it. */
static void note_node_answer(const struct th_library *library)
{
    const char *path = th_library_path(library), *slash = strrchr(path, '/');
    struct th_names reasons = {0};
    char text[TH_CHECK_TEXT];

    results->release = th_library_node_release(library);
    th_library_node_refusals(library, &reasons);
    for (size_t i = 0; i < reasons.count; i++) {
        snprintf(text, sizeof text, "%s: %s", slash ? slash + 1 : path, reasons.items[i]);
        th_check_page_add(TH_RULE_NODE, "library", reasons.items[i], text);
    }
    th_library_names_free(&reasons);
}

/* Lists the functions of LIBRARY. */
static void list_functions(const struct th_library *library)
{
    const struct th_entry *entry = th_library_entry(library);
    size_t used = 0;

    snprintf(results->module, sizeof results->module, "%s",
             th_atom_name(th_library_name(library))->text);
    results->tracer = th_library_check_tracer(library) == TH_OK;
    th_error_clear();
    for (size_t i = 0; i < entry->function_count && i < TH_CHECK_MOST_FUNCTIONS; i++) {
        const ErlNifFunc *function = &entry->functions[i];
        size_t left = sizeof results->names - used;
        int size =
            snprintf(results->names + used, left, "%s/%u\n", function->name, function->arity);
        if (size < 0 || (size_t)size >= left)
            break;
        used += (size_t)size;
        results->functions++;
    }
    results->names[used] = '\0';
}

static void carry_out_examination(void *context)
{
    const struct th_check_call_setting *setting = ((struct call_trial *)context)->setting;
    struct th_library *library;
    enum th_status status;
    th_env env;
    th_term info;

    th_crash_install();
    th_crash_begin_trial(&page->crash);
    status = th_library_open(setting->path, &library);
    if (status == TH_OK) {
        list_functions(library);
        note_node_answer(library);
    }
    th_env_init(&env, TH_ENV_PLAIN);
    if (status == TH_OK)
        status = th_control_load_info_read(setting->info, &env, &info);
    if (status == TH_OK && !results->tracer)
        status = th_library_load(library, NULL, info);
    th_check_page_note_refusal(status);
    page->phase = TH_CHECK_ENDED;
    th_crash_end_trial();
}

/* --- Outside ---------------------------------------------------------------------------------- */

static bool map_results(void)
{
    void *memory;

    if (!(page = th_check_page_clear()))
        return false;
    if (!results) {
        memory =
            mmap(NULL, sizeof *results, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            th_error_raise(TH_FAILED, "cannot map memory: %s", strerror(errno));
            return false;
        }
        results = memory;
    }
    return true;
}

static void add_call_death(const struct call_trial *trial, bool in_time, int status)
{
    static const char *const phases[] = {"load", "the end of the calls", "unload"};
    const struct th_check_calls *calls = trial->calls;
    const char *where = *page->crash.function ? page->crash.function : phases[page->phase];
    struct th_buffer who = {0};
    char text[TH_CHECK_TEXT / 2];

    /* An end in upgrade(), or in a destructor, is not that of the call. */
    if (calls && page->phase == TH_CHECK_PLAYING && page->played > 0 && !trial->setting->threads &&
        !trial->setting->rounds && (!*page->crash.function || strchr(page->crash.function, ':')))
        th_check_call_line_print(&calls->items[page->played - 1], &who);
    else
        th_buffer_add_text(&who, where);
    snprintf(text, sizeof text, "%.*s%s", (int)sizeof text - 4, th_buffer_text(&who),
             who.size > sizeof text - 4 ? "..." : "");
    th_check_page_add_death(&(struct th_check_death){.where = where,
                                                     .who = text,
                                                     .fails = trial->setting->fails > 0,
                                                     .in_time = in_time,
                                                     .status = status});
    th_buffer_free(&who);
}

static const struct th_check_call_results *run_call_trial(struct call_trial *trial,
                                                          void (*work)(void *context))
{
    enum { LIMIT_S = 30 };
    bool in_time;
    int status;

    if (!map_results())
        return NULL;
    memset(results, 0, sizeof *results);
    pthread_mutex_init(&trial->lock, NULL);
    in_time = th_cli_trial_process(work, trial, LIMIT_S * 1000 * MS, &status);
    pthread_mutex_destroy(&trial->lock);
    if (status == -1 && !in_time) {
        th_error_raise(TH_FAILED, "cannot make a process for a trial");
        return NULL;
    }
    if (page->phase != TH_CHECK_ENDED)
        add_call_death(trial, in_time, status);
    return results;
}

const struct th_check_call_results *
th_check_call_examine(const struct th_check_call_setting *setting)
{
    return run_call_trial(&(struct call_trial){.setting = setting}, carry_out_examination);
}

const struct th_check_call_results *th_check_call_trial(const struct th_check_call_setting *setting,
                                                        const struct th_check_calls *calls)
{
    return run_call_trial(&(struct call_trial){.setting = setting, .calls = calls},
                          carry_out_calls);
}
