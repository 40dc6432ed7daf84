/* Writes processes, the timeline, and the pairs of senders and receivers. */
#include "page.h"

enum unit { RUNNING, CALLS, EVENTS };

static enum unit unit_of(const struct report *report)
{
    if (!report->clock.timed)
        return EVENTS;
    return report->scheduling ? RUNNING : report->told ? CALLS : EVENTS;
}

static void write_entry(FILE *file, const struct process *process)
{
    const struct mfa *entry = &process->entry;

    if (!entry->module || process->port)
        write_term(file, entry->module);
    else
        write_function(file, entry->module, entry->function, entry->arity);
}

static void write_life(struct writing *writing, const struct process *process)
{
    const struct process *parent =
        process->parent ? tracees_find(&writing->report->processes, process->parent) : NULL;
    FILE *file = writing->file;

    fputs("\"id\":", file);
    write_term(file, process->tracee.term);
    fputs(",\"name\":", file);
    write_term(file, process->tracee.name);
    fprintf(file, ",\"kind\":\"%s\",\"entry\":", process->port ? "port" : "process");
    write_entry(file, process);
    fputs(",\"parent\":", file);
    write_count(file, parent ? parent->number : 0, parent);
    fputs(",\"born\":", file);
    write_time(file, process->born);
    fputs(",\"died\":", file);
    write_time(file, process->died);
    fputs(",\"reason\":", file);
    write_string(file, process->reason);
}

static void write_process(struct writing *writing, const struct process *process)
{
    const struct report *report = writing->report;
    const struct sums *sums = &process->sums;
    bool timed = report->clock.timed;
    FILE *file = writing->file;

    fputc('{', file);
    write_life(writing, process);
    fprintf(file, ",\"events\":%" PRIu64 ",\"calls\":%" PRIu64 ",\"own\":", sums->events,
            sums->calls);
    write_count(file, process->own, timed && sums->calls);
    fputs(",\"running\":", file);
    write_count(file, process->ran, timed && report->scheduling);
    fprintf(file,
            ",\"sent\":%" PRIu64 ",\"received\":%" PRIu64 ",\"collections\":%" PRIu64
            ",\"collecting\":",
            sums->sent, sums->received, process->collections);
    write_count(file, process->collecting_time, timed && process->collections);
    fputc('}', file);
}

void write_processes(struct writing *writing)
{
    uint32_t number = 0;

    for (struct process *process = writing->report->first; process; process = process->next)
        process->number = number++;
    fputc('[', writing->file);
    for (struct process *process = writing->report->first; process; process = process->next) {
        fputs(process->number ? ",\n" : "\n", writing->file);
        write_process(writing, process);
    }
    fputc(']', writing->file);
}

/* --- the timeline --- */

static uint64_t amount_of(const struct bin *bin, enum unit unit)
{
    return unit == EVENTS ? bin->events : bin->busy;
}

/* Returns the level of AMOUNT: at least 1 if AMOUNT is not 0. */
static unsigned level_of(uint64_t amount, uint64_t most)
{
    double part = most ? (double)amount / (double)most : 0;
    unsigned level = part < 1 ? (unsigned)(part * (LEVELS - 1)) : LEVELS - 1;

    return level || !amount ? level : 1;
}

static void write_bins(FILE *file, const struct process *process, enum unit unit, uint64_t most,
                       bool *first)
{
    const struct bins *bins = &process->bins;
    uint32_t begin = 0, end = bins->count;

    while (begin < end && !amount_of(&bins->bins[begin], unit))
        begin++;
    while (end > begin && !amount_of(&bins->bins[end - 1], unit))
        end--;
    if (begin == end)
        return;
    fprintf(file, "%s[%" PRIu32 ",%" PRIu32 ",\"", *first ? "\n" : ",\n", process->number,
            bins->first + begin);
    for (uint32_t i = begin; i < end; i++) {
        char level = (char)('0' + level_of(amount_of(&bins->bins[i], unit), most));
        if (level == '<')
            fputs("\\u003c", file);
        else
            fputc(level == '\\' ? '~' : level, file);
    }
    fputs("\"]", file);
    *first = false;
}

/* Returns the highest amount of a bin: for times its width, otherwise the maximum of all bins. */
static uint64_t most_of(const struct report *report, enum unit unit)
{
    uint64_t most = 0, amount;

    if (unit != EVENTS)
        return (uint64_t)1 << report->shift;
    for (struct process *process = report->first; process; process = process->next)
        for (uint32_t i = 0; i < process->bins.count; i++) {
            amount = process->bins.bins[i].events;
            most = amount > most ? amount : most;
        }
    return most;
}

void write_timeline(struct writing *writing)
{
    static const char *const units[] = {"running", "calls", "events"};
    struct report *report = writing->report;
    enum unit unit = unit_of(report);
    FILE *file = writing->file;
    bool first = true;
    uint64_t most;

    while (report->clock.latest >> report->shift >= BINS)
        report->shift++; /* the latest event belonged to no process */
    for (struct process *process = report->first; process; process = process->next)
        bins_widen(&process->bins, report->shift);
    most = most_of(report, unit);
    fprintf(file,
            "{\"unit\":\"%s\",\"width\":%" PRIu64 ",\"bins\":%" PRId64 ",\"most\":", units[unit],
            (uint64_t)1 << report->shift,
            report->clock.timed ? (report->clock.latest >> report->shift) + 1 : 0);
    write_count(file, most, unit == EVENTS && most);
    fputs(",\"rows\":[", file);
    for (struct process *process = report->first; process; process = process->next)
        write_bins(file, process, unit, most, &first);
    fputs("]}", file);
}

/* --- messages --- */

/* Sorts by messages sent, the most first, then by number. */
static int compare(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;

    if (a->sent != b->sent)
        return a->sent < b->sent ? 1 : -1;
    if (process_number(a->from) != process_number(b->from))
        return process_number(a->from) < process_number(b->from) ? -1 : 1;
    return (process_number(a->to) > process_number(b->to)) -
           (process_number(a->to) < process_number(b->to));
}

static void write_pair(FILE *file, const struct pair *pair)
{
    const struct histogram *times = &pair->times;
    bool known = times->count > 0;

    fprintf(file, "{\"from\":%ld,\"to\":%ld,\"sent\":%" PRIu64 ",\"matched\":%" PRIu64 ",\"p50\":",
            process_number(pair->from), process_number(pair->to), pair->sent, pair->matched);
    write_count(file, known ? histogram_percentile(times, 50) : 0, known);
    fputs(",\"p90\":", file);
    write_count(file, known ? histogram_percentile(times, 90) : 0, known);
    fputs(",\"p99\":", file);
    write_count(file, known ? histogram_percentile(times, 99) : 0, known);
    fputs(",\"max\":", file);
    write_count(file, times->max, known);
    fputs(",\"total\":", file);
    write_count(file, pair->total, known);
    fputc('}', file);
}

void write_messages(struct writing *writing)
{
    struct messages *messages = &writing->report->messages;
    size_t used = 0;

    for (size_t i = 0; i < messages->size; i++)
        if (messages->pairs[i].there) {
            struct pair pair = messages->pairs[i];
            messages->pairs[i] = (struct pair){0};
            messages->pairs[used++] = pair;
        }
    if (used)
        qsort(messages->pairs, used, sizeof *messages->pairs, compare);
    fputc('[', writing->file);
    for (size_t i = 0; i < used; i++) {
        fputs(i ? ",\n" : "\n", writing->file);
        write_pair(writing->file, &messages->pairs[i]);
    }
    fputc(']', writing->file);
}
