/* Terms as values of JSON lines: strings of Erlang text, or {"$etf":BASE64}. */
#ifndef JSONL_VALUE_H
#define JSONL_VALUE_H

#include "../kit/escape.h"

/* Appends TERM's value. False if there is no memory for it. */
int value_add(struct line *line, ErlNifEnv *env, ERL_NIF_TERM term);

/* Where a reference of this node was made, as external term format tells it. */
struct reference {
    const unsigned char *node; /* its name */
    size_t node_size;
    int latin1; /* the name; else it is UTF-8 */
    uint32_t creation;
    unsigned words; /* that tell it from others of the node */
};

/* False if BYTES are something else. What is found points into them. */
int reference_read(const ErlNifBinary *bytes, struct reference *reference);

#endif
