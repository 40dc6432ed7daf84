/*
 * Of each index a sorted array. An instance has one range, from the beginning of its executable
 * memory to the end of it; no two overlap. So finding the function at an address is two binary
 * searches, in the ranges and in the instance's own starts.
 */

#include "instance.h"
#include "code_internal.h"

#include "host/base/base.h"

#include <string.h>

struct range {
    uint64_t high; /* the first address that is beyond */
    uintptr_t low;
    struct th_instance *instance;
};

static struct ranges {
    struct range *items;
    size_t count, capacity;
} ranges[TH_CODE_INDICES];

/* An addition, or a removal. The instance of a removal, or of an addition that a removal follows,
 * may be freed when it is done over in another index: it is not looked at. */
struct operation {
    struct range range;
    bool removes;
};

/* What each index still has to do; then what was done in the staging one. */
static struct operations {
    struct operation *items;
    size_t count, capacity;
} due[TH_CODE_INDICES], staged;

static void note(struct operations *operations, const struct operation *operation)
{
    TH_ARRAY_GROW(operations->items, operations->count, operations->capacity);
    operations->items[operations->count++] = *operation;
}

/* How many ranges end at ADDRESS or below. */
static size_t below(const struct ranges *in, uintptr_t address)
{
    return th_base_count_up_to(in->items, in->count, sizeof *in->items, address);
}

static void insert(struct ranges *in, const struct range *range)
{
    size_t at = below(in, range->low);

    TH_ARRAY_GROW(in->items, in->count, in->capacity);
    memmove(&in->items[at + 1], &in->items[at], (in->count - at) * sizeof *in->items);
    in->items[at] = *range;
    in->count++;
}

static void take_out(struct ranges *in, const struct range *range)
{
    size_t at = below(in, range->low);

    if (at == in->count || in->items[at].instance != range->instance)
        th_bug("code is removed that is in no range");
    in->count--;
    memmove(&in->items[at], &in->items[at + 1], (in->count - at) * sizeof *in->items);
}

static void perform(unsigned index, const struct operation *operation)
{
    (operation->removes ? take_out : insert)(&ranges[index], &operation->range);
}

static void stage(struct th_instance *instance, bool removes)
{
    struct operation operation = {{instance->high, instance->low, instance}, removes};

    if (instance->low == instance->high)
        return; /* it has no code */
    perform(th_code_stage_index(), &operation);
    note(&staged, &operation);
}

void th_code_ranges_add(struct th_instance *instance)
{
    stage(instance, false);
}

void th_code_ranges_remove(struct th_instance *instance)
{
    stage(instance, true);
}

void th_code_ranges_catch_up(unsigned index)
{
    for (size_t i = 0; i < due[index].count; i++)
        perform(index, &due[index].items[i]);
    due[index].count = 0;
}

void th_code_ranges_commit(unsigned index)
{
    for (unsigned i = 0; i < TH_CODE_INDICES; i++)
        for (size_t k = 0; i != index && k < staged.count; k++)
            note(&due[i], &staged.items[k]);
    staged.count = 0;
}

/* --- Finding ---------------------------------------------------------------------------------- */

const struct th_instance *th_code_instance_at(uintptr_t address)
{
    const struct ranges *in = &ranges[th_code_index()];
    size_t at = below(in, address);

    return at < in->count && in->items[at].low <= address ? in->items[at].instance : NULL;
}

bool th_code_place(uintptr_t address, struct th_code_place *place)
{
    const struct th_instance *instance = th_code_instance_at(address);
    uintptr_t offset = instance ? address - instance->base : 0;
    const struct th_symbol *symbol =
        instance ? th_debuginfo_symbols_find(&instance->functions, offset) : NULL;

    *place = (struct th_code_place){
        .instance = instance,
        .function = symbol ? symbol->name : NULL,
        .inside = symbol ? offset - symbol->address : offset,
    };
    return instance != NULL;
}

const struct th_callee *th_code_at(uintptr_t address)
{
    const struct th_instance *instance = th_code_instance_at(address);

    return instance ? th_code_instance_start(instance, address) : NULL;
}
