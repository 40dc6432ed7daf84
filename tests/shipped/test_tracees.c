/* Tests how tracers spread pids and ports over their hash tables. */
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <stdint.h>
#include <stdlib.h>

#include <stddef.h>

#include "tracers/kit/tracees.h"

enum { COUNT = 1 << 16, LONGEST = 7 };

static ERL_NIF_TERM pid_of_serial(uint32_t i)
{
    return th_local_pid(200 + i % 30000, i / 30000);
}

static ERL_NIF_TERM pid_of_number(uint32_t i)
{
    return th_local_pid(i, 0);
}

static ERL_NIF_TERM port(uint32_t i)
{
    return th_local_port(i);
}

/* Returns the longest chain of COUNT words in COUNT slots: of a table of tracees, or, if SHARDED,
 * of a table of open calls. */
static unsigned longest_chain(ERL_NIF_TERM (*word)(uint32_t i), bool sharded)
{
    unsigned *lengths = calloc(COUNT, sizeof *lengths), longest = 0;

    for (uint32_t i = 0; i < COUNT; i++) {
        uint64_t hash = tracees_hash(word(i));
        size_t slot = sharded ? (hash >> 58) << 10 | (hash >> 32 & 1023) : hash >> 32 & (COUNT - 1);
        if (++lengths[slot] > longest)
            longest = lengths[slot];
    }
    free(lengths);
    return longest;
}

static void identifiers_are_spread_evenly_over_slots(void **state)
{
    ERL_NIF_TERM (*words[])(uint32_t) = {pid_of_serial, pid_of_number, port};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_in_range(longest_chain(words[i], false), 1, LONGEST);
        assert_in_range(longest_chain(words[i], true), 1, LONGEST);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(identifiers_are_spread_evenly_over_slots)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
