/*
 * Lists of binaries as vectors.
 *
 * With an environment a vector borrows: its bytes are the terms', its arrays the environment's.
 * Without one it owns: shares of the binaries that are shared, one binary with copies of all the
 * others, and its arrays.
 *
 * Which lists are taken is measured from a BEAM: at least one element is, whatever max_length says;
 * empty binaries count, but make no run of bytes; what stands behind the elements taken must be a
 * list, and nothing more is known of it.
 */
#include "iovec.h"
#include "nif.h"

#include "host/runtime/runtime.h"

struct extent {
    unsigned runs;   /* of at least one byte */
    size_t unshared; /* of those that are in no shared binary */
    th_term tail;
};

/* Of the next binary of *LIST, which is moved on; false if there is none. */
static bool next_bytes(th_term *list, const unsigned char **data, size_t *size,
                       struct th_binary **shared)
{
    th_term head;

    if (!th_is_list(*list))
        return false;
    head = th_cell(*list)[0];
    *list = th_cell(*list)[1];
    *shared = th_shared_binary_of(head);
    return th_get_bytes(head, data, size);
}

static bool measure(th_term list, size_t max_length, struct extent *extent)
{
    size_t taken = 0, size;
    const unsigned char *data;
    struct th_binary *shared;

    *extent = (struct extent){.tail = list};
    while (extent->tail != TH_NIL && (taken == 0 || taken < max_length)) {
        if (!next_bytes(&extent->tail, &data, &size, &shared))
            return false;
        taken++;
        extent->runs += size > 0;
        extent->unshared += shared ? 0 : size;
    }
    return extent->tail == TH_NIL || th_is_list(extent->tail);
}

/* --- Where it goes --------------------------------------------------------------------------- */

/* Arrays for COUNT runs, behind each other in memory of SIZE bytes. */
static size_t arrays_size(unsigned count)
{
    return count * (sizeof(SysIOVec) + sizeof(void *));
}

static void set_arrays(ErlNifIOVec *vec, void *memory, unsigned count)
{
    vec->iov = memory;
    vec->ref_bins = (void **)((SysIOVec *)memory + count);
}

/* The caller's structure, if it is large enough. */
static ErlNifIOVec *prepare_given(ErlNifIOVec *given)
{
    given->iov = given->small_iov;
    given->ref_bins = given->small_ref_bin;
    given->flags = TH_IOVEC_OF_CALLER;
    return given;
}

/* A vector for RUNS runs; NULL if there is no memory. */
static ErlNifIOVec *prepare(ErlNifEnv *env, unsigned runs, ErlNifIOVec *given)
{
    size_t size = sizeof(ErlNifIOVec) + arrays_size(runs);
    ErlNifIOVec *vec;

    if (given && runs <= ERL_NIF_IOVEC_SIZE)
        return prepare_given(given);
    vec = env ? (void *)th_env_take(env, (size + sizeof(th_term) - 1) / sizeof(th_term))
              : malloc(size);
    if (!vec)
        return NULL;
    set_arrays(vec, vec + 1, runs);
    vec->flags = 0;
    return vec;
}

/* --- Filling it ------------------------------------------------------------------------------ */

/* A run of DATA in SHARED. An owner (COPIES is not NULL) takes its share; of what no binary has it
 * takes a copy, to *COPIES + *COPIED. */
static void add_run(ErlNifIOVec *vec, const unsigned char *data, size_t size,
                    struct th_binary *shared, struct th_binary *copies, size_t *copied)
{
    if (!shared && copies) {
        data = memcpy(copies->data + *copied, data, size);
        *copied += size;
        shared = copies;
    }
    if (shared && (vec->flags & TH_IOVEC_OWNS))
        th_binary_keep(shared);
    vec->iov[vec->iovcnt].iov_base = (char *)(uintptr_t)data;
    vec->iov[vec->iovcnt].iov_len = size;
    vec->ref_bins[vec->iovcnt++] = shared;
    vec->size += size;
}

static void fill(ErlNifIOVec *vec, th_term list, th_term tail, struct th_binary *copies)
{
    size_t size, copied = 0;
    const unsigned char *data;
    struct th_binary *shared;

    vec->iovcnt = 0;
    vec->size = 0;
    while (list != tail && next_bytes(&list, &data, &size, &shared))
        if (size > 0)
            add_run(vec, data, size, shared, copies, &copied);
}

/* The binary for what an owner has to copy, *COPIES, stays NULL if that is nothing. */
static bool create_copies(size_t size, struct th_binary **copies)
{
    *copies = size > 0 ? th_binary_create(size) : NULL;
    return size == 0 || *copies;
}

int enif_inspect_iovec(ErlNifEnv *env, size_t max_length, ERL_NIF_TERM iovec_term,
                       ERL_NIF_TERM *tail, ErlNifIOVec **iovec)
{
    struct th_binary *copies;
    struct extent extent;
    ErlNifIOVec *vec;

    if (!measure(iovec_term, max_length, &extent))
        return th_check_misread(iovec_term, "enif_inspect_iovec");
    if (!create_copies(env ? 0 : extent.unshared, &copies))
        return 0;
    vec = prepare(env, extent.runs, *iovec);
    if (vec) {
        vec->flags |= env ? 0 : TH_IOVEC_OWNS;
        fill(vec, iovec_term, extent.tail, copies);
        *tail = extent.tail;
        *iovec = vec;
        if (!env)
            th_check_got(TH_CHECK_VECTOR, vec, vec->size, NULL, "enif_inspect_iovec");
    }
    if (copies)
        th_binary_release(copies); /* the runs have their shares */
    return vec != NULL;
}

/* One that borrows has nothing to be freed, and is left alone. */
void enif_free_iovec(ErlNifIOVec *iov)
{
    if (!iov || !(iov->flags & TH_IOVEC_OWNS) ||
        !th_check_gave(TH_CHECK_VECTOR, iov, "enif_free_iovec"))
        return;
    iov->flags &= ~TH_IOVEC_OWNS;
    for (int i = 0; i < iov->iovcnt; i++)
        th_binary_release(iov->ref_bins[i]);
    iov->iovcnt = 0;
    if (!(iov->flags & TH_IOVEC_OF_CALLER))
        free(iov);
}
