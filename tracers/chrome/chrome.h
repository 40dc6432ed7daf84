/* Data of a recording, and functions that write its events. Protected by the lock. */
#ifndef CHROME_CHROME_H
#define CHROME_CHROME_H

#include "../kit/escape.h"
#include "../kit/timeline.h"

#define CHROME_LOCAL __attribute__((visibility("hidden")))

struct chrome {
    struct timeline timeline;
    bool begun;
};

static inline struct chrome *chrome_of_process(const struct process *process)
{
    return (struct chrome *)process->timeline;
}

CHROME_LOCAL void write_name(struct process *process);

/* Writes the begin, B, or the end, E, of a slice: some viewers pair them by name. */
CHROME_LOCAL void write_slice(struct process *process, char kind, const char *category,
                              const char *name);

/* Writes the begin, s, or the end, f, of an arrow. */
CHROME_LOCAL void write_arrow(struct process *process, const char *kind, unsigned long long id);

/* Writes a label of the whole drawing, which viewers show as the name of what is traced. */
CHROME_LOCAL void write_label(struct chrome *chrome, const char *label);

CHROME_LOCAL void write_counter(struct process *process, const char *name, int64_t time,
                                const char *first, ErlNifUInt64 value);

#endif
