/*
 * The list of the operations on files. Part of the face of file/.
 *
 *     TH_FILE_OPERATIONS(X) calls X(number, NAME, name, s1, s2, i1, i2, i3, i4) for each.
 *
 * The numbers are the commands of the probes efile_drv__*. The columns after the names describe the
 * strings and integers of efile_drv__entry: `fd`, `flags`, `read_offset` and `read_ahead` belong to
 * the open file of the operation, `none` is an empty string or 0, all others come from the request.
 * Source: "Guide to efile_drv.c probe arguments" in OTP's HOWTO/DTRACE.md. As there, no column has
 * the path of write_info.
 *
 * From this list come the commands, the table of rows, and the functions that carry the operations
 * out.
 */
#ifndef TH_FILE_OPERATIONS_H
#define TH_FILE_OPERATIONS_H

/* clang-format off */
#define TH_FILE_OPERATIONS(X) \
    X( 1, OPEN,       open,       path,          none,     flags,    none,                none,        none) \
    X( 2, READ,       read,       none,          none,     fd,       flags,               size,        none) \
    X( 3, LSEEK,      lseek,      none,          none,     fd,       offset,              origin,      none) \
    X( 4, WRITE,      write,      none,          none,     fd,       flags,               size,        none) \
    X( 5, FSTAT,      fstat,      none,          none,     fd,       none,                none,        none) \
    X( 6, PWD,        pwd,        none,          none,     none,     none,                none,        none) \
    X( 7, READDIR,    readdir,    path,          none,     none,     none,                none,        none) \
    X( 8, CHDIR,      chdir,      path,          none,     none,     none,                none,        none) \
    X( 9, FSYNC,      fsync,      none,          none,     fd,       none,                none,        none) \
    X(10, MKDIR,      mkdir,      path,          none,     none,     none,                none,        none) \
    X(11, DELETE,     delete,     path,          none,     none,     none,                none,        none) \
    X(12, RENAME,     rename,     old_name,      new_name, none,     none,                none,        none) \
    X(13, RMDIR,      rmdir,      path,          none,     none,     none,                none,        none) \
    X(14, TRUNCATE,   truncate,   none,          none,     fd,       flags,               none,        none) \
    X(15, READ_FILE,  read_file,  path,          none,     none,     none,                none,        none) \
    X(16, WRITE_INFO, write_info, none,          none,     mode,     uid,                 gid,         none) \
    X(19, LSTAT,      lstat,      path,          none,     none,     none,                none,        none) \
    X(20, READLINK,   readlink,   path,          none,     none,     none,                none,        none) \
    X(21, LINK,       link,       existing_path, new_path, none,     none,                none,        none) \
    X(22, SYMLINK,    symlink,    existing_path, new_path, none,     none,                none,        none) \
    X(23, CLOSE,      close,      none,          none,     fd,       flags,               none,        none) \
    X(24, PWRITEV,    pwritev,    none,          none,     fd,       flags,               size,        none) \
    X(25, PREADV,     preadv,     none,          none,     fd,       flags,               size,        none) \
    X(26, SETOPT,     setopt,     none,          none,     opt_name, opt_specific_value,  none,        none) \
    X(27, IPREAD,     ipread,     none,          none,     fd,       flags,               offset,      size) \
    X(28, ALTNAME,    altname,    path,          none,     none,     none,                none,        none) \
    X(29, READ_LINE,  read_line,  none,          none,     fd,       flags,               read_offset, read_ahead) \
    X(30, FDATASYNC,  fdatasync,  none,          none,     fd,       none,                none,        none) \
    X(31, FADVISE,    fadvise,    none,          none,     fd,       offset,              length,      advise_type)
/* clang-format on */

enum th_file_command {
#define TH_FILE_NUMBER(number, NAME, ...) TH_FILE_##NAME = number,
    TH_FILE_OPERATIONS(TH_FILE_NUMBER)
#undef TH_FILE_NUMBER
        TH_FILE_COMMANDS
};

struct th_file_operation;

/* A row of the list. The name of a missing argument is "none". */
struct th_file_row {
    const char *name;       /* "RENAME"; NULL: no such command */
    const char *strings[2]; /* s1, s2 */
    const char *integers[4];
    /* Carries the operation out, in a thread of the pool; returns 0 or an errno. */
    int (*carry_out)(struct th_file_operation *operation);
};
extern const struct th_file_row th_file_rows[TH_FILE_COMMANDS]; /* by command */

#endif
