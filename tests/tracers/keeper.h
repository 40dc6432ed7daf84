/* A library that opens a resource type in each of the three ways. */
#ifndef KEEPER_H
#define KEEPER_H

#include <erl_nif.h>
#include <stdbool.h>

enum { KEEPER_TYPES = 3 };

/* The library's private data. */
struct keeper {
    ErlNifResourceType *types[KEEPER_TYPES]; /* by enif_open_, enif_open_..._x, enif_init_ */
    ErlNifResourceFlags tried[KEEPER_TYPES];
    unsigned destroyed; /* calls of the common destructor */
    bool releases;      /* the destructor releases its resource, then keeps and releases it */
    int last;           /* content of the last destroyed resource */
};

#endif
