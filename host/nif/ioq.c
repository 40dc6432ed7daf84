/*
 * I/O queues.
 *
 * The runs of bytes that wait stand in one array, which is what enif_ioq_peek() shows; each holds a
 * share of the binary that it lies in. What is dequeued leaves a gap at the array's start, which is
 * closed when room is needed at its end.
 */
#include "binary.h"
#include "iovec.h"
#include "nif.h"

#include "host/runtime/runtime.h"

struct erts_io_queue {
    SysIOVec *runs;
    struct th_binary **binaries; /* of the runs */
    size_t first, count, capacity;
    size_t size; /* bytes of all runs */
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

/* --- Room ------------------------------------------------------------------------------------ */

static void close_gap(ErlNifIOQueue *q)
{
    if (q->first == 0 || !q->runs)
        return;
    memmove(q->runs, q->runs + q->first, q->count * sizeof *q->runs);
    memmove(q->binaries, q->binaries + q->first, q->count * sizeof *q->binaries);
    q->first = 0;
}

static bool grow(ErlNifIOQueue *q, size_t capacity)
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

/* Room for COUNT more runs. The gap is closed only where it is as long as what is moved, so that
 * a queue which is filled and emptied by turns costs constant time a run. */
static bool reserve(ErlNifIOQueue *q, size_t count)
{
    size_t needed = q->count + count;

    if (q->first + needed <= q->capacity)
        return true;
    if (q->first < q->count && !grow(q, 2 * (q->first + needed)))
        return false;
    if (q->first + needed <= q->capacity)
        return true;
    close_gap(q);
    return needed <= q->capacity || grow(q, needed < 4 ? 4 : 2 * needed);
}

/* --- In -------------------------------------------------------------------------------------- */

/* There is room. Takes the caller's share of BINARY. */
static void push(ErlNifIOQueue *q, const unsigned char *data, size_t size, struct th_binary *binary)
{
    size_t i = q->first + q->count++;

    q->runs[i].iov_base = (char *)(uintptr_t)data;
    q->runs[i].iov_len = size;
    q->binaries[i] = binary;
    q->size += size;
}

/* There is room. Bytes that nobody shares are copied; false if there is no memory for that. */
static bool push_copy(ErlNifIOQueue *q, const unsigned char *data, size_t size)
{
    struct th_binary *binary = th_binary_create(size);

    if (!binary)
        return false;
    memcpy(binary->data, data, size);
    push(q, binary->data, size, binary);
    return true;
}

/* The binary is given away, even to a call that fails, as in a BEAM. Of what is queued the bytes
 * remain to be read. */
int enif_ioq_enq_binary(ErlNifIOQueue *q, ErlNifBinary *bin, size_t skip)
{
    static const char name[] = "enif_ioq_enq_binary";
    struct th_binary *binary = bin->ref_bin;
    bool good;

    if (!th_check_has(TH_CHECK_QUEUE, q, name) || !th_nif_binary_take(bin, TH_NIF_IOQ_ENQ_BINARY))
        return 0;
    good = skip <= bin->size && reserve(q, 1);
    bin->ref_bin = NULL;
    if (good && skip < bin->size) {
        if (!binary)
            return push_copy(q, bin->data + skip, bin->size - skip);
        push(q, bin->data + skip, bin->size - skip, binary);
        return 1;
    }
    if (binary)
        th_binary_release(binary);
    bin->data = NULL;
    bin->size = 0;
    return good;
}

/* Takes back the runs behind the first COUNT, and their bytes. */
static void truncate_to(ErlNifIOQueue *q, size_t count)
{
    while (q->count > count) {
        size_t i = q->first + --q->count;
        q->size -= q->runs[i].iov_len;
        th_binary_release(q->binaries[i]);
    }
}

int enif_ioq_enqv(ErlNifIOQueue *q, ErlNifIOVec *iov, size_t skip)
{
    size_t before = q->count;

    if (!th_check_has(TH_CHECK_QUEUE, q, "enif_ioq_enqv") || skip > iov->size ||
        !reserve(q, (size_t)iov->iovcnt))
        return 0;
    for (int i = 0; i < iov->iovcnt; i++) {
        const unsigned char *data = (const unsigned char *)iov->iov[i].iov_base;
        size_t size = iov->iov[i].iov_len, passed = skip < size ? skip : size;

        skip -= passed;
        if (passed == size)
            continue;
        if (iov->ref_bins[i]) {
            th_binary_keep(iov->ref_bins[i]);
            push(q, data + passed, size - passed, iov->ref_bins[i]);
        } else if (!push_copy(q, data + passed, size - passed)) {
            truncate_to(q, before);
            return 0;
        }
    }
    return 1;
}

/* --- Out ------------------------------------------------------------------------------------- */

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
