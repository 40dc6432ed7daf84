/* Members of structs and texts as terms. */
#include "merge.h"

ERL_NIF_TERM fields_save(ErlNifEnv *env, const void *of, const struct field *fields, size_t count)
{
    ERL_NIF_TERM binary;
    unsigned char *bytes;
    size_t size = 0;

    for (size_t i = 0; i < count; i++)
        size += fields[i].size;
    bytes = enif_make_new_binary(env, size, &binary);
    for (size_t i = 0; bytes && i < count; i++) {
        memcpy(bytes, (const char *)of + fields[i].at, fields[i].size);
        bytes += fields[i].size;
    }
    return bytes ? binary : 0;
}

bool fields_take(ErlNifEnv *env, ERL_NIF_TERM binary, void *of, const struct field *fields,
                 size_t count)
{
    ErlNifBinary bytes;
    size_t size = 0;

    if (!enif_inspect_binary(env, binary, &bytes))
        return false;
    for (size_t i = 0; i < count; i++)
        size += fields[i].size;
    if (bytes.size != size)
        return false;
    for (size_t i = 0; i < count; i++) {
        memcpy((char *)of + fields[i].at, bytes.data, fields[i].size);
        bytes.data += fields[i].size;
    }
    return true;
}

ERL_NIF_TERM tuple_save(ErlNifEnv *env, const ERL_NIF_TERM *elements, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!elements[i])
            return 0;
    return enif_make_tuple_from_array(env, elements, (unsigned)count);
}

ERL_NIF_TERM text_save(ErlNifEnv *env, const char *text)
{
    ERL_NIF_TERM binary;
    unsigned char *bytes;

    if (!text)
        return enif_make_list(env, 0);
    bytes = enif_make_new_binary(env, strlen(text), &binary);
    if (bytes)
        memcpy(bytes, text, strlen(text));
    return bytes ? binary : 0;
}

bool text_take(ErlNifEnv *env, ERL_NIF_TERM saved, char **text)
{
    ErlNifBinary bytes;

    if (!enif_inspect_binary(env, saved, &bytes))
        return true;
    free(*text);
    *text = strndup((const char *)bytes.data, bytes.size);
    return *text;
}
