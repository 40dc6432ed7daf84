/* The external term format. */
#include "nif.h"

#include "host/library/library.h"
#include "host/process/process.h"
#include "host/runtime/runtime.h"

int enif_term_to_binary(ErlNifEnv *env, ERL_NIF_TERM term, ErlNifBinary *bin)
{
    struct th_etf_options options = {.here = th_world_node(), .saving = th_resource_save};
    struct th_buffer bytes = {0};
    int done;

    (void)env;
    term = th_check_read(term, "enif_term_to_binary");
    done =
        th_etf_encode(&bytes, term, true, &options) == TH_OK && enif_alloc_binary(bytes.size, bin);
    if (done)
        memcpy(bin->data, bytes.data, bytes.size);
    th_buffer_free(&bytes);
    return done;
}

size_t enif_binary_to_term(ErlNifEnv *env, const unsigned char *data, size_t sz, ERL_NIF_TERM *term,
                           unsigned int opts)
{
    struct th_etf_options options = {
        .here = th_world_node(),
        .safe = opts & ERL_NIF_BIN2TERM_SAFE,
        .finding = th_resource_find,
    };
    th_term decoded;
    size_t used;

    if (opts & ~(unsigned int)ERL_NIF_BIN2TERM_SAFE ||
        th_etf_decode(env, data, sz, true, &options, &decoded, &used) != TH_OK)
        return 0;
    *term = decoded;
    return used;
}
