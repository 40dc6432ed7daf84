/*
 * Lists modules and functions of the node, for the completion of command lines: one remote call, which
 * reads tables of the node. It loads no module, and leaves nothing in the node but a name of ours.
 *
 *     erlang:loaded()                            modules
 *     erlang:get_module_info(Module, functions)  functions, also local ones; an error if Module is not
 *                                                loaded, where Module:module_info() would load it
 */
#include "node_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Calls erlang:FUNCTION, with MODULE and `functions` as arguments unless MODULE is NULL. */
static bool call_erlang(struct th_node_client *client, const char *function, const char *module,
                        struct th_node_place *result)
{
    ei_x_buff arguments;

    if (ei_x_new(&arguments) != 0)
        return false;
    if (module) {
        ei_x_encode_list_header(&arguments, 2);
        ei_x_encode_atom_len_as(&arguments, module, (int)strlen(module), ERLANG_UTF8, ERLANG_UTF8);
        ei_x_encode_atom(&arguments, "functions");
    }
    ei_x_encode_empty_list(&arguments);
    return th_node_call(client, "erlang", function, &arguments, result);
}

/* Writes the elements of the list RESULT: atoms, or {Atom, Arity} as Atom/Arity. Each ends with a 0. */
static bool write_names(struct th_node_place result, FILE *file)
{
    char name[MAXATOMLEN_UTF8];
    size_t length, arity;
    int64_t number;
    bool is_function;

    if (!th_node_read_list(&result, &length))
        return false;
    for (; length > 0 && result.at < result.end; length--) {
        is_function = th_node_read_tuple(&result, &arity) && arity == 2;
        th_node_text(&result, name, sizeof name);
        fputs(name, file);
        if (is_function && th_node_read_integer(&result, &number))
            fprintf(file, "/%u", (unsigned)number);
        fputc(0, file);
    }
    return fflush(file) == 0;
}

int tracehost_node_list(const struct tracehost_node_request *request, const char *module, int out)
{
    struct th_node_client client = {
        .request = request,
        .status = open("/dev/null", O_WRONLY | O_CLOEXEC),
        .signals = -1,
        .socket = -1,
    };
    FILE *file = fdopen(out, "w");
    struct th_node_place result;
    int status = TH_NODE_REFUSED;

    if (client.status < 0 || !file || ei_init() != 0)
        status = TH_NODE_FAILED;
    else if (th_node_reach(&client) &&
             call_erlang(&client, module ? "get_module_info" : "loaded", module, &result) &&
             write_names(result, file))
        status = TH_NODE_DONE;
    if (client.socket >= 0)
        ei_close_connection(client.socket);
    free(client.in.bytes);
    return status;
}
