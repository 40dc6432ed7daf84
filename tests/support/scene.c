#include "scene.h"

#include "assertions.h"
#include "loaded.h"

#include "host/base/base.h"
#include "host/code/code.h"
#include "host/process/process.h"
#include "host/term/term.h"

#include <stddef.h>
#include <stdlib.h>

enum { ANSWERS = 16 };

static struct th_tracing *tracing;
/* Guards the notes. Callbacks run on many threads and nest, so the lock is recursive. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct th_buffer notes;
static th_env event_env;
static unsigned decoded;
static struct {
    const char *to, *answer;
} answers[ANSWERS];
static size_t answer_count;
static struct {
    const char *callback, *state;
    void (*act)(void);
} acts[ANSWERS];
static size_t act_count;

static ERL_NIF_TERM answer_to(const char *callback, const char *tag, ErlNifEnv *env)
{
    const char *answer = strncmp(callback, "enabled", 7) == 0 ? "trace" : "ok";
    char with_tag[128];
    th_term term;

    snprintf(with_tag, sizeof with_tag, "%s %s", callback, tag);
    for (size_t i = 0; i < answer_count; i++)
        if (strcmp(answers[i].to, callback) == 0 || strcmp(answers[i].to, with_tag) == 0)
            answer = answers[i].answer;
    if (strcmp(answer, "BADARG") == 0)
        return enif_make_badarg(env);
    assert_int_equal(th_text_parse(env, answer, strlen(answer), &term), TH_OK);
    return term;
}

static ERL_NIF_TERM note_under_lock(const char *callback, ErlNifEnv *env, int argc,
                                    const ERL_NIF_TERM argv[])
{
    ErlNifPid self;

    th_buffer_printf(&notes, "%s(", callback);
    for (int i = 0; i < argc; i++) {
        if (i)
            th_buffer_add_byte(&notes, ',');
        th_text_print(&notes, argv[i]);
    }
    th_buffer_add_text(&notes, ")");
    if (enif_self(env, &self)) {
        assert_term_equal(self.pid, argv[2]);
        th_buffer_add_text(&notes, " self");
    }
    th_buffer_add_text(&notes, "\n");
    for (size_t i = 0; i < act_count; i++)
        if ((!acts[i].callback || strcmp(acts[i].callback, callback) == 0) &&
            (!acts[i].state || th_atom(acts[i].state) == argv[1]))
            acts[i].act();
    return answer_to(callback, th_atom_name(argv[0])->text, env);
}

static ERL_NIF_TERM note(const char *callback, ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM answer;

    pthread_mutex_lock(&lock);
    answer = note_under_lock(callback, env, argc, argv);
    pthread_mutex_unlock(&lock);
    return answer;
}

struct th_library *scene_library(void)
{
    struct th_library *library = loaded_open("tests/tracers/hooked.so");

    loaded_hook(note);
    assert_int_equal(th_library_check_tracer(library), TH_OK);
    return library;
}

static struct th_session *add_session(const char *state, uint32_t flags)
{
    struct th_session_setup setup = {.name = "hooked", .library = scene_library(), .flags = flags};
    struct th_session *session;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, state, strlen(state), &setup.state), TH_OK);
    assert_int_equal(flags ? th_trace_session_attach(tracing, &setup, &session)
                           : th_trace_session_create(tracing, &setup, &session),
                     TH_OK);
    th_env_release(&env);
    return session;
}

void scene_attach(const char *state, uint32_t flags)
{
    add_session(state, flags);
    scene_log();
}

struct th_session *scene_create(const char *state)
{
    return add_session(state, 0);
}

void scene_begin_empty(const char *slots)
{
    answer_count = 0;
    act_count = 0;
    if (slots)
        setenv(HOOKED_SLOTS, slots, 1);
    else
        unsetenv(HOOKED_SLOTS);
    th_env_init(&event_env, TH_ENV_PLAIN);
    tracing = th_trace_create();
    decoded = 0;
}

void scene_begin(const char *slots)
{
    scene_begin_empty(slots);
    scene_attach("s", TH_FLAGS_EVENTS | TH_FLAG_AS_RECORDED);
}

void scene_end(void)
{
    th_trace_free(tracing);
    tracing = NULL;
    th_env_release(&event_env);
    th_buffer_free(&notes);
}

struct th_tracing *scene_tracing(void)
{
    return tracing;
}

void scene_answer(const char *callback, const char *answer)
{
    assert_order(answer_count, <, ANSWERS);
    answers[answer_count].to = callback;
    answers[answer_count++].answer = answer;
}

void scene_forget_answers(void)
{
    answer_count = 0;
}

void scene_act(const char *callback, const char *state, void (*act)(void))
{
    assert_order(act_count, <, ANSWERS);
    acts[act_count].callback = callback;
    acts[act_count].state = state;
    acts[act_count++].act = act;
}

/* The fields of the current event as th_trace_event_from_tuple() filled them. The event itself gets
 * them only when they are requested. */
static struct th_event whole_event;

static enum th_status decode(struct th_event *event, th_env *env)
{
    (void)env;
    decoded++;
    event->term = whole_event.term;
    event->extra = whole_event.extra;
    event->match_spec_result = whole_event.match_spec_result;
    event->scheduler_id = whole_event.scheduler_id;
    event->label = whole_event.label;
    event->decoded = true;
    return TH_OK;
}

static enum th_status tell_time(struct th_event *event)
{
    event->time = whole_event.time;
    event->timed = true;
    return TH_OK;
}

static enum th_status tell_function(struct th_event *event, struct th_mfa *function)
{
    const th_term *mfa;
    size_t arity;

    (void)event;
    if (!th_is_tuple(whole_event.term))
        return th_error_raise(TH_MALFORMED, "no function");
    mfa = th_tuple_elements(whole_event.term);
    arity = th_is_small(mfa[2]) ? (size_t)th_small_value(mfa[2]) : 0;
    if (!th_is_small(mfa[2]))
        th_get_list_length(mfa[2], &arity);
    *function = (struct th_mfa){mfa[0], mfa[1], (uint32_t)arity};
    return TH_OK;
}

static th_term tell_actor(struct th_event *event)
{
    (void)event;
    return th_trace_event_actor_from_info(whole_event.term);
}

static const struct th_event_source source = {
    .decode = decode, .time = tell_time, .function = tell_function, .actor = tell_actor};

static struct th_event new_event(const char *tuple)
{
    struct th_event event = {.number = 1, .source = &source};
    th_term term;

    if (th_text_parse(&event_env, tuple, strlen(tuple), &term) != TH_OK)
        fail_msg("%s: %s", tuple, th_error_link(0));
    whole_event = event;
    if (th_trace_event_from_tuple(&whole_event, term, true) != TH_OK)
        fail_msg("%s: %s", tuple, th_error_link(0));
    event.kind = whole_event.kind;
    event.tag = whole_event.tag;
    event.tracee = whole_event.tracee;
    return event;
}

enum th_status scene_trace(const char *tuple)
{
    struct th_event event = new_event(tuple);
    enum th_status status = th_trace(tracing, &event);

    th_env_clear(&event_env);
    return status;
}

enum th_status scene_trace_call(const char *tuple, enum th_fact external, enum th_fact tail)
{
    struct th_event event = new_event(tuple);
    enum th_status status;

    event.external = external;
    event.tail = tail;
    status = th_trace(tracing, &event);
    th_env_clear(&event_env);
    return status;
}

void scene_trace_skip(const char *tuple)
{
    struct th_event event = new_event(tuple);

    th_trace_skip(tracing, &event);
    th_env_clear(&event_env);
}

const char *scene_log(void)
{
    static char *last;

    pthread_mutex_lock(&lock);
    th_free(last);
    last = th_strdup(th_buffer_text(&notes));
    notes.size = 0;
    pthread_mutex_unlock(&lock);
    return last;
}

unsigned scene_decoded(void)
{
    return decoded;
}

void scene_begin_functions(struct th_traceable_function *const functions[], size_t count)
{
    th_code_permission_wait();
    th_live_functions_begin(scene_tracing(), functions, count);
    th_code_permission_release();
}

void scene_end_functions(struct th_traceable_function *const functions[], size_t count)
{
    th_code_permission_wait();
    th_live_functions_end(scene_tracing(), functions, count);
    th_code_permission_release();
}
