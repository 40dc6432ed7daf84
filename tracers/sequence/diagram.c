#include "diagram.h"

/* Makes room for one more element of SIZE bytes after COUNT; *ROOM counts elements. */
static bool make_room(void **elements, uint32_t count, uint32_t *room, size_t size)
{
    uint32_t more = *room ? 2 * *room : 64;
    void *grown;

    if (count < *room)
        return true;
    grown = more > *room ? realloc(*elements, more * size) : NULL;
    if (!grown)
        return false;
    *elements = grown;
    *room = more;
    return true;
}

uint32_t diagram_join(struct diagram *diagram, ERL_NIF_TERM term, ERL_NIF_TERM name,
                      const char *text)
{
    uint32_t number = diagram->count;
    void *all = diagram->participants;
    char *copy = text ? strdup(text) : NULL;

    if ((text && !copy) ||
        !make_room(&all, number, &diagram->size, sizeof *diagram->participants)) {
        free(copy);
        return UINT32_MAX;
    }
    diagram->participants = all;
    diagram->participants[number] =
        (struct participant){.term = term, .name = name, .text = copy, .same = number};
    return diagram->count++;
}

uint32_t diagram_remote(struct diagram *diagram, const char *text)
{
    for (uint32_t i = 0; i < diagram->count; i++)
        if (diagram->participants[i].text && strcmp(diagram->participants[i].text, text) == 0)
            return i;
    return diagram_join(diagram, 0, 0, text);
}

static void note_moment(struct diagram *diagram, const struct moment *moment)
{
    if (moment->clock == NODE_CLOCK && !diagram->begun) {
        diagram->begun = true;
        diagram->began = moment->time;
    }
    if (!moment->stamped) {
        diagram->untimed++;
        return;
    }
    if (!diagram->timed)
        diagram->clock = moment->clock;
    diagram->timed = true;
    diagram->others += moment->clock != diagram->clock;
}

bool diagram_time(const struct diagram *diagram, const struct moment *moment, int64_t *time)
{
    *time =
        moment->clock == NODE_CLOCK ? moment_between(diagram->began, moment->time) : moment->time;
    return moment->stamped || !diagram->timed;
}

void diagram_send(struct diagram *diagram, const struct message *message)
{
    void *all = diagram->messages;
    char *text = strdup(message->text);

    if (!text || !make_room(&all, diagram->sent, &diagram->room, sizeof *diagram->messages)) {
        free(text);
        diagram->lost++;
        return;
    }
    diagram->messages = all;
    diagram->messages[diagram->sent] = *message;
    diagram->messages[diagram->sent++].text = text;
    note_moment(diagram, &message->moment);
    diagram->participants[message->from].count++;
    diagram->participants[message->to].count++;
}

static bool participant_is_name(const struct participant *participant)
{
    return participant->term && participant->term == participant->name;
}

/* Identifies a name that got messages before its owner was known with the last process that had it.
 */
static void find_same(struct diagram *diagram)
{
    struct participant *all = diagram->participants;

    for (uint32_t i = 0; i < diagram->count; i++)
        for (uint32_t j = diagram->count; j-- > 0 && participant_is_name(&all[i]);)
            if (all[j].name == all[i].term && i != j) {
                all[i].same = j;
                all[j].count += all[i].count;
                break;
            }
}

struct rank {
    uint64_t count;
    uint32_t number;
};

static int compare_ranks(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;

    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

static int compare_numbers(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;

    return (a->number > b->number) - (a->number < b->number);
}

bool diagram_lay_out(struct diagram *diagram)
{
    struct rank *ranks = calloc(diagram->count + 1, sizeof *ranks);
    uint32_t known = 0, own;

    diagram->heads = calloc(diagram->count + 1, sizeof *diagram->heads);
    if (!ranks || !diagram->heads) {
        free(ranks);
        return false;
    }
    find_same(diagram);
    for (uint32_t i = 0; i < diagram->count; i++)
        if (diagram->participants[i].same == i && diagram->participants[i].count)
            ranks[known++] = (struct rank){diagram->participants[i].count, i};
    own = diagram->most && diagram->most < known ? diagram->most : known;
    qsort(ranks, known, sizeof *ranks, compare_ranks);
    qsort(ranks, own, sizeof *ranks, compare_numbers);
    diagram->merged = known - own;
    diagram->columns = own + (known > own);
    for (uint32_t i = known; i-- > 0;) {
        uint32_t column = i < own ? i : own;
        diagram->participants[ranks[i].number].column = column;
        diagram->heads[column] = ranks[i].number;
    }
    free(ranks);
    return true;
}

void diagram_name(const struct diagram *diagram, uint32_t column, struct line *line)
{
    const struct participant *participant = &diagram->participants[diagram->heads[column]];

    line_start(line);
    if (diagram->merged && column + 1 == diagram->columns)
        line_add(line, "others (%u)", diagram->merged);
    else if (participant->text)
        line_add(line, "%s", participant->text);
    else if (participant->name && !participant_is_name(participant)) {
        line_add_name(line, names_name(participant->name));
        line_add(line, " %#T", participant->term);
    } else if (participant->first.module) {
        line_add_function(line, participant->first.module, participant->first.function,
                          participant->first.arity);
        line_add(line, " %#T", participant->term);
    } else {
        line_add_name(line, participant->name ? names_name(participant->name) : participant->term);
    }
}

void message_text(const struct message *message, char text[TEXT_KEPT])
{
    const char *from = message->text, *end;
    size_t used = 0;

    while (*from && used + 1 < TEXT_KEPT) {
        text[used++] = *from++;
        if (used < 5 || strncmp(from - 5, "#Ref<", 5) != 0)
            continue;
        end = from + strspn(from, "0123456789.");
        if (*end == '>') {
            used--; /* keeps the text before the < */
            from = end + 1;
        }
    }
    text[used] = 0;
}

void diagram_free(struct diagram *diagram)
{
    for (uint32_t i = 0; i < diagram->count; i++)
        free(diagram->participants[i].text);
    for (uint32_t i = 0; i < diagram->sent; i++)
        free(diagram->messages[i].text);
    free(diagram->participants);
    free(diagram->messages);
    free(diagram->heads);
    free(diagram->activity.all);
}
