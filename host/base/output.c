#include "output.h"

#include "memory.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <stdlib.h>

/* The permissions that a file made by fopen() would get. */
static mode_t usual_mode(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

static FILE *open_beside(struct th_output *out, const struct stat *old)
{
    FILE *file = NULL;
    int descriptor;

    out->temporary = th_printf("%s.XXXXXX", out->name);
    descriptor = mkstemp(out->temporary);
    if (descriptor >= 0 && fchmod(descriptor, old ? old->st_mode & 07777 : usual_mode()) == 0)
        file = fdopen(descriptor, "w");
    if (!file && descriptor >= 0) {
        close(descriptor);
        unlink(out->temporary);
    }
    return file;
}

static void forget(struct th_output *out)
{
    th_free(out->name);
    th_free(out->temporary);
    *out = (struct th_output){0};
}

enum th_status th_output_open(struct th_output *out, const char *name)
{
    struct stat old;
    bool exists;

    *out = (struct th_output){0};
    if (!name || strcmp(name, "-") == 0) {
        out->file = stdout;
        return TH_OK;
    }
    out->name = th_strdup(name);
    exists = stat(name, &old) == 0;
    out->file =
        exists && !S_ISREG(old.st_mode) ? fopen(name, "w") : open_beside(out, exists ? &old : NULL);
    if (out->file)
        return TH_OK;
    th_error_raise(TH_FAILED, "cannot write %s: %s", name, strerror(errno));
    forget(out);
    return TH_FAILED;
}

static enum th_status not_written(const struct th_output *out)
{
    return th_error_raise(TH_FAILED, "cannot write %s: %s", out->name ? out->name : "to stdout",
                          strerror(errno));
}

enum th_status th_output_commit(struct th_output *out)
{
    bool bad = ferror(out->file) | fflush(out->file);

    if (!out->name)
        return bad ? not_written(out) : TH_OK;
    bad |= fclose(out->file) != 0;
    if (!bad && out->temporary)
        bad = rename(out->temporary, out->name) != 0;
    if (bad)
        not_written(out);
    if (bad && out->temporary)
        unlink(out->temporary);
    forget(out);
    return bad ? TH_FAILED : TH_OK;
}

void th_output_abandon(struct th_output *out)
{
    if (out->name)
        fclose(out->file);
    if (out->temporary)
        unlink(out->temporary);
    forget(out);
}
