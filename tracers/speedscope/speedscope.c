/*
 * speedscope: the calls of each process as a profile of events, for https://www.speedscope.app.
 *
 * A profile has the begins and ends of a process's calls, in the order of time and each inside the
 * one around it (see ../kit/stack.h). Calls that are open at the end end with the last event of
 * their process. Times are nanoseconds since the recording's first record, all by one clock: that
 * of the first event.
 *
 * The file appears when the tracer is unloaded, as profiles are one after the other: until then
 * each event is 16 bytes of memory. State: see ../kit/output.h; and
 *
 *     events      number of events that are kept; calls beyond it are left out. 10,000,000 without
 *                 it
 *
 * One lock for each state protects all its data.
 */
#define TRACER_DECLARES                             \
    {"events", TH_SETTING_NUMBER, NULL, "10000000", \
     "how many begins and ends of calls are kept in memory"},
#define TRACER_WHOLE
#include "../kit/counts.h"
#include "../kit/escape.h"
#include "../kit/output.h"
#include "../kit/timeline.h"
#include "../kit/tracee.h"

/* A call that begins or ends. */
struct moved {
    int64_t time;
    uint32_t frame; /* index of the function */
    bool begins;
};

/* The calls of one process. */
struct profile {
    struct profile *next;
    struct tracee tracee; /* its name and first function */
    struct moved *events;
    size_t used, size;
};

struct lane {
    struct process process;
    struct profile *profile; /* NULL: no call yet */
};

struct speedscope {
    struct timeline timeline;
    struct profile *first, **end;
    struct counts functions; /* `events` is the index plus 1 */
    size_t kept, most;       /* events; `most` may be exceeded by the ends of open calls */
    uint64_t left_out;       /* calls beyond `most` */
    uint64_t open;           /* calls without an end */
    bool ending;
};

/* --- Calls --- */

static struct speedscope *speedscope_of(const struct process *process)
{
    return (struct speedscope *)process->timeline;
}

/* Returns the profile of LANE. NULL if there is no memory. */
static struct profile *profile_of(struct lane *lane)
{
    struct speedscope *speedscope = speedscope_of(&lane->process);

    if (lane->profile)
        return lane->profile;
    lane->profile = calloc(1, sizeof *lane->profile);
    if (!lane->profile)
        return NULL;
    lane->profile->tracee = lane->process.tracee;
    *speedscope->end = lane->profile;
    speedscope->end = &lane->profile->next;
    return lane->profile;
}

/* Returns the index of a function plus 1; 0 if there is no memory. */
static uint32_t index_of(struct counts *functions, const struct mfa *mfa)
{
    struct count wanted = {.module = mfa->module, .function = mfa->function, .arity = mfa->arity};
    struct count *place = functions->size ? counts_place(functions, &wanted) : NULL;

    if (place && place->function)
        return (uint32_t)place->events;
    wanted.events = functions->used + 1;
    if (wanted.events > UINT32_MAX)
        return 0;
    counts_insert(functions, &wanted);
    return functions->used == wanted.events ? (uint32_t)wanted.events : 0;
}

/* Makes room for an event in PROFILE, and for the end of each call that is open. */
static bool make_room(struct profile *profile)
{
    size_t size = profile->size ? 2 * profile->size : 4 * STACK_DRAWN;
    struct moved *events;

    if (profile->used + STACK_DRAWN + 1 < profile->size)
        return true;
    events = realloc(profile->events, size * sizeof *events);
    if (!events)
        return false;
    profile->events = events;
    profile->size = size;
    return true;
}

static void add_event(struct process *process, const struct mfa *mfa, bool begins)
{
    struct speedscope *speedscope = speedscope_of(process);
    struct profile *profile = ((struct lane *)process)->profile;

    profile->events[profile->used++] =
        (struct moved){process->last, index_of(&speedscope->functions, mfa) - 1, begins};
    speedscope->kept++;
}

static void begin_call(struct process *process, struct frame *frame)
{
    struct speedscope *speedscope = speedscope_of(process);
    struct profile *profile;

    frame->mark = 0;
    if (speedscope->kept >= speedscope->most) {
        speedscope->left_out++;
        return;
    }
    profile = profile_of((struct lane *)process);
    if (!profile || !make_room(profile) || !index_of(&speedscope->functions, &frame->mfa)) {
        process->timeline->lost++;
        return;
    }
    frame->mark = 1;
    add_event(process, &frame->mfa, true);
}

static void end_call(struct process *process, const struct frame *frame)
{
    speedscope_of(process)->open += speedscope_of(process)->ending;
    add_event(process, &frame->mfa, false);
}

static void name_process(struct process *process)
{
    struct profile *profile = ((struct lane *)process)->profile;

    if (profile)
        profile->tracee = process->tracee;
}

static const struct track_writer writer = {
    .name = name_process, .begin = begin_call, .end = end_call};

/* --- Events --- */

/* Returns the data of this state, made when the tracer is attached. NULL if there is no memory. */
static struct speedscope *speedscope_of_state(ErlNifEnv *env, ERL_NIF_TERM state)
{
    struct output *output = output_of(env, state);
    struct speedscope *speedscope;

    if (!output)
        return NULL;
    pthread_mutex_lock(&outputs.lock);
    speedscope = output->kept;
    if (!speedscope && (speedscope = calloc(1, sizeof *speedscope))) {
        timeline_begin(&speedscope->timeline, output->file, &writer, sizeof(struct lane));
        speedscope->end = &speedscope->first;
        speedscope->most = output_number(output->env, output->state, "events");
        output->kept = speedscope;
    }
    pthread_mutex_unlock(&outputs.lock);
    if (!speedscope)
        output_lose();
    return speedscope;
}

/* Returns whether the time of the event is by another clock than that of the first. */
static bool is_by_other_clock(ErlNifEnv *env, const struct timeline *timeline, ERL_NIF_TERM opts)
{
    struct moment moment = moment_take(env, opts, ERL_NIF_NSEC);

    return moment.stamped && timeline->timed && moment.clock != timeline->clock;
}

static void trace_event(ErlNifEnv *env, ERL_NIF_TERM state, ERL_NIF_TERM tracee, ERL_NIF_TERM tag,
                        ERL_NIF_TERM term, ERL_NIF_TERM opts)
{
    struct speedscope *speedscope = speedscope_of_state(env, state);
    struct timeline *timeline;
    struct process *process;

    if (!speedscope)
        return;
    timeline = &speedscope->timeline;
    pthread_mutex_lock(&timeline->lock);
    if (is_by_other_clock(env, timeline, opts)) {
        timeline->others++;
    } else if ((process = timeline_process(timeline, tracee_word(env, tracee)))) {
        timeline_pass(env, process, opts);
        timeline_event(env, process, tag, term, opts);
    }
    pthread_mutex_unlock(&timeline->lock);
}

TH_TRACER_ENABLED(generic)
{
    ERL_NIF_TERM answer = output_enabled(env, tag, state, TH_TRACER_ATOM(env, discard));

    if (output_begins(env, tag, state))
        speedscope_of_state(env, state);
    return answer;
}

TH_TRACER_ENABLED(call)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_ENABLED(procs)
{
    return tag == TH_TRACER_ATOM(env, register) || tag == TH_TRACER_ATOM(env, exit)
               ? TH_TRACER_ATOM(env, trace)
               : TH_TRACER_ATOM(env, discard);
}

TH_TRACER_TRACE(call)
{
    trace_event(env, state, tracee, tag, term, opts);
}

TH_TRACER_TRACE(procs)
{
    trace_event(env, state, tracee, tag, term, opts);
}

/* Mandatory; the generic `enabled` discards these events. */
TH_TRACER_TRACE(generic)
{
}

/* --- The file --- */

/* Adds "NAME":"TEXT", and discards TEXT. */
static void add_text(struct line *line, const char *name, struct line *text)
{
    line_add(line, "\"%s\":\"", name);
    line_add_json(line, text->text, text->used, TIMELINE_NAME);
    line_add(line, "\"");
    line->short_of_memory |= text->short_of_memory;
    line_drop(text);
}

static void write_profile(FILE *file, const struct profile *profile)
{
    const struct moved *events = profile->events;
    struct line line, name;

    line_start(&line);
    line_start(&name);
    if (tracee_add_label(&name, &profile->tracee))
        line_add(&name, " ");
    line_add_name(&name, profile->tracee.term);
    line_add(&line, "{\"type\":\"evented\",");
    add_text(&line, "name", &name);
    line_add(&line, ",\"unit\":\"nanoseconds\",\"startValue\":%lld,\"endValue\":%lld,\"events\":[",
             (long long)events[0].time, (long long)events[profile->used - 1].time);
    line_end(&line, file);
    for (size_t i = 0; i < profile->used; i++)
        fprintf(file, "%s{\"type\":\"%c\",\"frame\":%lu,\"at\":%lld}", i ? ",\n" : "",
                events[i].begins ? 'O' : 'C', (unsigned long)events[i].frame,
                (long long)events[i].time);
    fputs("]}", file);
}

/* Returns the functions in the order of their indices; the caller frees them. NULL if there is no
 * memory. */
static const struct count **sort_functions(const struct counts *functions)
{
    const struct count **sorted = calloc(functions->used + 1, sizeof *sorted);

    for (size_t i = 0; sorted && i < functions->size; i++)
        if (functions->slots[i].function)
            sorted[functions->slots[i].events - 1] = &functions->slots[i];
    return sorted;
}

static void write_functions(FILE *file, const struct count *const *functions)
{
    struct line line, name;

    for (size_t i = 0; functions[i]; i++) {
        line_start(&line);
        line_start(&name);
        line_add_function(&name, functions[i]->module, functions[i]->function, functions[i]->arity);
        line_add(&line, "%s{", i ? "," : "");
        add_text(&line, "name", &name);
        line_add(&line, "}");
        line_end(&line, file);
    }
}

/* Writes the whole file. False if there is no memory. */
static bool write_file(FILE *file, const struct speedscope *speedscope)
{
    const struct count **functions = sort_functions(&speedscope->functions);

    if (!functions)
        return false;
    fprintf(file,
            "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
            "\"exporter\":\"tracehost\",\"name\":\"%s\",\"profiles\":[\n",
            speedscope->timeline.repairs.doubtful ? "doubtful: " STACK_DOUBTFUL : "calls");
    for (const struct profile *profile = speedscope->first; profile; profile = profile->next) {
        write_profile(file, profile);
        fputs(profile->next ? ",\n" : "", file);
    }
    fputs("],\"shared\":{\"frames\":[\n", file);
    write_functions(file, functions);
    fputs("]}}\n", file);
    free(functions);
    return true;
}

static void tell_all(ErlNifEnv *env, const struct speedscope *speedscope)
{
    const struct timeline *timeline = &speedscope->timeline;

    timeline_tell_all("speedscope", timeline);
    timeline_tell("speedscope", "calls without an end, drawn to the last event of their process",
                  speedscope->open);
    timeline_tell("speedscope", "calls left out, as there are more than the setting 'events' keeps",
                  speedscope->left_out);
    timeline_tell("speedscope", "events with another clock than the first, which were left out",
                  timeline->others);
    timeline_tell("speedscope", "events without a time stamp, drawn at the latest known time",
                  timeline->untimed);
    output_report_lost(env, "calls", timeline->lost);
}

static void finish(ErlNifEnv *env, struct output *output)
{
    static struct speedscope none;
    struct speedscope *speedscope = output->kept ? output->kept : &none;
    struct profile *profile;

    speedscope->ending = true;
    timeline_end(&speedscope->timeline);
    if (!write_file(output->file, speedscope))
        output_abandon(env, output);
    tell_all(env, speedscope);
    while ((profile = speedscope->first)) {
        speedscope->first = profile->next;
        free(profile->events);
        free(profile);
    }
    counts_clear(&speedscope->functions);
    free(output->kept);
}

TH_TRACER_UNLOAD()
{
    for (struct output *output = output_end(); output; output = output->next)
        finish(env, output);
    output_close_all(env);
}

/* For an Erlang node; see ../README.md. */
static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0},
                                 {"trace", 5, trace, 0},
                                 {"enabled_call", 3, enabled_call, 0},
                                 {"trace_call", 5, trace_call, 0},
                                 {"enabled_procs", 3, enabled_procs, 0},
                                 {"trace_procs", 5, trace_procs, 0}};
ERL_NIF_INIT(tracehost_speedscope, callbacks, NULL, NULL, NULL, unload)
