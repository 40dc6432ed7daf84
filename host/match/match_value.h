/*
 * Values of guards and bodies: terms, and words that are none for what is not known.
 *
 *   UNKNOWN    a term
 *   MAYBE      true or false
 *   UNSURE     a term, or an exception
 *   NOT_TRUE   a term but not true, or an exception: a guard that gives it fails for sure
 *   RAISED     an exception, for sure
 */
#ifndef TH_MATCH_VALUE_H
#define TH_MATCH_VALUE_H

#include "match.h"

#define TH_VALUE_UNKNOWN TH_NONE
#define TH_VALUE_MAYBE ((th_term)0x40)
#define TH_VALUE_NOT_TRUE ((th_term)0x80)
#define TH_VALUE_RAISED TH_MATCH_RAISED
#define TH_VALUE_UNSURE ((th_term)0x100)

/* A term. All words that are none look like headers. */
static inline bool th_match_value_known(th_term value)
{
    return (value & 3) != TH_TAG_HEADER;
}

/* What may be an exception. */
static inline bool th_match_value_may_raise(th_term value)
{
    return value == TH_VALUE_UNSURE || value == TH_VALUE_NOT_TRUE;
}

static inline th_term th_match_value_truth(bool b)
{
    return b ? TH_AM(true) : TH_AM(false);
}

/* True, false, or MAYBE. */
static inline bool th_match_value_is_truth(th_term value)
{
    return value == TH_AM(true) || value == TH_AM(false) || value == TH_VALUE_MAYBE;
}

/* What `left andalso right` and `left orelse right` give, LEFT being no reason to leave RIGHT out.
 * RIGHT may be RAISED if LEFT is unknown. */
th_term th_match_value_andalso(th_term left, th_term right);
th_term th_match_value_orelse(th_term left, th_term right);

#endif
