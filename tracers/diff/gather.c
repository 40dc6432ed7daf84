/* Gathers calls and processes. */
#include "gather.h"

#include "../kit/escape.h"
#include "../kit/term.h"
#include "../kit/tracee.h"

struct gathered *gather_begin(void)
{
    struct gathered *gathered = calloc(1, sizeof *gathered);

    if (!gathered)
        return NULL;
    pthread_mutex_init(&gathered->lock, NULL);
    calls_init(&gathered->calls, FRAMES_MOST);
    return gathered;
}

void gather_free(struct gathered *gathered)
{
    struct known *known;
    size_t slot = 0;

    while ((known = tracees_any(&gathered->processes, &slot))) {
        tracees_remove(&gathered->processes, &known->tracee);
        free(known);
    }
    free(gathered->processes.slots);
    calls_free(&gathered->calls);
    free(gathered->functions.slots);
    free(gathered->texts);
    side_free(&gathered->side);
    free(gathered);
}

/* --- Texts --- */

static struct known_text *place_of_text(const struct gathered *gathered, uint64_t hash)
{
    size_t i = hash & (gathered->texts_size - 1);

    while (gathered->texts[i].text && gathered->texts[i].hash != hash)
        i = (i + 1) & (gathered->texts_size - 1);
    return &gathered->texts[i];
}

/* Doubles the table. Without memory the table stays, and may fill up to all but one place. */
static void grow_texts(struct gathered *gathered)
{
    struct gathered old = *gathered;
    size_t size = old.texts_size ? 2 * old.texts_size : 1024;
    struct known_text *texts = calloc(size, sizeof *texts);

    if (!texts) {
        loss_add();
        return;
    }
    gathered->texts = texts;
    gathered->texts_size = size;
    for (size_t i = 0; i < old.texts_size; i++)
        if (old.texts[i].text)
            *place_of_text(gathered, old.texts[i].hash) = old.texts[i];
    free(old.texts);
}

/* Adds the first bytes of LINE's text, whole characters. */
static uint32_t add_cut(struct gathered *gathered, const struct line *line)
{
    const char *text = line->text;
    size_t size = 0, length;
    char cut[TEXT_MOST];

    if (line->used < TEXT_MOST)
        return side_add_text(&gathered->side, text, line->used);
    while (size < line->used) {
        length = character_size((const unsigned char *)text + size, line->used - size);
        length += !length;
        if (size + length > TEXT_MOST - 3)
            break;
        size += length;
    }
    memcpy(cut, text, size);
    memcpy(cut + size, "...", 3);
    return side_add_text(&gathered->side, cut, size + 3);
}

/* Prints ARGUMENTS without the brackets of the list. */
static void print_arguments(struct line *line, ErlNifEnv *env, ERL_NIF_TERM arguments)
{
    const char *before = "";
    ERL_NIF_TERM head;

    while (enif_get_list_cell(env, arguments, &head, &arguments)) {
        line_add(line, "%s", before);
        term_print(line, env, head, ARGS_BOUNDED);
        before = ",";
    }
}

/* Returns the text of TERM, which has the hash HASHED; 0 if there is no room. */
static uint32_t text_of(ErlNifEnv *env, struct gathered *gathered, ERL_NIF_TERM term,
                        struct hashed hashed, bool arguments)
{
    uint64_t hash = mix(mix(hashed.hash, hashed.pids), arguments);
    struct known_text *place;
    struct line line;

    if (2 * (gathered->texts_used + 1) > gathered->texts_size)
        grow_texts(gathered);
    if (gathered->texts_used + 1 >= gathered->texts_size)
        return 0;
    place = place_of_text(gathered, hash);
    if (place->text)
        return place->text;
    if (gathered->side.texts_used + TEXT_MOST >= TEXTS_MOST) {
        gathered->side.lost[LOST_TEXTS]++;
        return 0;
    }
    line_start(&line);
    if (arguments)
        print_arguments(&line, env, term);
    else
        term_print(&line, env, term, ARGS_BOUNDED);
    place->text = add_cut(gathered, &line);
    place->hash = hash;
    gathered->texts_used += place->text != 0;
    line_drop(&line);
    return place->text;
}

/* --- Functions and processes --- */

static uint64_t hash_function(ERL_NIF_TERM module, ERL_NIF_TERM function, unsigned arity)
{
    struct line line;
    uint64_t hash;

    line_start(&line);
    line_add(&line, "%#T:%#T/%u", module, function, arity);
    hash = hash_bytes(0, line.text, line.used);
    line_drop(&line);
    return hash;
}

/* Returns the number plus 1 of a function; 0 if there is no room. */
static uint32_t number_of_function(struct gathered *gathered, const struct count *function)
{
    struct counts *counts = &gathered->functions;
    struct side *side = &gathered->side;
    struct count *place = counts->size ? counts_place(counts, function) : NULL;
    struct count one = *function;
    struct line line;

    if (place && place->function)
        return (uint32_t)place->events;
    if (!make_room(&side->functions, side->functions_used, &side->functions_size,
                   sizeof *side->functions, FUNCTIONS_MOST))
        return 0;
    one.events = side->functions_used + 1;
    counts_insert(counts, &one);
    line_start(&line);
    line_add_function(&line, function->module, function->function, function->arity);
    side->functions[side->functions_used++] = (struct function){
        .hash = hash_function(function->module, function->function, function->arity),
        .name = side_add_text(side, line.text, line.used),
    };
    line_drop(&line);
    return (uint32_t)one.events;
}

/* Sets name and label of a process from what it is called now. */
static void name_party(struct gathered *gathered, const struct known *known)
{
    struct party *party = &gathered->side.parties[known->number];
    const struct tracee *tracee = &known->tracee;
    struct line line;

    line_start(&line);
    if (tracee->name) {
        line_add(&line, "%#T", tracee->name);
        party->name = hash_bytes(1, line.text, line.used);
        line.used = 0;
    }
    if (tracee_add_label(&line, tracee))
        line_add(&line, " ");
    line_add(&line, "%#T", tracee->term);
    party->label = add_cut(gathered, &line);
    line_drop(&line);
    if (tracee->first.module)
        party->entry =
            hash_function(tracee->first.module, tracee->first.function, tracee->first.arity);
}

struct known *known_process(struct gathered *gathered, ERL_NIF_TERM word)
{
    struct side *side = &gathered->side;
    struct known *known = tracees_find(&gathered->processes, word);

    if (known)
        return known;
    if (!make_room(&side->parties, side->parties_used, &side->parties_size, sizeof *side->parties,
                   PROCESSES_MOST) ||
        !(known = tracees_add(&gathered->processes, word, sizeof *known)))
        return NULL;
    known->number = (uint32_t)side->parties_used++;
    side->parties[known->number] = (struct party){0};
    name_party(gathered, known);
    return known;
}

/* PARENT has started CHILD with {M, F, Args} or {M, F, Arity}. */
static void note_spawn(const struct event *event, ERL_NIF_TERM parent, ERL_NIF_TERM child)
{
    struct gathered *gathered = event->gathered;
    struct known *from, *known = tracees_find(&gathered->processes, child);
    struct party *party;
    ERL_NIF_TERM entry;
    struct mfa mfa;

    if (parent == child)
        return;
    if (known && known->ended) { /* another process with the pid of an older one */
        tracees_remove(&gathered->processes, &known->tracee);
        free(known);
    }
    from = known_process(gathered, parent);
    known = known_process(gathered, child);
    if (!from || !known)
        return;
    party = &gathered->side.parties[known->number];
    if (!party->parent)
        party->parent = from->number + 1;
    if (event->tag == TH_TRACER_ATOM(event->env, spawn))
        party->order = ++gathered->side.parties[from->number].children;
    if (enif_get_map_value(event->env, event->opts, TH_TRACER_ATOM(event->env, extra), &entry) &&
        mfa_read(event->env, entry, &mfa))
        party->entry = hash_function(mfa.module, mfa.function, mfa.arity);
}

/* --- Calls --- */

static void take_outcome(const struct event *event, struct call *call, bool thrown)
{
    struct gathered *gathered = event->gathered;
    struct hashed hashed;
    ERL_NIF_TERM value;

    call->end = thrown ? END_ERROR : END_VALUE;
    if (!enif_get_map_value(event->env, event->opts, TH_TRACER_ATOM(event->env, extra), &value))
        return;
    hashed = hash_term(event->env, gathered, value, (uint32_t)(call - gathered->side.calls), true);
    call->outcome = hashed.hash;
    call->outcome_text = text_of(event->env, gathered, value, hashed, false);
}

static void call_ended(void *of, const struct ended *ended)
{
    const struct event *event = of;
    struct side *side = &event->gathered->side;
    struct call *call = ended->frame.mark ? &side->calls[ended->frame.mark - 1] : NULL;

    if (!call)
        return;
    call->outermost = ended->outermost;
    if (ended->took != TIME_NONE) {
        call->took = (uint64_t)ended->took;
        call->own = ended_own(ended);
        side->timed = 1;
    }
    if (!ended->told)
        return;
    if (event->tag == TH_TRACER_ATOM(event->env, return_to))
        call->end = END_RETURNED;
    else
        take_outcome(event, call, event->tag == TH_TRACER_ATOM(event->env, exception_from));
}

/* Keeps a call. Returns its number plus 1; 0 if there is no room. */
static uint32_t keep_call(const struct event *event, const struct count *function)
{
    struct gathered *gathered = event->gathered;
    struct side *side = &gathered->side;
    struct known *known = known_process(gathered, event->tracee);
    uint32_t number = number_of_function(gathered, function), at = (uint32_t)side->calls_used;
    const ERL_NIF_TERM *elements;
    struct hashed hashed = {0, 0};
    struct call call = {.took = NO_TIME, .own = NO_TIME};
    int size;

    if (!known || !number ||
        !make_room(&side->calls, at, &side->calls_size, sizeof *side->calls, CALLS_MOST)) {
        side->lost[LOST_CALLS]++;
        return 0;
    }
    call.process = known->number;
    call.function = number - 1;
    if (enif_get_tuple(event->env, event->term, &size, &elements) &&
        enif_is_list(event->env, elements[2])) {
        hashed = hash_term(event->env, gathered, elements[2], at, false);
        call.arguments = hashed.hash;
        call.arguments_text = text_of(event->env, gathered, elements[2], hashed, true);
    }
    side->calls[side->calls_used++] = call;
    if (!side->parties[known->number].calls++)
        side->parties[known->number].first = at + 1;
    return at + 1;
}

/* Begins a call. Its caller is the nearest open call that is certainly open. */
static void begin_call(const struct event *event, struct timing *timing)
{
    struct gathered *gathered = event->gathered;
    uint32_t number = keep_call(event, &timing->function);
    const struct process_calls *open;
    const struct open_call *around;

    timing->caller = mfa_of_caller(event->env, event->opts);
    if (!timing_begin(timing, number) || !number)
        return;
    open = calls_of(calls_shard(&gathered->calls, event->tracee), event->tracee);
    around = calls_around(open, open->used - 1);
    if (around)
        gathered->side.calls[number - 1].parent = around->mark;
}

void gather_call(const struct event *event)
{
    ErlNifEnv *env = event->env;
    struct side *side = &event->gathered->side;
    struct moment moment = moment_take(env, event->opts, ERL_NIF_NSEC);
    struct timing timing = {
        .env = env,
        .calls = &event->gathered->calls,
        .process = event->tracee,
        .now = timing_time(&event->gathered->clock, &moment, &event->gathered->untimed),
        .ended = call_ended,
        .of = (void *)event};
    bool called = event->tag == TH_TRACER_ATOM(env, call);
    bool thrown = event->tag == TH_TRACER_ATOM(env, exception_from);
    struct mfa to;

    if (event->tag == TH_TRACER_ATOM(env, return_to)) {
        side->told = 1;
        if (mfa_read(env, event->term, &to))
            timing_return_to(&timing, &to);
        return;
    }
    if (!mfa_read(env, event->term, &to) || !to.function)
        return;
    timing.function =
        (struct count){.module = to.module, .function = to.function, .arity = to.arity};
    if (called) {
        begin_call(event, &timing);
    } else {
        side->told = 1;
        side->lost[LOST_STRAYS] += !timing_end(&timing, thrown);
    }
}

void gather_life(const struct event *event)
{
    struct gathered *gathered = event->gathered;
    struct timing timing = {.env = event->env,
                            .calls = &gathered->calls,
                            .process = event->tracee,
                            .ended = call_ended,
                            .of = (void *)event};
    ERL_NIF_TERM other = tracee_word(event->env, event->term);
    struct known *known;

    if (event->tag == TH_TRACER_ATOM(event->env, spawn)) {
        if (enif_is_pid(event->env, other))
            note_spawn(event, event->tracee, other);
        return;
    }
    if (event->tag == TH_TRACER_ATOM(event->env, spawned)) {
        if (enif_is_pid(event->env, other))
            note_spawn(event, other, event->tracee);
        return;
    }
    known = known_process(gathered, event->tracee);
    if (!known)
        return;
    if (event->tag == TH_TRACER_ATOM(event->env, register) &&
        enif_is_atom(event->env, event->term)) {
        known->tracee.name = event->term;
        name_party(gathered, known);
    } else if (event->tag == TH_TRACER_ATOM(event->env, exit)) {
        timing_exit(&timing);
        known->ended = true;
    }
}

void gather_end(struct gathered *gathered)
{
    struct side *side = &gathered->side;
    struct repairs repairs = {0};
    struct losses lost = {0};

    calls_losses(&gathered->calls, &lost, &repairs);
    side->lost[LOST_MEMORY] += lost.lost;
    side->lost[LOST_FRAMES] += lost.forgotten;
    side->lost[LOST_DOUBTS] = repairs.doubtful;
    side->lost[LOST_CLOCKS] = gathered->untimed.others;
    side->lost[LOST_MEMORY] += gathered->functions.lost;
}
