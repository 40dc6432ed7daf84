/* Tests native sites with the records of two instances of their functions, old and new code. */
#include "meeting.h"

#include "host/base/base.h"
#include "host/breakpoint/native/native_machine.h"
#include "host/code/code.h"
#include "tests/support/assertions.h"
#include "tests/support/compiled.h"
#include "tests/support/dying.h"
#include "tests/support/noting.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OLD, NEW, INSTANCES };

static char *files[INSTANCES]; /* compiled once */
static struct th_library *libraries[INSTANCES];
static struct meeting meetings[INSTANCES][TH_NATIVE_FORMS];

/* A function has one site, which the meetings of all instances share. */
static struct th_native_place places[TH_NATIVE_FORMS];
static struct th_site *sites[TH_NATIVE_FORMS];

static void meet_function(struct meeting *meeting, struct th_library *library,
                          enum th_native_form form)
{
    meeting->code = compiled_function(library, form_names[form]);
    assert_null(th_native_refusal(library, meeting->code));
    meeting->native =
        th_native_create(library, (void *)meeting->code, form, meet_handlers[form], meeting);
    assert_non_null(meeting->native);
}

static int make_files(void **state)
{
    (void)state;
    for (int i = 0; i < INSTANCES; i++)
        files[i] = compiled_file(NULL, "-O2 " TH_ENTRY_FLAGS, "tests/breakpoint/forms.c");
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    for (int i = 0; i < INSTANCES; i++) {
        unlink(files[i]);
        th_free(files[i]);
    }
    return 0;
}

static int begin(void **state)
{
    (void)state;
    memset(places, 0, sizeof places);
    memset(meetings, 0, sizeof meetings);
    for (int i = 0; i < INSTANCES; i++) {
        assert_int_equal(th_library_open(files[i], &libraries[i]), TH_OK);
        for (enum th_native_form form = 0; form < TH_NATIVE_FORMS; form++)
            meet_function(&meetings[i][form], libraries[i], form);
    }
    for (int form = 0; form < TH_NATIVE_FORMS; form++)
        sites[form] = th_breakpoint_site_create(&th_native_site_native, NULL, &places[form]);
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (int form = 0; form < TH_NATIVE_FORMS; form++)
        th_breakpoint_site_drop(sites[form]);
    for (int i = 0; i < INSTANCES; i++) {
        for (int form = 0; form < TH_NATIVE_FORMS; form++)
            th_native_drop(meetings[i][form].native);
        th_library_release(libraries[i]);
    }
    th_progress_settle();
    return !things_remain(0);
}

typedef void join_function(struct th_site *const sites[], struct th_native *const natives[],
                           size_t count);

/* Joins, or parts, all records of an instance at once. */
static void join(join_function *function, int instance)
{
    struct th_native *natives[TH_NATIVE_FORMS];

    for (int form = 0; form < TH_NATIVE_FORMS; form++)
        natives[form] = meetings[instance][form].native;
    th_code_permission_wait();
    function(sites, natives, TH_NATIVE_FORMS);
    th_code_permission_release();
}

static word entry_word(const struct meeting *meeting)
{
    return *(const volatile word *)meeting->code;
}

/* Asserts that calls of each function of INSTANCE reach its handler MET times. */
static void expect_met(int instance, unsigned met)
{
    for (enum th_native_form form = 0; form < TH_NATIVE_FORMS; form++) {
        struct meeting *meeting = &meetings[instance][form];
        atomic_store(&meeting->met, 0);
        assert_int_equal(call_form(form, meeting->code), answer_of(form));
        assert_int_equal(atomic_load(&meeting->met), met);
    }
}

static void expect_active(const struct th_native *native, unsigned active, unsigned others)
{
    for (int generation = 0; generation < 2; generation++)
        assert_int_equal(atomic_load(&native->active[generation]), active);
    assert_int_equal(th_native_others(native), 2 * others);
}

static void set_all(struct noting *noting, uint32_t kinds)
{
    for (int form = 0; form < TH_NATIVE_FORMS; form++)
        set_kinds(sites[form], noting, kinds, 0);
}

static void both_instances_are_armed_and_disarmed(void **state)
{
    struct noting *a = noting_create('A');

    (void)state;
    join(th_native_attach, OLD);
    join(th_native_attach, NEW);
    expect_met(OLD, 0);
    expect_met(NEW, 0);
    set_all(a, TH_BP_LOCAL);
    expect_met(OLD, 1);
    expect_met(NEW, 1);
    noting_end(a);
    expect_met(OLD, 0);
    expect_met(NEW, 0);
    join(th_native_detach, OLD);
    join(th_native_detach, NEW);
}

static void a_record_attached_to_an_armed_site_is_armed(void **state)
{
    struct noting *a = noting_create('A'), *b = noting_create('B');
    word before = entry_word(&meetings[OLD][3]);

    (void)state;
    join(th_native_attach, OLD);
    set_all(a, TH_BP_LOCAL);
    set_all(b, TH_BP_LOCAL | TH_BP_COUNT);
    expect_met(NEW, 0);
    join(th_native_attach, NEW);
    expect_met(NEW, 1);
    expect_met(OLD, 1);
    expect_active(meetings[NEW][3].native, 2, 1);
    join(th_native_detach, OLD);
    expect_met(OLD, 0);
    expect_met(NEW, 1);
    assert_int_equal(entry_word(&meetings[OLD][3]), before);
    expect_active(meetings[OLD][3].native, 0, 0);
    noting_end(b);
    expect_active(meetings[NEW][3].native, 1, 0);
    noting_end(a);
    expect_met(NEW, 0);
    expect_active(meetings[NEW][3].native, 0, 0);
    join(th_native_detach, NEW);
}

static void a_site_without_records_may_be_armed(void **state)
{
    struct noting *a = noting_create('A');

    (void)state;
    set_all(a, TH_BP_LOCAL);
    assert_true(th_breakpoint_site_is_armed(sites[0]));
    assert_string_equal(note_call(sites[0], TH_BP_ALL, NULL), "A local 0");
    join(th_native_attach, NEW);
    expect_met(NEW, 1);
    join(th_native_detach, NEW);
    expect_met(NEW, 0);
    assert_true(th_breakpoint_site_is_armed(sites[0]));
    noting_end(a);
    assert_false(th_breakpoint_site_is_armed(sites[0]));
}

/* In the new instance two functions share one code; in the old instance they do not. */
static void functions_of_a_new_instance_may_share_code(void **state)
{
    struct noting *a = noting_create('A');
    struct meeting *shared = &meetings[NEW][4];
    struct th_site *const two[] = {sites[4], sites[5]};
    struct th_native *const natives[] = {shared->native, shared->native};

    (void)state;
    join(th_native_attach, OLD);
    set_kinds(two[0], a, TH_BP_LOCAL, 0);
    th_code_permission_wait();
    th_native_attach(two, natives, 2);
    th_code_permission_release();
    expect_active(shared->native, 1, 0);
    set_kinds(two[1], a, TH_BP_LOCAL, 0);
    expect_active(shared->native, 2, 0);
    expect_active(meetings[OLD][4].native, 1, 0);
    clear_kinds(two[0], a, TH_BP_ALL);
    assert_int_equal(call_form(4, shared->code), answer_of(4));
    assert_int_equal(atomic_load(&shared->met), 1);
    assert_int_equal(call_form(4, meetings[OLD][4].code), answer_of(4));
    assert_int_equal(atomic_load(&meetings[OLD][4].met), 0);
    th_code_permission_wait();
    th_native_detach(two, natives, 2);
    th_code_permission_release();
    expect_active(shared->native, 0, 0);
    assert_int_equal(call_form(4, shared->code), answer_of(4));
    assert_int_equal(atomic_load(&shared->met), 1);
    noting_end(a);
    join(th_native_detach, OLD);
}

static void attach_a_third(void)
{
    struct th_native *natives[] = {meetings[OLD][0].native, meetings[NEW][0].native,
                                   meetings[NEW][1].native};

    for (int i = 0; i < 3; i++)
        th_native_attach(&sites[0], &natives[i], 1);
}

static void detach_a_stranger(void)
{
    struct th_native *native = meetings[OLD][0].native;

    th_native_detach(&sites[0], &native, 1);
}

static void attaching_a_third_or_detaching_an_unknown_record_aborts(void **state)
{
    char said[1000];

    (void)state;
    die_of(attach_a_third, said, sizeof said);
    assert_non_null(strstr(said, "more records than there are instances"));
    die_of(detach_a_stranger, said, sizeof said);
    assert_non_null(strstr(said, "does not have the record"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(attaching_a_third_or_detaching_an_unknown_record_aborts), /* needs a single thread */
        TEST(both_instances_are_armed_and_disarmed),
        TEST(a_record_attached_to_an_armed_site_is_armed),
        TEST(a_site_without_records_may_be_armed),
        TEST(functions_of_a_new_instance_may_share_code),
#undef TEST
    };

    if (th_native_begin() != TH_OK) {
        printf("no native sites here: %s\n", th_error_link(0));
        return 77;
    }
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
