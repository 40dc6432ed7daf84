#include "record.h"

/* SMALL_BIG_EXT: count, sign, bytes from the least significant on. */
static const unsigned char *big(const unsigned char *p, const unsigned char *end, int64_t *value)
{
    uint64_t magnitude = 0;
    size_t count;

    if (end - p < 3 || (count = p[1]) > 8 || (size_t)(end - p) < 3 + count)
        return NULL;
    for (size_t i = count; i > 0; i--)
        magnitude = magnitude << 8 | p[2 + i];
    if (magnitude > INT64_MAX)
        return NULL;
    *value = p[2] ? -(int64_t)magnitude : (int64_t)magnitude;
    return p + 3 + count;
}

const unsigned char *th_replay_raw_integer(const unsigned char *p, const unsigned char *end,
                                           int64_t *value)
{
    if (end - p < 2)
        return NULL;
    switch (p[0]) {
    case TH_ETF_SMALL_INTEGER:
        *value = p[1];
        return p + 2;
    case TH_ETF_INTEGER:
        if (end - p < 5)
            return NULL;
        *value = (int32_t)th_etf_get32(p + 1);
        return p + 5;
    case TH_ETF_SMALL_BIG:
        return big(p, end, value);
    default:
        return NULL;
    }
}

bool th_replay_raw_node(const unsigned char *p, const unsigned char *end, struct th_etf_node *node)
{
    /* Bytes between the node's name and the creation, and bytes of the creation. */
    static const struct {
        unsigned char numbers, creation;
    } layouts[256] = {
        [TH_ETF_NEW_PID] = {8, 4}, [TH_ETF_NEW_PORT] = {4, 4}, [TH_ETF_V4_PORT] = {8, 4},
        [TH_ETF_PID] = {8, 1},     [TH_ETF_PORT] = {4, 1},
    };
    unsigned char numbers, creation;
    struct th_raw_name name;
    th_term atom;

    if (p == end || layouts[*p].creation == 0)
        return false;
    numbers = layouts[*p].numbers;
    creation = layouts[*p].creation;
    p = th_replay_raw_atom(p + 1, end, &name);
    if (!p || end - p < numbers + creation || !(atom = th_replay_raw_intern(&name)))
        return false;
    node->node = atom;
    node->creation = creation == 1 ? p[numbers] : th_etf_get32(p + numbers);
    return true;
}

bool th_replay_raw_length(const unsigned char *p, const unsigned char *end, int64_t *length)
{
    if (end - p >= 1 && p[0] == TH_ETF_NIL)
        *length = 0;
    else if (end - p >= 3 && p[0] == TH_ETF_STRING)
        *length = th_etf_get16(p + 1);
    else if (end - p >= 5 && p[0] == TH_ETF_LIST)
        *length = th_etf_get32(p + 1);
    else
        return false;
    return true;
}
