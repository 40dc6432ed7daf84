/* Runs a server of the control socket with commands of the test, and raw clients that do not use
 * the host's client. */
#ifndef TH_TEST_SERVED_H
#define TH_TEST_SERVED_H

#include "host/control/control.h"
#include "tests/support/assertions.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[] = "/tmp/control-XXXXXX";
static char path[64];

/* Arguments of commands that take any words. */
static const struct th_argument any_word = TH_WORD("WORD", TEXT, TH_ARGUMENT_REPEATS);
static const struct th_argument *const any_words[] = {&any_word, NULL};

static enum th_status say(void *context, int count, char **arguments, json_t **result)
{
    (void)context;
    *result = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(*result, json_string(arguments[i]));
    return TH_OK;
}

static enum th_status fail_always(void *context, int count, char **arguments, json_t **result)
{
    (void)context;
    (void)count;
    (void)arguments;
    (void)result;
    th_error_raise(TH_REFUSED, "the cause \xff");
    return th_error_context("what was tried");
}

static struct th_control_setup setup = {
    .path = path,
    .program = "test",
    .version = "1.2.3",
};

static struct th_control *control;

/* Starts the server with `setup`, whose commands the test has set. */
static int begin(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(strcpy(folder, "/tmp/control-XXXXXX")));
    snprintf(path, sizeof path, "%s/socket", folder);
    return th_control_begin(&setup, &control);
}

static int end(void **state)
{
    (void)state;
    th_control_end(control);
    assert_int_equal(rmdir(folder), 0); /* fails if the socket is still there */
    return 0;
}

/* --- Raw clients ------------------------------------------------------------------------------ */

static int open_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    strcpy(address.sun_path, path);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void put(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Reads a line and returns the line without its newline; "" at the end. */
static const char *get(int fd)
{
    static char line[4096];
    size_t size = 0;

    while (size + 1 < sizeof line && recv(fd, &line[size], 1, 0) == 1 && line[size] != '\n')
        size++;
    line[size] = 0;
    return line;
}

static void assert_answer(const char *request, const char *answer)
{
    int fd = open_socket();

    get(fd);
    put(fd, request);
    put(fd, "\n");
    assert_string_equal(get(fd), answer);
    close(fd);
}

#endif
