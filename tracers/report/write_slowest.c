/* Writes the slowest calls, and the trees of the slowest outermost calls. */
#include "page.h"

/* Writes the members of a call. */
static void write_call(struct writing *writing, const struct slow_call *call)
{
    FILE *file = writing->file;

    fprintf(file,
            "{\"name\":%ld,\"process\":%ld,\"at\":", name_number(&writing->names, &call->function),
            process_number(call->process));
    write_time(file, call->at);
    fprintf(file, ",\"took\":%" PRIu64 ",\"own\":%" PRIu64 ",\"error\":%s,\"args\":", call->took,
            call->own, call->error ? "true" : "false");
    write_string(file, call->arguments);
    fputs(",\"outcome\":", file);
    write_string(file, call->outcome);
}

void write_slowest(struct writing *writing)
{
    struct slow_calls *slowest = &writing->report->slowest.all;

    slowest_sort(slowest);
    fputc('[', writing->file);
    for (size_t i = 0; i < slowest->used; i++) {
        fputs(i ? ",\n" : "\n", writing->file);
        write_call(writing, &slowest->calls[i]);
        fputc('}', writing->file);
    }
    fputc(']', writing->file);
}

/* Writes [parent, name, calls, time, calls of unknown time, calls left out below], parents first;
 * the outermost call's parent is -1. */
static void write_nodes(struct writing *writing, const struct slow_call *call)
{
    for (uint32_t i = 1; i < call->nodes_used; i++) {
        const struct request_node *node = &call->nodes[i];
        fprintf(writing->file, "%s[%ld,%ld,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
                i > 1 ? "," : "", (long)node->parent - 1,
                name_number(&writing->names, &(struct count){.module = node->mfa.module,
                                                             .function = node->mfa.function,
                                                             .arity = node->mfa.arity}),
                node->count, node->took, node->untold, node->more);
    }
}

void write_requests(struct writing *writing)
{
    struct slow_calls *requests = &writing->report->slowest.requests;

    slowest_sort(requests);
    fputc('[', writing->file);
    for (size_t i = 0; i < requests->used; i++) {
        fputs(i ? ",\n" : "\n", writing->file);
        write_call(writing, &requests->calls[i]);
        fputs(",\"nodes\":[", writing->file);
        write_nodes(writing, &requests->calls[i]);
        fputs("]}", writing->file);
    }
    fputc(']', writing->file);
}
