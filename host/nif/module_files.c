/* Functions of nif_module.h for running functions: operations on files. */
#include "nif.h"

#include "host/check/check.h"
#include "host/file/file.h"
#include "host/file/operations.h"
#include "host/runtime/runtime.h"
#include "host/term/atom.h"
#include "plugin_api/nif_module.h"

/* Requests OPERATION. GOOD: its arguments are valid; otherwise raises badarg. */
static ERL_NIF_TERM ask_operation(ErlNifEnv *env, struct th_file_operation *operation, bool good,
                                  const struct th_call_then *then)
{
    if (!good) {
        th_file_operation_drop(operation);
        return th_nif_raise(env, TH_AM(badarg));
    }
    return th_runtime_call_file(env, operation, then);
}

static bool set_path(ErlNifEnv *env, struct th_file_operation *operation, int which,
                     ERL_NIF_TERM path)
{
    return th_file_set_path(operation, which, th_check_term(env, path, "th_file"));
}

/* Requests an operation on one path, or two (OTHER is not TH_NONE). */
static ERL_NIF_TERM ask_for(ErlNifEnv *env, enum th_file_command command, ERL_NIF_TERM path,
                            ERL_NIF_TERM other, const struct th_call_then *then)
{
    struct th_file_operation *operation = th_file_operation_create(command);

    return ask_operation(env, operation,
                         set_path(env, operation, 0, path) &&
                             (other == TH_NONE || set_path(env, operation, 1, other)),
                         then);
}

/* Numeric arguments of an operation. */
struct given {
    int64_t numbers[3];
};

/* Requests an operation on FILE; raises badarg if FILE is no port. */
static ERL_NIF_TERM ask_on(ErlNifEnv *env, enum th_file_command command, ERL_NIF_TERM file,
                           struct given given, bool good, const struct th_call_then *then)
{
    struct th_file_operation *operation = th_file_operation_create(command);

    operation->port = file;
    memcpy(operation->given, given.numbers, sizeof given.numbers);
    return ask_operation(env, operation, good && th_is_local_port(file), then);
}

static ERL_NIF_TERM ask_of(ErlNifEnv *env, enum th_file_command command, ERL_NIF_TERM file,
                           const struct th_call_then *then)
{
    return ask_on(env, command, file, (struct given){{0}}, true, then);
}

#define THEN ThContinuation *then, int kept, const ERL_NIF_TERM terms[]
#define GOES_ON (&(const struct th_call_then){.code = then, .kept = kept, .terms = terms})

/* --- Operations on paths ---------------------------------------------------------------------- */

ERL_NIF_TERM th_file_open(ErlNifEnv *env, ERL_NIF_TERM path, ThOpenFlags flags, THEN)
{
    struct th_file_operation *operation = th_file_operation_create(TH_FILE_OPEN);

    operation->given[0] = flags;
    return ask_operation(env, operation, set_path(env, operation, 0, path), GOES_ON);
}

ERL_NIF_TERM th_file_write_info(ErlNifEnv *env, ERL_NIF_TERM path, ErlNifSInt64 mode,
                                ErlNifSInt64 uid, ErlNifSInt64 gid, THEN)
{
    struct th_file_operation *operation = th_file_operation_create(TH_FILE_WRITE_INFO);

    operation->given[0] = mode;
    operation->given[1] = uid;
    operation->given[2] = gid;
    return ask_operation(env, operation, set_path(env, operation, 0, path), GOES_ON);
}

ERL_NIF_TERM th_file_pwd(ErlNifEnv *env, THEN)
{
    return ask_operation(env, th_file_operation_create(TH_FILE_PWD), true, GOES_ON);
}

ERL_NIF_TERM th_file_readdir(ErlNifEnv *env, ERL_NIF_TERM path, THEN)
{
    return ask_for(env, TH_FILE_READDIR, path, TH_NONE, GOES_ON);
}

ERL_NIF_TERM th_file_chdir(ErlNifEnv *env, ERL_NIF_TERM path, THEN)
{
    return ask_for(env, TH_FILE_CHDIR, path, TH_NONE, GOES_ON);
}

ERL_NIF_TERM th_file_mkdir(ErlNifEnv *env, ERL_NIF_TERM path, THEN)
{
    return ask_for(env, TH_FILE_MKDIR, path, TH_NONE, GOES_ON);
}

ERL_NIF_TERM th_file_delete(ErlNifEnv *env, ERL_NIF_TERM path, THEN)
{
    return ask_for(env, TH_FILE_DELETE, path, TH_NONE, GOES_ON);
}

ERL_NIF_TERM th_file_rename(ErlNifEnv *env, ERL_NIF_TERM old_name, ERL_NIF_TERM new_name, THEN)
{
    return ask_for(env, TH_FILE_RENAME, old_name, new_name, GOES_ON);
}

ERL_NIF_TERM th_file_rmdir(ErlNifEnv *env, ERL_NIF_TERM path, THEN)
{
    return ask_for(env, TH_FILE_RMDIR, path, TH_NONE, GOES_ON);
}

ERL_NIF_TERM th_file_read_file(ErlNifEnv *env, ERL_NIF_TERM path, THEN)
{
    return ask_for(env, TH_FILE_READ_FILE, path, TH_NONE, GOES_ON);
}

ERL_NIF_TERM th_file_lstat(ErlNifEnv *env, ERL_NIF_TERM path, THEN)
{
    return ask_for(env, TH_FILE_LSTAT, path, TH_NONE, GOES_ON);
}

ERL_NIF_TERM th_file_readlink(ErlNifEnv *env, ERL_NIF_TERM path, THEN)
{
    return ask_for(env, TH_FILE_READLINK, path, TH_NONE, GOES_ON);
}

ERL_NIF_TERM th_file_link(ErlNifEnv *env, ERL_NIF_TERM existing_path, ERL_NIF_TERM new_path, THEN)
{
    return ask_for(env, TH_FILE_LINK, existing_path, new_path, GOES_ON);
}

ERL_NIF_TERM th_file_symlink(ErlNifEnv *env, ERL_NIF_TERM existing_path, ERL_NIF_TERM new_path,
                             THEN)
{
    return ask_for(env, TH_FILE_SYMLINK, existing_path, new_path, GOES_ON);
}

ERL_NIF_TERM th_file_altname(ErlNifEnv *env, ERL_NIF_TERM path, THEN)
{
    return ask_for(env, TH_FILE_ALTNAME, path, TH_NONE, GOES_ON);
}

/* --- Operations on open files ----------------------------------------------------------------- */

ERL_NIF_TERM th_file_fstat(ErlNifEnv *env, ERL_NIF_TERM file, THEN)
{
    return ask_of(env, TH_FILE_FSTAT, file, GOES_ON);
}

ERL_NIF_TERM th_file_fsync(ErlNifEnv *env, ERL_NIF_TERM file, THEN)
{
    return ask_of(env, TH_FILE_FSYNC, file, GOES_ON);
}

ERL_NIF_TERM th_file_fdatasync(ErlNifEnv *env, ERL_NIF_TERM file, THEN)
{
    return ask_of(env, TH_FILE_FDATASYNC, file, GOES_ON);
}

ERL_NIF_TERM th_file_truncate(ErlNifEnv *env, ERL_NIF_TERM file, THEN)
{
    return ask_of(env, TH_FILE_TRUNCATE, file, GOES_ON);
}

ERL_NIF_TERM th_file_close(ErlNifEnv *env, ERL_NIF_TERM file, THEN)
{
    return ask_of(env, TH_FILE_CLOSE, file, GOES_ON);
}

ERL_NIF_TERM th_file_read_line(ErlNifEnv *env, ERL_NIF_TERM file, THEN)
{
    return ask_of(env, TH_FILE_READ_LINE, file, GOES_ON);
}

ERL_NIF_TERM th_file_read(ErlNifEnv *env, ERL_NIF_TERM file, ErlNifUInt64 size, THEN)
{
    return ask_on(env, TH_FILE_READ, file, (struct given){{(int64_t)size}}, size <= INT64_MAX,
                  GOES_ON);
}

ERL_NIF_TERM th_file_lseek(ErlNifEnv *env, ERL_NIF_TERM file, ErlNifSInt64 offset, int origin, THEN)
{
    return ask_on(env, TH_FILE_LSEEK, file, (struct given){{offset, origin}}, true, GOES_ON);
}

/* Requests an operation on FILE with DATA, which SET stores in the operation; raises badarg if SET
 * refuses DATA, or if FILE is no port. */
static ERL_NIF_TERM ask_with(ErlNifEnv *env, enum th_file_command command, ERL_NIF_TERM file,
                             bool (*set)(struct th_file_operation *operation, th_term data),
                             th_term data, const struct th_call_then *then)
{
    struct th_file_operation *operation = th_file_operation_create(command);

    operation->port = file;
    return ask_operation(env, operation, set(operation, data) && th_is_local_port(file), then);
}

ERL_NIF_TERM th_file_write(ErlNifEnv *env, ERL_NIF_TERM file, ERL_NIF_TERM data, THEN)
{
    return ask_with(env, TH_FILE_WRITE, file, th_file_set_data,
                    th_check_term(env, data, "th_file_write"), GOES_ON);
}

ERL_NIF_TERM th_file_pwritev(ErlNifEnv *env, ERL_NIF_TERM file, ERL_NIF_TERM pieces, THEN)
{
    return ask_with(env, TH_FILE_PWRITEV, file, th_file_set_pieces,
                    th_check_term(env, pieces, "th_file"), GOES_ON);
}

ERL_NIF_TERM th_file_preadv(ErlNifEnv *env, ERL_NIF_TERM file, ERL_NIF_TERM pieces, THEN)
{
    return ask_with(env, TH_FILE_PREADV, file, th_file_set_pieces,
                    th_check_term(env, pieces, "th_file"), GOES_ON);
}

ERL_NIF_TERM th_file_setopt(ErlNifEnv *env, ERL_NIF_TERM file, ThFileOption option,
                            ErlNifSInt64 value, THEN)
{
    return ask_on(env, TH_FILE_SETOPT, file, (struct given){{option, value}}, true, GOES_ON);
}

ERL_NIF_TERM th_file_ipread(ErlNifEnv *env, ERL_NIF_TERM file, ErlNifSInt64 offset,
                            ErlNifSInt64 size, THEN)
{
    return ask_on(env, TH_FILE_IPREAD, file, (struct given){{offset, size}},
                  offset >= 0 && size >= 0, GOES_ON);
}

ERL_NIF_TERM th_file_fadvise(ErlNifEnv *env, ERL_NIF_TERM file, ErlNifSInt64 offset,
                             ErlNifSInt64 length, int advice, THEN)
{
    return ask_on(env, TH_FILE_FADVISE, file, (struct given){{offset, length, advice}},
                  offset >= 0 && length >= 0, GOES_ON);
}

/* --- The last operation ----------------------------------------------------------------------- */

int th_file_last(ErlNifEnv *env, ThFileLast *last)
{
    struct th_call *call = th_runtime_call_of(env);
    struct th_file_last known;

    if (!call) {
        th_nif_raise(env, TH_AM(badarg));
        return 0;
    }
    known = th_runtime_call_last_file(call);
    *last = (ThFileLast){(int)known.command, known.thread, known.tag, known.error};
    return known.command != 0;
}
