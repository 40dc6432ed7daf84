/* Functions of the modules erlang and tracehost: messages, names, ports. */
#include "call_session.h"

#include "host/process/process.h"
#include "host/term/atom.h"
#include "host/term/make.h"
#include "host/term/utf8.h"

#include <string.h>

typedef const struct th_shell_call call;

/* --- Messages, names -------------------------------------------------------------------------- */

static th_term send(call *c)
{
    th_term to = c->arguments[0];

    if (th_is_atom(to)) {
        to = th_process_whereis(to);
        if (to == TH_NONE)
            return th_shell_refuse(c, "argument 1: no process has that name");
    }
    if (!th_is_pid(to))
        return th_shell_refuse(c, "argument 1: not a pid or registered name");
    th_process_send(to, c->arguments[1]); /* a message to a dead process is dropped, as in Erlang */
    return c->arguments[1];
}

static th_term is_process_alive(call *c)
{
    return !th_is_local_pid(c->arguments[0])   ? th_shell_refuse(c, "argument 1: not a pid")
           : th_process_alive(c->arguments[0]) ? TH_AM(true)
                                               : TH_AM(false);
}

static th_term register_name(call *c)
{
    if (!th_is_atom(c->arguments[0]))
        return th_shell_refuse(c, "argument 1: not an atom");
    if (!th_is_pid(c->arguments[1]) && !th_is_port(c->arguments[1]))
        return th_shell_refuse(c, "argument 2: not a pid or port");
    if (!th_process_name_register(c->arguments[0], c->arguments[1]))
        return th_shell_refuse(
            c, "the name is registered already, or argument 2 has a name or is not alive");
    return TH_AM(true);
}

static th_term unregister_name(call *c)
{
    if (!th_is_atom(c->arguments[0]))
        return th_shell_refuse(c, "argument 1: not an atom");
    return th_process_name_unregister(c->arguments[0])
               ? TH_AM(true)
               : th_shell_refuse(c, "argument 1: not a registered name");
}

static th_term whereis(call *c)
{
    th_term id;

    if (!th_is_atom(c->arguments[0]))
        return th_shell_refuse(c, "argument 1: not an atom");
    id = th_process_whereis(c->arguments[0]);
    return id != TH_NONE ? id : TH_AM(undefined);
}

/* --- Ports ------------------------------------------------------------------------------------ */

static th_term port_command(call *c)
{
    return th_process_port_command(c->arguments[0], c->arguments[1])
               ? TH_AM(true)
               : th_shell_refuse(c, "argument 1: not an open port, or argument 2: not iodata");
}

/* A port that could not write all its data is closed; the cause becomes an exception. */
static th_term close_port(call *c)
{
    if (!th_is_port(c->arguments[0]))
        return th_shell_refuse(c, "argument 1: not a port");
    if (th_process_port_close(c->arguments[0]) == TH_OK)
        return TH_AM(true);
    th_shell_refuse(c, th_error_link(0));
    th_error_clear();
    return TH_NONE;
}

/* Appends the bytes of T, a string or a binary, to NAME. Returns false for any other term. */
static bool get_name(th_term t, struct th_buffer *name)
{
    const unsigned char *data;
    size_t bytes;

    if (th_get_bytes(t, &data, &bytes)) {
        th_buffer_add(name, data, bytes);
    } else {
        for (; th_is_list(t); t = th_cell(t)[1]) {
            th_term c = th_cell(t)[0];
            int64_t code = th_is_small(c) ? th_small_value(c) : 0;
            if (code < 1 || code > 0x10FFFF || !th_utf8_valid((uint32_t)code))
                return false;
            name->size += th_utf8_put((uint32_t)code, (char *)th_buffer_reserve(name, TH_UTF8_MAX));
        }
        if (t != TH_NIL)
            return false;
    }
    return name->size > 0 && !memchr(name->data, 0, name->size);
}

static th_term open_port(call *c)
{
    struct th_buffer name = {0};
    th_term port = TH_NONE;

    if (!get_name(c->arguments[0], &name)) {
        th_shell_refuse(c, "argument 1: not the name of a file");
    } else if (th_process_port_open_file(th_buffer_text(&name), &port) != TH_OK) {
        th_shell_refuse(c, th_error_link(0));
        th_error_clear();
        port = TH_NONE;
    }
    th_buffer_free(&name);
    return port;
}

static th_term console(call *c)
{
    (void)c;
    return th_process_console_pid();
}

static th_term console_port(call *c)
{
    (void)c;
    return th_process_port_console();
}

static const struct th_shell_function functions_of_erlang[] = {
    {"is_process_alive", 1, false, false, is_process_alive},
    {"port_close", 1, false, false, close_port},
    {"port_command", 2, false, false, port_command},
    {"register", 2, false, false, register_name},
    {"send", 2, false, true, send},
    {"unregister", 1, false, false, unregister_name},
    {"whereis", 1, false, false, whereis},
    {0},
};

static const struct th_shell_function functions_of_tracehost[] = {
    {"close_port", 1, false, true, close_port},
    {"console", 0, false, true, console},
    {"console_port", 0, false, true, console_port},
    {"open_port", 1, false, true, open_port},
    {0},
};

const struct th_shell_module th_cli_call_functions[] = {
    {"erlang", functions_of_erlang},
    {"tracehost", functions_of_tracehost},
    {NULL, NULL},
};
