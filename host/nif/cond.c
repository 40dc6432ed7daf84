/* Condition variables. */
#include "nif.h"

#include "lock.h"

struct ErlDrvCond_ {
    pthread_cond_t condition;
    char name[];
};

ErlNifCond *enif_cond_create(char *name)
{
    ErlNifCond *cnd = th_named_create(sizeof *cnd, name);

    if (cnd && pthread_cond_init(&cnd->condition, NULL) != 0) {
        free(cnd);
        return NULL;
    }
    return cnd;
}

void enif_cond_destroy(ErlNifCond *cnd)
{
    if (!cnd)
        return;
    pthread_cond_destroy(&cnd->condition);
    free(cnd);
}

void enif_cond_signal(ErlNifCond *cnd)
{
    pthread_cond_signal(&cnd->condition);
}

void enif_cond_broadcast(ErlNifCond *cnd)
{
    pthread_cond_broadcast(&cnd->condition);
}

void enif_cond_wait(ErlNifCond *cnd, ErlNifMutex *mtx)
{
    pthread_cond_wait(&cnd->condition, &mtx->lock);
}

char *enif_cond_name(ErlNifCond *cnd)
{
    return cnd ? cnd->name : NULL;
}
