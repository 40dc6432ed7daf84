#include "session_options.h"

#include "host/process/process.h"

#include <string.h>

/* What happens here, but for how processes take turns and memory: that is asked for. */
enum { LIVE_FLAGS = TH_FLAG_CALL | TH_FLAG_SEND | TH_FLAG_RECEIVE | TH_FLAG_PROCS | TH_FLAG_PORTS };

static struct th_control_session_option *add_option(struct th_control_session_options *options,
                                                    const char *title)
{
    struct th_control_session_option *option;

    TH_ARRAY_GROW(options->items, options->count, options->capacity);
    option = &options->items[options->count++];
    *option = (struct th_control_session_option){
        .title = title,
        .flags = options->live ? LIVE_FLAGS : TH_FLAGS_EVENTS | TH_FLAG_AS_RECORDED,
        .patterns.live = options->live,
    };
    return option;
}

static struct th_control_session_option *latest(struct th_control_session_options *options)
{
    return &options->items[options->count - 1];
}

void th_control_session_options_init(struct th_control_session_options *options, bool live)
{
    *options = (struct th_control_session_options){.live = live};
    add_option(options, NULL);
}

void th_control_session_options_free(struct th_control_session_options *options)
{
    for (size_t i = 0; i < options->count; i++) {
        th_free(options->items[i].tracers);
        th_free(options->items[i].tracees);
        th_free(options->items[i].patterns.items);
    }
    th_free(options->items);
}

/* --- options, one by one --- */

enum th_status th_control_session_options_begin(struct th_control_session_options *options,
                                                const char *title)
{
    if (!*title)
        return th_error_raise(TH_USAGE, "--session wants a name");
    for (size_t i = 1; i < options->count; i++)
        if (strcmp(options->items[i].title, title) == 0)
            return th_error_raise(TH_USAGE, "there is a session '%s' already", title);
    add_option(options, title);
    return TH_OK;
}

enum th_status th_control_session_options_tracer(struct th_control_session_options *options,
                                                 const char *text)
{
    struct th_control_session_option *option = latest(options);

    if (option->title && option->tracer_count)
        return th_error_raise(
            TH_USAGE, "session '%s' has the tracer '%s' already; begin another --session for '%s'",
            option->title, option->tracers[0], text);
    TH_ARRAY_GROW(option->tracers, option->tracer_count, option->tracer_capacity);
    option->tracers[option->tracer_count++] = text;
    return TH_OK;
}

/* The two links of the chain in one sentence. */
static enum th_status join_links(void)
{
    char *sentence = th_printf("%s; %s", th_error_link(0), th_error_link(1));

    th_error_raise(TH_USAGE, "%s", sentence);
    th_free(sentence);
    return TH_USAGE;
}

enum th_status th_control_session_options_flags(struct th_control_session_options *options,
                                                const char *list)
{
    struct th_control_session_option *option = latest(options);

    if (th_trace_flags_parse(list, &option->flags) != TH_OK)
        return join_links();
    if (!(option->flags & TH_FLAGS_EVENTS))
        return th_error_raise(
            TH_USAGE, "--flags=%s lets no event pass; add what to trace, such as call or send",
            list);
    option->flag_list = list;
    return TH_OK;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* Words first, so that 'new' in quotes is a name. */
bool th_control_chosen_parse(const char *text, size_t length, bool port,
                             struct th_control_chosen *chosen)
{
    th_env env;
    bool good;

    *chosen = (struct th_control_chosen){
        .all = is_word(text, length, "all"),
        .existing = is_word(text, length, "existing"),
        .new = is_word(text, length, "new"),
        .port = port,
        .one = TH_NONE,
    };
    if (chosen->all || chosen->existing || chosen->new)
        return true;
    th_env_init(&env, TH_ENV_PLAIN);
    good = th_text_parse(&env, text, length, &chosen->one) == TH_OK;
    th_env_release(&env); /* what is good is an immediate */
    if (!good)
        th_error_clear();
    return good && (th_is_atom(chosen->one) ||
                    (port ? th_is_local_port(chosen->one) : th_is_local_pid(chosen->one)));
}

/* Up to a comma outside of quotes. */
static size_t item_length(const char *list)
{
    size_t i = 0;
    bool quoted = false;

    for (; list[i] && (quoted || list[i] != ','); i++) {
        if (quoted && list[i] == '\\' && list[i + 1])
            i++;
        else if (list[i] == '\'')
            quoted = !quoted;
    }
    return i;
}

/* One of a list: its first LENGTH bytes. */
static enum th_status add_tracee(struct th_control_session_options *options, bool ports,
                                 const char *item, size_t length)
{
    struct th_control_session_option *option = latest(options);
    struct th_control_chosen *chosen;

    TH_ARRAY_GROW(option->tracees, option->tracee_count, option->tracee_capacity);
    chosen = &option->tracees[option->tracee_count++];
    if (!th_control_chosen_parse(item, length, ports, chosen))
        return th_error_raise(
            TH_USAGE, "--%s wants all, existing, new, %s or registered names, not '%.*s'",
            ports ? "ports" : "processes",
            ports ? "ports such as #Port<0.5>" : "processes such as <0.95.0>", (int)length, item);
    if (options->live && !options->running && chosen->one != TH_NONE)
        return th_error_raise(TH_USAGE,
                              "--%s wants all, existing or new, not '%.*s', who is not there yet",
                              ports ? "ports" : "processes", (int)length, item);
    return TH_OK;
}

enum th_status th_control_session_options_tracees(struct th_control_session_options *options,
                                                  bool ports, const char *list)
{
    for (;; list++) {
        size_t length = item_length(list);
        enum th_status status = add_tracee(options, ports, list, length);
        if (status != TH_OK)
            return status;
        list += length;
        if (!*list)
            break;
    }
    latest(options)->chosen = ports ? "--ports" : "--processes";
    return TH_OK;
}

struct th_control_pattern_options *
th_control_session_options_patterns(struct th_control_session_options *options)
{
    return &latest(options)->patterns;
}

/* Without the flag for what it is about, a pattern does nothing; counts of calls and their time
 * need none for calls that are traced. Adds that flag to FLAGS. */
static enum th_status check_pattern(const struct th_control_session_option *option,
                                    const struct th_control_pattern_option *pattern,
                                    uint32_t *flags)
{
    const char *name;
    uint32_t flag = th_control_pattern_option_flag(pattern, &name);
    bool traces = flag != TH_FLAG_CALL || pattern->kinds & (TH_BP_LOCAL | TH_BP_GLOBAL);

    *flags |= flag;
    if (option->flag_list && traces && !(option->flags & flag))
        return th_error_raise(TH_USAGE, "-p %s traces %ss, but %s is not among --flags=%s",
                              pattern->text, name, name, option->flag_list);
    return th_control_pattern_option_check(pattern);
}

/* Who names functions wants their calls, and messages where they are named as well; who names
 * messages alone wants the rest, too; who says more with --flags, these among it. */
static enum th_status check_patterns(struct th_control_session_option *option)
{
    enum th_status status = TH_OK;
    uint32_t flags = 0;

    for (size_t i = 0; i < option->patterns.count && status == TH_OK; i++)
        status = check_pattern(option, &option->patterns.items[i], &flags);
    if (flags & TH_FLAG_CALL && !option->flag_list)
        option->flags = flags | (option->flags & TH_FLAG_AS_RECORDED);
    return status;
}

enum th_status th_control_session_options_check(struct th_control_session_options *options)
{
    const struct th_control_session_option *first = &options->items[0];
    const char *loose = first->flag_list ? "--flags" : first->patterns.count ? "-p" : first->chosen;
    enum th_status status = TH_OK;

    if (options->count > 1 && !first->tracer_count && !options->optional && loose)
        return th_error_raise(TH_USAGE, "%s stands before the first --session, and belongs to none",
                              loose);
    for (size_t i = 0; i < options->count && status == TH_OK; i++)
        status = check_patterns(&options->items[i]);
    return status;
}

/* --- attaching --- */

bool th_control_session_options_are_empty(const struct th_control_session_options *options)
{
    const struct th_control_session_option *first = &options->items[0];

    return options->count == 1 && !first->tracer_count && !first->flag_list && !first->chosen &&
           !first->patterns.count;
}

void th_control_session_options_tell_uncalled(const struct th_control_session_options *options,
                                              const struct th_tracing *tracing)
{
    for (size_t i = 0; i < options->count; i++)
        th_control_pattern_options_tell_uncalled(&options->items[i].patterns, tracing);
}

/* NAMES has each but once: sessions of one option expect the same. */
static void add_unmet(void *names, th_term who)
{
    struct th_names *unmet = names;
    struct th_buffer text = {0};

    th_text_show(&text, who);
    for (size_t i = 0; i < unmet->count; i++)
        if (strcmp(unmet->items[i], th_buffer_text(&text)) == 0) {
            th_buffer_free(&text);
            return;
        }
    th_library_names_add(unmet, th_buffer_text(&text));
    th_buffer_free(&text);
}

void th_control_sessions_tell_unmet(struct th_tracing *tracing)
{
    struct th_names unmet = {0};
    char *joined;

    for (size_t i = 0; i < th_trace_sessions(tracing); i++)
        th_trace_session_each_unmet(th_trace_session(tracing, i), add_unmet, &unmet);
    if (unmet.count > 0) {
        joined = th_library_names_join(&unmet, 8);
        th_warn("nothing was seen of %s, which --processes or --ports names", joined);
        th_free(joined);
    }
    th_library_names_free(&unmet);
}

bool th_control_session_options_name_tracees(const struct th_control_session_options *options)
{
    for (size_t i = 0; i < options->count; i++)
        for (size_t k = 0; k < options->items[i].tracee_count; k++)
            if (options->items[i].tracees[k].one != TH_NONE)
                return true;
    return false;
}

static enum th_tracees group_of(const struct th_control_chosen *chosen)
{
    if (chosen->existing)
        return chosen->port ? TH_PORTS_EXISTING : TH_PROCESSES_EXISTING;
    if (chosen->new)
        return chosen->port ? TH_PORTS_NEW : TH_PROCESSES_NEW;
    return chosen->port ? TH_PORTS_ALL : TH_PROCESSES_ALL;
}

enum th_status th_control_chosen_trace(const struct th_control_chosen *chosen,
                                       struct th_session *session, bool on, uint32_t flags,
                                       bool running)
{
    th_term one = chosen->one;

    if (one == TH_NONE)
        return th_trace_session_trace(session, group_of(chosen), on, flags);
    if (on && !running)
        return th_trace_session_expect(session, one, flags);
    if (th_is_atom(one))
        one = th_process_whereis(one);
    if (one == TH_NONE)
        return th_error_raise(TH_USAGE, "nobody has the name %s", th_atom_name(chosen->one)->text);
    return th_trace_session_trace_one(session, one, on, flags);
}

static enum th_status trace_chosen(struct th_session *session,
                                   const struct th_control_session_option *option, bool running)
{
    enum th_status status = TH_OK;

    for (size_t i = 0; i < option->tracee_count && status == TH_OK; i++)
        status =
            th_control_chosen_trace(&option->tracees[i], session, true, option->flags, running);
    if (status != TH_OK && running)
        return th_error_context("%s cannot be traced", option->chosen);
    if (status != TH_OK)
        th_error_context("%s and --flags=%s do not go together", option->chosen, option->flag_list);
    return status;
}

/* All of this host. */
static enum th_status trace_all(struct th_session *session, uint32_t flags)
{
    enum th_status status = th_trace_session_trace(session, TH_PROCESSES_ALL, true, flags);

    return status == TH_OK ? th_trace_session_trace(session, TH_PORTS_ALL, true, flags) : status;
}

/* This host's functions are traced if a pattern says so: all are, where none is named. */
static enum th_status trace_calls(struct th_session *session,
                                  const struct th_control_session_option *option)
{
    static const struct th_pattern any = {.arity = TH_ANY_ARITY};

    for (size_t i = 0; i < option->patterns.count; i++)
        if (option->patterns.items[i].object == TH_PATTERN_FUNCTIONS)
            return TH_OK;
    if (!(option->flags & TH_FLAG_CALL))
        return TH_OK;
    return th_trace_session_function(session, &any, TH_AM(true), TH_PATTERN_EITHER, NULL);
}

/* Whatever was recorded, unless some are chosen. */
static enum th_status create(const struct th_control_session_option *option,
                             const struct th_named_tracer *tracer, struct th_library *library,
                             struct th_tracing *tracing, struct th_session **session)
{
    struct th_session_setup setup = {
        .name = tracer->name,
        .library = library,
        .state = tracer->state,
        .flags = option->flags,
        .title = option->title,
    };

    return option->chosen || option->patterns.live
               ? th_trace_session_create(tracing, &setup, session)
               : th_trace_session_attach(tracing, &setup, session);
}

/* Whom and what a session traces that has just begun. */
static enum th_status set_up(const struct th_control_session_option *option, bool first,
                             bool running, const struct th_search *search,
                             struct th_session *session)
{
    enum th_status status = TH_OK;

    if (option->chosen)
        status = trace_chosen(session, option, running);
    else if (option->patterns.live)
        status = trace_all(session, option->flags);
    if (status == TH_OK)
        status = th_control_pattern_options_set(&option->patterns, search, session, first);
    if (status == TH_OK && option->patterns.live)
        status = trace_calls(session, option);
    return status;
}

/* What cannot be set up is ended: others go on. */
static enum th_status attach(struct th_control_session_option *option, const char *text, bool first,
                             bool running, const struct th_search *search,
                             struct th_tracing *tracing)
{
    struct th_named_tracer tracer;
    struct th_library *library;
    struct th_session *session = NULL;
    enum th_status status = th_trace_named_tracer_parse(text, &tracer);

    if (status != TH_OK)
        return th_error_context("cannot use -t '%s'", text);
    status = th_trace_tracer_load(search, tracer.name, &library);
    if (status == TH_OK)
        status = create(option, &tracer, library, tracing, &session);
    th_trace_named_tracer_free(&tracer);
    if (status != TH_OK)
        return status;
    option->began = th_trace_session_id_of(session);
    status = set_up(option, first, running, search, session);
    if (status != TH_OK) {
        session =
            th_trace_session_find(tracing, option->began); /* another may have ended it meanwhile */
        if (session)
            th_trace_session_destroy(session);
    }
    return status;
}

static enum th_status attach_all_of(struct th_control_session_option *option, bool running,
                                    const struct th_search *search, struct th_tracing *tracing)
{
    enum th_status status = TH_OK;

    if (!option->tracer_count)
        status = attach(option, "text", true, running, search, tracing);
    for (size_t i = 0; i < option->tracer_count && status == TH_OK; i++)
        status = attach(option, option->tracers[i], i == 0, running, search, tracing);
    if (status != TH_OK && option->title)
        th_error_context("session '%s' could not begin", option->title);
    return status;
}

enum th_status th_control_session_options_preload(const struct th_control_session_options *options,
                                                  const struct th_search *search,
                                                  struct th_control_preloaded *loaded)
{
    enum th_status status = TH_OK;

    for (size_t i = 0; i < options->count && status == TH_OK; i++) {
        const struct th_control_session_option *option = &options->items[i];
        for (size_t k = 0; k < option->tracer_count && status == TH_OK; k++)
            status = th_control_preload(loaded, search, option->tracers[k]);
        if (status == TH_OK)
            status = th_control_pattern_options_preload(&option->patterns, search, loaded);
        if (status != TH_OK && option->title)
            th_error_context("session '%s' could not begin", option->title);
    }
    return status;
}

enum th_status th_control_session_options_attach(const struct th_control_session_options *options,
                                                 const struct th_search *search,
                                                 struct th_tracing *tracing)
{
    bool skip_first = (options->count > 1 || options->optional) && !options->items[0].tracer_count;
    enum th_status status = TH_OK;

    for (size_t i = skip_first; i < options->count && status == TH_OK; i++)
        status = attach_all_of(&options->items[i], options->running, search, tracing);
    return status;
}

void th_control_sessions_rest(struct th_tracing *tracing)
{
    for (size_t i = 0; i < th_trace_sessions(tracing); i++) {
        struct th_session *session = th_trace_session(tracing, i);
        th_trace_session_trace(session, TH_PROCESSES_ALL, false, TH_FLAGS_OF_PROCESSES);
        th_trace_session_trace(session, TH_PORTS_ALL, false, TH_FLAGS_OF_PORTS);
    }
}
