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

    aliases_note(env, &sequence->aliases, from, term);
    to = receivers_name(env, tracee_word(env, from), to);
    if (!message->gone)
        receivers_sent(&sequence->receivers, enif_hash(ERL_NIF_INTERNAL_HASH, term, 0),
                       receiver_of(env, sequence, to));
    if (diagram->sent >= diagram->messages_most) {
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

/* Keeps an actor that is a participant, as it may still get messages. */
static void forget_actor(struct sequence *sequence, struct actor *actor)
{
    if (!actor || actor->number)
        return;
    tracees_remove(&sequence->actors, &actor->tracee);
    free(actor);
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

/* Mandatory; the generic `enabled` discards these events. */
TH_TRACER_TRACE(generic)
{
}

static void draw(ErlNifEnv *env, struct output *output)
{
    static struct sequence none;
    struct sequence *sequence = output->kept ? output->kept : &none;
    struct diagram *diagram = &sequence->diagram;
    struct actor *actor;
    size_t slot = 0;

    if (!diagram_lay_out(diagram))
        output_abandon(env, output);
    else if (output->settings.format == FORMAT_SVG)
        draw_svg(output->file, diagram);
    else
        draw_mermaid(output->file, diagram, output->settings.characters);
    output_report_lost(env, "events", diagram->lost);
    if (diagram->more)
        fprintf(stderr, "sequence: messages counted, but not drawn: %llu; the %s\n",
                (unsigned long long)diagram->more,
                output->settings.format == FORMAT_SVG
                    ? "setting messages limits them"
                    : "settings messages and characters limit them");
    if (diagram->absent)
        fprintf(stderr, "sequence: participants counted, but not drawn: %u\n", diagram->absent);
    if (diagram->others)
        fprintf(
            stderr,
            "sequence: messages with another clock than the first, timed relative to that clock's "
            "first record: %llu\n",
            (unsigned long long)diagram->others);
    if (diagram->timed && diagram->untimed)
        fprintf(stderr, "sequence: messages without a time stamp, drawn without a time: %llu\n",
                (unsigned long long)diagram->untimed);
    while ((actor = tracees_any(&sequence->actors, &slot))) {
        tracees_remove(&sequence->actors, &actor->tracee);
        free(actor);
    }
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
                                 {"trace_procs", 5, trace_procs, 0}};
ERL_NIF_INIT(sequence, callbacks, NULL, NULL, NULL, unload)
