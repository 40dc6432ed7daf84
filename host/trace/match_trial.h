/* The surroundings of a match specification that is only tried: what is said of them; actions are
 * written down instead of taken. */
#ifndef TH_MATCH_TRIAL_H
#define TH_MATCH_TRIAL_H

#include "match.h"

struct th_match_trial {
    th_term self, caller; /* TH_NONE: not known */
    struct th_buffer doings;
    bool for_people; /* their terms are text in the encoding that was chosen */
};

extern const struct th_match_operations th_match_trial_operations;

#endif
