/*
 * Values of guards and bodies: terms, and words that are none for what is not known.
 *
 *   UNKNOWN    anything, or an exception
 *   MAYBE      true or false
 *   NOT_TRUE   anything but true, or an exception: a guard that gives it fails for sure
 *   RAISED     an exception, for sure
 */
#ifndef TH_MATCH_VALUE_H
#define TH_MATCH_VALUE_H

#include "match.h"

#define TH_VALUE_UNKNOWN TH_NONE
#define TH_VALUE_MAYBE ((th_term)0x40)
#define TH_VALUE_NOT_TRUE ((th_term)0x80)
#define TH_VALUE_RAISED TH_MATCH_RAISED

/* A term. All words that are none look like headers. */
static inline bool th_value_known(th_term value)
{
    return (value & 3) != TH_TAG_HEADER;
}

static inline th_term th_value_truth(bool b)
{
    return b ? TH_AM(true) : TH_AM(false);
}

/* True, false, or MAYBE. */
static inline bool th_value_is_truth(th_term value)
{
    return value == TH_AM(true) || value == TH_AM(false) || value == TH_VALUE_MAYBE;
}

/* What `left andalso right` and `left orelse right` give, LEFT being no reason to leave RIGHT out.
 * RIGHT may be RAISED if LEFT is unknown. */
th_term th_value_andalso(th_term left, th_term right);
th_term th_value_orelse(th_term left, th_term right);

#endif
