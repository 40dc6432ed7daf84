/* Condition variables. */
#include "nif.h"

#include "lock.h"

#include "host/runtime/runtime.h"

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
    th_check_got(TH_CHECK_LOCK, cnd, 0, name, "enif_cond_create");
    return cnd;
}

void enif_cond_destroy(ErlNifCond *cnd)
{
    if (!cnd || !th_check_gave(TH_CHECK_LOCK, cnd, "enif_cond_destroy"))
        return;
    pthread_cond_destroy(&cnd->condition);
    free(cnd);
}

void enif_cond_signal(ErlNifCond *cnd)
{
    if (th_check_has(TH_CHECK_LOCK, cnd, "enif_cond_signal"))
        pthread_cond_signal(&cnd->condition);
}

void enif_cond_broadcast(ErlNifCond *cnd)
{
    if (th_check_has(TH_CHECK_LOCK, cnd, "enif_cond_broadcast"))
        pthread_cond_broadcast(&cnd->condition);
}

void enif_cond_wait(ErlNifCond *cnd, ErlNifMutex *mtx)
{
    static const char name[] = "enif_cond_wait";

    if (!th_check_has(TH_CHECK_LOCK, cnd, name) || !th_check_unlocks(mtx, false, name))
        return;
    pthread_cond_wait(&cnd->condition, &mtx->lock);
    th_check_locked(mtx, false);
}

char *enif_cond_name(ErlNifCond *cnd)
{
    return cnd ? cnd->name : NULL;
}
