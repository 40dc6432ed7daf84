/* Tests native sites: the breakpoints that calls of a compiled library hit. */
#include "meeting.h"

#include "host/base/base.h"
#include "host/breakpoint/generic_bp.h"
#include "host/breakpoint/native/native_internal.h"
#include "tests/support/assertions.h"
#include "tests/support/compiled.h"
#include "tests/support/dying.h"
#include "tests/support/noting.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct th_library *library;
static struct meeting meetings[TH_NATIVE_FORMS];

static void meet_function(struct meeting *meeting, const char *name, enum th_native_form form)
{
    const char *why;

    meeting->code = compiled_function(library, name);
    assert_non_null(meeting->code);
    why = th_native_refusal(library, meeting->code);
    if (why)
        fail_msg("%s: %s", name, why);
    meeting->native =
        th_native_create(library, (void *)meeting->code, form, meet_handlers[form], meeting);
    assert_non_null(meeting->native);
    meet_at_site(meeting);
}

static int open_forms(void **state)
{
    (void)state;
    library = compiled_open(NULL, "-O2 " TH_ENTRY_FLAGS, "tests/breakpoint/forms.c");
    memset(meetings, 0, sizeof meetings);
    for (enum th_native_form i = 0; i < TH_NATIVE_FORMS; i++)
        meet_function(&meetings[i], form_names[i], i);
    return 0;
}

static int close_forms(void **state)
{
    (void)state;
    for (int i = 0; i < TH_NATIVE_FORMS; i++) {
        th_native_drop(meetings[i].native);
        th_breakpoint_site_drop(meetings[i].site);
    }
    th_progress_settle();
    th_library_release(library);
    return 0;
}

/* --- Calls ------------------------------------------------------------------------------------ */

/* Each form returns the right result, and each handler is called MET times. */
static void expect_met(unsigned met)
{
    for (enum th_native_form i = 0; i < TH_NATIVE_FORMS; i++) {
        atomic_store(&meetings[i].met, 0);
        assert_int_equal(call_form(i, meetings[i].code), answer_of(i));
        assert_int_equal(atomic_load(&meetings[i].met), met);
    }
}

static word entry_word(const struct meeting *meeting)
{
    return *(const volatile word *)meeting->code;
}

static void calls_of_an_armed_function_reach_the_handler(void **state)
{
    struct noting *a = noting_create('A');
    uint64_t before = entry_word(&meetings[0]);

    (void)state;
    expect_met(0);
    for (int i = 0; i < TH_NATIVE_FORMS; i++)
        set_kinds(meetings[i].site, a, TH_BP_LOCAL, i);
    expect_met(1);
    assert_int_not_equal(entry_word(&meetings[0]), before);
    assert_string_equal(note_call(meetings[3].site, TH_BP_ALL, NULL), "A local 3");
    noting_end(a);
    expect_met(0);
    assert_int_equal(entry_word(&meetings[0]), before);
}

/* These are direct calls, not calls by pointer. */
static void calls_inside_the_library_reach_the_handler(void **state)
{
    struct noting *a = noting_create('A');
    call_nif *all = (call_nif *)compiled_function(library, "all");
    const word argv[] = {2};
    word answer = all(ENV, 1, argv);

    (void)state;
    for (int i = 0; i < TH_NATIVE_FORMS; i++)
        set_kinds(meetings[i].site, a, TH_BP_LOCAL, 0);
    assert_int_equal(all(ENV, 1, argv), answer);
    for (int i = 0; i < TH_NATIVE_FORMS; i++)
        assert_int_equal(atomic_load(&meetings[i].met), 1);
    noting_end(a);
}

static __attribute__((noinline)) word call_and_return(const struct meeting *meeting, char **begin)
{
    word answer = ((call_1 *)meeting->code)(1, 2);

    *begin = (char *)call_and_return;
    return answer + 1;
}

static void the_handler_returns_to_the_caller_of_the_function(void **state)
{
    struct noting *a = noting_create('A');
    char *begin;

    (void)state;
    set_kinds(meetings[1].site, a, TH_BP_LOCAL, 0);
    assert_int_equal(call_and_return(&meetings[1], &begin), 1 + 6 + 1);
    assert_in_range((word)meetings[1].returner, (word)begin, (word)begin + 500);
    noting_end(a);
}

/* --- Counters of the thunk -------------------------------------------------------------------- */

/* OTHERS: the active breakpoints that are not only local. */
static void expect_active(const struct meeting *meeting, unsigned active, unsigned others)
{
    for (int generation = 0; generation < 2; generation++)
        assert_int_equal(atomic_load(&meeting->native->active[generation]), active);
    assert_int_equal(th_native_others(meeting->native), 2 * others);
}

/* A: the session of the only breakpoint that a handler finds at once; NULL: none. */
static void expect_only(const struct meeting *meeting, struct noting *a)
{
    const struct th_generic_bp *bp = a ? th_breakpoint_find(meeting->site, &a->session) : NULL;

    assert_int_equal(bp != NULL, a != NULL);
    for (int generation = 0; generation < 2; generation++) {
        const struct th_bp_data *only = atomic_load(&meeting->native->only[generation]);
#ifdef __OPTIMIZE__
        assert_ptr_equal(only, bp ? &bp->data[generation] : NULL);
#else
        assert_null(only);
#endif
    }
}

/* BITS: those of the sessions with an active breakpoint. */
static void expect_sessions(const struct meeting *meeting, uint64_t bits)
{
    assert_int_equal(th_native_sessions(meeting->native), bits);
}

static void pause_kinds(struct meeting *meeting, struct noting *noting, uint32_t kinds)
{
    make_settings(
        &(struct th_bp_setting){.site = meeting->site, .session = &noting->session, .pause = kinds},
        1);
}

static void thunk_counters_equal_the_active_breakpoints(void **state)
{
    struct noting *a = noting_create('A'), *b = noting_create('B');
    struct meeting *one = &meetings[2];

    (void)state;
    a->session.bit = 1;
    b->session.bit = 2;
    expect_active(one, 0, 0);
    expect_sessions(one, 0);
    set_kinds(one->site, a, TH_BP_LOCAL | TH_BP_COUNT, 0);
    expect_active(one, 1, 1);
    expect_only(one, NULL);
    expect_sessions(one, 1);
    set_kinds(one->site, b, TH_BP_COUNT, 0);
    expect_active(one, 2, 2);
    expect_sessions(one, 1 | 2);
    set_kinds(one->site, a, TH_BP_LOCAL, 7);
    expect_active(one, 2, 2);
    pause_kinds(one, a, TH_BP_LOCAL);
    expect_active(one, 2, 2);
    pause_kinds(one, a, TH_BP_COUNT);
    expect_active(one, 1, 1);
    expect_only(one, NULL);
    set_kinds(one->site, a, TH_BP_LOCAL, 7);
    expect_active(one, 2, 1);
    expect_only(one, NULL);
    clear_kinds(one->site, b, TH_BP_ALL);
    expect_active(one, 1, 0);
    expect_only(one, a);
    set_kinds(one->site, b, TH_BP_LOCAL, 0);
    expect_active(one, 2, 0);
    expect_only(one, NULL);
    pause_kinds(one, a, TH_BP_LOCAL);
    expect_active(one, 1, 0);
    expect_only(one, b);
    expect_sessions(one, 2);
    clear_kinds(one->site, a, TH_BP_ALL);
    expect_only(one, b);
    clear_kinds(one->site, b, TH_BP_LOCAL);
    expect_active(one, 0, 0);
    expect_only(one, NULL);
    expect_sessions(one, 0);
    assert_false(th_breakpoint_site_is_armed(one->site));
    set_kinds(one->site, a, TH_BP_META, 0);
    expect_active(one, 1, 1);
    expect_only(one, NULL);
    noting_end(a);
    noting_end(b);
    expect_active(one, 0, 0);
}

static void count_in(unsigned generation, uint32_t before, uint32_t after)
{
    for (int i = 0; i < TH_NATIVE_FORMS; i++)
        th_native_site_native.count(meetings[i].site, generation, before, after);
}

/* As between steps 5 and 7 of a change: the entry jumps to the stub, no breakpoint is active. */
static void the_thunk_skips_a_handler_without_active_breakpoints(void **state)
{
    unsigned staging = !th_breakpoint_generation();

    (void)state;
    for (int i = 0; i < TH_NATIVE_FORMS; i++)
        th_breakpoint_sites_write(&meetings[i].site, 1, true);
    expect_met(0);
    count_in(staging, 0, TH_BP_LOCAL);
    expect_met(0);
    count_in(!staging, 0, TH_BP_LOCAL);
    expect_met(1);
    count_in(!staging, TH_BP_LOCAL, 0);
    expect_met(0);
    count_in(staging, TH_BP_LOCAL, 0);
    for (int i = 0; i < TH_NATIVE_FORMS; i++)
        th_breakpoint_sites_write(&meetings[i].site, 1, false);
}

static struct meeting *watched;
static unsigned calls_while_armed;

/* Called while a change arms or disarms: no breakpoint is active yet, or any more. */
static void call_watched(void)
{
    atomic_store(&watched->met, 0);
    assert_int_equal(call_form(TH_NATIVE_NIF, watched->code), answer_of(TH_NATIVE_NIF));
    assert_int_equal(atomic_load(&watched->met), 0);
    calls_while_armed++;
}

static void write_and_call(struct th_site *const *sites, size_t count, bool arm)
{
    if (!arm)
        call_watched();
    th_native_site_native.write(sites, count, arm);
    if (arm)
        call_watched();
}

static void a_staged_breakpoint_does_not_call_the_handler(void **state)
{
    struct th_site_operations operations = th_native_site_native;
    struct noting *a = noting_create('A');
    struct th_site *site;

    (void)state;
    operations.write = write_and_call;
    watched = &meetings[TH_NATIVE_NIF];
    site = th_breakpoint_site_create(&operations, watched, &watched->place);
    for (unsigned i = 1; i <= 3; i++) { /* in either generation */
        set_kinds(site, a, TH_BP_LOCAL, 0);
        atomic_store(&watched->met, 0);
        call_form(TH_NATIVE_NIF, watched->code);
        assert_int_equal(atomic_load(&watched->met), 1);
        clear_kinds(site, a, TH_BP_ALL);
        assert_int_equal(calls_while_armed, 2 * i);
    }
    noting_end(a);
    th_breakpoint_site_drop(site);
    th_progress_settle();
}

static void two_sites_may_share_an_entry(void **state)
{
    struct noting *a = noting_create('A');
    struct meeting *one = &meetings[4];
    struct th_site *other = th_breakpoint_site_create(&th_native_site_native, one, &one->place);
    word before = entry_word(one), armed;

    (void)state;
    set_kinds(one->site, a, TH_BP_LOCAL, 0);
    armed = entry_word(one);
    assert_false(th_breakpoint_site_is_armed(other));
    set_kinds(other, a, TH_BP_LOCAL, 0);
    expect_active(one, 2, 0);
    clear_kinds(one->site, a, TH_BP_ALL);
    expect_active(one, 1, 0);
    assert_false(th_breakpoint_site_is_armed(one->site));
    assert_true(th_breakpoint_site_is_armed(other));
    assert_int_equal(entry_word(one), armed);
    clear_kinds(other, a, TH_BP_ALL);
    assert_int_equal(entry_word(one), before);
    noting_end(a);
    th_breakpoint_site_drop(other);
}

/* --- Memory ----------------------------------------------------------------------------------- */

/* Returns the access rights of the page at ADDRESS from /proc, as "r-xp". */
static const char *rights_of(const void *address)
{
    static char rights[8];
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    word start, end;

    strcpy(rights, "none");
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &start, &end, rights) == 3 &&
            (word)address >= start && (word)address < end)
            break;
    fclose(maps);
    return rights;
}

static void no_memory_is_writable_and_executable(void **state)
{
    struct noting *a = noting_create('A');

    (void)state;
    set_kinds(meetings[1].site, a, TH_BP_LOCAL, 0);
    assert_string_equal(rights_of(meetings[1].code), "r-xp");
    assert_string_equal(rights_of((void *)th_native_near_stub(meetings[1].native)), "r-xp");
    assert_string_equal(rights_of(meetings[1].native), "rw-p");
    noting_end(a);
    assert_string_equal(rights_of(meetings[1].code), "r-xp");
}

static void a_dropped_record_is_reused_for_the_same_entry(void **state)
{
    struct meeting *one = &meetings[5];
    struct th_native *native = one->native;

    (void)state;
    assert_ptr_equal(th_native_find(one->code), native);
    th_native_drop(native);
    assert_null(th_native_find(one->code));
    assert_null(th_native_refusal(library, one->code));
    one->native = th_native_create(library, (void *)one->code, TH_NATIVE_TERMS_5, meet_5, one);
    assert_ptr_equal(one->native, native);
    assert_ptr_equal(th_native_find(one->code), native);
}

/* --- Many functions --------------------------------------------------------------------------- */

enum { MANY = 600 };

static struct meeting all[MANY];

/* Returns the path of the library, which is compiled once. */
static const char *many_file(void)
{
    static char *path;
    struct th_buffer text = {0};

    if (path)
        return path;
    th_buffer_add_text(&text, "#include <erl_nif.h>\n"
                              "#define F(n) static ERL_NIF_TERM f##n(ErlNifEnv *env, int argc, "
                              "const ERL_NIF_TERM argv[]) { (void)env; (void)argv; return argc + n;"
                              "}\n");
    for (int i = 0; i < MANY; i++)
        th_buffer_printf(&text, "F(%d)\n", i);
    th_buffer_add_text(&text, "static ErlNifFunc functions[] = {\n");
    for (int i = 0; i < MANY; i++)
        th_buffer_printf(&text, "{\"f%d\", 1, f%d, 0},\n", i, i);
    th_buffer_add_text(&text, "};\nERL_NIF_INIT(many, functions, NULL, NULL, NULL, NULL)\n");
    th_buffer_add(&text, "", 1);
    path = compiled_file(NULL, "-O2 " TH_ENTRY_FLAGS, (const char *)text.data);
    th_buffer_free(&text);
    return path;
}

static struct th_library *open_many(void)
{
    struct th_library *many;

    assert_int_equal(th_library_open(many_file(), &many), TH_OK);
    return many;
}

static void call_many(unsigned met)
{
    for (word i = 0; i < MANY; i++) {
        atomic_store(&all[i].met, 0);
        assert_int_equal(((call_nif *)all[i].code)(ENV, 1, NULL), 1 + i);
        assert_int_equal(atomic_load(&all[i].met), i % 3 ? met : 0);
    }
}

static void meet_many(struct th_library *many)
{
    struct th_library *forms = library;
    char name[16];

    library = many;
    memset(all, 0, sizeof all);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "f%d", i);
        meet_function(&all[i], name, TH_NATIVE_NIF);
    }
    library = forms;
}

static void close_many(struct th_library *many)
{
    for (int i = 0; i < MANY; i++) {
        th_native_drop(all[i].native);
        th_breakpoint_site_drop(all[i].site);
    }
    th_progress_settle();
    th_library_release(many);
}

static void one_change_arms_hundreds_of_functions(void **state)
{
    struct th_library *many = open_many();
    struct noting *a = noting_create('A');
    struct th_bp_setting *settings = th_alloc_zero(MANY * sizeof *settings);
    size_t count = 0;

    (void)state;
    meet_many(many);
    for (int i = 0; i < MANY; i++)
        if (i % 3)
            settings[count++] = (struct th_bp_setting){
                .site = all[i].site, .session = &a->session, .set = TH_BP_LOCAL};
    call_many(0);
    assert_int_equal(make_settings(settings, count).sites_written, count);
    call_many(1);
    for (int i = 0; i < MANY; i += 50)
        assert_string_equal(rights_of(all[i].code), "r-xp");
    noting_end(a);
    call_many(0);
    th_free(settings);
    close_many(many);
}

/* Counts the pages of stubs. */
static unsigned count_blocks(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    word start, end;
    unsigned long inode;
    unsigned count = 0;

    while (fgets(line, sizeof line, maps))
        count +=
            sscanf(line, "%" SCNxPTR "-%" SCNxPTR " r-xp %*s %*s %lu", &start, &end, &inode) == 3 &&
            inode == 0 && end - start == 4096 && !strchr(line, '[');
    fclose(maps);
    return count;
}

static void records_and_stubs_of_closed_libraries_are_reused(void **state)
{
    unsigned blocks = count_blocks();

    (void)state;
    assert_in_range(blocks, MANY / 256 + 1, 2 * (MANY / 256 + 1)); /* left by the test before */
    for (int i = 0; i < 2; i++) {
        struct th_library *many = open_many();
        meet_many(many);
        close_many(many);
    }
    assert_int_equal(count_blocks(), blocks);
    unlink(many_file());
}

static void drop_an_armed_record(void)
{
    th_breakpoint_sites_write(&meetings[0].site, 1, true);
    th_native_drop(meetings[0].native);
}

/* Runs first, as it forks and needs a single thread. */
static void dropping_an_armed_record_aborts(void **state)
{
    char said[1000];

    (void)state;
    die_of(drop_an_armed_record, said, sizeof said);
    assert_non_null(strstr(said, "a native record with an armed site is dropped"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dropping_an_armed_record_aborts),
        cmocka_unit_test(calls_of_an_armed_function_reach_the_handler),
        cmocka_unit_test(calls_inside_the_library_reach_the_handler),
        cmocka_unit_test(the_handler_returns_to_the_caller_of_the_function),
        cmocka_unit_test(thunk_counters_equal_the_active_breakpoints),
        cmocka_unit_test(the_thunk_skips_a_handler_without_active_breakpoints),
        cmocka_unit_test(a_staged_breakpoint_does_not_call_the_handler),
        cmocka_unit_test(two_sites_may_share_an_entry),
        cmocka_unit_test(no_memory_is_writable_and_executable),
        cmocka_unit_test(a_dropped_record_is_reused_for_the_same_entry),
        cmocka_unit_test(one_change_arms_hundreds_of_functions),
        cmocka_unit_test(records_and_stubs_of_closed_libraries_are_reused),
    };

    if (th_native_begin() != TH_OK) {
        printf("no native sites here: %s\n", th_error_link(0));
        return 77;
    }
    return cmocka_run_group_tests(tests, open_forms, close_forms);
}
