/*
 * Ports of the host: host processes that receive commands (process_internal.h). A command is
 * written under the port's lock, so that closing waits for the command that is being written.
 */
#include "process_internal.h"

#include "host/base/buffer.h"
#include "host/base/output.h"
#include "host/term/atom.h"
#include "host/term/make.h"
#include "host/term/text.h"

enum { KEEP = 1 << 16 /* bytes of a command's buffer that stay allocated */ };

struct port {
    struct th_mailbox *process;
    th_term id;
    struct th_output out;  /* under the lock of `process` */
    struct th_buffer line; /* likewise */
    struct port *next;
    char *what; /* purpose: the path */
};

/* Guards the list of the files' ports; no lock is taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct port *ports;

/* Written once. Acquire: a thread that reads a port's purpose may not have opened the console. */
static struct th_mailbox *_Atomic console_port;

/* The output remembers a failure; committing it reports the failure. */
static void write_command(void *context, th_term iodata)
{
    struct port *port = context;
    size_t size = 0;

    th_term_iodata_size(iodata, &size);
    port->line.size = 0;
    th_term_iodata_copy(iodata, th_buffer_reserve(&port->line, size));
    th_output_write(&port->out, port->line.data, size);
    if (port->line.capacity > KEEP)
        th_buffer_free(&port->line);
}

static void tell_opened(th_term id, const char *what, th_term owner)
{
    if (th_process_watching)
        th_process_watching->port_opened(id, what, owner);
}

enum th_status th_process_port_open_file(const char *path, th_term *id)
{
    struct port *port = th_alloc_zero(sizeof *port);
    enum th_status status = th_output_open(&port->out, path);

    if (status != TH_OK) {
        th_free(port);
        return status;
    }
    port->process = th_process_host_port_start(write_command, port);
    port->id = th_process_pid(port->process);
    *id = port->id;
    port->what = th_strdup(path);
    pthread_mutex_lock(&lock);
    port->next = ports;
    ports = port;
    pthread_mutex_unlock(&lock);
    tell_opened(*id, path, TH_NONE);
    return TH_OK;
}

/* --- The console: a process and a port -------------------------------------------------------- */

/*
 * A message is always one line, although the shell's io:format("~p~n") breaks lines at 80 columns.
 * Up to 80 columns the outputs are equal.
 */
static pthread_mutex_t console_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the following */
static struct th_buffer line;
static FILE *output; /* NULL: stdout */

/* Writes a message with one call, so that lines of other threads do not come in between. Under the
 * lock. */
static void write_console_line(void)
{
    fwrite(line.data, 1, line.size, output ? output : stdout);
    line.size = 0;
    if (line.capacity > KEEP)
        th_buffer_free(&line);
}

static void print_message(void *context, th_term message)
{
    (void)context;
    pthread_mutex_lock(&console_lock);
    th_text_show(&line, message);
    th_buffer_add_byte(&line, '\n');
    write_console_line();
    pthread_mutex_unlock(&console_lock);
}

static void write_to_console(void *context, th_term iodata)
{
    size_t size = 0;

    (void)context;
    th_term_iodata_size(iodata, &size);
    pthread_mutex_lock(&console_lock);
    th_term_iodata_copy(iodata, th_buffer_reserve(&line, size));
    line.size = size;
    write_console_line();
    fflush(output ? output : stdout);
    pthread_mutex_unlock(&console_lock);
}

void th_process_console_set_output(FILE *out)
{
    pthread_mutex_lock(&console_lock);
    output = out;
    pthread_mutex_unlock(&console_lock);
}

static struct th_mailbox *console; /* the console's process */

static void start_console(void)
{
    console = th_process_start(print_message, NULL);
}

th_term th_process_console_pid(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, start_console);
    return th_process_pid(console);
}

static void start_console_port(void)
{
    struct th_mailbox *started = th_process_host_port_start(write_to_console, NULL);

    atomic_store_explicit(&console_port, started, memory_order_release);
    tell_opened(th_process_pid(started), "console", TH_NONE);
}

th_term th_process_port_console(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, start_console_port);
    return th_process_pid(atomic_load_explicit(&console_port, memory_order_acquire));
}

/* --- Commands and closing --------------------------------------------------------------------- */

bool th_process_port_command(th_term id, th_term iodata)
{
    bool written;
    size_t size;

    if (!th_process_host_port_takes(id) || !th_term_iodata_size(iodata, &size))
        return false;
    if (th_process_watching)
        th_process_watching->port_commanded(id, iodata, false);
    written = th_process_receive(id, iodata);
    if (th_process_watching)
        th_process_watching->port_commanded(id, iodata, true);
    return written;
}

const char *th_process_port_what(th_term id, char *text, size_t size)
{
    const struct th_mailbox *started = atomic_load_explicit(&console_port, memory_order_acquire);
    const char *what = started && th_process_pid(started) == id ? "console" : "";

    pthread_mutex_lock(&lock);
    for (const struct port *port = ports; port; port = port->next)
        if (port->id == id)
            what = port->what;
    snprintf(text, size, "%s", what);
    pthread_mutex_unlock(&lock);
    return text;
}

/* Removes the port ID, or any port if ID is TH_NONE, from the list. */
static struct port *take_port(th_term id)
{
    struct port **place = &ports;
    struct port *port;

    pthread_mutex_lock(&lock);
    while (*place && id != TH_NONE && (*place)->id != id)
        place = &(*place)->next;
    port = *place;
    if (port)
        *place = port->next;
    pthread_mutex_unlock(&lock);
    return port;
}

/* Reports the end of port ID, opened for WHAT, which had NAME, and fires its monitors. */
static void tell_closed(th_term id, const char *what, th_term reason, th_term name)
{
    if (th_process_watching)
        th_process_watching->port_closed(id, what, reason, name);
    th_process_monitors_fire(id, reason);
}

/* Monitors fire when the file exists. */
static enum th_status close_file(struct port *port)
{
    struct th_host_remains remains;
    enum th_status status;

    th_process_die(port->process, &remains);
    status = th_output_commit(&port->out);
    tell_closed(port->id, port->what, TH_AM(normal), remains.name);
    th_buffer_free(&port->line);
    th_free(port->what);
    th_free(port);
    return status;
}

enum th_status th_process_port_close(th_term id)
{
    struct port *port = take_port(id);

    if (!port)
        return th_error_raise(TH_FAILED, "the port is not open");
    return close_file(port);
}

/* The remaining error chain is that of the last failure. */
enum th_status th_process_port_close_all(void)
{
    enum th_status status = TH_OK;
    struct port *port;

    while ((port = take_port(TH_NONE))) {
        if (close_file(port) != TH_OK)
            status = TH_FAILED;
    }
    return status;
}

/* --- For other rooms -------------------------------------------------------------------------- */

th_term th_process_port_begin(const char *what, th_term owner)
{
    th_term id = th_process_pid(th_process_host_port_start(NULL, NULL));

    tell_opened(id, what, owner);
    return id;
}

void th_process_port_end(th_term id, const char *what, th_term reason)
{
    struct th_host_remains remains;

    th_process_die(th_process_slot_of(id), &remains);
    tell_closed(id, what, reason, remains.name);
}
