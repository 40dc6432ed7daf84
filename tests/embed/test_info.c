/*
 * Compares the settings and counters of a session: trace:info/3 of OTP 27 (info.escript) with those
 * of libtracehost and of `ctl info` after the same steps (info/steps.txt).
 */
/* The file is long because it makes all steps and asks both interfaces for each item. */
#include "host/cli/cli.h"
#include "host/control/control.h"
#include "host/embed/embed_host.h"
#include "embedding.h"
#include "tests/support/skipping.h"

#define ITEMS(X) \
    X(traced) X(match_spec) X(meta) X(meta_match_spec) X(call_count) X(call_time) X(call_memory)

/* The items of a function as text; allocated here. */
struct items {
#define X(item) char *item;
    ITEMS(X)
#undef X
};

enum { TRACEE, OTHER, PROCESSES };

static const char *const names[] = {"tracee", "other"};
static tracehost_process *processes[PROCESSES], *mortal; /* `mortal` is the state of b */
static tracehost_live_process *lives[PROCESSES];
static tracehost_live_function *subject_f, *subject_g, *late_f;
static tracehost_session sessions[2]; /* a and b; 0: not created yet */
static ErlNifEnv *env;
static FILE *said;

/* --- Reading steps ---------------------------------------------------------------------------- */

static const ERL_NIF_TERM *elements;

static bool is(ERL_NIF_TERM term, const char *name)
{
    return enif_is_identical(term, atom(name));
}

static bool take(const char *name)
{
    return is(elements[0], name);
}

static tracehost_session session_of(ERL_NIF_TERM name)
{
    return sessions[is(name, "b")];
}

/* Returns the elements of a list with commas between them. */
static char *joined(ERL_NIF_TERM list)
{
    char *text = tracehost_term_to_text(list);
    char *to = text;

    for (const char *from = text; *from; from++)
        if (!strchr("[]'", *from))
            *to++ = *from;
    *to = 0;
    return text;
}

static uint32_t kinds_of(ERL_NIF_TERM list)
{
    static const struct {
        const char *name;
        uint32_t kind;
    } known[] = {
        {"local", TRACEHOST_LOCAL},         {"global", TRACEHOST_GLOBAL},
        {"meta", TRACEHOST_META},           {"call_count", TRACEHOST_CALL_COUNT},
        {"call_time", TRACEHOST_CALL_TIME}, {"call_memory", TRACEHOST_CALL_MEMORY},
    };
    ERL_NIF_TERM head;
    uint32_t kinds = 0;

    while (enif_get_list_cell(env, list, &head, &list))
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            if (is(head, known[i].name))
                kinds |= known[i].kind;
    return kinds ? kinds : TRACEHOST_GLOBAL;
}

/* --- Making steps ----------------------------------------------------------------------------- */

static void create(void)
{
    const bool b = is(elements[1], "b");
    const struct tracehost_session_setup setup = {
        .size = sizeof setup,
        .tracer = "erl_msg_tracer",
        .state = b ? tracehost_process_pid(mortal) : 0,
    };

    good(tracehost_session_create(host, &setup, &sessions[b]));
}

static void set_function(void)
{
    const struct tracehost_pattern pattern = {
        .size = sizeof pattern,
        .function_term = elements[2],
        .match_term = elements[3],
        .kinds = kinds_of(elements[4]),
    };

    good(tracehost_session_set_pattern(host, session_of(elements[1]), &pattern, NULL));
}

static enum tracehost_tracees group_of(ERL_NIF_TERM who, bool ports)
{
    if (is(who, "all"))
        return ports ? TRACEHOST_PORTS_ALL : TRACEHOST_PROCESSES_ALL;
    if (is(who, "existing"))
        return ports ? TRACEHOST_PORTS_EXISTING : TRACEHOST_PROCESSES_EXISTING;
    return ports ? TRACEHOST_PORTS_NEW : TRACEHOST_PROCESSES_NEW;
}

static void set_flags(bool ports)
{
    tracehost_session session = session_of(elements[1]);
    bool on = is(elements[3], "true");
    char *list = joined(elements[4]);
    uint32_t flags = ~0u >> 10; /* all flags that can be cleared */

    if (strcmp(list, "all") != 0)
        good(tracehost_flags_parse(list, &flags));
    for (int i = 0; i < PROCESSES; i++)
        if (is(elements[2], names[i])) {
            flags &= ~(uint32_t)TRACEHOST_FLAG_CPU_TIMESTAMP;
            good(tracehost_session_trace_one(host, session, tracehost_process_pid(processes[i]), on,
                                             flags));
            tracehost_free(list);
            return;
        }
    good(tracehost_session_trace(host, session, group_of(elements[2], ports), on, flags));
    tracehost_free(list);
}

static void call(void)
{
    tracehost_live_process *live = lives[is(elements[1], "other")];
    struct tracehost_live_frame frame;
    ERL_NIF_TERM argument, tail;
    int times;

    assert_true(is(elements[2], "f"));
    assert_true(enif_get_list_cell(env, elements[3], &argument, &tail));
    assert_true(enif_get_int(env, elements[4], &times));
    for (int i = 0; i < times; i++) {
        tracehost_live_call(live, subject_f, &argument, true, NULL, &frame);
        tracehost_live_return(live, subject_f, &frame, argument);
    }
}

static void act(void)
{
    if (take("session"))
        create();
    else if (take("destroy"))
        good(tracehost_session_destroy(host, session_of(elements[1])));
    else if (take("function"))
        set_function();
    else if (take("process") || take("port"))
        set_flags(take("port"));
    else if (take("send"))
        good(tracehost_session_set_send_pattern(host, session_of(elements[1]), NULL, elements[2]));
    else if (take("receive"))
        good(tracehost_session_set_receive_pattern(host, session_of(elements[1]), NULL,
                                                   elements[2]));
    else if (take("call"))
        call();
    else if (take("load"))
        good(tracehost_live_function_begin(host, "late:f/1", &late_f));
    else if (take("kill"))
        tracehost_process_stop(mortal);
    else
        fail_msg("no such step");
}

/* --- Items of a function from libtracehost ---------------------------------------------------- */

/* Shows `true` if there is no match specification. */
static char *spec_text(ERL_NIF_TERM spec)
{
    return is(spec, "true") ? strdup("[]") : tracehost_term_to_text(spec);
}

/* The lines are in the order of the processes' names. */
static char *usage_text(const struct tracehost_usage *usage, size_t count)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const char *before = "";

    fputc('[', out);
    for (int who = PROCESSES - 1; who >= 0; who--)
        for (size_t i = 0; i < count; i++)
            if (usage[i].process == tracehost_process_pid(processes[who])) {
                fprintf(out, "%s{%s,%llu}", before, names[who], (unsigned long long)usage[i].calls);
                before = ",";
            }
    fputc(']', out);
    fclose(out);
    return text;
}

static void fill(void *context, const struct tracehost_function *function)
{
    struct items *items = context;

    if (function->kinds & (TRACEHOST_LOCAL | TRACEHOST_GLOBAL)) {
        items->traced = strdup(function->kinds & TRACEHOST_LOCAL ? "local" : "global");
        items->match_spec = spec_text(function->match_spec);
    }
    if (function->kinds & TRACEHOST_META) {
        items->meta = strdup("tracer");
        items->meta_match_spec = spec_text(function->meta_match_spec);
    }
    if (function->kinds & TRACEHOST_CALL_COUNT)
        assert_order(asprintf(&items->call_count, "%llu", (unsigned long long)function->calls), >,
                     0);
    if (function->kinds & TRACEHOST_CALL_TIME)
        items->call_time = usage_text(function->usage, function->usage_count);
    if (function->kinds & TRACEHOST_CALL_MEMORY)
        items->call_memory = usage_text(function->words_usage, function->words_usage_count);
}

/* --- Items of a function from `ctl` ----------------------------------------------------------- */

static char *json_spec(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? strdup(strcmp(text, "true") == 0 ? "[]" : text) : NULL;
}

static char *json_usage(const json_t *array)
{
    struct tracehost_usage usage[PROCESSES + 1];
    const json_t *one;
    size_t i;

    if (!array)
        return NULL;
    assert_order(json_array_size(array), <=, PROCESSES);
    json_array_foreach(array, i, one)
    {
        const char *pid = json_string_value(json_object_get(one, "process"));
        good(tracehost_term_parse(env, pid, &usage[i].process));
        usage[i].calls = (uint64_t)json_integer_value(json_object_get(one, "calls"));
    }
    return usage_text(usage, json_array_size(array));
}

static bool has(const json_t *object, const char *key, const char *word)
{
    const json_t *one;
    size_t i;

    json_array_foreach(json_object_get(object, key), i, one)
    {
        if (strcmp(json_string_value(one), word) == 0)
            return true;
    }
    return false;
}

static void fill_from_json(struct items *items, const json_t *session)
{
    const json_t *count = json_object_get(session, "call_count");

    if (has(session, "kinds", "local") || has(session, "kinds", "global"))
        items->traced = strdup(has(session, "kinds", "local") ? "local" : "global");
    items->match_spec = json_spec(session, "match_spec");
    if (json_object_get(session, "meta_tracer"))
        items->meta = strdup("tracer");
    items->meta_match_spec = json_spec(session, "meta_match_spec");
    if (count)
        assert_order(asprintf(&items->call_count, "%lld", (long long)json_integer_value(count)), >,
                     0);
    items->call_time = json_usage(json_object_get(session, "call_time"));
    items->call_memory = json_usage(json_object_get(session, "call_memory"));
}

/* Functions to come have no counts yet. */
static void mark_counting(struct items *items)
{
    char **counted[] = {&items->call_count, &items->call_time, &items->call_memory};

    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++)
        if (*counted[i]) {
            assert_true(strcmp(*counted[i], "0") == 0 || strcmp(*counted[i], "[]") == 0);
            free(*counted[i]);
            *counted[i] = strdup("true");
        }
}

/* Returns false if the function does not exist. */
static bool ask_ctl(const char *function, int session, struct items *items)
{
    struct th_control_host control = {.tracing = host->tracing, .live = true};
    char *words[] = {(char *)(uintptr_t)function};
    json_t *result, *one;
    size_t i;

    if (th_control_command_info.carry_out(&control, 1, words, &result) != TH_OK)
        return false;
    json_array_foreach(json_object_get(result, "sessions"), i, one)
    {
        if (json_integer_value(json_object_get(one, "number")) == session + 1)
            fill_from_json(items, one);
    }
    json_decref(result);
    return true;
}

/* --- Output ----------------------------------------------------------------------------------- */

static void tell_items(int session, const char *function, const char *shown)
{
    struct items items = {0}, by_ctl = {0};
    enum tracehost_status status =
        tracehost_session_visit_functions(host, sessions[session], function, fill, &items);
    bool there = ask_ctl(function, session, &by_ctl);
    const bool coming = strcmp(function, "on_load") == 0;
    const char *without = status != TRACEHOST_OK ? "badarg" : there ? "false" : "undefined";

    if (coming) {
        mark_counting(&items);
        mark_counting(&by_ctl);
    }
#define X(item)                                                                                  \
    if (status == TRACEHOST_OK &&                                                                \
        strcmp(items.item ? items.item : "", by_ctl.item ? by_ctl.item : "") != 0)               \
        fail_msg("%s " #item ": ctl tells %s, libtracehost %s", shown, by_ctl.item, items.item); \
    fprintf(said, "%c %s " #item " %s\n", "ab"[session], shown, items.item ? items.item : without);
    ITEMS(X)
#undef X
#define X(item)       \
    free(items.item); \
    free(by_ctl.item);
    ITEMS(X)
#undef X
    tracehost_error_clear();
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted as Erlang sorts atoms. */
static void tell_flags(int session, const char *who, enum tracehost_status status, uint32_t flags)
{
    static const char *const known[] = {
#define X(name, bit, help) #name,
        TH_FLAGS(X)
#undef X
    };
    const char *set[sizeof known / sizeof known[0]], *before = "";
    size_t count = 0;

    if (status != TRACEHOST_OK) {
        fprintf(said, "%c %s flags badarg\n%c %s tracer badarg\n", "ab"[session], who,
                "ab"[session], who);
        tracehost_error_clear();
        return;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        uint32_t flag;
        good(tracehost_flags_parse(known[i], &flag));
        if (flags & flag)
            set[count++] = known[i];
    }
    qsort(set, count, sizeof set[0], by_text);
    fprintf(said, "%c %s flags [", "ab"[session], who);
    for (size_t i = 0; i < count; i++, before = ",")
        fprintf(said, strcmp(set[i], "receive") == 0 ? "%s'%s'" : "%s%s", before, set[i]);
    fprintf(said, "]\n%c %s tracer %s\n", "ab"[session], who, flags ? "tracer" : "[]");
}

static void tell_tracees(int session)
{
    uint32_t flags = 0;
    enum tracehost_status status;

    for (int i = 0; i < PROCESSES; i++) {
        status = tracehost_session_get_flags(host, sessions[session],
                                             tracehost_process_pid(processes[i]), &flags);
        tell_flags(session, names[i], status, flags);
    }
    status = tracehost_session_get_default_flags(host, sessions[session], TRACEHOST_PROCESSES_NEW,
                                                 &flags);
    tell_flags(session, "new_processes", status, flags);
    status =
        tracehost_session_get_default_flags(host, sessions[session], TRACEHOST_PORTS_NEW, &flags);
    tell_flags(session, "new_ports", status, flags);
}

static void tell_messages(int session, const char *event,
                          enum tracehost_status (*get)(tracehost_host *host,
                                                       tracehost_session session, ErlNifEnv *env,
                                                       ERL_NIF_TERM *match))
{
    ERL_NIF_TERM match = 0;
    char *text = get(host, sessions[session], env, &match) == TRACEHOST_OK
                     ? tracehost_term_to_text(match)
                     : strdup("badarg");

    fprintf(said, "%c %s match_spec %s\n", "ab"[session], event, text);
    tracehost_free(text);
    tracehost_error_clear();
}

static void tell_sessions(int who)
{
    tracehost_session found[2];
    size_t count = tracehost_session_list(host, tracehost_process_pid(processes[who]), found, 2);
    const char *before = "";

    fprintf(said, "%s: [", names[who]);
    for (int session = 0; session < 2; session++)
        for (size_t i = 0; i < count; i++)
            if (found[i] == sessions[session]) {
                fprintf(said, "%s%c", before, "ab"[session]);
                before = ",";
            }
    fputs("]\n", said);
}

static void tell(void)
{
    for (int session = 0; session < 2; session++) {
        tell_items(session, "subject:f/1", "{subject,f,1}");
        tell_items(session, "subject:g/0", "{subject,g,0}");
        tell_items(session, "late:f/1", "{late,f,1}");
        tell_items(session, "on_load", "on_load");
        tell_tracees(session);
        tell_messages(session, "send", tracehost_session_get_send_pattern);
        tell_messages(session, "'receive'", tracehost_session_get_receive_pattern);
    }
    for (int who = 0; who < PROCESSES; who++)
        tell_sessions(who);
}

/* --- The test --------------------------------------------------------------------------------- */

static void step(const char *text)
{
    ERL_NIF_TERM term;
    char *shown;
    int arity;

    good(tracehost_term_parse(env, text, &term));
    assert_true(enif_get_tuple(env, term, &arity, &elements));
    shown = tracehost_term_to_text(term);
    fprintf(said, "\n%s\n", shown);
    tracehost_free(shown);
    act();
    tell();
    enif_clear_env(env);
}

static void take_steps(void)
{
    FILE *steps = fopen("tests/oracle/info/steps.txt", "r");
    char *line = NULL;
    size_t size = 0, count = 0;

    assert_non_null(steps);
    while (getline(&line, &size, steps) >= 0)
        if (line[0] == '{') {
            step(line);
            count++;
        }
    assert_order(count, >, 70);
    free(line);
    fclose(steps);
}

static uint64_t no_words(void *context)
{
    (void)context;
    return 0;
}

static void begin_subject(void)
{
    good(tracehost_live_function_begin(host, "subject:f/1", &subject_f));
    good(tracehost_live_function_begin(host, "subject:g/0", &subject_g));
    good(tracehost_process_start(NULL, NULL, &mortal));
    for (int i = 0; i < PROCESSES; i++) {
        struct tracehost_live_setup setup = {.size = sizeof setup, .words = no_words};
        good(tracehost_process_start(NULL, NULL, &processes[i]));
        setup.process = processes[i];
        good(tracehost_live_begin(host, &setup, &lives[i]));
    }
}

static void end_subject(void)
{
    for (int i = 0; i < PROCESSES; i++) {
        tracehost_live_end(lives[i]);
        tracehost_process_stop(processes[i]);
    }
    good(tracehost_live_function_end(subject_f));
    good(tracehost_live_function_end(subject_g));
    good(tracehost_live_function_end(late_f));
}

static void session_info_equals_trace_info_of_otp_27(void **state)
{
    const char *folder = build_folder("samples");
    struct tracehost_setup setup = {
        .size = sizeof setup, .folders = &folder, .folder_count = 1, .live = true};
    char file[] = "/tmp/info-XXXXXX", command[8192];

    (void)state;
    if (emulated())
        skip_because("OTP 27 is of another machine");
    said = fdopen(mkstemp(file), "w");
    assert_non_null(said);
    env = enif_alloc_env();
    good(tracehost_host_start(&setup, &host));
    begin_subject();
    take_steps();
    end_subject();
    good(tracehost_host_stop(host));
    enif_free_env(env);
    fclose(said);
    snprintf(command, sizeof command,
             "PATH=\"${SOURCE_DIR:-$PWD}/build/otp27/bin:$PATH\"; export PATH\n"
             "escript tests/oracle/info.escript '%s' | diff -U 8 - '%s' >&2 && rm '%s'",
             build_folder("tests/tracers/otp/logging_generic.so"), file, file);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(session_info_equals_trace_info_of_otp_27)};

    if (system("PATH=\"${SOURCE_DIR:-$PWD}/build/otp27/bin:$PATH\"; export PATH\n"
               "erl -noinput -boot no_dot_erlang -eval "
               "'halt(case code:which(trace) of non_existing -> 1; _ -> 0 end)'") != 0 ||
        !getenv("OTP_INCLUDE") || !*getenv("OTP_INCLUDE")) {
        puts("no OTP 27 (tests/unpack-otp27), or no erl_nif.h of OTP (Debian: erlang-dev)");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
