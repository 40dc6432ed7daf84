#include "slots.h"

#include <string.h>

static const struct slot {
    const char *name;
    unsigned arity;
} table[TH_SLOTS] = {
#define SLOT(name, arity, group) {#name, arity},
    TH_TRACER_SLOTS(SLOT)
#undef SLOT
};

const char *th_library_slot_name(enum th_tracer_slot slot)
{
    return table[slot].name;
}

unsigned th_library_slot_arity(enum th_tracer_slot slot)
{
    return table[slot].arity;
}

/* The two generic slots come first, in the order of each pair. */
static enum th_tracer_slot generic_of(size_t slot)
{
    return slot % 2;
}

bool th_library_slots_has_own(const struct th_slots *slots, enum th_tracer_slot slot)
{
    return slots->filled_by[slot] == table[slot].name;
}

void th_library_slots_fill(struct th_slots *slots, const struct th_entry *entry)
{
    *slots = (struct th_slots){0};
    for (size_t i = 0; i < TH_SLOTS; i++) {
        const ErlNifFunc *function =
            th_library_entry_function(entry, table[i].name, table[i].arity);
        slots->functions[i] = function ? function->fptr : slots->functions[generic_of(i)];
        slots->filled_by[i] = function ? table[i].name : slots->filled_by[generic_of(i)];
    }
}

enum th_status th_library_slots_check(const struct th_slots *slots)
{
    bool enabled = slots->functions[TH_SLOT_enabled] != NULL;
    bool trace = slots->functions[TH_SLOT_trace] != NULL;

    if (enabled && trace)
        return TH_OK;
    return th_error_raise(TH_REFUSED, "it is no tracer: it lacks %s",
                          trace     ? "enabled/3"
                          : enabled ? "trace/5"
                                    : "enabled/3 and trace/5");
}

/* --- Functions that are never called ---------------------------------------------------------- */

static const struct slot *find_slot(const char *name)
{
    for (size_t i = 0; i < TH_SLOTS; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

static bool looks_like_callback(const ErlNifFunc *function)
{
    return (function->arity == 3 && strncmp(function->name, "enabled_", 8) == 0) ||
           (function->arity == 5 && strncmp(function->name, "trace_", 6) == 0);
}

void th_library_slots_remarks(const struct th_entry *entry, struct th_names *remarks)
{
    for (size_t i = 0; i < entry->function_count; i++) {
        const ErlNifFunc *function = &entry->functions[i];
        const struct slot *slot = find_slot(function->name);
        if (slot && slot->arity != function->arity)
            th_library_names_take(remarks, th_printf("%s/%u is never called: the callback is %s/%u",
                                                     function->name, function->arity, slot->name,
                                                     slot->arity));
        else if (!slot && looks_like_callback(function))
            th_library_names_take(remarks,
                                  th_printf("%s/%u is never called: there is no such callback",
                                            function->name, function->arity));
    }
}
