#include "check_node.h"

#include <stdio.h>
#include <string.h>

void th_check_node_note(struct th_check_node *node, const struct th_check_call_results *results)
{
    const struct th_check_page *page = th_check_trial_results();

    *node =
        (struct th_check_node){.examined = page->phase == TH_CHECK_ENDED && page->refused == TH_OK,
                               .tracer = results->tracer,
                               .release = results->release};
    for (unsigned i = 0; i < page->count; i++)
        if (page->found[i].rule == TH_RULE_NODE)
            node->found[node->refusals++] = page->found[i];
}

void th_check_node_print(const struct th_check_options *options, struct th_check_known *known)
{
    const struct th_check_node *node = options->node;

    for (unsigned i = 0; i < node->refusals; i++) {
        known->keys[known->count++] = node->found[i].key;
        th_check_result_print(
            options,
            &(struct th_check_shown){.found = &node->found[i],
                                     .show = node->tracer ? "tracers" : "plugins"},
            known->count);
    }
}

void th_check_node_sum_up(const struct th_check_node *node)
{
    if (!node->examined || node->refusals > 0)
        return;
    if (node->release)
        printf("  node     loads the library from OTP %d on\n", node->release);
    else
        puts(
            "  node     does not load the tracer without an ERL_NIF_INIT, as `tracehost new tracer "
            "--erlang` makes it");
}
