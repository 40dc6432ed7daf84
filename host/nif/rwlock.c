/* Read-write locks. */
#include "nif.h"

#include "lock.h"

struct ErlDrvRWLock_ {
    pthread_rwlock_t lock;
    char name[];
};

/* As in a BEAM, a writer that waits goes before readers that come later: a steady stream of readers
 * does not keep it out. The price, the same there, is that a reader must not lock it again. */
static int init(pthread_rwlock_t *lock)
{
    pthread_rwlockattr_t attributes;
    int error = pthread_rwlockattr_init(&attributes);

    if (error)
        return error;
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    error = pthread_rwlock_init(lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    return error;
}

ErlNifRWLock *enif_rwlock_create(char *name)
{
    ErlNifRWLock *rwlck = th_named_create(sizeof *rwlck, name);

    if (rwlck && init(&rwlck->lock) != 0) {
        free(rwlck);
        return NULL;
    }
    return rwlck;
}

void enif_rwlock_destroy(ErlNifRWLock *rwlck)
{
    if (!rwlck)
        return;
    pthread_rwlock_destroy(&rwlck->lock);
    free(rwlck);
}

int enif_rwlock_tryrlock(ErlNifRWLock *rwlck)
{
    return pthread_rwlock_tryrdlock(&rwlck->lock);
}

void enif_rwlock_rlock(ErlNifRWLock *rwlck)
{
    pthread_rwlock_rdlock(&rwlck->lock);
}

void enif_rwlock_runlock(ErlNifRWLock *rwlck)
{
    pthread_rwlock_unlock(&rwlck->lock);
}

int enif_rwlock_tryrwlock(ErlNifRWLock *rwlck)
{
    return pthread_rwlock_trywrlock(&rwlck->lock);
}

void enif_rwlock_rwlock(ErlNifRWLock *rwlck)
{
    pthread_rwlock_wrlock(&rwlck->lock);
}

void enif_rwlock_rwunlock(ErlNifRWLock *rwlck)
{
    pthread_rwlock_unlock(&rwlck->lock);
}

char *enif_rwlock_name(ErlNifRWLock *rwlck)
{
    return rwlck ? rwlck->name : NULL;
}
