#include "tell.h"

#include "host/base/base.h"
#include "host/probe/probe.h"

#include <string.h>

/* The string of its row, "" where the row has none. */
static const char *string_of(const struct th_file_operation *operation, int which)
{
    const char *name = th_file_rows[operation->command].strings[which];

    return strcmp(name, "none") == 0 ? "" : operation->paths[which];
}

void th_file_tell_entry(const struct th_file_operation *operation)
{
    struct th_buffer port = {0};

    if (!TH_PROBE_ENABLED(efile_drv__entry))
        return;
    th_text_print(&port, operation->port);
    TH_PROBE(efile_drv__entry, operation->thread, operation->tag, operation->user_tag,
             (int)operation->command, string_of(operation, 0), string_of(operation, 1),
             operation->integers[0], operation->integers[1], operation->integers[2],
             operation->integers[3], th_buffer_text(&port));
    th_buffer_free(&port);
}

void th_file_tell_return(const struct th_file_operation *operation)
{
    TH_PROBE(efile_drv__return, operation->thread, operation->tag, operation->user_tag,
             (int)operation->command, operation->error == 0, operation->error);
}

void th_file_tell_begin(const struct th_file_operation *operation)
{
    TH_PROBE(efile_drv__int_entry, operation->thread, operation->tag, (int)operation->command);
}

void th_file_tell_end(const struct th_file_operation *operation)
{
    TH_PROBE(efile_drv__int_return, operation->thread, operation->tag, (int)operation->command);
}

void th_file_tell_add(const struct th_file_operation *operation, int length)
{
    struct th_buffer port = {0};

    if (!TH_PROBE_ENABLED(aio_pool__add))
        return;
    th_text_print(&port, operation->port);
    TH_PROBE(aio_pool__add, th_buffer_text(&port), length);
    th_buffer_free(&port);
}

void th_file_tell_get(const struct th_file_operation *operation, int length)
{
    struct th_buffer port = {0};

    if (!TH_PROBE_ENABLED(aio_pool__get))
        return;
    th_text_print(&port, operation->port);
    TH_PROBE(aio_pool__get, th_buffer_text(&port), length);
    th_buffer_free(&port);
}
