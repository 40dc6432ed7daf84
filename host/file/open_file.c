#include "file_internal.h"

#include <pthread.h>
#include <unistd.h>

/* Guards the table of open files and the lists of those who own them; nothing else is locked under
 * it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct th_table files; /* by port: struct th_file, with a share */

enum { AHEAD = 8192 /* bytes that are read at once for lines, unless told otherwise */ };

struct th_file *th_file_begin(th_term process)
{
    struct th_file *file = th_alloc_zero(sizeof *file);

    file->port = th_process_port_begin(TH_FILE_PORT, process);
    atomic_store_explicit(&file->shares, 1, memory_order_relaxed);
    atomic_store_explicit(&file->fd, -1, memory_order_relaxed);
    atomic_store_explicit(&file->ahead_limit, AHEAD, memory_order_relaxed);
    return file;
}

static void keep_file(struct th_file *file)
{
    atomic_fetch_add_explicit(&file->shares, 1, memory_order_relaxed);
}

void th_file_drop(struct th_file *file)
{
    if (atomic_fetch_sub_explicit(&file->shares, 1, memory_order_acq_rel) > 1)
        return;
    th_buffer_free(&file->ahead);
    th_buffer_free(&file->late);
    th_free(file);
}

/* Nobody finds FILE any more. Under the lock. */
static void strike_file(struct th_file *file)
{
    th_hash_table_remove(&files, file->port);
    *file->place = file->next;
    if (file->next)
        file->next->place = file->place;
    atomic_store_explicit(&file->closed, true, memory_order_relaxed);
}

struct th_file *th_file_find(th_term port, bool closes)
{
    struct th_file *file;

    pthread_mutex_lock(&lock);
    file = th_hash_table_get(&files, port);
    if (file && closes)
        strike_file(file); /* its share is the caller's now */
    else if (file)
        keep_file(file);
    pthread_mutex_unlock(&lock);
    return file;
}

void th_file_list(struct th_file *file, struct th_file_owner *owner)
{
    keep_file(file);
    owner->has_opened = true;
    pthread_mutex_lock(&lock);
    th_hash_table_set(&files, file->port, file);
    file->next = owner->first;
    file->place = &owner->first;
    if (file->next)
        file->next->place = &file->next;
    owner->first = file;
    pthread_mutex_unlock(&lock);
}

struct th_file *th_file_take(struct th_file_owner *owner)
{
    struct th_file *file;

    pthread_mutex_lock(&lock);
    file = owner->first;
    if (file)
        strike_file(file);
    pthread_mutex_unlock(&lock);
    return file;
}

size_t th_file_open_files(void)
{
    size_t count;

    pthread_mutex_lock(&lock);
    count = files.count;
    pthread_mutex_unlock(&lock);
    return count;
}
