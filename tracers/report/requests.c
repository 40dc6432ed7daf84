/*
 * Trees of outermost calls: each call with the calls that it made.
 *
 * Calls of one function that follow each other in the same call are one node, with the calls that
 * they made: a loop is as long as its body. So a node of several calls looks for the same function
 * among all its children, a node of one call at its latest child alone, and keeps the order of
 * calls.
 */
#include "report.h"

static bool grow(struct request *request)
{
    uint32_t size = request->size ? 2 * request->size : 16;
    struct request_node *nodes;

    if (request->used < request->size)
        return true;
    size = size > REQUEST_NODES + 1 ? REQUEST_NODES + 1 : size;
    nodes = size > request->size ? realloc(request->nodes, size * sizeof *nodes) : NULL;
    if (!nodes) {
        if (size > request->size)
            loss_add();
        return false;
    }
    request->nodes = nodes;
    request->size = size;
    return true;
}

/* Returns the child of node PARENT that a call of MFA belongs to; 0: none. */
static uint32_t find_child(const struct request *request, uint32_t parent, const struct mfa *mfa)
{
    const struct request_node *nodes = request->nodes;
    uint32_t latest = nodes[parent].latest, child = latest;

    if (!latest || mfa_same(&nodes[latest].mfa, mfa))
        return latest;
    while (nodes[parent].count > 1 && (child = nodes[child].next) != latest)
        if (mfa_same(&nodes[child].mfa, mfa))
            return child;
    return 0;
}

static uint32_t add_child(struct request *request, uint32_t parent, const struct mfa *mfa)
{
    struct request_node *nodes;
    uint32_t child, latest;

    if (!grow(request))
        return 0;
    nodes = request->nodes;
    child = request->used++;
    nodes[child] = (struct request_node){.mfa = *mfa, .parent = parent, .next = child};
    latest = parent ? nodes[parent].latest : 0;
    if (latest) {
        nodes[child].next = nodes[latest].next;
        nodes[latest].next = child;
    }
    return child;
}

uint32_t request_begin(struct process *process, const struct mfa *mfa)
{
    struct request *request = &process->request;
    uint32_t at = request->at, node = 0;

    if (!request->open++) {
        request->used = 1;
        request->out = 0;
        request->broken = false;
        at = request->at = 0;
    }
    if (!request->out && !request->broken) {
        node = at ? find_child(request, at, mfa) : 0;
        node = node ? node : add_child(request, at, mfa);
    }
    if (!node) {
        request->out++;
        if (at)
            request->nodes[at].more++;
        return 0;
    }
    if (at)
        request->nodes[at].latest = node;
    request->nodes[node].count++;
    request->at = node;
    return node;
}

bool request_end(struct process *process, uint32_t node, int64_t took)
{
    struct request *request = &process->request;
    struct request_node *ended;

    if (request->open)
        request->open--;
    if (!node && request->out)
        request->out--;
    if (!node || request->broken)
        return false;
    if (node != request->at) {
        request->broken = true;
        return false;
    }
    ended = &request->nodes[node];
    if (took == TIME_NONE)
        ended->untold++;
    else
        ended->took += (uint64_t)took;
    request->at = ended->parent;
    return !request->open;
}

void request_break(struct process *process)
{
    process->request.broken = true;
    if (process->request.open)
        process->request.open--;
}

void request_copy(const struct request *request, struct slow_call *call)
{
    size_t size = request->used * sizeof *request->nodes;

    call->nodes = malloc(size);
    if (!call->nodes) {
        loss_add();
        return;
    }
    memcpy(call->nodes, request->nodes, size);
    call->nodes_used = request->used;
}
