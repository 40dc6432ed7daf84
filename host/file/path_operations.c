/* The common part of all operations on files, and the operations that need a path. */
#include "file_internal.h"

#include "host/term/atom.h"
#include "host/term/make.h"
#include "host/term/map.h"

#include <dirent.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- Results ---------------------------------------------------------------------------------- */

int th_file_gives(struct th_file_operation *operation, th_term term)
{
    operation->result = th_make_tuple_of(&operation->env, TH_AM(ok), term);
    return 0;
}

int th_file_gives_eof(struct th_file_operation *operation)
{
    operation->result = th_atom("eof");
    return 0;
}

/* FLUSHES: operations before which the delayed bytes are written. SETTLES: operations before which
 * the bytes read ahead are dropped, too, as the operation uses the descriptor's own position or
 * changes the file. */
enum {
    SETTLES = 1 << TH_FILE_LSEEK | 1 << TH_FILE_TRUNCATE | 1 << TH_FILE_PWRITEV,
    FLUSHES = SETTLES | 1 << TH_FILE_FSTAT | 1 << TH_FILE_FSYNC | 1 << TH_FILE_FDATASYNC |
              1 << TH_FILE_READ | 1 << TH_FILE_READ_LINE | 1 << TH_FILE_PREADV | 1 << TH_FILE_IPREAD
};

void th_file_carry_out(struct th_file_operation *operation)
{
    const unsigned command = 1U << operation->command;
    /* Operations that are queued for a file when it is closed are not carried out. */
    bool closed =
        !operation->file || (operation->command != TH_FILE_CLOSE &&
                             atomic_load_explicit(&operation->file->closed, memory_order_relaxed));
    int error = closed ? EBADF : 0;

    operation->result = TH_AM(ok);
    if (!closed && command & FLUSHES)
        error = th_file_flush(operation->file);
    if (!closed && command & SETTLES)
        th_file_unread(operation->file);
    operation->error = error ? error : th_file_rows[operation->command].carry_out(operation);
    if (operation->error)
        operation->result = th_make_tuple_of(&operation->env, TH_AM(error),
                                             th_atom(th_base_errno_name(operation->error)));
}

th_term th_file_term_of(th_env *env, struct th_binary *binary, size_t size)
{
    struct th_binary *smaller = size < binary->size ? th_binary_resize(binary, size) : NULL;
    th_term term;

    if (smaller)
        binary = smaller;
    term = th_make_shared_binary(env, binary, binary->data, 8 * size);
    th_binary_release(binary);
    return term;
}

/* --- Names ------------------------------------------------------------------------------------ */

int th_file_carry_out_mkdir(struct th_file_operation *operation)
{
    return th_file_outcome(mkdir(operation->paths[0], 0777));
}

int th_file_carry_out_delete(struct th_file_operation *operation)
{
    return th_file_outcome(unlink(operation->paths[0]));
}

int th_file_carry_out_rename(struct th_file_operation *operation)
{
    return th_file_outcome(rename(operation->paths[0], operation->paths[1]));
}

int th_file_carry_out_rmdir(struct th_file_operation *operation)
{
    return th_file_outcome(rmdir(operation->paths[0]));
}

int th_file_carry_out_link(struct th_file_operation *operation)
{
    return th_file_outcome(link(operation->paths[0], operation->paths[1]));
}

int th_file_carry_out_symlink(struct th_file_operation *operation)
{
    return th_file_outcome(symlink(operation->paths[0], operation->paths[1]));
}

int th_file_carry_out_readlink(struct th_file_operation *operation)
{
    char target[PATH_MAX];
    ssize_t size = readlink(operation->paths[0], target, sizeof target);

    if (size < 0)
        return errno;
    return th_file_gives(operation, th_make_binary(&operation->env, target, (size_t)size));
}

/* Only Windows has short names. */
int th_file_carry_out_altname(struct th_file_operation *operation)
{
    (void)operation;
    return ENOTSUP;
}

/* --- Folders ---------------------------------------------------------------------------------- */

int th_file_carry_out_pwd(struct th_file_operation *operation)
{
    char path[PATH_MAX];

    if (!getcwd(path, sizeof path))
        return errno;
    return th_file_gives(operation, th_make_binary(&operation->env, path, strlen(path)));
}

int th_file_carry_out_chdir(struct th_file_operation *operation)
{
    return th_file_outcome(chdir(operation->paths[0]));
}

int th_file_carry_out_readdir(struct th_file_operation *operation)
{
    DIR *folder = opendir(operation->paths[0]);
    th_term names = TH_NIL;
    const struct dirent *entry;
    int error;

    if (!folder)
        return errno;
    while (errno = 0, (entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            names = th_make_cons(
                &operation->env,
                th_make_binary(&operation->env, entry->d_name, strlen(entry->d_name)), names);
    error = errno;
    closedir(folder);
    return error ? error : th_file_gives(operation, names);
}

/* --- Information about files ------------------------------------------------------------------ */

static const char *file_type(mode_t mode)
{
    return S_ISREG(mode)                    ? "regular"
           : S_ISDIR(mode)                  ? "directory"
           : S_ISLNK(mode)                  ? "symlink"
           : S_ISCHR(mode) || S_ISBLK(mode) ? "device"
                                            : "other";
}

th_term th_file_info(th_env *env, const struct stat *info)
{
    const struct {
        const char *key;
        th_term value;
    } pairs[] = {
        {"size", th_make_int64(env, info->st_size)},
        {"type", th_atom(file_type(info->st_mode))},
        {"mode", th_make_uint64(env, info->st_mode)},
        {"links", th_make_uint64(env, info->st_nlink)},
        {"inode", th_make_uint64(env, info->st_ino)},
        {"device", th_make_uint64(env, info->st_dev)},
        {"rdev", th_make_uint64(env, info->st_rdev)},
        {"uid", th_make_uint64(env, info->st_uid)},
        {"gid", th_make_uint64(env, info->st_gid)},
        {"atime", th_make_int64(env, info->st_atime)},
        {"mtime", th_make_int64(env, info->st_mtime)},
        {"ctime", th_make_int64(env, info->st_ctime)},
    };
    enum { COUNT = sizeof pairs / sizeof pairs[0] };
    th_term keys[COUNT], values[COUNT];

    for (size_t i = 0; i < COUNT; i++) {
        keys[i] = th_atom(pairs[i].key);
        values[i] = pairs[i].value;
    }
    return th_make_map(env, keys, values, COUNT, false);
}

int th_file_carry_out_lstat(struct th_file_operation *operation)
{
    struct stat info;

    if (lstat(operation->paths[0], &info) != 0)
        return errno;
    return th_file_gives(operation, th_file_info(&operation->env, &info));
}

/* Changes the owner before the mode: after giving a file away, a user may not change the mode, and
 * a change of owner clears mode bits. A negative number leaves its field unchanged. */
int th_file_carry_out_write_info(struct th_file_operation *operation)
{
    const int64_t mode = operation->given[0], uid = operation->given[1], gid = operation->given[2];
    int error = 0;

    if (uid > UINT32_MAX || gid > UINT32_MAX)
        return EINVAL;
    if (uid >= 0 || gid >= 0)
        error = th_file_outcome(chown(operation->paths[0], uid < 0 ? (uid_t)-1 : (uid_t)uid,
                                      gid < 0 ? (gid_t)-1 : (gid_t)gid));
    if (!error && mode >= 0)
        error = th_file_outcome(chmod(operation->paths[0], (mode_t)mode & 07777));
    return error;
}
