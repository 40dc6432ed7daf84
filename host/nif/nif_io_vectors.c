/* Vectors of I/O lists, and queues of them. */
#include "nif.h"

#include "host/check/check.h"
#include "host/term/make.h"
#include "plugin_api/erl_nif.h"

/*
 * ref_bins[i] is the struct th_binary that contains iov[i], or NULL for bytes of a term. `flags`
 * states what the vector owns.
 */
enum {
    TH_IOVEC_OF_CALLER = 1, /* the library allocated the structure */
    TH_IOVEC_OWNS = 2       /* references to the binaries, and the arrays */
};

/* --- I/O queues ------------------------------------------------------------------------------- */

/* The waiting runs of bytes are in one array, which enif_ioq_peek() shows; each run has a reference
 * to its binary. Dequeued runs leave a gap at the array's start, which is closed when room is
 * needed at its end. */

struct erts_io_queue {
    SysIOVec *runs;
    struct th_binary **binaries; /* one for each run */
    size_t first, count, capacity;
    size_t size; /* sum over all runs, in bytes */
};

ErlNifIOQueue *enif_ioq_create(ErlNifIOQueueOpts opts)
{
    ErlNifIOQueue *q = opts == ERL_NIF_IOQ_NORMAL ? calloc(1, sizeof *q) : NULL;

    th_check_got(TH_CHECK_QUEUE, q, 0, NULL, "enif_ioq_create");
    return q;
}

void enif_ioq_destroy(ErlNifIOQueue *q)
{
    if (!q || !th_check_gave(TH_CHECK_QUEUE, q, "enif_ioq_destroy"))
        return;
    for (size_t i = 0; i < q->count; i++)
        th_binary_release(q->binaries[q->first + i]);
    free(q->runs);
    free(q->binaries);
    free(q);
}

size_t enif_ioq_size(ErlNifIOQueue *q)
{
    return q->size;
}

/* --- Growth ----------------------------------------------------------------------------------- */

static bool grow_queue(ErlNifIOQueue *q, size_t capacity)
{
    SysIOVec *runs = realloc(q->runs, capacity * sizeof *runs);
    struct th_binary **binaries;

    if (!runs)
        return false;
    q->runs = runs;
    binaries = realloc(q->binaries, capacity * sizeof(*binaries));
    if (!binaries)
        return false;
    q->binaries = binaries;
    q->capacity = capacity;
    return true;
}

/* Makes room for COUNT more runs. The gap is closed only if it is at least as long as the data to
 * move, so that a queue that is filled and emptied in turn costs constant time for each run. */
static bool reserve_runs(ErlNifIOQueue *q, size_t count)
{
    size_t needed = q->count + count;

    if (q->first + needed <= q->capacity)
        return true;
    if (q->first < q->count && !grow_queue(q, 2 * (q->first + needed)))
        return false;
    if (q->first + needed <= q->capacity)
        return true;
    if (q->first > 0 && q->runs) {
        memmove(q->runs, q->runs + q->first, q->count * sizeof *q->runs);
        memmove(q->binaries, q->binaries + q->first, q->count * sizeof *q->binaries);
        q->first = 0;
    }
    return needed <= q->capacity || grow_queue(q, needed < 4 ? 4 : 2 * needed);
}

/* --- Enqueueing ------------------------------------------------------------------------------- */

/* Appends a run; there must be room. Takes the caller's reference to BINARY. */
static void push_run(ErlNifIOQueue *q, const unsigned char *data, size_t size,
                     struct th_binary *binary)
{
    size_t i = q->first + q->count++;

    q->runs[i].iov_base = (char *)(uintptr_t)data;
    q->runs[i].iov_len = size;
    q->binaries[i] = binary;
    q->size += size;
}

/* Appends a copy of DATA; there must be room. Returns false if memory is short. */
static bool push_copied_run(ErlNifIOQueue *q, const unsigned char *data, size_t size)
{
    struct th_binary *binary = th_binary_create(size);

    if (!binary)
        return false;
    memcpy(binary->data, data, size);
    push_run(q, binary->data, size, binary);
    return true;
}

/* Takes the caller's reference even if the call fails, as in a BEAM. If the bytes were queued, BIN
 * can still be read. */
int enif_ioq_enq_binary(ErlNifIOQueue *q, ErlNifBinary *bin, size_t skip)
{
    static const char name[] = "enif_ioq_enq_binary";
    struct th_binary *binary = bin->ref_bin;
    bool good;

    if (!th_check_has(TH_CHECK_QUEUE, q, name) || !th_nif_binary_take(bin, TH_NIF_IOQ_ENQ_BINARY))
        return 0;
    good = skip <= bin->size && reserve_runs(q, 1);
    bin->ref_bin = NULL;
    if (good && skip < bin->size) {
        if (!binary)
            return push_copied_run(q, bin->data + skip, bin->size - skip);
        push_run(q, bin->data + skip, bin->size - skip, binary);
        return 1;
    }
    if (binary)
        th_binary_release(binary);
    bin->data = NULL;
    bin->size = 0;
    return good;
}

int enif_ioq_enqv(ErlNifIOQueue *q, ErlNifIOVec *iov, size_t skip)
{
    size_t before = q->count;

    if (!th_check_has(TH_CHECK_QUEUE, q, "enif_ioq_enqv") || skip > iov->size ||
        !reserve_runs(q, (size_t)iov->iovcnt))
        return 0;
    for (int i = 0; i < iov->iovcnt; i++) {
        const unsigned char *data = (const unsigned char *)iov->iov[i].iov_base;
        size_t size = iov->iov[i].iov_len, passed = skip < size ? skip : size;

        skip -= passed;
        if (passed == size)
            continue;
        if (iov->ref_bins[i]) {
            th_binary_keep(iov->ref_bins[i]);
            push_run(q, data + passed, size - passed, iov->ref_bins[i]);
        } else if (!push_copied_run(q, data + passed, size - passed)) {
            while (q->count > before) { /* undoes the queued runs */
                size_t last = q->first + --q->count;
                q->size -= q->runs[last].iov_len;
                th_binary_release(q->binaries[last]);
            }
            return 0;
        }
    }
    return 1;
}

/* --- Dequeueing ------------------------------------------------------------------------------- */

int enif_ioq_deq(ErlNifIOQueue *q, size_t count, size_t *size)
{
    if (!th_check_has(TH_CHECK_QUEUE, q, "enif_ioq_deq") || count > q->size)
        return 0;
    q->size -= count;
    while (count > 0) {
        SysIOVec *run = &q->runs[q->first];
        if (count < run->iov_len) {
            run->iov_base = (char *)run->iov_base + count;
            run->iov_len -= count;
            break;
        }
        count -= run->iov_len;
        th_binary_release(q->binaries[q->first++]);
        q->count--;
    }
    if (q->count == 0)
        q->first = 0;
    if (size)
        *size = q->size;
    return 1;
}

SysIOVec *enif_ioq_peek(ErlNifIOQueue *q, int *iovlen)
{
    if (iovlen)
        *iovlen = (int)q->count;
    return q->count > 0 ? q->runs + q->first : NULL;
}

int enif_ioq_peek_head(ErlNifEnv *env, ErlNifIOQueue *q, size_t *size, ERL_NIF_TERM *head)
{
    const SysIOVec *run;

    if (q->count == 0)
        return 0;
    run = &q->runs[q->first];
    if (size)
        *size = run->iov_len;
    *head = th_make_shared_binary(env, q->binaries[q->first], (const unsigned char *)run->iov_base,
                                  8 * run->iov_len);
    return 1;
}

/* --- Lists of binaries as vectors ------------------------------------------------------------- */

/* With an environment a vector borrows: its bytes belong to the terms, its arrays to the
 * environment. Without an environment a vector owns references to shared binaries, one binary with
 * copies of all other bytes, and its arrays. The accepted lists were measured from a BEAM: at least
 * one element is taken, whatever max_length is; an empty binary counts as an element but makes no
 * run; after the taken elements a list must follow, which is not checked further. */

struct extent {
    unsigned runs;   /* runs of at least one byte */
    size_t unshared; /* bytes that are in no shared binary */
    th_term tail;
};

/* Reads the next binary of *LIST, and advances *LIST. Returns false if there is none. */
static bool next_binary(th_term *list, const unsigned char **data, size_t *size,
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

static bool measure_list(th_term list, size_t max_length, struct extent *extent)
{
    size_t taken = 0, size;
    const unsigned char *data;
    struct th_binary *shared;

    *extent = (struct extent){.tail = list};
    while (extent->tail != TH_NIL && (taken == 0 || taken < max_length)) {
        if (!next_binary(&extent->tail, &data, &size, &shared))
            return false;
        taken++;
        extent->runs += size > 0;
        extent->unshared += shared ? 0 : size;
    }
    return extent->tail == TH_NIL || th_is_list(extent->tail);
}

/* --- Memory of a vector ----------------------------------------------------------------------- */

/* Returns a vector for RUNS runs: the caller's structure, if it is large enough, or a new one with
 * its arrays behind it. Returns NULL if memory is short. */
static ErlNifIOVec *prepare_vector(ErlNifEnv *env, unsigned runs, ErlNifIOVec *given)
{
    size_t size = sizeof(ErlNifIOVec) + runs * (sizeof(SysIOVec) + sizeof(void *));
    ErlNifIOVec *vec;

    if (given && runs <= ERL_NIF_IOVEC_SIZE) {
        given->iov = given->small_iov;
        given->ref_bins = given->small_ref_bin;
        given->flags = TH_IOVEC_OF_CALLER;
        return given;
    }
    vec = env ? (void *)th_env_take(env, (size + sizeof(th_term) - 1) / sizeof(th_term))
              : malloc(size);
    if (!vec)
        return NULL;
    vec->iov = (SysIOVec *)(vec + 1);
    vec->ref_bins = (void **)(vec->iov + runs);
    vec->flags = 0;
    return vec;
}

/* --- Filling a vector ------------------------------------------------------------------------- */

/* Fills VEC. An owner takes a reference for each run; bytes outside shared binaries are copied to
 * COPIES, if COPIES is not NULL. */
static void fill_vector(ErlNifIOVec *vec, th_term list, th_term tail, struct th_binary *copies)
{
    size_t size, copied = 0;
    const unsigned char *data;
    struct th_binary *shared;

    vec->iovcnt = 0;
    vec->size = 0;
    while (list != tail && next_binary(&list, &data, &size, &shared)) {
        if (size == 0)
            continue;
        if (!shared && copies) {
            data = memcpy(copies->data + copied, data, size);
            copied += size;
            shared = copies;
        }
        if (shared && (vec->flags & TH_IOVEC_OWNS))
            th_binary_keep(shared);
        vec->iov[vec->iovcnt].iov_base = (char *)(uintptr_t)data;
        vec->iov[vec->iovcnt].iov_len = size;
        vec->ref_bins[vec->iovcnt++] = shared;
        vec->size += size;
    }
}

int enif_inspect_iovec(ErlNifEnv *env, size_t max_length, ERL_NIF_TERM iovec_term,
                       ERL_NIF_TERM *tail, ErlNifIOVec **iovec)
{
    struct th_binary *copies = NULL; /* bytes that an owner must copy */
    struct extent extent;
    ErlNifIOVec *vec;

    if (!measure_list(iovec_term, max_length, &extent))
        return th_check_misread(iovec_term, "enif_inspect_iovec");
    if (!env && extent.unshared > 0 && !(copies = th_binary_create(extent.unshared)))
        return 0;
    vec = prepare_vector(env, extent.runs, *iovec);
    if (vec) {
        vec->flags |= env ? 0 : TH_IOVEC_OWNS;
        fill_vector(vec, iovec_term, extent.tail, copies);
        *tail = extent.tail;
        *iovec = vec;
        if (!env)
            th_check_got(TH_CHECK_VECTOR, vec, vec->size, NULL, "enif_inspect_iovec");
    }
    if (copies)
        th_binary_release(copies); /* the runs have their own references */
    return vec != NULL;
}

/* A vector that borrows has nothing to free. */
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
