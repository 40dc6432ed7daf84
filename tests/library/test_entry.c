/*
 * Tests valid entries of each version, and invalid entries. Each entry and each array of functions
 * ends at the end of mapped memory, so reading beyond its version is fatal.
 */
#include "files.h"

#include "host/library/library.h"

#include <sys/mman.h>

static const size_t ENTRY_2_0 = offsetof(ErlNifEntry, vm_variant);
static const size_t ENTRY_2_1 = offsetof(ErlNifEntry, options);
static const size_t ENTRY_2_7 = offsetof(ErlNifEntry, sizeof_ErlNifResourceTypeInit);
static const size_t ENTRY_2_12 = offsetof(ErlNifEntry, min_erts);

static size_t entry_size(int minor)
{
    return minor < 1    ? ENTRY_2_0
           : minor < 7  ? ENTRY_2_1
           : minor < 12 ? ENTRY_2_7
           : minor < 14 ? ENTRY_2_12
                        : sizeof(ErlNifEntry);
}

static ERL_NIF_TERM code(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env, (void)argc, (void)argv;
    return 0;
}

static int load(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info)
{
    (void)env, (void)private_data, (void)info;
    return 0;
}

/* An accessible page followed by an inaccessible one. */
struct fence {
    unsigned char *start;
    size_t page;
};

static struct fence make_fence(void)
{
    struct fence fence = {.page = (size_t)sysconf(_SC_PAGESIZE)};

    fence.start =
        mmap(NULL, 2 * fence.page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(fence.start, MAP_FAILED);
    assert_int_equal(mprotect(fence.start + fence.page, fence.page, PROT_NONE), 0);
    return fence;
}

static void *put(const struct fence *fence, const void *bytes, size_t size)
{
    return memcpy(fence->start + fence->page - size, bytes, size);
}

/* Functions in the layout of NIF version 2.MINOR. */
static void *put_functions(const struct fence *fence, const ErlNifFunc *functions, size_t count,
                           int minor)
{
    size_t size = minor < 7 ? offsetof(ErlNifFunc, flags) : sizeof *functions;
    unsigned char bytes[4096];

    for (size_t i = 0; i < count; i++)
        memcpy(bytes + i * size, &functions[i], size);
    return put(fence, bytes, count * size);
}

static const ErlNifFunc two[] = {{"enabled", 3, code, 0}, {"trace", 5, code, 2}};

static ErlNifEntry entry_of(int minor)
{
    return (ErlNifEntry){
        .major = 2,
        .minor = minor,
        .name = "m",
        .num_of_funcs = 2,
        .funcs = (ErlNifFunc *)(uintptr_t)two,
        .load = load,
        .vm_variant = "beam.vanilla",
        .options = 1,
        .sizeof_ErlNifResourceTypeInit = 40,
        .min_erts = "erts-12.0",
    };
}

static enum th_status read_fenced(ErlNifEntry entry, struct th_entry *result)
{
    struct fence functions = make_fence();
    struct fence whole = make_fence();
    enum th_status status;

    entry.funcs = put_functions(&functions, entry.funcs, (size_t)entry.num_of_funcs, entry.minor);
    status = th_library_entry_read(put(&whole, &entry, entry_size(entry.minor)), result);
    munmap(functions.start, 2 * functions.page);
    munmap(whole.start, 2 * whole.page);
    return status;
}

static void only_the_fields_of_the_entry_s_version_are_read(void **state)
{
    (void)state;
    for (int minor = 0; minor <= ERL_NIF_MINOR_VERSION; minor++) {
        struct th_entry entry;
        if (minor == 5)
            continue;
        assert_int_equal(read_fenced(entry_of(minor), &entry), TH_OK);
        assert_int_equal(entry.minor, minor);
        assert_string_equal(entry.name, "m");
        assert_int_equal(entry.function_count, 2);
        assert_string_equal(entry.functions[1].name, "trace");
        assert_int_equal(entry.functions[1].arity, 5);
        assert_ptr_equal(entry.functions[1].fptr, code);
        assert_int_equal(entry.functions[1].flags, minor < 7 ? 0 : 2);
        assert_ptr_equal(entry.load, load);
        assert_null(entry.upgrade);
        assert_int_equal(entry.options, minor < 7 ? 0 : 1);
        assert_int_equal(entry.resource_init_size, minor < 12 ? 0 : 40);
        assert_int_equal(entry.oldest_runtime != NULL, minor >= 14);
        th_library_entry_free(&entry);
    }
}

static void refuse(const ErlNifEntry *entry, const char *reason)
{
    struct th_entry result;

    assert_int_equal(th_library_entry_read(entry, &result), TH_REFUSED);
    assert_error_has(reason);
    assert_null(result.functions);
}

static void incompatible_nif_versions_are_refused(void **state)
{
    ErlNifEntry entry = entry_of(ERL_NIF_MINOR_VERSION + 1);

    (void)state;
    entry.min_erts = "erts-99.0";
    refuse(&entry,
           "the library was compiled for NIF version 2.19 of erts-99.0; this host provides 2.18");
    entry = entry_of(0);
    entry.major = 3;
    refuse(&entry, "NIF version 3.0; this host");
    entry.major = 1;
    refuse(&entry, "older than 2.0");
    entry = entry_of(5);
    refuse(&entry, "2.5, which is compatible with no other version");
    entry = entry_of(-1);
    refuse(&entry, "2.-1");
}

static void other_vm_variants_are_refused(void **state)
{
    ErlNifEntry entry = entry_of(16);

    (void)state;
    entry.vm_variant = "beam.halfword";
    refuse(&entry, "'beam.halfword', not 'beam.vanilla'");
    entry.vm_variant = NULL;
    refuse(&entry, "VM variant ''");
}

static void an_invalid_module_name_is_refused(void **state)
{
    ErlNifEntry entry = entry_of(16);
    char long_name[2000];

    (void)state;
    entry.name = NULL;
    refuse(&entry, "the entry has no module name, or one that is too long for an atom");
    entry.name = "";
    refuse(&entry, "the entry has no module name, or one that is too long for an atom");
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = 0;
    entry.name = long_name;
    refuse(&entry, "the entry has no module name, or one that is too long for an atom");
}

static void refuse_functions(int minor, const ErlNifFunc *functions, int count, const char *reason)
{
    ErlNifEntry entry = entry_of(minor);

    entry.funcs = (ErlNifFunc *)(uintptr_t)functions;
    entry.num_of_funcs = count;
    refuse(&entry, reason);
}

#define FUNCTIONS(...) ((const ErlNifFunc[]){__VA_ARGS__})

static void invalid_functions_are_refused(void **state)
{
    (void)state;
    refuse_functions(16, NULL, 1, "1 functions, but no array");
    refuse_functions(16, two, -1, "from 0 to 65536, not -1");
    refuse_functions(16, two, 1 << 30, "not 1073741824");
    refuse_functions(16, FUNCTIONS({"a", 1, code, 0}, {NULL, 1, code, 0}), 2, "function 2");
    refuse_functions(16, FUNCTIONS({"", 1, code, 0}), 1, "function 1");
    refuse_functions(16, FUNCTIONS({"a", 256, code, 0}), 1,
                     "arity of function a must be at most 255, not 256");
    refuse_functions(16, FUNCTIONS({"a", 1, NULL, 0}), 1, "a/1 has no code");
    refuse_functions(16, FUNCTIONS({"a", 1, code, 3}), 1, "a/1 has unknown flags (3)");
    refuse_functions(16, FUNCTIONS({"a", 1, code, 0}, {"b", 1, code, 0}, {"a", 1, code, 0}), 3,
                     "a/1 twice");
}

static void pointers_to_unreadable_memory_are_refused(void **state)
{
    struct fence fence = make_fence();
    unsigned char *beyond = fence.start + fence.page;
    ErlNifEntry entry = entry_of(16);
    struct th_entry result;

    (void)state;
    refuse((const ErlNifEntry *)8,
           "the pointer to the entry is 0x8, which is not the address of readable");
    refuse((const ErlNifEntry *)(beyond - 4), "the pointer to the entry is");
    refuse(put(&fence, &entry, sizeof entry - 8), "the pointer to the entry is");
    for (int minor = 14; minor <= ERL_NIF_MINOR_VERSION + 1; minor++) {
        entry = entry_of(minor);
        entry.min_erts = (const char *)16;
        refuse(&entry, "the pointer to min_erts is 0x10");
    }
    entry = entry_of(16);
    entry.name = memset(beyond - 3, 'x', 3);
    refuse(&entry, "the pointer to the module's name is");
    entry = entry_of(16);
    entry.vm_variant = (const char *)beyond;
    refuse(&entry, "the pointer to vm_variant is");
    entry = entry_of(16);
    entry.funcs = put(&fence, two, sizeof two);
    assert_int_equal(th_library_entry_read(&entry, &result), TH_OK);
    th_library_entry_free(&result);
    entry.num_of_funcs = 3;
    refuse(&entry, "the pointer to the array of functions is");
    munmap(fence.start, 2 * fence.page);
}

static void function_pointers_outside_code_are_refused(void **state)
{
    static int data;
    void *places[] = {(void *)8, &data};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        ErlNifEntry entry = entry_of(16);
        entry.load = (int (*)(ErlNifEnv *, void **, ERL_NIF_TERM))(uintptr_t)places[i];
        refuse(&entry, "the pointer to load() is");
        entry = entry_of(16);
        entry.unload = (void (*)(ErlNifEnv *, void *))(uintptr_t)places[i];
        refuse(&entry, "the pointer to unload() is");
        refuse_functions(
            16,
            FUNCTIONS(
                {"a", 1,
                 (ERL_NIF_TERM(*)(ErlNifEnv *, int, const ERL_NIF_TERM[]))(uintptr_t)places[i], 0}),
            1, "function a/1 is damaged\nthe pointer to the function is");
    }
    refuse_functions(
        16, FUNCTIONS({"a", 1, code, 0}, {(const char *)8, 1, code, 0}), 2,
        "function 2 of the entry is damaged\nthe pointer to the function's name is 0x8");
}

static void functions_with_different_arities_are_distinct(void **state)
{
    ErlNifEntry from = entry_of(16);
    struct th_entry entry;

    (void)state;
    from.funcs = (ErlNifFunc *)(uintptr_t)FUNCTIONS({"a", 1, code, 0}, {"a", 2, code, 1});
    assert_int_equal(th_library_entry_read(&from, &entry), TH_OK);
    assert_ptr_equal(th_library_entry_function(&entry, "a", 2), &entry.functions[1]);
    assert_null(th_library_entry_function(&entry, "a", 3));
    assert_null(th_library_entry_function(&entry, "b", 1));
    th_library_entry_free(&entry);
}

static void an_entry_without_functions_is_accepted(void **state)
{
    ErlNifEntry from = entry_of(16);
    struct th_entry entry;

    (void)state;
    from.funcs = NULL;
    from.num_of_funcs = 0;
    assert_int_equal(th_library_entry_read(&from, &entry), TH_OK);
    assert_int_equal(entry.function_count, 0);
    th_library_entry_free(&entry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_fields_of_the_entry_s_version_are_read),
        cmocka_unit_test(incompatible_nif_versions_are_refused),
        cmocka_unit_test(other_vm_variants_are_refused),
        cmocka_unit_test(an_invalid_module_name_is_refused),
        cmocka_unit_test(invalid_functions_are_refused),
        cmocka_unit_test(pointers_to_unreadable_memory_are_refused),
        cmocka_unit_test(function_pointers_outside_code_are_refused),
        cmocka_unit_test(functions_with_different_arities_are_distinct),
        cmocka_unit_test(an_entry_without_functions_is_accepted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
