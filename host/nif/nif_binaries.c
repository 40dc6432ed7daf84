/* Binaries, I/O lists, and the external term format. */
#include "nif.h"

#include "host/base/buffer.h"
#include "host/base/error.h"
#include "host/check/check.h"
#include "host/library/resource/resource.h"
#include "host/process/process.h"
#include "host/term/atom.h"
#include "host/term/etf.h"
#include "host/term/make.h"

#include <stddef.h>

/* --- Binaries --------------------------------------------------------------------------------- */

/* ErlNifBinary's ref_bin is a reference to a struct th_binary while the caller owns the bytes, and
 * NULL while they belong to a term. The first spare word then records the reason, for the checker.
 * Before NIF 2.11 the structure had 32 bytes, which include that word. Nothing is written behind
 * these 32 bytes; so the library's version does not matter here. */

/* A new binary of up to this size, in bytes, is stored in the environment's heap, as in a BEAM. */
enum { HEAP_BYTES = 64 };

_Static_assert(offsetof(ErlNifBinary, __spare__[1]) == 32, "the structure before NIF 2.11");

/* If a binary has no reference, its first spare word is the address of one of these: the bytes
 * belong to a term, the reference was released, or a function has taken it. */
static char inspected, released;
static const char *const taken_by[] = {
    [TH_NIF_REALLOC_BINARY] = "enif_realloc_binary",
    [TH_NIF_RELEASE_BINARY] = "enif_release_binary",
    [TH_NIF_MAKE_BINARY] = "enif_make_binary",
    [TH_NIF_IOQ_ENQ_BINARY] = "enif_ioq_enq_binary",
};

void th_nif_binary_set(ErlNifBinary *bin, size_t size, unsigned char *data, void *ref_bin)
{
    bin->size = size;
    bin->data = data;
    bin->ref_bin = ref_bin;
    bin->__spare__[0] = NULL;
}

bool th_nif_binary_take(ErlNifBinary *bin, enum th_nif_binary_taker taker)
{
    const char *function = taken_by[taker];

    if (!th_check_on())
        return true;
    if (bin->ref_bin && !th_check_gave(TH_CHECK_BINARY, bin->ref_bin, function))
        return false;
    if (!bin->ref_bin && bin->__spare__[0] == &released) {
        th_check_blame(TH_RULE_OWNER, function, "on a binary that was released already");
        return false;
    }
    bin->__spare__[0] = (void *)(uintptr_t)&taken_by[taker];
    return true;
}

static void got(const ErlNifBinary *bin, const char *function)
{
    th_check_got(TH_CHECK_BINARY, bin->ref_bin, bin->size, NULL, function);
}

int enif_is_binary(ErlNifEnv *env, ERL_NIF_TERM term)
{
    const unsigned char *data;
    size_t size;

    (void)env;
    return th_get_bytes_inline(term, &data, &size);
}

/* Called last, so that the usual way saves no register. */
static __attribute__((cold, noinline)) int misread_binary(ErlNifEnv *env, ERL_NIF_TERM bin_term)
{
    (void)env;
    return th_is_boxed(bin_term) ? th_check_misread_boxed(bin_term, "enif_inspect_binary") : 0;
}

int enif_inspect_binary(ErlNifEnv *env, ERL_NIF_TERM bin_term, ErlNifBinary *bin)
{
    const unsigned char *data;
    size_t size;

    if (!th_get_bytes_inline(bin_term, &data, &size))
        return misread_binary(env, bin_term);
    bin->size = size;
    bin->data = (unsigned char *)data;
    bin->ref_bin = NULL;
    bin->__spare__[0] = &inspected;
    return 1;
}

int enif_alloc_binary(size_t size, ErlNifBinary *bin)
{
    struct th_binary *binary = th_check_allows() ? th_binary_create(size) : NULL;

    if (!binary)
        return 0;
    th_nif_binary_set(bin, size, binary->data, binary);
    got(bin, "enif_alloc_binary");
    return 1;
}

/* The bytes of a term are copied: the caller must not change them. */
int enif_realloc_binary(ErlNifBinary *bin, size_t size)
{
    struct th_binary *binary = bin->ref_bin;
    ErlNifBinary copy;

    if ((binary && !th_check_allows()) || !th_nif_binary_take(bin, TH_NIF_REALLOC_BINARY))
        return 0;
    if (binary) {
        binary = th_binary_resize(binary, size);
        if (!binary) {
            got(bin, "enif_realloc_binary");
            return 0;
        }
        th_nif_binary_set(bin, size, binary->data, binary);
        got(bin, "enif_realloc_binary");
        return 1;
    }
    if (!enif_alloc_binary(size, &copy))
        return 0;
    if (bin->size > 0)
        memcpy(copy.data, bin->data, size < bin->size ? size : bin->size);
    th_nif_binary_set(bin, copy.size, copy.data, copy.ref_bin);
    return 1;
}

void enif_release_binary(ErlNifBinary *bin)
{
    static const char name[] = "enif_release_binary";

    /* A BEAM ignores a binary that the library does not own. */
    if (th_check_on() && !bin->ref_bin) {
        if (bin->__spare__[0] == &inspected)
            th_check_blame(TH_RULE_OWNER, name, "on a binary that was only inspected");
        for (size_t i = 0; i < sizeof taken_by / sizeof taken_by[0]; i++)
            if (bin->__spare__[0] == &taken_by[i])
                th_check_blame_of(TH_RULE_OWNER, name, "on a binary that was given to",
                                  taken_by[i]);
    }
    if (th_nif_binary_take(bin, TH_NIF_RELEASE_BINARY) && bin->ref_bin)
        th_binary_release(bin->ref_bin);
    th_nif_binary_set(bin, 0, NULL, NULL);
    bin->__spare__[0] = &released;
}

ERL_NIF_TERM enif_make_binary(ErlNifEnv *env, ErlNifBinary *bin)
{
    struct th_binary *binary = bin->ref_bin;
    th_term term;

    if (!th_nif_binary_take(bin, TH_NIF_MAKE_BINARY))
        return TH_AM(undefined);
    if (!binary)
        return th_make_binary(env, bin->data, bin->size);
    term = th_make_shared_binary(env, binary, bin->data, bin->size * 8);
    th_binary_release(binary); /* the term has its own reference, so the bytes stay */
    bin->ref_bin = NULL;
    return term;
}

unsigned char *enif_make_new_binary(ErlNifEnv *env, size_t size, ERL_NIF_TERM *termp)
{
    unsigned char *data;
    struct th_binary *binary;

    if (size <= HEAP_BYTES) {
        *termp = th_make_heap_binary(env, size * 8, &data);
        return data;
    }
    binary = th_binary_create(size);
    if (!binary)
        return NULL;
    data = binary->data;
    *termp = th_make_shared_binary(env, binary, data, size * 8);
    th_binary_release(binary);
    return data;
}

static __attribute__((cold, noinline)) ERL_NIF_TERM
make_sub_binary_slowly(ErlNifEnv *env, ERL_NIF_TERM bin_term, size_t pos, size_t size)
{
    return th_make_sub_binary(env, bin_term, pos, size);
}

ERL_NIF_TERM enif_make_sub_binary(ErlNifEnv *env, ERL_NIF_TERM bin_term, size_t pos, size_t size)
{
    const unsigned char *data;
    size_t whole;

    if (!th_get_bytes_inline(bin_term, &data, &whole) || pos > whole || size > whole - pos)
        return enif_make_badarg(env);
    if (!th_env_has(env, 4))
        return make_sub_binary_slowly(env, bin_term, pos, size);
    return th_make_sub_binary(env, bin_term, pos, size);
}

/* --- I/O lists as binaries -------------------------------------------------------------------- */

/* The bytes of a list are stored in the environment's heap, and are valid as long as a term
 * there. */
int enif_inspect_iolist_as_binary(ErlNifEnv *env, ERL_NIF_TERM term, ErlNifBinary *bin)
{
    unsigned char *data;
    size_t size;

    if (!th_is_list(term) && term != TH_NIL)
        return enif_inspect_binary(env, term, bin);
    if (!th_term_iodata_size(term, &size))
        return th_check_misread(term, "enif_inspect_iolist_as_binary");
    th_make_heap_binary(env, size * 8, &data);
    th_term_iodata_copy(term, data);
    th_nif_binary_set(bin, size, data, NULL);
    return 1;
}

/* --- The external term format ----------------------------------------------------------------- */

/* A failure does not change the thread's chain of errors: a callback may run while the host has an
 * error of its own. */

int enif_term_to_binary(ErlNifEnv *env, ERL_NIF_TERM term, ErlNifBinary *bin)
{
    struct th_etf_options options = {.here = th_process_world_node(), .saving = th_resource_save};
    struct th_error_chain before;
    struct th_buffer bytes = {0};
    int done;

    (void)env;
    term = th_check_read(term, "enif_term_to_binary");
    th_error_save(&before);
    done =
        th_etf_encode(&bytes, term, true, &options) == TH_OK && enif_alloc_binary(bytes.size, bin);
    if (done)
        memcpy(bin->data, bytes.data, bytes.size);
    else
        th_error_restore(&before);
    th_buffer_free(&bytes);
    return done;
}

size_t enif_binary_to_term(ErlNifEnv *env, const unsigned char *data, size_t sz, ERL_NIF_TERM *term,
                           unsigned int opts)
{
    struct th_etf_options options = {
        .here = th_process_world_node(),
        .safe = opts & ERL_NIF_BIN2TERM_SAFE,
        .finding = th_resource_find,
    };
    struct th_error_chain before;
    th_term decoded;
    size_t used;

    if (opts & ~(unsigned int)ERL_NIF_BIN2TERM_SAFE)
        return 0;
    th_error_save(&before);
    if (th_etf_decode(env, data, sz, true, &options, &decoded, &used) != TH_OK) {
        th_error_restore(&before);
        return 0;
    }
    *term = decoded;
    return used;
}
