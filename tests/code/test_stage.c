/* Words of an instance: staged as one change, repeated in the other indices. */
#include "host/code/code_internal.h"
#include "host/code/index.h"
#include "host/code/permission.h"
#include "tests/support/assertions.h"

enum { WORDS = 3, KEPT = 1 };

static struct th_code_word words[WORDS];

/* Stages and commits VALUES for the words; NULL: changes nothing. */
static void commit(const uintptr_t *values)
{
    struct th_code_words_item items[WORDS];
    struct th_code_words *list = NULL;

    for (int i = 0; values && i < WORDS; i++)
        items[i] = (struct th_code_words_item){&words[i], values[i]};
    th_code_permission_wait();
    th_code_stage_begin();
    if (values) {
        list = th_code_words_create(items, WORDS);
        th_code_stage_words(list, KEPT);
    }
    th_code_stage_commit();
    th_code_permission_release();
    if (list)
        th_code_words_leave(list); /* the indices that lack the words have it still */
}

static void assert_words(const uintptr_t *values)
{
    for (int i = 0; i < WORDS; i++)
        assert_int_equal(th_code_word(&words[i], th_code_index()), values[i]);
}

static void each_index_gets_the_words(void **state)
{
    const uintptr_t first[WORDS] = {16, 32, 48}, second[WORDS] = {64, 80, 96};

    (void)state;
    commit(first);
    for (int i = 0; i < TH_CODE_INDICES; i++) {
        assert_words(first);
        commit(NULL);
    }
    commit(second);
    commit(first);
    for (int i = 0; i < TH_CODE_INDICES; i++) {
        assert_words(first);
        commit(NULL);
    }
}

static void kept_bits_stay_as_they_are(void **state)
{
    const uintptr_t first[WORDS] = {16, 32, 48}, armed[WORDS] = {16, 33, 48};

    (void)state;
    commit(first);
    for (int i = 0; i < TH_CODE_INDICES; i++)
        atomic_fetch_or(&words[1].of[i], KEPT);
    for (int i = 0; i < TH_CODE_INDICES; i++) {
        commit(first);
        assert_words(armed);
    }
    for (int i = 0; i < TH_CODE_INDICES; i++)
        atomic_fetch_and(&words[1].of[i], ~(uintptr_t)KEPT);
}

static void of_items_for_one_word_the_greatest_value_counts(void **state)
{
    struct th_code_words_item items[] = {{&words[2], 16}, {&words[0], 64}, {&words[2], 48},
                                         {&words[0], 32}, {&words[1], 80}, {&words[2], 32}};
    struct th_code_words *list = th_code_words_create(items, sizeof items / sizeof *items);
    const uintptr_t expected[WORDS] = {64, 80, 48};

    (void)state;
    assert_int_equal(list->count, WORDS);
    for (int i = 0; i < WORDS; i++) {
        assert_ptr_equal(list->items[i].word, &words[i]);
        assert_int_equal(list->items[i].value, expected[i]);
    }
    th_code_words_leave(list);
    th_code_words_leave(th_code_words_create(items, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_index_gets_the_words),
        cmocka_unit_test(kept_bits_stay_as_they_are),
        cmocka_unit_test(of_items_for_one_word_the_greatest_value_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
