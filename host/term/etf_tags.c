#include "etf_tags.h"

const struct th_etf_shape th_etf_shapes[256] = {
#define X(name, tag, before, count, bytes, terms, terms_each, node, after)                     \
    [tag] = {#name "_EXT", 1 + (before), (tag) == TH_ETF_NEW_FUN ? 1 + (before) - (count) : 1, \
             (count),      (bytes),      (terms),                                              \
             (terms_each), (node),       (after)},
    TH_ETF_TAGS(X)
#undef X
};
