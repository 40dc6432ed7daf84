/*
 * Terms by the bytes of their text in JSON lines: an immediate, or a tuple of up to three of them
 * ({M, F, Arity}), of at most TH_JSON_CACHE_TEXT bytes. A new text replaces another one in its
 * slot, so the memory stays constant. One thread at a time.
 *
 * The text's last word of eight bytes must be readable, and any bytes may be behind the text.
 */
#ifndef TH_JSON_CACHE_H
#define TH_JSON_CACHE_H

#include "host/term/env.h"

#include <string.h>

enum {
    TH_JSON_CACHE_TEXT = 32,
    TH_JSON_CACHE_TERMS = 3,
    TH_JSON_CACHE_SLOTS = 2048 /* a power of two */
};

/* The meaning of a text. Equal bytes with another meaning are another text. */
enum th_json_meaning { TH_JSON_MEANS_TERM = 1, TH_JSON_MEANS_TAG, TH_JSON_MEANS_TIME };

/* One cache line. */
struct th_json_cache_slot {
    uint64_t text[TH_JSON_CACHE_TEXT / 8]; /* with zeros behind the text */
    uint32_t key;                          /* size and meaning; 0: free */
    uint32_t arity;                        /* of a tuple; TH_JSON_CACHE_TERMS + 1: no tuple */
    th_term terms[TH_JSON_CACHE_TERMS];
};

_Static_assert(sizeof(struct th_json_cache_slot) == 64, "a cache line");

/* Finds the slot for TEXT of at most TH_JSON_CACHE_TEXT bytes. If *KNOWN is false, the slot is free
 * and th_replay_json_cache_fill() may fill it. */
static inline struct th_json_cache_slot *th_replay_json_cache_find(struct th_json_cache_slot *slots,
                                                                   enum th_json_meaning meaning,
                                                                   const char *text, size_t size,
                                                                   bool *known)
{
    const uint32_t key = (uint32_t)(size << 8) | meaning;
    uint64_t words[TH_JSON_CACHE_TEXT / 8] = {0}, hash = key, differ = 0;
    struct th_json_cache_slot *slot;

    for (size_t i = 0; 8 * i < size; i++) {
        memcpy(&words[i], text + 8 * i, 8);
        if (size - 8 * i < 8)
            words[i] &= ~(UINT64_MAX << 8 * (size - 8 * i));
        hash = (hash ^ words[i]) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
    }
    slot = &slots[hash & (TH_JSON_CACHE_SLOTS - 1)];
    for (size_t i = 0; i < TH_JSON_CACHE_TEXT / 8; i++)
        differ |= slot->text[i] ^ words[i];
    *known = differ == 0 && slot->key == key;
    if (!*known) {
        memcpy(slot->text, words, sizeof words);
        slot->key = 0;
    }
    return slot;
}

/* Fills a slot whose text was not known; does nothing if T is another kind of term. */
static inline void th_replay_json_cache_fill(struct th_json_cache_slot *slot,
                                             enum th_json_meaning meaning, size_t size, th_term t)
{
    bool tuple = th_is_tuple(t);
    size_t count = tuple ? th_tuple_arity(t) : 1;
    const th_term *terms = tuple ? th_tuple_elements(t) : &t;

    if (count > TH_JSON_CACHE_TERMS)
        return;
    for (size_t i = 0; i < count; i++) {
        if (!th_is_immediate(terms[i]))
            return;
        slot->terms[i] = terms[i];
    }
    slot->arity = tuple ? (uint32_t)count : TH_JSON_CACHE_TERMS + 1;
    slot->key = (uint32_t)(size << 8) | meaning;
}

#endif
