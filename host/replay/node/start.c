/*
 * Starting the agent in the node, by remote calls.
 *
 * libei's own remote calls wait without limit, so only their request is used. A call is a message to the
 * process `rex`, which answers {rex, Result}. The agent sends nothing before `go`, so an answer is
 * never lost between other messages.
 *
 * The module is loaded and started by one call, so that no end of this process leaves a module in the
 * node that nobody removes. With no_load, the node evaluates evaluator.expr, which evaluates the text
 * of the module, and nothing is loaded.
 */
#include "node_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define AGENT "tracehost_agent"

enum { CALL_SECONDS = 30, OLDEST_RELEASE = 24 };

/* --- Remote calls ----------------------------------------------------------------------------------- */

/* Says why there is no answer to a call. */
static bool say_no_answer(const struct th_node_client *client, int error, const char *wrong)
{
    const char *node = client->request->node;

    if (error == EINTR)
        return th_node_say(client, "ended by a signal");
    if (error == EPROTO)
        return th_node_say(client, "%s %s", node, wrong);
    if (error == ENOTCONN || error == ECONNRESET)
        return th_node_say(client, "%s closed the connection before it traced", node);
    if (error == ETIMEDOUT)
        return th_node_say(client,
                           "%s does not answer a call within %d seconds: it is stopped or hangs",
                           node, CALL_SECONDS);
    return th_node_say(client, "lost the connection to %s: %s", node, strerror(error));
}

/* Waits for {rex, Result}. Result is valid until the next call. */
static bool wait_for_answer(struct th_node_client *client, struct th_node_place *result)
{
    int64_t deadline = th_node_now() + CALL_SECONDS * INT64_C(1000000000);
    const char *wrong;
    size_t arity;
    int error = 0;

    while (!error) {
        int got = th_node_next_message(client, result, &wrong);
        if (got > 0 && th_node_read_tuple(result, &arity) && arity == 2 &&
            th_node_read_atom(result, "rex"))
            return true;
        if (got > 0)
            continue; /* a message for an earlier client of this name */
        error = got < 0 ? EPROTO : th_node_wait(client, client->socket, POLLIN, deadline);
        if (!error && (error = th_node_receive(client)) == EAGAIN)
            error = 0;
    }
    return say_no_answer(client, error, wrong);
}

/* Returns whether RESULT is {badrpc, Reason}, and then says so. */
static bool say_bad_call(const struct th_node_client *client, struct th_node_place result,
                         const char *module, const char *function)
{
    char text[300];
    size_t arity;

    if (!th_node_read_tuple(&result, &arity) || arity != 2 || !th_node_read_atom(&result, "badrpc"))
        return false;
    th_node_text(&result, text, sizeof text);
    th_node_say(client, "%s cannot call %s:%s: %s", client->request->node, module, function, text);
    return true;
}

bool th_node_call(struct th_node_client *client, const char *module, const char *function,
                  ei_x_buff *arguments, struct th_node_place *result)
{
    bool sent =
        arguments->buff && ei_rpc_to(&client->self, client->socket, (char *)module,
                                     (char *)function, arguments->buff, arguments->index) >= 0;

    if (arguments->buff)
        ei_x_free(arguments);
    if (!sent)
        return th_node_say(client, "lost the connection to %s: it takes no call of %s:%s",
                           client->request->node, module, function);
    return wait_for_answer(client, result) && !say_bad_call(client, *result, module, function);
}

/* Returns new ARGUMENTS, a list of COUNT. An element that cannot be added, for want of memory, makes
 * arguments that no call accepts. */
static ei_x_buff begin_arguments(int count)
{
    ei_x_buff made;

    if (ei_x_new(&made) != 0)
        return (ei_x_buff){0};
    ei_x_encode_list_header(&made, count);
    return made;
}

static void add_encoded(ei_x_buff *arguments, const void *term, size_t size)
{
    if (size > 0)
        ei_x_append_buf(arguments, term, (int)size);
}

/* --- The steps -------------------------------------------------------------------------------------- */

static bool check_release(struct th_node_client *client)
{
    ei_x_buff arguments = begin_arguments(1);
    struct th_node_place result;
    char release[16];

    ei_x_encode_atom(&arguments, "otp_release");
    ei_x_encode_empty_list(&arguments);
    if (!th_node_call(client, "erlang", "system_info", &arguments, &result))
        return false;
    th_node_text(&result, release, sizeof release);
    return atoi(release) >= OLDEST_RELEASE ||
           th_node_say(client, "%s runs OTP %s: tracehost traces nodes of OTP %d and later",
                       client->request->node, release, OLDEST_RELEASE);
}

/* Two commands at once would replace each other's module. */
static bool check_not_loaded(struct th_node_client *client)
{
    ei_x_buff arguments = begin_arguments(1);
    struct th_node_place result;

    ei_x_encode_atom(&arguments, AGENT);
    ei_x_encode_empty_list(&arguments);
    if (!th_node_call(client, "code", "is_loaded", &arguments, &result))
        return false;
    return th_node_read_atom(&result, "false") ||
           th_node_say(client,
                       "another tracehost traces %s (its module is " AGENT "): end that one first",
                       client->request->node);
}

/* Adds Client and Wish. */
static void add_client_and_wish(const struct th_node_client *client, ei_x_buff *to)
{
    ei_x_encode_pid(to, ei_self((ei_cnode *)&client->self));
    add_encoded(to, client->request->wish + 1, client->request->wish_size - 1);
}

/* Calls lists:zipwith3(fun erlang:apply/3, [code, Agent], [load_binary, start],
 *                      [[Agent, "tracehost_agent.erl", Code], [Client, Wish]]): loads and starts.
 * *RESULT gets that of start/2. */
static bool load_and_start(struct th_node_client *client, struct th_node_place *result)
{
    erlang_fun apply = {.arity = 3, .module = "erlang", .type = EI_FUN_EXPORT};
    ei_x_buff arguments = begin_arguments(4);
    size_t length;

    apply.u.exprt.func = (char *)"apply";
    ei_x_encode_fun(&arguments, &apply);
    ei_x_encode_list_header(&arguments, 2);
    ei_x_encode_atom(&arguments, "code");
    ei_x_encode_atom(&arguments, AGENT);
    ei_x_encode_empty_list(&arguments);
    ei_x_encode_list_header(&arguments, 2);
    ei_x_encode_atom(&arguments, "load_binary");
    ei_x_encode_atom(&arguments, "start");
    ei_x_encode_empty_list(&arguments);
    ei_x_encode_list_header(&arguments, 2);
    ei_x_encode_list_header(&arguments, 3);
    ei_x_encode_atom(&arguments, AGENT);
    ei_x_encode_string(&arguments, AGENT ".erl");
    ei_x_encode_binary(&arguments, th_node_agent_code, (int)th_node_agent_code_size);
    ei_x_encode_empty_list(&arguments);
    ei_x_encode_list_header(&arguments, 2);
    add_client_and_wish(client, &arguments);
    ei_x_encode_empty_list(&arguments);
    ei_x_encode_empty_list(&arguments);
    ei_x_encode_empty_list(&arguments);
    return th_node_call(client, "lists", "zipwith3", &arguments, result) &&
           ((th_node_read_list(result, &length) && length == 2 && th_node_skip(result)) ||
            th_node_say(client, "%s does not load the agent", client->request->node));
}

/* Takes the second element of the tuple {TAG, Element, ...} in RESULT. */
static bool take_element(const struct th_node_client *client, struct th_node_place *result,
                         const char *tag)
{
    size_t arity;

    return (th_node_read_tuple(result, &arity) && arity >= 2 && th_node_read_atom(result, tag)) ||
           th_node_say(client, "%s cannot evaluate the agent (erl_scan, erl_parse, erl_eval)",
                       client->request->node);
}

/* Calls MODULE:FUNCTION with the term of LAST, and takes the element after TAG out of the result. */
static bool call_with_term(struct th_node_client *client, const char *module, const char *function,
                           struct th_node_place last, const char *tag,
                           struct th_node_place *element)
{
    ei_x_buff arguments = begin_arguments(1);
    struct th_node_place term = last;

    th_node_skip(&term);
    add_encoded(&arguments, last.at, (size_t)(term.at - last.at));
    ei_x_encode_empty_list(&arguments);
    return th_node_call(client, module, function, &arguments, element) &&
           take_element(client, element, tag);
}

/* Scans, parses and evaluates evaluator.expr. *RESULT gets that of start/2. */
static bool evaluate_and_start(struct th_node_client *client, struct th_node_place *result)
{
    ei_x_buff text = begin_arguments(1), arguments;
    struct th_node_place parsed, after;

    ei_x_encode_string_len(&text, (const char *)th_node_agent_evaluator,
                           (int)th_node_agent_evaluator_size);
    ei_x_encode_empty_list(&text);
    if (!th_node_call(client, "erl_scan", "string", &text, result) ||
        !take_element(client, result, "ok") ||
        !call_with_term(client, "erl_parse", "parse_exprs", *result, "ok", &parsed))
        return false;
    after = parsed;
    th_node_skip(&after);
    arguments = begin_arguments(2);
    add_encoded(&arguments, parsed.at, (size_t)(after.at - parsed.at));
    ei_x_encode_list_header(&arguments, 3);
    ei_x_encode_tuple_header(&arguments, 2);
    ei_x_encode_atom(&arguments, "Source");
    ei_x_encode_binary(&arguments, th_node_agent_source, (int)th_node_agent_source_size);
    ei_x_encode_tuple_header(&arguments, 2);
    ei_x_encode_atom(&arguments, "Client");
    ei_x_encode_pid(&arguments, ei_self(&client->self));
    ei_x_encode_tuple_header(&arguments, 2);
    ei_x_encode_atom(&arguments, "Wish");
    add_encoded(&arguments, client->request->wish + 1, client->request->wish_size - 1);
    ei_x_encode_empty_list(&arguments);
    ei_x_encode_empty_list(&arguments);
    return th_node_call(client, "erl_eval", "exprs", &arguments, result) &&
           take_element(client, result, "value");
}

/* Removes the module after a start that failed. */
static void unload_agent(struct th_node_client *client)
{
    static const char *const STEPS[] = {"delete", "purge"};
    struct th_node_place result;

    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        ei_x_buff arguments = begin_arguments(1);
        ei_x_encode_atom(&arguments, AGENT);
        ei_x_encode_empty_list(&arguments);
        if (!th_node_call(client, "code", STEPS[i], &arguments, &result))
            return;
    }
}

/* Says which processes the node does not trace for us: LIST. */
static void say_left_out(struct th_node_client *client, struct th_node_place list)
{
    char process[100], tracer[100];
    size_t count, arity;

    if (!th_node_read_list(&list, &count) || !th_node_read_tuple(&list, &arity) || arity != 2)
        return;
    th_node_text(&list, process, sizeof process);
    th_node_text(&list, tracer, sizeof tracer);
    th_node_tell(client, "%zu process%s not traced, as others trace %s already: %s by %s%s", count,
                 count == 1 ? " is" : "es are", count == 1 ? "it" : "them", process, tracer,
                 count == 1 ? "" : ", ...");
}

/* Takes left_out and port from REPORT, a map. */
static void take_report(struct th_node_client *client, struct th_node_place *report,
                        struct th_node_agent *agent)
{
    struct th_node_place value;
    int64_t port;
    size_t pairs;

    agent->port = 0;
    if (!th_node_read_map(report, &pairs))
        return;
    for (bool goes_on = true; goes_on && pairs > 0; pairs--) {
        bool left_out = th_node_read_atom(report, "left_out");
        bool is_port = !left_out && th_node_read_atom(report, "port");
        goes_on = left_out || is_port || th_node_skip(report);
        value = *report;
        goes_on = goes_on && th_node_skip(report);
        if (goes_on && left_out)
            say_left_out(client, value);
        if (goes_on && is_port && th_node_read_integer(&value, &port) && port > 0 && port <= 0xffff)
            agent->port = (unsigned)port;
    }
}

bool th_node_start(struct th_node_client *client, struct th_node_agent *agent)
{
    const struct tracehost_node_request *request = client->request;
    struct th_node_place wish = {request->wish + 1, request->wish + request->wish_size};
    struct th_node_place result, refused;
    size_t arity;

    if (request->wish_size < 2 || !th_node_skip(&wish) || wish.at != wish.end)
        return th_node_say(client, "the wish is no term in external format");
    if (!check_release(client) || (!request->no_load && !check_not_loaded(client)) ||
        !(request->no_load ? evaluate_and_start(client, &result) : load_and_start(client, &result)))
        return false;
    refused = result;
    if (th_node_read_tuple(&refused, &arity) && arity == 2 &&
        th_node_read_atom(&refused, "error")) {
        th_node_say_refusal(client, &refused);
        if (!request->no_load)
            unload_agent(client);
        return false;
    }
    if (!th_node_read_tuple(&result, &arity) || arity != 4 || !th_node_read_atom(&result, "ok") ||
        !th_node_read_pid(&result, &agent->controller) ||
        !th_node_read_pid(&result, &agent->sender))
        return th_node_say(client, "%s does not start the agent", request->node);
    take_report(client, &result, agent);
    return true;
}
