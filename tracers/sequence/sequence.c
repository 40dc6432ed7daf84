/*
 * sequence: messages between processes, as a sequence diagram.
 *
 * Each message is an arrow, at the time of its sending. The receiver of a message to a name, or to
 * a name at this node, is the process that has this name, as known from registrations or guessed
 * from receipts (see ../receivers.h); ../aliases.h finds the owners of aliases.
 *
 * State: see ../output.h; `format` is mermaid (the default) or svg, `participants` the number of
 * columns of single participants (12; 0: all), `messages` the number of messages kept (1000),
 * `characters` the maximum length of Mermaid's text (50000, which is all that Mermaid draws; 0: no
 * limit); messages beyond these limits are counted. The file appears when the tracer is unloaded.
 * One lock for each state protects all its data.
 */
#define TRACER_DECLARES                                                                          \
    {"format", TH_SETTING_WORD, "mermaid svg", "mermaid", "Mermaid, or a picture for browsers"}, \
        {"participants", TH_SETTING_NUMBER, NULL, "12",                                          \
         "how many have a column of their own, 0 for all"},                                      \
        {"messages", TH_SETTING_NUMBER, NULL, "1000", "how many messages are drawn"},            \
        {"characters", TH_SETTING_NUMBER, NULL, "50000",                                         \
         "how many characters Mermaid's text has at most, 0 for any number"},
#define TRACER_SETTINGS read_settings
#define TRACER_WHOLE

struct settings {
    unsigned format, participants, messages, characters;
};

#include "../kit/output.h"
#include "../kit/aliases.h"
#include "../kit/names.h"
#include "../kit/receivers.h"
#include "../kit/tracee.h"
#include "../kit/tracees.h"
#include "diagram.h"

enum { FORMAT_MERMAID, FORMAT_SVG };

struct sequence {
    pthread_mutex_t lock;
    struct tracees actors;
    struct aliases aliases;
    struct receivers receivers;
    struct diagram diagram;
};

/* A process, a port or a name. */
struct actor {
    struct tracee tracee;
    uint32_t number;  /* number of the participant, plus 1; 0: none yet */
    ERL_NIF_TERM pid; /* of a name: its owner; 0: unknown */
    bool told;        /* of a name: the owner is known from a registration; else guessed */
    struct doing doing;
};

static void read_settings(ErlNifEnv *env, ERL_NIF_TERM state, struct settings *settings)
{
    settings->format = output_choice(env, state, "format");
    settings->participants = output_number(env, state, "participants");
    settings->messages = output_number(env, state, "messages");
    settings->characters = output_number(env, state, "characters");
}

/* Returns the data of this state, made at its first event. NULL if there is no memory. */
static struct sequence *sequence_of(ErlNifEnv *env, ERL_NIF_TERM state)
{
    struct output *output = output_of(env, state);
    struct sequence *sequence;

    if (!output)
        return NULL;
    pthread_mutex_lock(&outputs.lock);
    sequence = output->kept;
    if (!sequence && (sequence = calloc(1, sizeof *sequence))) {
        pthread_mutex_init(&sequence->lock, NULL);
        sequence->diagram.most = output->settings.participants;
        sequence->diagram.messages_most = output->settings.messages;
        output->kept = sequence;
    }
    pthread_mutex_unlock(&outputs.lock);
    if (!sequence)
        output_lose();
    return sequence;
}

/* Returns the actor of TERM, a local pid or port, or the key of a name; made if necessary. */
static struct actor *actor_of(struct sequence *sequence, ERL_NIF_TERM term)
{
    struct actor *actor = tracees_find(&sequence->actors, term);

    if (actor)
        return actor;
    actor = tracees_add(&sequence->actors, term, sizeof *actor);
    if (actor) {
        actor->told = names_recorded(term, &actor->pid);
        if (actor->tracee.name)
            actor->tracee.name = names_key(actor->tracee.name, term);
    }
    return actor;
}

static uint32_t number_of(struct sequence *sequence, struct actor *actor)
{
    uint32_t number;

    if (!actor)
        return UINT32_MAX;
    if (!actor->number) {
        number = diagram_join(&sequence->diagram, actor->tracee.term, actor->tracee.name, NULL);
        if (number == UINT32_MAX)
            return number;
        sequence->diagram.participants[number].first = actor->tracee.first;
        actor->number = number + 1;
    }
    return actor->number - 1;
}

/* Returns the participant's number; UINT32_MAX if there is no memory. */
static uint32_t participant_of(ErlNifEnv *env, struct sequence *sequence, ERL_NIF_TERM term)
{
    char text[TEXT_KEPT];
    struct actor *actor;
    ErlNifPort port;
    ErlNifPid pid;

    if (names_are_key(env, term)) {
        actor = actor_of(sequence, term);
        if (actor && actor->pid)
            actor = actor_of(sequence, actor->pid);
        else if (actor)
            actor->tracee.name = term;
        return number_of(sequence, actor);
    }
    if (enif_get_local_pid(env, term, &pid))
        return number_of(sequence, actor_of(sequence, pid.pid));
    if (enif_get_local_port(env, term, &port))
        return number_of(sequence, actor_of(sequence, port.port_id));
    if (enif_is_ref(env, term)) {
        ERL_NIF_TERM owner = aliases_owner(&sequence->aliases, term);
        return owner ? number_of(sequence, actor_of(sequence, owner))
                     : diagram_remote(&sequence->diagram, "an alias");
    }
    enif_snprintf(text, sizeof text, "%#T", term);
    return diagram_remote(&sequence->diagram, text);
}

/* Returns the receiver of a message to TO, for receivers_sent(). */
static ERL_NIF_TERM receiver_of(ErlNifEnv *env, struct sequence *sequence, ERL_NIF_TERM to)
{
    bool named = names_are_key(env, to);
    struct actor *actor = named ? tracees_find(&sequence->actors, to) : NULL;
    ERL_NIF_TERM owner = !named && enif_is_ref(env, to) ? aliases_owner(&sequence->aliases, to) : 0;

    if (actor && actor->told && actor->pid)
        return actor->pid;
    return owner ? owner : to;
}

/* Adds a message, under the lock. */
static void add_message(ErlNifEnv *env, struct sequence *sequence, struct message *message,
                        ERL_NIF_TERM term, ERL_NIF_TERM from, ERL_NIF_TERM to)
{
    struct diagram *diagram = &sequence->diagram;

    diagram->activity.sent++;
    aliases_note(env, &sequence->aliases, from, term);
    to = receivers_name(env, tracee_word(env, from), to);
    if (!message->gone)
        receivers_sent(&sequence->receivers, enif_hash(ERL_NIF_INTERNAL_HASH, term, 0),
                       receiver_of(env, sequence, to));
    if (diagram->sent >= diagram->messages_most) {
        diagram->activity.closed = true;
        diagram->more++;
        return;
    }
    message->from = participant_of(env, sequence, from);
    message->to = participant_of(env, sequence, to);
    if (message->from == UINT32_MAX || message->to == UINT32_MAX)
        diagram->lost++;
    else
        diagram_send(diagram, message);
}

/* Makes PID the owner of the name with KEY; TOLD: by a registration. */
static void name_actor(struct sequence *sequence, ERL_NIF_TERM pid, ERL_NIF_TERM key, bool told)
{
    struct actor *actor = actor_of(sequence, pid), *named = actor_of(sequence, key);

    if (!actor || !named) {
        sequence->diagram.lost++;
        return;
    }
    if (!told && named->told)
        return;
    actor->tracee.name = key;
    named->pid = pid;
    named->told = told;
    if (actor->number)
        sequence->diagram.participants[actor->number - 1].name = key;
}

static void free_actor(struct sequence *sequence, struct actor *actor)
{
    tracees_remove(&sequence->actors, &actor->tracee);
    stack_free(&actor->doing.stack);
    free(actor);
}

/* Keeps an actor that is a participant, as it may still get messages. */
static void forget_actor(struct sequence *sequence, struct actor *actor)
{
    if (actor && !actor->number)
        free_actor(sequence, actor);
}

TH_TRACER_ENABLED(generic)
{
    ERL_NIF_TERM answer = output_enabled(env, tag, state, TH_TRACER_ATOM(env, discard));

    if (output_begins(env, tag, state))
        sequence_of(env, state);
    return answer;
}

TH_TRACER_ENABLED(send)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_ENABLED(receive)
{
    return TH_TRACER_ATOM(env, trace);
}

/* Only a picture has room for what processes do between messages. */
static ERL_NIF_TERM enabled_activity(ErlNifEnv *env, ERL_NIF_TERM state)
{
    struct output *output = output_of(env, state);

    return output && output->settings.format == FORMAT_SVG ? TH_TRACER_ATOM(env, trace)
                                                           : TH_TRACER_ATOM(env, discard);
}

TH_TRACER_ENABLED(call)
{
    return enabled_activity(env, state);
}

TH_TRACER_ENABLED(running_procs)
{
    return enabled_activity(env, state);
}

TH_TRACER_ENABLED(procs)
{
    return tag == TH_TRACER_ATOM(env, register) || tag == TH_TRACER_ATOM(env, unregister) ||
                   tag == TH_TRACER_ATOM(env, exit)
               ? TH_TRACER_ATOM(env, trace)
               : TH_TRACER_ATOM(env, discard);
}

TH_TRACER_TRACE(send)
{
    struct sequence *sequence = sequence_of(env, state);
    struct message message = {.gone = tag == TH_TRACER_ATOM(env, send_to_non_existing_process)};
    char text[TEXT_KEPT];
    ERL_NIF_TERM to;

    if (!sequence || !enif_get_map_value(env, opts, TH_TRACER_ATOM(env, extra), &to))
        return;
    message.moment = moment_take(env, opts, ERL_NIF_NSEC);
    if (enif_snprintf(text, sizeof text, "%#T", term) >= (int)sizeof text - 1)
        strcpy(text + sizeof text - 4, "...");
    message.text = text;
    pthread_mutex_lock(&sequence->lock);
    add_message(env, sequence, &message, term, tracee, to);
    pthread_mutex_unlock(&sequence->lock);
}

/* The event only reveals the owner of a name. */
TH_TRACER_TRACE(receive)
{
    struct sequence *sequence = sequence_of(env, state);
    ErlNifUInt64 hash = enif_hash(ERL_NIF_INTERNAL_HASH, term, 0);
    ERL_NIF_TERM key;

    if (!sequence)
        return;
    tracee = tracee_word(env, tracee);
    pthread_mutex_lock(&sequence->lock);
    key = receivers_received(env, &sequence->receivers, hash, tracee);
    if (key)
        name_actor(sequence, tracee, key, false);
    pthread_mutex_unlock(&sequence->lock);
}

TH_TRACER_TRACE(procs)
{
    struct sequence *sequence = sequence_of(env, state);
    struct actor *named;

    if (!sequence)
        return;
    tracee = tracee_word(env, tracee);
    pthread_mutex_lock(&sequence->lock);
    if (tag == TH_TRACER_ATOM(env, register) && enif_is_atom(env, term)) {
        name_actor(sequence, tracee, names_key(term, tracee), true);
    } else if (tag == TH_TRACER_ATOM(env, unregister)) {
        named = tracees_find(&sequence->actors, names_key(term, tracee));
        if (named) {
            named->pid = 0;
            named->told = false;
        }
        forget_actor(sequence, named);
    } else if (tag == TH_TRACER_ATOM(env, exit)) {
        forget_actor(sequence, tracees_find(&sequence->actors, tracee));
    }
    pthread_mutex_unlock(&sequence->lock);
}

TH_TRACER_TRACE(call)
{
    struct sequence *sequence = sequence_of(env, state);
    struct actor *actor;
    struct mfa mfa;

    if (!sequence || !mfa_read(env, term, &mfa))
        return;
    tracee = tracee_word(env, tracee);
    pthread_mutex_lock(&sequence->lock);
    actor = actor_of(sequence, tracee);
    if (actor)
        activity_call(env, &sequence->diagram.activity, &actor->doing, tracee, tag, &mfa, opts);
    else
        sequence->diagram.lost++;
    pthread_mutex_unlock(&sequence->lock);
}

TH_TRACER_TRACE(running_procs)
{
    struct sequence *sequence = sequence_of(env, state);
    bool in = tag == TH_TRACER_ATOM(env, in) || tag == TH_TRACER_ATOM(env, in_exiting);
    struct moment now = moment_take(env, opts, ERL_NIF_NSEC);
    struct actor *actor;

    (void)term;
    if (!sequence)
        return;
    tracee = tracee_word(env, tracee);
    pthread_mutex_lock(&sequence->lock);
    actor = actor_of(sequence, tracee);
    if (actor)
        activity_schedule(&sequence->diagram.activity, &actor->doing, tracee, in, &now);
    else
        sequence->diagram.lost++;
    pthread_mutex_unlock(&sequence->lock);
}

/* Mandatory; the generic `enabled` discards these events. */
TH_TRACER_TRACE(generic)
{
}

static void tell(const char *what, uint64_t count)
{
    if (count)
        fprintf(stderr, "sequence: %s: %llu\n", what, (unsigned long long)count);
}

static void tell_all(ErlNifEnv *env, const struct diagram *diagram, bool svg)
{
    const struct activity *activity = &diagram->activity;

    output_report_lost(env, "events", diagram->lost + activity->lost);
    if (diagram->more)
        fprintf(stderr, "sequence: messages counted, but not drawn: %llu; the %s\n",
                (unsigned long long)diagram->more,
                svg ? "setting messages limits them"
                    : "settings messages and characters limit them");
    tell("participants counted, but not drawn", diagram->absent);
    tell("messages with another clock than the first, timed relative to that clock's first record",
         diagram->others);
    tell("messages without a time stamp, drawn without a time",
         diagram->timed ? diagram->untimed : 0);
    tell("times on a scheduler and in calls, counted, but not drawn", activity->more);
    tell("times with no known end, not drawn", diagram->unknown);
}

/* Finds the participants of intervals, after the last event, and counts what is not known of them. */
static void find_participants(struct sequence *sequence)
{
    struct diagram *diagram = &sequence->diagram;

    for (uint32_t i = 0; i < diagram->activity.count; i++) {
        struct interval *interval = &diagram->activity.all[i];
        const struct actor *actor = tracees_find(&sequence->actors, interval->who);
        interval->participant = actor && actor->number ? actor->number - 1 : UINT32_MAX;
        diagram->unknown += actor && actor->number && !interval->known;
    }
    for (size_t i = 0; i < sequence->actors.size; i++)
        for (struct tracee *tracee = sequence->actors.slots[i]; tracee; tracee = tracee->next) {
            const struct actor *actor = (const struct actor *)tracee;
            diagram->unknown += actor->number && actor->doing.open;
        }
}

static void draw(ErlNifEnv *env, struct output *output)
{
    static struct sequence none;
    struct sequence *sequence = output->kept ? output->kept : &none;
    struct diagram *diagram = &sequence->diagram;
    bool svg = output->settings.format == FORMAT_SVG;
    struct actor *actor;
    size_t slot = 0;

    find_participants(sequence);
    if (!diagram_lay_out(diagram))
        output_abandon(env, output);
    else if (!svg)
        draw_mermaid(output->file, diagram, output->settings.characters);
    else if (!draw_svg(output->file, diagram))
        output_abandon(env, output);
    tell_all(env, diagram, svg);
    while ((actor = tracees_any(&sequence->actors, &slot)))
        free_actor(sequence, actor);
    free(sequence->actors.slots);
    diagram_free(diagram);
    none = (struct sequence){0};
    free(output->kept);
}

TH_TRACER_UNLOAD()
{
    for (struct output *output = output_end(); output; output = output->next)
        draw(env, output);
    output_close_all(env);
}

/* For an Erlang node; see ../README.md. */
static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0},
                                 {"trace", 5, trace, 0},
                                 {"enabled_send", 3, enabled_send, 0},
                                 {"trace_send", 5, trace_send, 0},
                                 {"enabled_receive", 3, enabled_receive, 0},
                                 {"trace_receive", 5, trace_receive, 0},
                                 {"enabled_procs", 3, enabled_procs, 0},
                                 {"trace_procs", 5, trace_procs, 0},
                                 {"enabled_call", 3, enabled_call, 0},
                                 {"trace_call", 5, trace_call, 0},
                                 {"enabled_running_procs", 3, enabled_running_procs, 0},
                                 {"trace_running_procs", 5, trace_running_procs, 0}};
ERL_NIF_INIT(tracehost_sequence, callbacks, NULL, NULL, NULL, unload)
