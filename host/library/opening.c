#include "opening.h"

#include "load.h"

#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list of all */
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static struct th_opening *all;

static const struct th_opening *find(const struct th_examination *facts)
{
    const struct th_opening *opening = all;

    while (opening &&
           (opening->facts->device != facts->device || opening->facts->inode != facts->inode) &&
           strcmp(opening->facts->path, facts->path) != 0)
        opening = opening->next;
    return opening;
}

/* In a constructor, which all code of libraries may be in, the caller has the loader's lock, for
 * which the other may wait. */
static enum th_status wait_for_others(const struct th_examination *facts)
{
    const struct th_opening *other;

    while ((other = find(facts))) {
        if (pthread_equal(other->opener, pthread_self()))
            return th_error_raise(TH_REFUSED, "it is just being opened by this thread, whose "
                                              "constructor wants to open it again");
        if (th_library_running)
            return th_error_raise(TH_REFUSED, "it is just being opened by another thread, for "
                                              "which code of a library cannot wait");
        pthread_cond_wait(&ended, &lock);
    }
    return TH_OK;
}

enum th_status th_opening_begin(struct th_opening *opening, const struct th_examination *facts)
{
    enum th_status status;

    pthread_mutex_lock(&lock);
    status = wait_for_others(facts);
    if (!status) {
        *opening = (struct th_opening){all, facts, pthread_self()};
        all = opening;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void th_opening_end(struct th_opening *opening)
{
    struct th_opening **place = &all;

    pthread_mutex_lock(&lock);
    while (*place != opening)
        place = &(*place)->next;
    *place = opening->next;
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&lock);
}
