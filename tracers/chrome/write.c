/* Writes events as lines of the file. */
#include "chrome.h"

static void add_time(struct line *line, int64_t time)
{
    line_add(line, "%s%lld.%03lld", time < 0 ? "-" : "", llabs(time) / 1000, llabs(time) % 1000);
}

/* Adds a process or a name. */
static void add_term(struct line *line, ERL_NIF_TERM term)
{
    struct line text;

    line_start(&text);
    line_add_name(&text, term);
    line_add_json(line, text.text, text.used, TIMELINE_NAME);
    line_drop(&text);
}

/* Returns whether the event belongs to a share before. */
static bool is_past(struct chrome *chrome)
{
    chrome->begun |= past_is_played();
    return past_is_played();
}

static void begin(struct chrome *chrome, struct line *line, const char *kind, unsigned tid)
{
    line_start(line);
    line_add(line, "%s{\"ph\":\"%s\",\"pid\":1", chrome->begun ? "," : "[\n", kind);
    if (tid)
        line_add(line, ",\"tid\":%u", tid);
}

static void end(struct chrome *chrome, struct line *line)
{
    size_t size = line->used + 2;

    line_add(line, "}");
    chrome->begun |= !line->short_of_memory;
    line_end(line, chrome->timeline.file);
    timeline_written(&chrome->timeline, size);
}

void write_name(struct process *process)
{
    struct line line, label;

    if (is_past(chrome_of_process(process)))
        return;
    begin(chrome_of_process(process), &line, "M", process->tid);
    line_add(&line, ",\"name\":\"thread_name\",\"args\":{\"name\":\"");
    line_start(&label);
    if (tracee_add_label(&label, &process->tracee)) {
        line_add_json(&line, label.text, label.used, TIMELINE_NAME);
        line_add(&line, " ");
    }
    line_drop(&label);
    add_term(&line, process->tracee.term);
    line_add(&line, "\"}");
    end(chrome_of_process(process), &line);
}

void write_label(struct chrome *chrome, const char *label)
{
    struct line line;

    begin(chrome, &line, "M", 0);
    line_add(&line, ",\"name\":\"process_labels\",\"args\":{\"labels\":\"");
    line_add_json(&line, label, strlen(label), TIMELINE_NAME);
    line_add(&line, "\"}");
    end(chrome, &line);
}

void write_slice(struct process *process, char kind, const char *category, const char *name)
{
    struct line line;

    if (is_past(chrome_of_process(process)))
        return;
    begin(chrome_of_process(process), &line, kind == 'B' ? "B" : "E", process->tid);
    line_add(&line, ",\"ts\":");
    add_time(&line, process->last);
    line_add(&line, ",\"cat\":\"%s\",\"name\":\"", category);
    line_add_json(&line, name, strlen(name), TIMELINE_NAME);
    line_add(&line, "\"");
    end(chrome_of_process(process), &line);
}

void write_arrow(struct process *process, const char *kind, unsigned long long id)
{
    struct line line;

    if (is_past(chrome_of_process(process)))
        return;
    begin(chrome_of_process(process), &line, kind, process->tid);
    line_add(&line, ",\"ts\":");
    add_time(&line, process->last);
    line_add(&line, ",\"cat\":\"message\",\"name\":\"message\",\"id\":%llu%s", id,
             *kind == 'f' ? ",\"bp\":\"e\"" : "");
    end(chrome_of_process(process), &line);
}

void write_counter(struct process *process, const char *name, int64_t time, const char *first,
                   ErlNifUInt64 value)
{
    struct line line;

    if (is_past(chrome_of_process(process)))
        return;
    begin(chrome_of_process(process), &line, "C", 0);
    line_add(&line, ",\"ts\":");
    add_time(&line, time);
    line_add(&line, ",\"name\":\"%s ", name);
    add_term(&line, process->tracee.term);
    line_add(&line, "\",\"args\":{\"%s\":%llu}", first, (unsigned long long)value);
    end(chrome_of_process(process), &line);
}
