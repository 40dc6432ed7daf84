/*
 * Asks a running node for what sessions want.
 *
 * The node gets the union of all sessions' flags and tracees. If there is one session, and all its
 * match specifications only look (is_harmless()), the node decides its patterns alone: here, the
 * callers, the senders of messages, and whether a call is external are unknown.
 *
 * Otherwise patterns are decided here once more. A specification that only looks is sent to the node
 * if no other session has patterns: a function of a node has one specification, the last. For any
 * other the node sends all calls of the pattern, with their ends if a specification wants them.
 */
#include "node_wish.h"

#include "commands_internal.h"

#include "host/base/buffer.h"
#include "host/base/memory.h"
#include "host/term/etf.h"
#include "host/term/map.h"
#include "host/term/text.h"

#include <string.h>

/* Bytes that the node sends before we confirm some, less than its buffer for a connection, and bytes
 * that may wait in the node. */
enum { WINDOW = 512 << 10, BACKLOG = 16 << 20, DEAD_MS = 5000 };

/* Events that a trace port keeps for a slow reader before it drops some. The driver writes where it must
 * not if this is less than 8. */
enum { PORT_QUEUE = 10000 };

/* Flags that a match specification may switch on. */
enum { HEIRS = TH_FLAGS_ON_SPAWN | TH_FLAGS_ON_LINK, SWITCHED = TH_FLAGS_EVENTS | HEIRS };

struct wish {
    struct th_buffer tracees, patterns, messages; /* elements of lists, in Erlang */
    struct th_buffer *text;                       /* for users */
    bool several;                                 /* sessions */
    bool others;                                  /* several nodes are asked */
    bool events;                                  /* not counts alone */
    bool decided;                                 /* by the node alone */
    bool ends;                                    /* a specification wants the ends of calls */
    bool returns;                                 /* return_to is decided here, from all ends */
    bool local, global, clears;                   /* kinds of patterns; a pattern clears others */
    uint32_t switched;                            /* flags that specifications may switch on */
    bool scheduler;
};

static void separate(struct th_buffer *list)
{
    if (list->size > 0)
        th_buffer_add_byte(list, ',');
}

/* --- Tracees ---------------------------------------------------------------------------------- */

/* Appends the names of FLAGS. Without a time stamp records have monotonic time, the most exact. */
static void add_flags(struct th_buffer *list, uint32_t flags, bool scheduler)
{
    static const struct {
        const char *name;
        uint32_t bit;
    } names[] = {
#define X(name, bit, help) {#name, TH_FLAG_##bit},
        TH_FLAGS(X)
#undef X
    };
    const char *comma = "";

    if (!(flags & (TH_FLAGS_STAMPS | TH_FLAG_CPU_TIMESTAMP)))
        flags |= TH_FLAG_MONOTONIC;
    if (scheduler)
        flags |= TH_FLAG_SCHEDULER_ID;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (flags & names[i].bit) {
            th_buffer_printf(list, "%s'%s'", comma, names[i].name);
            comma = ",";
        }
}

/* Asks for FLAGS of the tracees WHO, an Erlang term; TITLE names them for users. */
static void ask_tracees(struct wish *wish, const char *who, const char *title, uint32_t flags)
{
    struct th_buffer list = {0};
    char *element;

    add_flags(&list, flags, wish->scheduler);
    element = th_printf("{%s,[%s]}", who, th_buffer_text(&list));
    if (!strstr(th_buffer_text(&wish->tracees), element)) { /* no other session asks for it */
        separate(&wish->tracees);
        th_buffer_add_text(&wish->tracees, element);
        th_buffer_printf(wish->text, "  %s: ", title);
        for (size_t i = 0; i < list.size; i++)
            if (list.data[i] == ',')
                th_buffer_add_text(wish->text, ", ");
            else if (list.data[i] != '\'')
                th_buffer_add_byte(wish->text, list.data[i]);
        th_buffer_add_byte(wish->text, '\n');
    }
    th_free(element);
    th_buffer_free(&list);
}

static void ask_chosen(struct wish *wish, const struct th_control_chosen *chosen, uint32_t flags)
{
    static const char *const groups[] = {
        [TH_PROCESSES_ALL] = "processes",       [TH_PROCESSES_EXISTING] = "existing_processes",
        [TH_PROCESSES_NEW] = "new_processes",   [TH_PORTS_ALL] = "ports",
        [TH_PORTS_EXISTING] = "existing_ports", [TH_PORTS_NEW] = "new_ports",
    };
    static const char *const titles[] = {
        [TH_PROCESSES_ALL] = "all processes",   [TH_PROCESSES_EXISTING] = "existing processes",
        [TH_PROCESSES_NEW] = "new processes",   [TH_PORTS_ALL] = "all ports",
        [TH_PORTS_EXISTING] = "existing ports", [TH_PORTS_NEW] = "new ports",
    };
    struct th_buffer who = {0}, title = {0};

    if (chosen->one == TH_NONE) {
        ask_tracees(wish, groups[chosen->group], titles[chosen->group], flags);
        return;
    }
    th_text_print(&title, chosen->one);
    if (th_is_atom(chosen->one))
        th_buffer_printf(&who, "{name,%s}", th_buffer_text(&title));
    else
        th_buffer_printf(&who, "{%s,\"%s\"}", th_is_pid(chosen->one) ? "pid" : "port",
                         th_buffer_text(&title));
    ask_tracees(wish, th_buffer_text(&who), th_buffer_text(&title), flags);
    th_buffer_free(&who);
    th_buffer_free(&title);
}

/* --- Patterns --------------------------------------------------------------------------------- */

/* Calls SEE for TERM and all terms within. */
static void visit(th_term term, void (*see)(void *context, th_term part), void *context)
{
    see(context, term);
    for (; th_is_list(term); term = th_cell(term)[1])
        visit(th_cell(term)[0], see, context);
    for (size_t i = 0; th_is_tuple(term) && i < th_tuple_arity(term); i++)
        visit(th_tuple_elements(term)[i], see, context);
    for (size_t i = 0; th_is_map(term) && i < th_map_size(term); i++) {
        visit(th_map_keys(term)[i], see, context);
        visit(th_map_values(term)[i], see, context);
    }
}

static bool begins_with(th_term term, const char *const *names, size_t count)
{
    if (th_is_tuple(term) && th_tuple_arity(term) > 0)
        for (size_t i = 0; i < count; i++)
            if (th_tuple_elements(term)[0] == th_atom(names[i]))
                return true;
    return false;
}

static void see_change(void *found, th_term part)
{
    static const char *const names[] = {
        "set_seq_token", "silent",       "trace",   "enable_trace", "disable_trace",
        "set_tcw",       "set_tcw_fake", "get_tcw", "display",
    };

    *(bool *)found |= begins_with(part, names, sizeof names / sizeof names[0]);
}

static void see_end(void *found, th_term part)
{
    static const char *const names[] = {"return_trace", "exception_trace"};

    *(bool *)found |= begins_with(part, names, sizeof names / sizeof names[0]);
}

/* Adds the flags that an action may switch on. */
static void see_flag(void *flags, th_term part)
{
    if (part == th_atom("all"))
        *(uint32_t *)flags |= TH_FLAGS_EVENTS;
#define X(name, bit, help)      \
    if (part == th_atom(#name)) \
        *(uint32_t *)flags |= TH_FLAG_##bit & SWITCHED;
    TH_FLAGS(X)
#undef X
}

/* Returns whether SPEC changes nothing in the node, and means there what it means here. */
static bool is_harmless(th_term spec)
{
    bool changes = false;

    for (; th_is_list(spec); spec = th_cell(spec)[1]) {
        th_term clause = th_cell(spec)[0];
        if (!th_is_tuple(clause) || th_tuple_arity(clause) != 3)
            return false;
        visit(th_tuple_elements(clause)[1], see_change, &changes);
        visit(th_tuple_elements(clause)[2], see_change, &changes);
    }
    return !changes;
}

/* Looks at the patterns of OPTION before the first pattern of any session is sent. */
static enum th_status look_at_patterns(struct wish *wish,
                                       const struct th_control_session_option *option)
{
    enum th_status status = TH_OK;

    for (size_t i = 0; i < option->patterns.count && status == TH_OK; i++) {
        const struct th_control_pattern_option *pattern = &option->patterns.items[i];
        th_term spec;
        th_env env;
        th_env_init(&env, TH_ENV_PLAIN);
        status = th_control_pattern_option_spec(pattern, &env, &spec);
        if (status != TH_OK)
            th_error_context("cannot ask for -p %s%s", pattern->text, TH_CONTROL_MATCH_ADVICE);
        if (status == TH_OK) {
            wish->decided &= is_harmless(spec) && !(pattern->kinds & TH_BP_COUNTING);
            wish->local |= pattern->kinds & TH_BP_LOCAL;
            wish->global |= pattern->kinds & TH_BP_GLOBAL;
            wish->clears |= spec == TH_AM(false);
            visit(spec, see_end, &wish->ends);
            if (!is_harmless(spec))
                visit(spec, see_flag, &wish->switched);
        }
        th_env_release(&env);
    }
    return status == TH_OK ? TH_OK : TH_USAGE;
}

static bool sends_spec(const struct wish *wish, th_term spec)
{
    return !wish->several && !wish->returns && is_harmless(spec);
}

/* Appends the specification that the node gets for SPEC of a pattern of OBJECT. Instead of a cleared
 * pattern the node gets one that no call matches. */
static void add_spec(const struct wish *wish, struct th_buffer *list, th_term spec,
                     enum th_pattern_object object)
{
    if (!sends_spec(wish, spec))
        th_buffer_add_text(list, (wish->ends || wish->returns) && object == TH_PATTERN_FUNCTIONS
                                     ? "[{'_',[],[{exception_trace}]}]"
                                     : "true");
    else if (spec == TH_AM(false))
        th_buffer_add_text(list, "[{'_',[false],[]}]");
    else if (spec == TH_NIL)
        th_buffer_add_text(list, "true");
    else
        th_text_print(list, spec);
}

static const struct {
    uint32_t kind;
    const char *name; /* in the node */
} kinds[] = {
    {TH_BP_LOCAL, "local"},
    {TH_BP_GLOBAL, "global"},
    {TH_BP_COUNT, "call_count"},
    {TH_BP_TIME, "call_time"},
};

static enum th_status ask_functions(struct wish *wish,
                                    const struct th_control_pattern_option *option, th_term spec)
{
    const struct th_pattern *pattern = &option->pattern;
    struct th_buffer *list = &wish->patterns;
    const char *comma = "";
    uint32_t sent = option->kinds & (TH_BP_LOCAL | TH_BP_GLOBAL);
    uint32_t asked = sent ? sent : option->kinds; /* calls that are sent are counted here */

    if (wish->several && wish->local && sent) /* a function has patterns of one kind */
        asked = TH_BP_LOCAL;
    if (pattern->on_load || option->kinds & TH_BP_META)
        return th_error_raise(TH_USAGE, "-p %s: a running node cannot be asked for %s",
                              option->text, pattern->on_load ? "on_load" : "--kind=meta");
    separate(list);
    th_buffer_add_byte(list, '{');
    th_text_print(list, pattern->module == TH_NONE ? TH_AM(anything) : pattern->module);
    th_buffer_add_byte(list, ',');
    th_text_print(list, pattern->function == TH_NONE ? TH_AM(anything) : pattern->function);
    if (pattern->arity == TH_ANY_ARITY)
        th_buffer_add_text(list, ",'_',");
    else
        th_buffer_printf(list, ",%d,", pattern->arity);
    add_spec(wish, list, spec, TH_PATTERN_FUNCTIONS);
    th_buffer_add_text(list, ",[");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (asked & kinds[i].kind) {
            th_buffer_printf(list, "%s%s", comma, kinds[i].name);
            comma = ",";
        }
    th_buffer_add_text(list, "]}");
    return TH_OK;
}

/* Tells users that a pattern with KINDS_ASKED only counts in the node. */
static void tell_kinds(struct th_buffer *text, uint32_t kinds_asked)
{
    if (kinds_asked & (TH_BP_LOCAL | TH_BP_GLOBAL))
        return;
    th_buffer_add_text(text, " (no events");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds_asked & kinds[i].kind)
            th_buffer_printf(text, ", %s", kinds[i].name);
    th_buffer_add_byte(text, ')');
}

static enum th_status ask_pattern(struct wish *wish, const struct th_control_pattern_option *option)
{
    enum th_status status;
    th_term spec;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    status = th_control_pattern_option_spec(option, &env, &spec);
    if (status == TH_OK && spec == TH_AM(false) && !wish->decided) {
        th_buffer_printf(wish->text, "  -p %s: decided here: false\n", option->text);
        th_env_release(&env);
        return TH_OK;
    }
    if (status == TH_OK && option->object == TH_PATTERN_FUNCTIONS) {
        status = ask_functions(wish, option, spec);
    } else if (status == TH_OK) {
        separate(&wish->messages);
        th_buffer_printf(&wish->messages, "{%s,",
                         option->object == TH_PATTERN_SEND ? "send" : "'receive'");
        add_spec(wish, &wish->messages, spec, option->object);
        th_buffer_add_byte(&wish->messages, '}');
    }
    if (status == TH_OK) {
        th_buffer_printf(wish->text, "  -p %s", option->text);
        if (option->object == TH_PATTERN_FUNCTIONS)
            tell_kinds(wish->text, option->kinds);
        if (spec != TH_AM(true)) {
            th_buffer_add_text(wish->text, ": ");
            add_spec(wish, wish->text, spec, option->object);
            if (!sends_spec(wish, spec)) {
                th_buffer_add_text(wish->text, "; decided here: ");
                th_text_show(wish->text, spec);
            }
        }
        th_buffer_add_byte(wish->text, '\n');
    }
    th_env_release(&env);
    return status == TH_OK ? TH_OK : TH_USAGE;
}

/* --- Sessions --------------------------------------------------------------------------------- */

/* Returns the flags that a session with FLAGS needs. Specifications that are decided here look at
 * arguments, and may end a silence. Heirs are known by their births. */
static uint32_t flags_to_ask(const struct wish *wish, uint32_t flags)
{
    flags |= wish->switched;
    if (!wish->decided)
        flags &= ~(uint32_t)(TH_FLAG_SILENT | TH_FLAG_ARITY);
    return flags & HEIRS ? flags | TH_FLAG_PROCS : flags;
}

static enum th_status ask_session(struct wish *wish, const struct th_control_session_option *option)
{
    static const struct th_control_chosen processes = {TH_PROCESSES_ALL, TH_NONE},
                                          ports = {TH_PORTS_ALL, TH_NONE};
    uint32_t flags = option->flags & ~(uint32_t)TH_FLAG_AS_RECORDED;
    uint32_t of_processes, of_ports;
    bool functions = false, counts = true, times = false;
    enum th_status status = TH_OK;

    for (size_t i = 0; i < option->patterns.count; i++) {
        const struct th_control_pattern_option *pattern = &option->patterns.items[i];
        bool names = pattern->object == TH_PATTERN_FUNCTIONS;
        functions |= names;
        counts &= names && !(pattern->kinds & (TH_BP_LOCAL | TH_BP_GLOBAL));
        times |= pattern->kinds & TH_BP_TIME; /* of processes with the flag `call` */
    }
    if (!functions && !option->flag_list)
        return th_error_raise(TH_USAGE, "a running node traces only what it is asked for: give -p "
                                        "M:F/A or --flags");
    if (!functions && !(flags & TH_FLAGS_EVENTS & ~(uint32_t)(TH_FLAG_CALL | TH_FLAG_RETURN_TO)))
        return th_error_raise(TH_USAGE, "--flags=%s: calls of a running node need -p M:F/A",
                              option->flag_list);
    for (size_t i = 0; wish->others && i < option->tracee_count; i++)
        if (option->tracees[i].one != TH_NONE && !th_is_atom(option->tracees[i].one))
            return th_error_raise(TH_USAGE,
                                  "%s: several nodes can be asked for names, not for identifiers, "
                                  "as each node has its own",
                                  option->chosen);
    if (wish->several)
        for (size_t i = 0; i < option->tracee_count; i++)
            if (option->tracees[i].one == TH_NONE)
                return th_error_raise(
                    TH_USAGE,
                    "%s: sessions that share a running node can choose single tracees "
                    "only",
                    option->chosen);
    for (size_t i = 0; i < option->patterns.count && status == TH_OK; i++)
        status = ask_pattern(wish, &option->patterns.items[i]);
    wish->events |= !counts || option->flag_list;
    if (status != TH_OK || (counts && !times && !option->flag_list))
        return status;
    flags = flags_to_ask(wish, flags);
    of_processes = flags & TH_FLAGS_OF_PROCESSES;
    of_ports = flags & TH_FLAGS_OF_PORTS;
    for (size_t i = 0; option->chosen && i < option->tracee_count; i++)
        ask_chosen(wish, &option->tracees[i],
                   option->tracees[i].group < TH_PORTS_ALL ? of_processes : of_ports);
    if (!option->chosen && of_processes)
        ask_chosen(wish, &processes, of_processes);
    if (!option->chosen && of_ports & TH_FLAGS_EVENTS)
        ask_chosen(wish, &ports, of_ports);
    return TH_OK;
}

/* Tells users the limits for events. */
static void tell_limits(struct th_buffer *text, const struct th_node_limits *limits)
{
    if (limits->rate)
        th_buffer_printf(text, "  at most %lld events a second", (long long)limits->rate);
    else
        th_buffer_add_text(text, "  any number of events a second");
    if (limits->bytes)
        th_buffer_printf(text, " and %lld bytes", (long long)limits->bytes);
    if (limits->sample && (limits->rate || limits->bytes))
        th_buffer_printf(text, "; beyond that, one of %lld processes", (long long)limits->sample);
    th_buffer_add_byte(text, '\n');
}

static void add_limit(struct th_buffer *term, const char *name, int64_t limit)
{
    th_buffer_printf(term, ",%s=>", name);
    if (limit)
        th_buffer_printf(term, "%lld", (long long)limit);
    else
        th_buffer_add_text(term, "infinity");
}

/* Encodes the whole as an external term. */
static enum th_status wish_encode(const struct wish *wish, const struct th_node_limits *limits,
                                  struct th_buffer *out)
{
    static const struct th_etf_options plain = {0};
    struct th_buffer term = {0};
    enum th_status status;
    th_term made;
    th_env env;

    th_buffer_printf(&term, "#{tracees=>[%.*s]", (int)wish->tracees.size, wish->tracees.data);
    th_buffer_printf(&term, ",patterns=>[%.*s]", (int)wish->patterns.size, wish->patterns.data);
    th_buffer_printf(&term, ",messages=>[%.*s]", (int)wish->messages.size, wish->messages.data);
    add_limit(&term, "max_rate", limits->rate);
    add_limit(&term, "max_bytes", limits->bytes);
    th_buffer_printf(&term, ",sample=>%lld,load=>%s,names=>true,window=>%d,backlog=>%d,dead_ms=>%d",
                     (long long)limits->sample, limits->load ? "true" : "false", WINDOW, BACKLOG,
                     DEAD_MS);
    if (limits->others)
        th_buffer_add_text(&term, ",others=>true");
    if (limits->via_port)
        th_buffer_printf(&term, ",via=>{port,%d}}", PORT_QUEUE);
    else
        th_buffer_add_text(&term, ",via=>agent}");
    th_env_init(&env, TH_ENV_PLAIN);
    status = th_text_parse(&env, (char *)term.data, term.size, &made);
    if (status == TH_OK)
        status = th_etf_encode(out, made, true, &plain);
    th_env_release(&env);
    th_buffer_free(&term);
    return status;
}

enum th_status th_control_node_wish(const struct th_control_session_options *options,
                                    const struct th_node_limits *limits, struct th_buffer *wish,
                                    struct th_buffer *text, bool *decided)
{
    size_t first = th_control_session_options_first(options);
    struct wish made = {.text = text,
                        .several = options->count - first > 1,
                        .others = limits->others,
                        .scheduler = limits->scheduler};
    enum th_status status = TH_OK;

    if (limits->via_port && limits->sample)
        return th_error_raise(TH_USAGE, "--sample cannot be used with --via=port: a trace port "
                                        "cannot go on with fewer processes");
    made.decided = !made.several;
    for (size_t i = first; i < options->count && status == TH_OK; i++)
        status = look_at_patterns(&made, &options->items[i]);
    made.decided &= !(made.clears && made.local && made.global); /* a kind clears its own */
    for (size_t i = first; i < options->count; i++)
        made.returns |= !made.decided && options->items[i].flags & TH_FLAG_RETURN_TO;
    for (size_t i = first; i < options->count && status == TH_OK; i++)
        status = ask_session(&made, &options->items[i]);
    if (made.events)
        tell_limits(text, limits);
    if (status == TH_OK)
        status = wish_encode(&made, limits, wish);
    *decided = made.decided;
    th_buffer_free(&made.tracees);
    th_buffer_free(&made.patterns);
    th_buffer_free(&made.messages);
    return status;
}

void th_control_node_chosen(struct th_control_session_options *options, bool decided)
{
    for (size_t i = th_control_session_options_first(options); i < options->count; i++) {
        struct th_control_session_option *option = &options->items[i];
        option->decided = decided;
        for (size_t k = 0; k < option->tracee_count; k++)
            if (option->tracees[k].one == TH_NONE) {
                option->chosen = NULL;
                option->flags &= ~(uint32_t)HEIRS;
            }
    }
}
