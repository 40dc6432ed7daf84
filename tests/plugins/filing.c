/*
 * Functions that request operations on files, one for each operation, and return the result; and
 * functions that misuse them.
 */
#include <erl_nif.h>
#include <nif_module.h>

#define NIF(NAME)                                                                   \
    static ERL_NIF_TERM do_##NAME(ErlNifEnv *env, int argc __attribute__((unused)), \
                                  const ERL_NIF_TERM argv[] __attribute__((unused)))

static ErlNifSInt64 number(ErlNifEnv *env, ERL_NIF_TERM term)
{
    ErlNifSInt64 value;

    return enif_get_int64(env, term, &value) ? value : 0;
}

static ERL_NIF_TERM atom(ErlNifEnv *env, const char *name)
{
    return enif_make_atom(env, name);
}

static ERL_NIF_TERM answer(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env;
    (void)argc;
    return argv[0];
}

/* --- One for each operation ------------------------------------------------------------------- */

NIF(open)
{
    return th_file_open(env, argv[0], (int)number(env, argv[1]), answer, 0, NULL);
}

NIF(read)
{
    return th_file_read(env, argv[0], (ErlNifUInt64)number(env, argv[1]), answer, 0, NULL);
}

NIF(lseek)
{
    return th_file_lseek(env, argv[0], number(env, argv[1]), (int)number(env, argv[2]), answer, 0,
                         NULL);
}

NIF(write)
{
    return th_file_write(env, argv[0], argv[1], answer, 0, NULL);
}

NIF(fstat)
{
    return th_file_fstat(env, argv[0], answer, 0, NULL);
}

NIF(pwd)
{
    return th_file_pwd(env, answer, 0, NULL);
}

NIF(readdir)
{
    return th_file_readdir(env, argv[0], answer, 0, NULL);
}

NIF(chdir)
{
    return th_file_chdir(env, argv[0], answer, 0, NULL);
}

NIF(fsync)
{
    return th_file_fsync(env, argv[0], answer, 0, NULL);
}

NIF(mkdir)
{
    return th_file_mkdir(env, argv[0], answer, 0, NULL);
}

NIF(delete)
{
    return th_file_delete(env, argv[0], answer, 0, NULL);
}

NIF(rename)
{
    return th_file_rename(env, argv[0], argv[1], answer, 0, NULL);
}

NIF(rmdir)
{
    return th_file_rmdir(env, argv[0], answer, 0, NULL);
}

NIF(truncate)
{
    return th_file_truncate(env, argv[0], answer, 0, NULL);
}

NIF(read_file)
{
    return th_file_read_file(env, argv[0], answer, 0, NULL);
}

NIF(write_info)
{
    return th_file_write_info(env, argv[0], number(env, argv[1]), number(env, argv[2]),
                              number(env, argv[3]), answer, 0, NULL);
}

NIF(lstat)
{
    return th_file_lstat(env, argv[0], answer, 0, NULL);
}

NIF(readlink)
{
    return th_file_readlink(env, argv[0], answer, 0, NULL);
}

NIF(link)
{
    return th_file_link(env, argv[0], argv[1], answer, 0, NULL);
}

NIF(symlink)
{
    return th_file_symlink(env, argv[0], argv[1], answer, 0, NULL);
}

NIF(close)
{
    return th_file_close(env, argv[0], answer, 0, NULL);
}

NIF(pwritev)
{
    return th_file_pwritev(env, argv[0], argv[1], answer, 0, NULL);
}

NIF(preadv)
{
    return th_file_preadv(env, argv[0], argv[1], answer, 0, NULL);
}

NIF(setopt)
{
    return th_file_setopt(env, argv[0], (int)number(env, argv[1]), number(env, argv[2]), answer, 0,
                          NULL);
}

NIF(ipread)
{
    return th_file_ipread(env, argv[0], number(env, argv[1]), number(env, argv[2]), answer, 0,
                          NULL);
}

NIF(altname)
{
    return th_file_altname(env, argv[0], answer, 0, NULL);
}

NIF(read_line)
{
    return th_file_read_line(env, argv[0], answer, 0, NULL);
}

NIF(fdatasync)
{
    return th_file_fdatasync(env, argv[0], answer, 0, NULL);
}

NIF(fadvise)
{
    return th_file_fadvise(env, argv[0], number(env, argv[1]), number(env, argv[2]),
                           (int)number(env, argv[3]), answer, 0, NULL);
}

/* --- Unusual requests ------------------------------------------------------------------------- */

/* Arguments: the result, kept terms. Returns a tuple of all. */
NIF(with_kept)
{
    return enif_make_tuple_from_array(env, argv, (unsigned)argc);
}

/* keeps(Path, ...): reads Path and keeps all its arguments. */
NIF(keeps)
{
    return th_file_read_file(env, argv[0], do_with_kept, 3, argv);
}

/* Both requests create a folder; only the second is carried out. */
NIF(last_counts)
{
    th_file_mkdir(env, argv[0], answer, 0, NULL);
    return th_file_mkdir(env, argv[1], answer, 0, NULL);
}

/* A returned term cancels the request. */
NIF(says_else)
{
    th_file_mkdir(env, argv[0], answer, 0, NULL);
    return atom(env, "else");
}

/* An exception cancels the request, too. */
NIF(raises)
{
    th_file_mkdir(env, argv[0], answer, 0, NULL);
    return enif_raise_exception(env, argv[0]);
}

/* Calls another function of this module, which requests the operation. */
NIF(nested)
{
    return th_call(env, atom(env, "filing"), atom(env, "mkdir"), 1, argv);
}

NIF(last)
{
    ThFileLast last;

    if (!th_file_last(env, &last))
        return atom(env, "none");
    return enif_make_tuple4(env, enif_make_int(env, last.command), enif_make_int(env, last.thread),
                            enif_make_int(env, last.tag), enif_make_int(env, last.error));
}

/* Arguments: the result, To. Sends the open file to To and stays. */
NIF(goes_on_open)
{
    const ERL_NIF_TERM *parts;
    ErlNifPid to;
    int count;

    enif_get_local_pid(env, argv[1], &to);
    enif_send(env, &to, NULL, enif_get_tuple(env, argv[0], &count, &parts) ? parts[1] : argv[0]);
    return th_await(env, answer, TH_INFINITY, 0, NULL);
}

/* holds(Path, Flags, To) */
NIF(holds)
{
    return th_file_open(env, argv[0], (int)number(env, argv[1]), do_goes_on_open, 1, &argv[2]);
}

/* Arguments: the result, the count, the path. Reads the file COUNT times, one after the other. */
NIF(again)
{
    ErlNifSInt64 left = number(env, argv[1]);
    ERL_NIF_TERM kept[2] = {enif_make_int64(env, left - 1), argv[2]};

    if (left == 0)
        return argv[0];
    return th_file_read_file(env, argv[2], do_again, 2, kept);
}

NIF(many)
{
    return th_file_read_file(env, argv[1], do_again, 2, argv);
}

/* --- User tags --- */

NIF(put_tag)
{
    return th_put_tag(env, argv[0]);
}

NIF(get_tag)
{
    return th_get_tag(env);
}

NIF(get_tag_data)
{
    return th_get_tag_data(env);
}

NIF(spread_tag)
{
    return th_spread_tag(env, (int)number(env, argv[0]));
}

NIF(restore_tag)
{
    return th_restore_tag(env, argv[0]) ? atom(env, "true") : 0;
}

static ErlNifFunc functions[] = {
    {"open", 2, do_open, 0},
    {"read", 2, do_read, 0},
    {"lseek", 3, do_lseek, 0},
    {"write", 2, do_write, 0},
    {"fstat", 1, do_fstat, 0},
    {"pwd", 0, do_pwd, 0},
    {"readdir", 1, do_readdir, 0},
    {"chdir", 1, do_chdir, 0},
    {"fsync", 1, do_fsync, 0},
    {"mkdir", 1, do_mkdir, 0},
    {"delete", 1, do_delete, 0},
    {"rename", 2, do_rename, 0},
    {"rmdir", 1, do_rmdir, 0},
    {"truncate", 1, do_truncate, 0},
    {"read_file", 1, do_read_file, 0},
    {"write_info", 4, do_write_info, 0},
    {"lstat", 1, do_lstat, 0},
    {"readlink", 1, do_readlink, 0},
    {"link", 2, do_link, 0},
    {"symlink", 2, do_symlink, 0},
    {"close", 1, do_close, 0},
    {"pwritev", 2, do_pwritev, 0},
    {"preadv", 2, do_preadv, 0},
    {"setopt", 3, do_setopt, 0},
    {"ipread", 3, do_ipread, 0},
    {"altname", 1, do_altname, 0},
    {"read_line", 1, do_read_line, 0},
    {"fdatasync", 1, do_fdatasync, 0},
    {"fadvise", 4, do_fadvise, 0},
    {"keeps", 3, do_keeps, 0},
    {"last_counts", 2, do_last_counts, 0},
    {"says_else", 1, do_says_else, 0},
    {"raises", 1, do_raises, 0},
    {"nested", 1, do_nested, 0},
    {"last", 0, do_last, 0},
    {"holds", 3, do_holds, 0},
    {"many", 2, do_many, 0},
    {"put_tag", 1, do_put_tag, 0},
    {"get_tag", 0, do_get_tag, 0},
    {"get_tag_data", 0, do_get_tag_data, 0},
    {"spread_tag", 1, do_spread_tag, 0},
    {"restore_tag", 1, do_restore_tag, 0},
};

ERL_NIF_INIT(filing, functions, NULL, NULL, NULL, NULL)
