/*
 * The console.
 *
 * What the shell's io:format("~p~n") would break into lines of 80 columns stands here on one line:
 * a line is a message. Up to 80 columns the two are equal.
 */
#include "process_internal.h"

enum { KEEP = 1 << 16 /* the most bytes of a printed message that stay allocated */ };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct th_mailbox *console;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct th_buffer line;
static FILE *output; /* NULL: stdout */

/* One write a message, so that lines of other threads do not come in between. Under the lock. */
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
    pthread_mutex_lock(&lock);
    th_text_show(&line, message);
    th_buffer_add_byte(&line, '\n');
    write_console_line();
    pthread_mutex_unlock(&lock);
}

void th_process_console_write(th_term iodata)
{
    size_t size = 0;

    th_term_iodata_size(iodata, &size);
    pthread_mutex_lock(&lock);
    th_term_iodata_copy(iodata, th_buffer_reserve(&line, size));
    line.size = size;
    write_console_line();
    fflush(output ? output : stdout);
    pthread_mutex_unlock(&lock);
}

static void start_console_process(void)
{
    console = th_process_start(print_message, NULL);
}

th_term th_process_console_pid(void)
{
    pthread_once(&once, start_console_process);
    return th_process_pid(console);
}

void th_process_console_set_output(FILE *out)
{
    pthread_mutex_lock(&lock);
    output = out;
    pthread_mutex_unlock(&lock);
}
