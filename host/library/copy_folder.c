#include "copy_folder.h"

#include "name_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PREFIX "tracehost-code-"

/* Guards what follows. Nothing else is locked while it is held. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    char *path;  /* NULL: there is none */
    int fd;      /* has the lock */
    pid_t owner; /* another after fork() */
} folder;

/* --- Folders of hosts that were killed ------------------------------------------------------- */

static bool lock_folder(int fd, int how)
{
    int result;

    do
        result = flock(fd, how);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

static void remove_content(int fd)
{
    int own = dup(fd); /* closedir() closes it */
    DIR *all = own < 0 ? NULL : fdopendir(own);
    struct dirent *entry;

    if (!all) {
        close(own);
        return;
    }
    rewinddir(all);
    while ((entry = readdir(all)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(fd, entry->d_name, 0);
    closedir(all);
}

static void remove_if_dead(int place, const char *name)
{
    int fd = openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && lock_folder(fd, LOCK_EX | LOCK_NB)) {
        remove_content(fd);
        unlinkat(place, name, AT_REMOVEDIR);
    }
    close(fd);
}

static void remove_dead(const char *place)
{
    DIR *all = opendir(place);
    struct dirent *entry;

    if (!all)
        return;
    while ((entry = readdir(all)))
        if (strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) == 0)
            remove_if_dead(dirfd(all), entry->d_name);
    closedir(all);
}

/* --- The folder ------------------------------------------------------------------------------ */

static bool is_at(const char *path, int fd)
{
    struct stat there, open;

    return lstat(path, &there) == 0 && fstat(fd, &open) == 0 && there.st_dev == open.st_dev &&
           there.st_ino == open.st_ino;
}

/* Between making it and locking it, it looks dead: another host may remove it. Then there is no
 * folder at its path, and another name is tried. -1, errno: there is none. */
static int make_in(const char *place, char **path)
{
    enum { TRIES = 100 };

    for (int i = 0; i < TRIES; i++) {
        int fd;
        *path = th_printf("%s/" PREFIX "XXXXXX", place);
        if (!mkdtemp(*path))
            break;
        fd = open(*path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && lock_folder(fd, LOCK_EX) && is_at(*path, fd))
            return fd;
        if (fd >= 0)
            close(fd);
        rmdir(*path);
        th_free(*path);
        *path = NULL;
    }
    th_free(*path);
    return -1;
}

static bool runs_no_code(int fd)
{
    struct statvfs file_system;

    return fstatvfs(fd, &file_system) == 0 && (file_system.f_flag & ST_NOEXEC);
}

static char *refuse_place(const char *place, const char *why)
{
    return th_printf("%s (%s)", place, why);
}

/* NULL, or what is wrong with PLACE, which the caller frees. */
static char *settle_in(const char *place)
{
    char *absolute = realpath(place, NULL);
    char *path, *wrong = NULL;
    int fd;

    if (!absolute)
        return refuse_place(place, strerror(errno));
    remove_dead(absolute);
    fd = make_in(absolute, &path);
    if (fd < 0) {
        wrong = refuse_place(place, strerror(errno));
    } else if (runs_no_code(fd)) {
        wrong = refuse_place(place, "mounted noexec");
        rmdir(path);
        close(fd);
        th_free(path);
    } else {
        folder.path = path;
        folder.fd = fd;
        folder.owner = getpid();
    }
    free(absolute);
    return wrong;
}

static enum th_status settle(void)
{
    const char *const places[] = {getenv("TMPDIR"), "/tmp", getenv("XDG_RUNTIME_DIR")};
    struct th_names refused = {0};
    char *all;

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *wrong = places[i] && *places[i] ? settle_in(places[i]) : NULL;
        if (folder.path)
            break;
        if (wrong)
            th_names_take(&refused, wrong);
    }
    if (!folder.path) {
        all = th_names_join(&refused, refused.count);
        th_error_raise(TH_FAILED,
                       "there is no place for private copies of libraries, tried %s; set $TMPDIR "
                       "to a folder that is not mounted noexec",
                       all);
        th_free(all);
    }
    th_names_free(&refused);
    return folder.path ? TH_OK : TH_FAILED;
}

/* --- The program's --------------------------------------------------------------------------- */

/* What is behind it stays for whoever has it: the parent, or nobody. */
static void forget(void)
{
    close(folder.fd);
    th_free(folder.path);
    folder.path = NULL;
}

static void remove_folder(void)
{
    pthread_mutex_lock(&lock);
    if (folder.path && folder.owner == getpid()) {
        remove_content(folder.fd);
        rmdir(folder.path);
        forget();
    }
    pthread_mutex_unlock(&lock);
}

enum th_status th_copy_folder(char **path)
{
    static bool registered;
    enum th_status status = TH_OK;

    pthread_mutex_lock(&lock);
    if (folder.path && (folder.owner != getpid() || !is_at(folder.path, folder.fd)))
        forget();
    if (!folder.path)
        status = settle();
    if (!status && !registered)
        registered = atexit(remove_folder) == 0;
    if (!status)
        *path = th_strdup(folder.path);
    pthread_mutex_unlock(&lock);
    return status;
}

void th_copy_folder_remove(const char *path)
{
    size_t length;

    pthread_mutex_lock(&lock);
    length = folder.path ? strlen(folder.path) : 0;
    if (length > 0 && folder.owner == getpid() && strncmp(path, folder.path, length) == 0 &&
        path[length] == '/')
        unlink(path);
    pthread_mutex_unlock(&lock);
}
