/* Writes terms as values of JSON lines: strings of Erlang text, or {"$etf":BASE64}. */
#ifndef JSONL_VALUE_H
#define JSONL_VALUE_H

#include "../kit/escape.h"

/* Appends TERM's value. False if there is no memory for it. */
int value_add(struct line *line, ErlNifEnv *env, ERL_NIF_TERM term);

/* Origin and number of a reference of this node, from external term format. */
struct reference {
    const unsigned char *node; /* name of the node */
    size_t node_size;
    int latin1; /* encoding of the name; else UTF-8 */
    uint32_t creation;
    unsigned words; /* the words that distinguish it within the node */
};

/* Reads a reference, whose parts point into BYTES. False if BYTES are another term. */
int reference_read(const ErlNifBinary *bytes, struct reference *reference);

#endif
