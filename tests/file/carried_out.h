/* Helpers for the tests of file/: a folder of the test's own, and operations that are executed
 * while the test waits. */
#ifndef CARRIED_OUT_H
#define CARRIED_OUT_H

#include "host/file/file_internal.h"
#include "host/process/process.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[PATH_MAX];
static struct th_file_owner owner;
static int last_error; /* errno of the last operation */
static sem_t carried_out;

/* Returns the path of NAME in the folder; valid for the next seven calls. */
static inline const char *in_folder(const char *name)
{
    static char paths[8][PATH_MAX + 64];
    static unsigned next;
    char *path = paths[next++ % 8];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline int begin_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_file.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    sem_init(&carried_out, 0, 0);
    th_process_world_reset(NULL);
    th_file_pool_start(2);
    return 0;
}

static inline int end_folder(void **state)
{
    char *command = th_printf("rm -rf '%s'", folder);
    int status = system(command);

    (void)state;
    th_free(command);
    th_file_owner_end(&owner, 1);
    th_file_pool_stop();
    assert_int_equal(th_file_pool_operations(), 0);
    assert_int_equal(th_file_open_files(), 0);
    return status;
}

static inline void note_carried_out(struct th_file_operation *operation)
{
    (void)operation;
    sem_post(&carried_out);
}

/* Submits OPERATION, waits, and returns the result as text, valid until the next call. */
static inline const char *wait_for(struct th_file_operation *operation)
{
    static struct th_buffer text;

    operation->done = note_carried_out;
    th_file_submit(operation, &(struct th_file_submission){.thread = 1, .user_tag = ""});
    while (sem_wait(&carried_out) != 0)
        ;
    text.size = 0;
    th_text_print(&text, operation->result);
    last_error = operation->error;
    th_file_settle(operation, &owner);
    th_file_operation_drop(operation);
    return th_buffer_text(&text);
}

static inline void set_path_text(struct th_file_operation *operation, int which, const char *path)
{
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_true(th_file_set_path(operation, which, th_make_binary(&env, path, strlen(path))));
    th_env_release(&env);
}

/* Runs COMMAND on one path, or on two if OTHER is not NULL. */
static inline const char *by_path(enum th_file_command command, const char *path, const char *other)
{
    struct th_file_operation *operation = th_file_operation_create(command);

    if (path)
        set_path_text(operation, 0, path);
    if (other)
        set_path_text(operation, 1, other);
    return wait_for(operation);
}

/* Opens a file and returns its port, or TH_NONE after an error. */
static inline th_term open_by(const char *path, int flags)
{
    struct th_file_operation *operation = th_file_operation_create(TH_FILE_OPEN);
    th_term port = TH_NONE;

    set_path_text(operation, 0, path);
    operation->given[0] = flags;
    th_file_operation_keep(operation);
    wait_for(operation);
    if (operation->error == 0)
        port = operation->port;
    th_file_operation_drop(operation);
    return port;
}

/* Runs COMMAND on the open file PORT with up to three integers. */
static inline const char *on_file(th_term port, enum th_file_command command, int64_t a, int64_t b,
                                  int64_t c)
{
    struct th_file_operation *operation = th_file_operation_create(command);

    operation->port = port;
    operation->given[0] = a;
    operation->given[1] = b;
    operation->given[2] = c;
    return wait_for(operation);
}

/* Runs COMMAND with the term TEXT. The result is "badarg" if th_file_set_data() or
 * th_file_set_pieces() refuses the term. */
static inline const char *with_term(th_term port, enum th_file_command command, const char *text)
{
    struct th_file_operation *operation = th_file_operation_create(command);
    th_term term;
    th_env env;
    bool good;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, text, strlen(text), &term), TH_OK);
    operation->port = port;
    good = command == TH_FILE_WRITE ? th_file_set_data(operation, term)
                                    : th_file_set_pieces(operation, term);
    th_env_release(&env);
    if (good)
        return wait_for(operation);
    th_file_operation_drop(operation);
    return "badarg";
}

/* --- Without the host ------------------------------------------------------------------------- */

static inline void put_file(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

/* Returns the content of a file, valid until the next call; "" if it cannot be opened. */
static inline const char *content_of(const char *path)
{
    static char content[1 << 16];
    FILE *file = fopen(path, "r");
    size_t size = file ? fread(content, 1, sizeof content - 1, file) : 0;

    content[size] = '\0';
    if (file)
        fclose(file);
    return content;
}

/* Returns the result that an operation must have if the system call returned RESULT: `ok`, or the
 * error for errno. */
static inline const char *answer_of(long result)
{
    static char text[64];
    int error = errno;

    if (result >= 0)
        return "ok";
    snprintf(text, sizeof text, "{error,%s}", th_base_errno_name(error));
    return text;
}

static inline unsigned count_descriptors(void)
{
    unsigned count = 0;

    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

#endif
