/* Tests exports: entries that never move, their content, and readers while the table grows. */
#include "host/base/base.h"
#include "host/code/code.h"
#include "host/library/library.h"
#include "tests/support/assertions.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static struct th_library *load(const char *path)
{
    struct th_library *library;

    assert_int_equal(th_library_open(path, &library), TH_OK);
    assert_int_equal(th_library_load(library, NULL, th_small(0)), TH_OK);
    return library;
}

static char *path_of(const char *name)
{
    return th_printf("%s/tests/plugins/%s.so", getenv("BUILD_DIR"), name);
}

static const struct th_callee *find(const char *module, const char *function, unsigned arity)
{
    return th_code_export_callee(th_code_export_find(th_atom(module), th_atom(function), arity));
}

static void an_entry_outlives_its_function(void **state)
{
    char *path = path_of("party");
    struct th_library *library = load(path);
    struct th_export *entry;

    (void)state;
    assert_null(th_code_export_find(th_atom("party"), th_atom("echo"), 1));
    th_code_module_add(library);
    entry = th_code_export_find(th_atom("party"), th_atom("echo"), 1);
    assert_non_null(entry);
    assert_string_equal(th_code_export_callee(entry)->name, "party:echo/1");
    assert_ptr_equal(th_code_export_callee(entry)->library, library);
    assert_null(find("party", "echo", 2));
    assert_null(find("party", "no_echo", 1));
    assert_null(find("parties", "echo", 1));
    assert_ptr_equal(th_code_module_find(th_atom("party")), library);
    th_code_module_remove(library);
    assert_null(th_code_export_callee(entry));
    assert_null(th_code_module_find(th_atom("party")));
    th_code_module_add(library);
    assert_ptr_equal(th_code_export_find(th_atom("party"), th_atom("echo"), 1), entry);
    assert_non_null(th_code_export_callee(entry));
    th_code_module_remove(library);
    th_library_release(library);
    th_free(path);
}

static void an_entry_can_be_created_before_its_function(void **state)
{
    char *path = path_of("play");
    struct th_library *library = load(path);
    struct th_export *run = th_code_export_get(th_atom("play"), th_atom("run"), 2);

    (void)state;
    assert_ptr_equal(th_code_export_get(th_atom("play"), th_atom("run"), 2), run);
    assert_ptr_equal(th_code_export_find(th_atom("play"), th_atom("run"), 2), run);
    assert_int_equal(th_code_export_word(run), 0);
    th_code_module_add(library);
    assert_string_equal(th_code_export_callee(run)->name, "play:run/2");
    assert_ptr_equal(th_code_export_callee(run)->entry, run);
    th_code_module_remove(library);
    assert_int_equal(th_code_export_word(run), 0);
    assert_ptr_equal(th_code_export_get(th_atom("play"), th_atom("run"), 2), run);
    th_library_release(library);
    th_free(path);
}

static void an_entry_marks_functions_that_run_on_any_thread(void **state)
{
    char *path = path_of("party");
    struct th_library *library = load(path);
    const struct th_instance *instance;

    (void)state;
    th_code_module_add(library);
    instance = find("party", "echo", 1)->instance;
    for (size_t i = 0; i < instance->count; i++) {
        const struct th_callee *callee = &instance->callees[i];
        uintptr_t word = callee->entry ? th_code_export_word(callee->entry) : 0;
        if (!callee->entry)
            continue;
        assert_ptr_equal(th_code_export_reached(word), callee);
        assert_int_equal(word & TH_EXPORT_ARMED, 0);
        assert_int_equal(!!(word & TH_EXPORT_USUAL), callee->function->flags == 0);
    }
    assert_true(th_code_export_word(find("party", "echo", 1)->entry) & TH_EXPORT_USUAL);
    assert_false(th_code_export_word(find("party", "dirty", 0)->entry) & TH_EXPORT_USUAL);
    th_code_export_arm(find("party", "dirty", 0)->entry, true);
    assert_false(th_code_export_word(find("party", "dirty", 0)->entry) & TH_EXPORT_USUAL);
    th_code_export_arm(find("party", "dirty", 0)->entry, false);
    th_code_module_remove(library);
    th_library_release(library);
    th_free(path);
}

/* --- Starts of functions ---------------------------------------------------------------------- */

static const struct th_callee *at(const void *code)
{
    const struct th_callee *callee;

    th_progress_enter();
    callee = th_code_at((uintptr_t)code);
    th_progress_leave();
    return callee;
}

static void functions_are_found_by_their_start_address(void **state)
{
    char *path = path_of("party");
    struct th_library *library = load(path);
    const struct th_code_map *map = th_library_code_map(library);
    const ErlNifFunc *functions = th_library_entry(library)->functions;
    const void *first = (const void *)functions[0].fptr;
    int sums = 0;

    (void)state;
    assert_null(at(first));
    assert_null(at(NULL));
    th_code_module_add(library);
    for (size_t i = 0; i < th_library_entry(library)->function_count; i++)
        assert_ptr_equal(at((const void *)functions[i].fptr)->function->fptr, functions[i].fptr);
    assert_null(at((const char *)first + 1));
    assert_order(map->local_count, >, 0);
    for (size_t i = 0; i < map->local_count; i++) {
        const struct th_callee *callee = at(map->locals[i].code);
        assert_true(th_code_callee_is_local(callee));
        assert_null(callee->entry);
        assert_ptr_equal(callee->library, library);
        assert_string_equal(callee->function->name, map->locals[i].name);
        assert_int_equal(callee->function->arity, map->locals[i].arity);
        sums += strcmp(callee->name, "party:sum_of/5") == 0;
    }
    assert_int_equal(sums, 1);
    assert_null(find("party", "sum_of", 5));
    th_code_module_remove(library);
    assert_null(at(first));
    assert_null(at(map->locals[0].code));
    th_library_release(library);
    th_free(path);
}

/* --- Watchers --------------------------------------------------------------------------------- */

static size_t begun, ended;

static const struct th_callee *echo_of(const struct th_callee callees[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (callees[i].entry == th_code_export_find(th_atom("party"), th_atom("echo"), 1))
            return th_code_export_callee(callees[i].entry);
    fail_msg("party:echo/1 is not among them");
    return NULL;
}

static void note_begin(struct th_instance *instance)
{
    begun += instance->count;
    assert_int_equal((echo_of(instance->callees, instance->count) != NULL),
                     (th_code_module_find(th_atom("party")) != NULL));
}

static void note_end(struct th_instance *instance)
{
    ended += instance->count;
    assert_int_equal((echo_of(instance->callees, instance->count) != NULL),
                     (th_code_module_find(th_atom("party")) != NULL));
}

static void a_watcher_is_called_before_and_after_a_module_is_callable(void **state)
{
    static const struct th_module_watcher watcher = {NULL, note_begin, note_end};
    char *path = path_of("party");
    struct th_library *library = load(path);
    size_t count =
        th_library_entry(library)->function_count + th_library_code_map(library)->local_count;
    struct th_export *entry;

    (void)state;
    th_code_module_watch(&watcher);
    assert_int_equal(begun, 0);
    th_code_module_add(library);
    assert_int_equal(begun, count);
    entry = th_code_export_get(th_atom("party"), th_atom("echo"), 1);
    th_code_export_arm(entry, true);
    th_code_module_remove(library);
    assert_int_equal(ended, count);
    assert_int_equal(th_code_export_word(entry), TH_EXPORT_ARMED);
    th_code_module_watch(NULL);
    th_code_module_add(library);
    assert_string_equal(th_code_export_callee(entry)->name, "party:echo/1");
    assert_ptr_equal(th_code_export_callee(entry)->entry, entry);
    th_code_export_arm(entry, false);
    assert_int_equal(begun, count);
    th_code_module_watch(&watcher);
    assert_int_equal(begun, 2 * count);
    th_code_module_watch(NULL);
    assert_int_equal(ended, 2 * count);
    th_code_module_remove(library);
    th_library_release(library);
    th_free(path);
}

/* --- Many threads --- */

static _Atomic bool done;

static void *look(void *unused)
{
    size_t found = 0;

    (void)unused;
    do
        found += find("runner", "add", 2) != NULL;
    while (!atomic_load(&done));
    return found ? "found" : NULL;
}

/* The second library makes the table grow. */
static void readers_find_entries_while_the_table_grows(void **state)
{
    char *paths[] = {path_of("runner"), path_of("party")};
    struct th_library *runner = load(paths[0]);
    struct th_library *party = load(paths[1]);
    pthread_t thread;
    void *found;

    (void)state;
    th_code_module_add(runner);
    assert_int_equal(pthread_create(&thread, NULL, look, NULL), 0);
    for (int i = 0; i < 200; i++) {
        th_code_module_add(party);
        th_code_module_remove(party);
        assert_non_null(find("runner", "add", 2));
    }
    atomic_store(&done, true);
    pthread_join(thread, &found);
    assert_non_null(found);
    th_code_module_remove(runner);
    th_library_release(party);
    th_library_release(runner);
    th_free(paths[0]);
    th_free(paths[1]);
}

/*
 * Several threads look for the entries of the same names, each from another start: one creates an
 * entry while others look for it and the table grows. Meanwhile a module is added and removed.
 */
enum { ASKING = 4, MODULES = 40, FUNCTIONS = 40, ARITIES = 8 };
enum { NAMES = MODULES * FUNCTIONS * ARITIES };

static th_term names[MODULES > FUNCTIONS ? MODULES : FUNCTIONS];

struct asking {
    pthread_t thread;
    size_t first;
    struct th_export *got[NAMES];
};

static void *ask(void *context)
{
    struct asking *asking = context;

    for (size_t i = 0; i < NAMES; i++) {
        size_t which = (asking->first + i) % NAMES;
        asking->got[which] =
            th_code_export_get(names[which / ARITIES / FUNCTIONS],
                               names[which / ARITIES % FUNCTIONS], (unsigned)(which % ARITIES));
        if (find("runner", "add", 2) == NULL)
            return "lost";
    }
    return NULL;
}

static void concurrent_threads_get_the_same_entries(void **state)
{
    char *paths[] = {path_of("runner"), path_of("party")};
    struct th_library *runner = load(paths[0]);
    struct th_library *party = load(paths[1]);
    struct asking *all = th_alloc_zero(ASKING * sizeof *all);
    void *lost;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *name = th_printf("name_%zu", i);
        names[i] = th_atom(name);
        th_free(name);
    }
    th_code_module_add(runner);
    for (size_t t = 0; t < ASKING; t++) {
        all[t].first = t * (NAMES / ASKING) / 8;
        assert_int_equal(pthread_create(&all[t].thread, NULL, ask, &all[t]), 0);
    }
    for (int i = 0; i < 50; i++) {
        th_code_module_add(party);
        assert_non_null(find("party", "echo", 1));
        th_code_module_remove(party);
    }
    for (size_t t = 0; t < ASKING; t++) {
        pthread_join(all[t].thread, &lost);
        assert_null(lost);
    }
    for (size_t i = 0; i < NAMES; i++) {
        const struct th_export *entry = all[0].got[i];
        assert_term_equal(entry->module, names[i / ARITIES / FUNCTIONS]);
        assert_term_equal(entry->function, names[i / ARITIES % FUNCTIONS]);
        assert_int_equal(entry->arity, i % ARITIES);
        assert_int_equal(th_code_export_word(entry), 0);
        for (size_t t = 1; t < ASKING; t++)
            assert_ptr_equal(all[t].got[i], entry);
    }
    th_code_module_remove(runner);
    th_library_release(party);
    th_library_release(runner);
    th_free(all);
    th_free(paths[0]);
    th_free(paths[1]);
}

static th_term some_atom(size_t i)
{
    return (th_term)(TH_ATOM_CONSTANTS + i) << 6 | TH_TAG_ATOM;
}

/* Length of the longest run without a free place, the upper bound of a search. */
static size_t longest_search(void)
{
    const struct th_code_exports *in = atomic_load_explicit(&th_code_exports, memory_order_acquire);
    size_t run = 0, longest = 0;

    for (size_t i = 0; i <= 2 * in->mask; i++) {
        bool used = atomic_load_explicit(&in->entries[i & in->mask], memory_order_relaxed);
        run = used ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* A plugin can create entries without end, so names that differ in one part or two must be spread
 * over the table like others, or searches would take longer and longer. */
static void similar_names_are_spread_over_the_table(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 1 << 16; i++) {
        th_code_export_get(some_atom(i), TH_AM(ok), 0);
        th_code_export_get(TH_AM(ok), some_atom(i), 0);
        th_code_export_get(some_atom(i), some_atom(i), 0);
        th_code_export_get(some_atom(i >> 8), some_atom(i & 255), 1);
        th_code_export_get(some_atom(16 * (i >> 8)), some_atom(16 * (i & 255)), 2);
    }
    for (unsigned i = 0; i <= TH_EXPORT_ARITY_MAX; i++)
        th_code_export_get(TH_AM(ok), TH_AM(ok), i);
    assert_order(longest_search(), <, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_outlives_its_function),
        cmocka_unit_test(an_entry_can_be_created_before_its_function),
        cmocka_unit_test(an_entry_marks_functions_that_run_on_any_thread),
        cmocka_unit_test(functions_are_found_by_their_start_address),
        cmocka_unit_test(a_watcher_is_called_before_and_after_a_module_is_callable),
        cmocka_unit_test(readers_find_entries_while_the_table_grows),
        cmocka_unit_test(concurrent_threads_get_the_same_entries),
        cmocka_unit_test(similar_names_are_spread_over_the_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
