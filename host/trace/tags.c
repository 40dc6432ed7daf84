/* Tables of trace tags and flags; reads lists of flags. */
#include "tags.h"

#include "host/base/buffer.h"
#include "host/library/name_list.h"

#include <string.h>

const int8_t th_trace_tag_groups[2][TH_TAG_COUNT + 1] = {
    {
#define X(tag, process, port, calls, term, extra) TH_GROUP_##process,
        TH_TRACER_TAGS(X)
#undef X
    },
    {
#define X(tag, process, port, calls, term, extra) TH_GROUP_##port,
        TH_TRACER_TAGS(X)
#undef X
    },
};

const uint32_t th_trace_group_flags[TH_GROUPS] = {
    [TH_GROUP_generic] = TH_FLAG_ALWAYS,
    [TH_GROUP_call] = TH_FLAG_CALL,
    [TH_GROUP_send] = TH_FLAG_SEND,
    [TH_GROUP_receive] = TH_FLAG_RECEIVE,
    [TH_GROUP_procs] = TH_FLAG_PROCS,
    [TH_GROUP_ports] = TH_FLAG_PORTS,
    [TH_GROUP_running_procs] = TH_FLAGS_RUNNING,
    [TH_GROUP_running_ports] = TH_FLAG_RUNNING_PORTS,
    [TH_GROUP_garbage_collection] = TH_FLAG_GC,
};

#define X(tag, process, port, calls, term, extra) \
    _Static_assert((int)TH_TAG_##tag == TH_ATOM_INDEX_##tag - TH_ATOM_INDEX_send, #tag);
TH_TRACER_TAGS(X)
#undef X

/* One name may stand for several flags. */
static const struct {
    const char *name;
    uint32_t flags;
} names[] = {{"all", TH_FLAGS_ALL & ~(TH_FLAG_SILENT | TH_FLAGS_ON_SPAWN | TH_FLAGS_ON_LINK)},
#define X(name, bit, help) {#name, TH_FLAG_##bit},
             TH_FLAGS(X)
#undef X
};

enum { NAMES = sizeof names / sizeof names[0] };

static enum th_status unknown_flag(const char *name, size_t length)
{
    struct th_buffer known = {0};
    char *copy = th_printf("%.*s", (int)length, name);
    const char *texts[NAMES], *nearest;

    for (size_t i = 0; i < NAMES; i++) {
        texts[i] = names[i].name;
        th_buffer_printf(&known, "%s%s", i ? ", " : "", names[i].name);
    }
    nearest = th_library_suggest_nearest(copy, texts, NAMES);
    if (nearest)
        th_error_raise(TH_USAGE, "did you mean '%s'?", nearest);
    else
        th_error_raise(TH_USAGE, "the flags are: %s", th_buffer_text(&known));
    th_error_context("there is no trace flag '%s'", copy);
    th_buffer_free(&known);
    th_free(copy);
    return TH_USAGE;
}

enum th_status th_trace_flags_parse(const char *list, uint32_t *flags)
{
    uint32_t all = 0;

    for (;;) {
        size_t length = strcspn(list, ",");
        size_t i = 0;
        while (i < NAMES &&
               (strlen(names[i].name) != length || memcmp(names[i].name, list, length) != 0))
            i++;
        if (i == NAMES)
            return unknown_flag(list, length);
        all |= names[i].flags;
        if (!list[length])
            break;
        list += length + 1;
    }
    *flags = all;
    return TH_OK;
}
