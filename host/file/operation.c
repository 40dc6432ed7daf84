/* Operations: creation, requests, submission, settling; and the table of open files. */
#include "file_internal.h"

#include "host/base/hash.h"
#include "host/probe/probe.h"
#include "host/process/process.h"
#include "host/term/atom.h"
#include "host/term/make.h"
#include "host/term/text.h"
#include "host/term/utf8.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

const struct th_file_row th_file_rows[TH_FILE_COMMANDS] = {
#define ROW(number, NAME, name, s1, s2, i1, i2, i3, i4) \
    [number] = {#NAME, {#s1, #s2}, {#i1, #i2, #i3, #i4}, th_file_carry_out_##name},
    TH_FILE_OPERATIONS(ROW)
#undef ROW
};

/* --- Open files, and the ports of operations -------------------------------------------------- */

/* Guards the table of open files and the lists of their owners; no other lock is taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct th_table files; /* by port: struct th_file, with a reference */

enum { AHEAD = 8192 /* bytes of one read for lines, by default */ };

/* Creates a port, opened by PROCESS, and its file without a descriptor; one reference. */
static struct th_file *begin_file(th_term process)
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

/* Removes FILE from the table and its owner's list. Under the lock. */
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
        strike_file(file); /* the table's reference becomes the caller's */
    else if (file)
        keep_file(file);
    pthread_mutex_unlock(&lock);
    return file;
}

/* Adds FILE, which is open, to the table and to OWNER's list, with a reference. */
static void list_file(struct th_file *file, struct th_file_owner *owner)
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

/* Takes any file of OWNER, with the table's reference, and closes it for all operations. NULL:
 * OWNER has none. */
static struct th_file *operation_take_file(struct th_file_owner *owner)
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

/* --- Operations ------------------------------------------------------------------------------- */

/* Submitted and not settled. Relaxed: a count; a thread that waits for 0 polls. */
static _Atomic size_t operations;

size_t th_file_pool_operations(void)
{
    return atomic_load_explicit(&operations, memory_order_relaxed);
}

struct th_file_operation *th_file_operation_create(enum th_file_command command)
{
    struct th_file_operation *operation = th_alloc_zero(sizeof *operation);

    operation->command = command;
    atomic_store_explicit(&operation->shares, 1, memory_order_relaxed);
    th_env_init(&operation->env, TH_ENV_PLAIN);
    return operation;
}

void th_file_operation_keep(struct th_file_operation *operation)
{
    atomic_fetch_add_explicit(&operation->shares, 1, memory_order_relaxed);
}

void th_file_operation_drop(struct th_file_operation *operation)
{
    if (atomic_fetch_sub_explicit(&operation->shares, 1, memory_order_acq_rel) > 1)
        return;
    if (operation->file)
        th_file_drop(operation->file);
    th_env_release(&operation->env);
    for (int i = 0; i < 2; i++)
        th_free(operation->paths[i]);
    th_free(operation->data);
    th_free(operation->pieces);
    th_free(operation->user_tag);
    th_free(operation);
}

/* --- Requests --------------------------------------------------------------------------------- */

/* Appends the bytes of TERM, a character or a binary, to PATH. */
static bool add_path_part(struct th_buffer *path, th_term term)
{
    const unsigned char *bytes;
    size_t size;
    char utf8[TH_UTF8_MAX];

    if (th_get_bytes(term, &bytes, &size)) {
        if (memchr(bytes, 0, size))
            return false;
        th_buffer_add(path, bytes, size);
        return true;
    }
    if (!th_is_small(term) || th_small_value(term) < 1 || th_small_value(term) > 0x10FFFF ||
        !th_utf8_valid((uint32_t)th_small_value(term)))
        return false;
    th_buffer_add(path, utf8, th_utf8_put((uint32_t)th_small_value(term), utf8));
    return true;
}

char *th_file_path(th_term term)
{
    struct th_buffer path = {0};
    char *text = NULL;
    bool good = true;

    if (!th_is_list(term) && term != TH_NIL) {
        good = add_path_part(&path, term) && !th_is_small(term);
    } else {
        for (; good && th_is_list(term); term = th_cell(term)[1])
            good = add_path_part(&path, th_cell(term)[0]);
        good = good && term == TH_NIL;
    }
    if (good)
        text = th_strdup(th_buffer_text(&path));
    th_buffer_free(&path);
    return text;
}

bool th_file_set_path(struct th_file_operation *operation, int which, th_term term)
{
    char *path = th_file_path(term);

    if (!path)
        return false;
    th_free(operation->paths[which]);
    operation->paths[which] = path;
    return true;
}

/* Appends the bytes of TERM to the data. */
static bool add_data(struct th_file_operation *operation, th_term term)
{
    size_t size;

    if (!th_term_iodata_size(term, &size))
        return false;
    operation->data = th_realloc(operation->data, operation->size + size + 1);
    th_term_iodata_copy(term, operation->data + operation->size);
    operation->size += size;
    return true;
}

bool th_file_set_data(struct th_file_operation *operation, th_term term)
{
    if (!add_data(operation, term))
        return false;
    operation->given[0] = (int64_t)operation->size;
    return true;
}

/* TERM is {Position, Size or Iodata}. */
static bool set_piece(struct th_file_operation *operation, struct th_file_piece *piece,
                      th_term term)
{
    const th_term *parts;
    size_t before = operation->size;

    if (!th_term_is(term, TH_TUPLE) || th_tuple_arity(term) != 2)
        return false;
    parts = th_tuple_elements(term);
    *piece = (struct th_file_piece){.offset = before};
    if (!th_get_int64(parts[0], &piece->position) || piece->position < 0)
        return false;
    if (operation->command == TH_FILE_PREADV)
        return th_get_uint64(parts[1], &piece->size) && piece->size <= INT64_MAX;
    if (!add_data(operation, parts[1]))
        return false;
    piece->size = operation->size - before;
    return true;
}

bool th_file_set_pieces(struct th_file_operation *operation, th_term term)
{
    size_t capacity = 0;
    uint64_t all = 0;

    for (; th_is_list(term); term = th_cell(term)[1]) {
        struct th_file_piece piece;
        if (!set_piece(operation, &piece, th_cell(term)[0]))
            return false;
        TH_ARRAY_GROW(operation->pieces, operation->piece_count, capacity);
        operation->pieces[operation->piece_count++] = piece;
        all += piece.size;
    }
    operation->given[0] = (int64_t)all;
    return term == TH_NIL;
}

/* --- Submitting ------------------------------------------------------------------------------- */

/* Fills in the integers of the operation's row. */
static void fill_integers(struct th_file_operation *operation)
{
    static const struct th_file no_file = {.fd = -1};
    const struct th_file *file = operation->file ? operation->file : &no_file;
    const struct {
        const char *name;
        int64_t value;
    } of_file[] = {
        {"none", 0},
        {"fd", atomic_load_explicit(&file->fd, memory_order_relaxed)},
        {"flags", atomic_load_explicit(&file->flags, memory_order_relaxed)},
        {"read_offset", (int64_t)atomic_load_explicit(&file->ahead_offset, memory_order_relaxed)},
        {"read_ahead", (int64_t)atomic_load_explicit(&file->ahead_limit, memory_order_relaxed)},
    };
    enum { COUNT = sizeof of_file / sizeof of_file[0] };
    const char *const *names = th_file_rows[operation->command].integers;
    int given = 0;

    for (int i = 0; i < 4; i++) {
        size_t which = 0;
        while (which < COUNT && strcmp(names[i], of_file[which].name) != 0)
            which++;
        operation->integers[i] = which < COUNT ? of_file[which].value : operation->given[given++];
    }
}

/* Finds the operation's open file, or creates a port of its own. */
static void find_file(struct th_file_operation *operation)
{
    operation->ends_port = operation->port == TH_NONE || operation->command == TH_FILE_CLOSE;
    if (operation->port != TH_NONE && !operation->file) {
        operation->file = th_file_find(operation->port, operation->command == TH_FILE_CLOSE);
    } else if (!operation->file) {
        operation->file = begin_file(operation->process);
        operation->port = operation->file->port;
        operation->file->member = th_file_pool_choose();
        if (operation->command == TH_FILE_OPEN)
            atomic_store_explicit(&operation->file->flags, (int)operation->given[0],
                                  memory_order_relaxed);
    }
    operation->member = operation->file ? operation->file->member : th_file_pool_choose();
}

/* The string WHICH of the operation's row, "" if the row has none. */
static const char *string_of_row(const struct th_file_operation *operation, int which)
{
    const char *name = th_file_rows[operation->command].strings[which];

    return strcmp(name, "none") == 0 ? "" : operation->paths[which];
}

/* Fires the probe efile_drv__entry. */
static void probe_entry(const struct th_file_operation *operation)
{
    struct th_buffer port = {0};

    if (!TH_PROBE_ENABLED(efile_drv__entry))
        return;
    th_text_print(&port, operation->port);
    TH_PROBE(efile_drv__entry, operation->thread, operation->tag, operation->user_tag,
             (int)operation->command, string_of_row(operation, 0), string_of_row(operation, 1),
             operation->integers[0], operation->integers[1], operation->integers[2],
             operation->integers[3], th_buffer_text(&port));
    th_buffer_free(&port);
}

void th_file_submit(struct th_file_operation *operation, const struct th_file_submission *by)
{
    static _Thread_local unsigned tags;

    atomic_fetch_add_explicit(&operations, 1, memory_order_relaxed);
    find_file(operation);
    fill_integers(operation);
    operation->thread = (int)by->thread;
    operation->tag = (int)(++tags & INT32_MAX);
    operation->user_tag = th_strdup(by->user_tag);
    probe_entry(operation);
    th_file_pool_add(operation);
}

void th_file_owner_end(struct th_file_owner *owner, unsigned thread)
{
    const struct th_file_submission by = {.thread = thread, .user_tag = ""};
    struct th_file *file;

    while ((file = operation_take_file(owner))) {
        struct th_file_operation *operation = th_file_operation_create(TH_FILE_CLOSE);
        operation->file = file;
        operation->port = file->port;
        th_file_submit(operation, &by);
    }
}

/* --- Settling --------------------------------------------------------------------------------- */

void th_file_settle(struct th_file_operation *operation, struct th_file_owner *owner)
{
    struct th_file *file = operation->file;
    bool opened = file && operation->command == TH_FILE_OPEN && operation->error == 0;
    bool ends = file && operation->ends_port && !(opened && owner);

    if (opened && owner) {
        list_file(file, owner);
    } else if (opened) { /* no owner; this thread may wait for close() as well as any other */
        int fd = atomic_exchange_explicit(&file->fd, -1, memory_order_relaxed);
        if (fd >= 0)
            close(fd);
    }
    TH_PROBE(efile_drv__return, operation->thread, operation->tag, operation->user_tag,
             (int)operation->command, operation->error == 0, operation->error);
    if (ends)
        th_process_port_end(file->port, TH_FILE_PORT, TH_AM(normal));
    atomic_fetch_sub_explicit(&operations, 1, memory_order_relaxed);
}

bool th_file_abandon(struct th_file_operation *operation)
{
    switch (th_file_pool_abandon(operation)) {
    case TH_FILE_QUEUED:
        operation->error = ECANCELED;
        th_file_settle(operation, NULL);
        th_file_operation_drop(operation);
        return true;
    case TH_FILE_RUNNING:
        return true;
    default:
        return false;
    }
}
