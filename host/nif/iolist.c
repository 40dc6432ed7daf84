/* I/O lists as binaries. */
#include "binary.h"
#include "nif.h"

#include "host/runtime/runtime.h"

/* The bytes of a list lie in the environment's heap, and are good as long as a term of it. */
static int inspect_list(ErlNifEnv *env, th_term list, ErlNifBinary *bin)
{
    unsigned char *data;
    size_t size;

    if (!th_iodata_size(list, &size))
        return th_check_misread(list, "enif_inspect_iolist_as_binary");
    th_make_heap_binary(env, size * 8, &data);
    th_iodata_copy(list, data);
    th_nif_binary_set(bin, size, data, NULL);
    return 1;
}

int enif_inspect_iolist_as_binary(ErlNifEnv *env, ERL_NIF_TERM term, ErlNifBinary *bin)
{
    if (th_is_list(term) || term == TH_NIL)
        return inspect_list(env, term, bin);
    return enif_inspect_binary(env, term, bin);
}
