/*
 * files: operations on files that the host's I/O threads carry out. README.md describes the
 * functions; files.erl is the same in Erlang.
 *
 * A function returns its request to the host, and another function continues with the result: so
 * copying is a chain of functions, each with the names and files that the next ones need. All
 * return {error, not_supported} in a BEAM.
 */
#include <nif_module.h>

#include <stdbool.h>

enum { CHUNK = 65536 /* bytes that are copied at once */ };

static ERL_NIF_TERM atom(ErlNifEnv *env, const char *name)
{
    return enif_make_atom(env, name);
}

static ERL_NIF_TERM pair(ErlNifEnv *env, const char *tag, ERL_NIF_TERM term)
{
    return enif_make_tuple2(env, atom(env, tag), term);
}

/* The answer if the host has no such operations. */
static ERL_NIF_TERM not_supported(ErlNifEnv *env)
{
    return pair(env, "error", atom(env, "not_supported"));
}

/* Gets VALUE of {ok, VALUE}. */
static bool is_ok(ErlNifEnv *env, ERL_NIF_TERM result, ERL_NIF_TERM *value)
{
    const ERL_NIF_TERM *parts;
    int count;

    if (!enif_get_tuple(env, result, &count, &parts) || count != 2 ||
        !enif_is_identical(parts[0], atom(env, "ok")))
        return false;
    *value = parts[1];
    return true;
}

/* Returns the operation's result. */
static ERL_NIF_TERM answer(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env;
    (void)argc;
    return argv[0];
}

/* --- Single operations ------------------------------------------------------------------------ */

#define NIF(name) static ERL_NIF_TERM name(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])

NIF(rename_file)
{
    (void)argc;
    if (!th_host_present())
        return not_supported(env);
    return th_file_rename(env, argv[0], argv[1], answer, 0, NULL);
}

NIF(read_file)
{
    (void)argc;
    if (!th_host_present())
        return not_supported(env);
    return th_file_read_file(env, argv[0], answer, 0, NULL);
}

NIF(list)
{
    (void)argc;
    if (!th_host_present())
        return not_supported(env);
    return th_file_readdir(env, argv[0], answer, 0, NULL);
}

NIF(delete_file)
{
    (void)argc;
    if (!th_host_present())
        return not_supported(env);
    return th_file_delete(env, argv[0], answer, 0, NULL);
}

/* --- Writing: open, write, close -------------------------------------------------------------- */

/* Arguments: result of the close, result of the act before it; returns the first that is not `ok`.
 */
NIF(closed)
{
    (void)argc;
    return enif_is_identical(argv[1], atom(env, "ok")) ? argv[0] : argv[1];
}

/* Arguments: result of the write, File */
NIF(written)
{
    (void)argc;
    return th_file_close(env, argv[1], closed, 1, &argv[0]);
}

/* Arguments: result of the open, Data */
NIF(opened)
{
    ERL_NIF_TERM file;

    (void)argc;
    if (!is_ok(env, argv[0], &file))
        return argv[0];
    return th_file_write(env, file, argv[1], written, 1, &file);
}

NIF(write_file)
{
    ErlNifBinary data;

    (void)argc;
    if (!th_host_present())
        return not_supported(env);
    if (!enif_inspect_iolist_as_binary(env, argv[1], &data))
        return enif_make_badarg(env);
    return th_file_open(env, argv[0], TH_OPEN_WRITE, opened, 1, &argv[1]);
}

/* --- Copying, chunk by chunk ------------------------------------------------------------------ */

static ERL_NIF_TERM next_chunk(ErlNifEnv *env, const ERL_NIF_TERM files[2], ErlNifUInt64 bytes);

/* Arguments: result of a close, To, the error */
NIF(gives_up)
{
    (void)argc;
    return th_file_close(env, argv[1], closed, 1, &argv[2]);
}

static ERL_NIF_TERM give_up(ErlNifEnv *env, const ERL_NIF_TERM files[2], ERL_NIF_TERM failure)
{
    ERL_NIF_TERM kept[] = {files[1], failure};

    return th_file_close(env, files[0], gives_up, 2, kept);
}

/* Arguments: result of the write, From, To, Bytes including it */
NIF(chunk_written)
{
    ErlNifUInt64 bytes;

    (void)argc;
    if (!enif_is_identical(argv[0], atom(env, "ok")))
        return give_up(env, &argv[1], argv[0]);
    enif_get_uint64(env, argv[3], &bytes);
    return next_chunk(env, &argv[1], bytes);
}

/* Arguments: result of the last close, Bytes */
NIF(copied)
{
    (void)argc;
    return enif_is_identical(argv[0], atom(env, "ok")) ? pair(env, "ok", argv[1]) : argv[0];
}

/* Arguments: result of the first close, To, Bytes */
NIF(source_closed)
{
    (void)argc;
    return th_file_close(env, argv[1], copied, 1, &argv[2]);
}

/* Arguments: result of the read, From, To, Bytes so far */
NIF(chunk_read)
{
    ERL_NIF_TERM kept[3] = {argv[1], argv[2], argv[3]}, data;
    ErlNifUInt64 bytes;
    ErlNifBinary chunk;

    (void)argc;
    if (enif_is_identical(argv[0], atom(env, "eof")))
        return th_file_close(env, argv[1], source_closed, 2, &argv[2]);
    if (!is_ok(env, argv[0], &data))
        return give_up(env, &argv[1], argv[0]);
    enif_get_uint64(env, argv[3], &bytes);
    enif_inspect_binary(env, data, &chunk);
    kept[2] = enif_make_uint64(env, bytes + chunk.size);
    return th_file_write(env, argv[2], data, chunk_written, 3, kept);
}

static ERL_NIF_TERM next_chunk(ErlNifEnv *env, const ERL_NIF_TERM files[2], ErlNifUInt64 bytes)
{
    ERL_NIF_TERM kept[] = {files[0], files[1], enif_make_uint64(env, bytes)};

    return th_file_read(env, files[0], CHUNK, chunk_read, 3, kept);
}

/* Arguments: result of the second open, From */
NIF(target_opened)
{
    ERL_NIF_TERM files[2] = {argv[1], 0};

    (void)argc;
    if (!is_ok(env, argv[0], &files[1]))
        return th_file_close(env, argv[1], closed, 1, &argv[0]);
    return next_chunk(env, files, 0);
}

/* Arguments: result of the first open, path of the target */
NIF(source_opened)
{
    ERL_NIF_TERM from;

    (void)argc;
    if (!is_ok(env, argv[0], &from))
        return argv[0];
    return th_file_open(env, argv[1], TH_OPEN_WRITE, target_opened, 1, &from);
}

NIF(copy)
{
    (void)argc;
    if (!th_host_present())
        return not_supported(env);
    return th_file_open(env, argv[0], TH_OPEN_READ, source_opened, 1, &argv[1]);
}

/* --- User tags -------------------------------------------------------------------------------- */

NIF(put_tag)
{
    (void)argc;
    return th_host_present() ? th_put_tag(env, argv[0]) : not_supported(env);
}

NIF(get_tag)
{
    (void)argc;
    (void)argv;
    return th_host_present() ? th_get_tag(env) : not_supported(env);
}

static int upgrade(ErlNifEnv *env, void **data, void **old_data, ERL_NIF_TERM info)
{
    (void)env;
    (void)data;
    (void)old_data;
    (void)info;
    return 0;
}

static ErlNifFunc functions[] = {
    {"rename", 2, rename_file, 0}, {"write", 2, write_file, 0},   {"read", 1, read_file, 0},
    {"list", 1, list, 0},          {"delete", 1, delete_file, 0}, {"copy", 2, copy, 0},
    {"put_tag", 1, put_tag, 0},    {"get_tag", 0, get_tag, 0},
};

ERL_NIF_INIT(files, functions, NULL, NULL, upgrade, NULL)
