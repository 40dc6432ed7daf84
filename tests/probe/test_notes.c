/* Compares the ELF notes of the program and of libtracehost.so, as readelf prints them, with the
 * table of probes: each probe once, with a semaphore, with the number, sizes and signs of its
 * arguments. */
#include "host/base/base.h"
#include "host/probe/probe.h"
#include "tests/support/assertions.h"
#include <stdlib.h>
#include <string.h>

struct note {
    int times;
    unsigned long semaphore;
    char arguments[400]; /* the sizes: "8 8 4 -4 " */
};

/* Keeps the part before each @ of "8@%rdi -4@16(%rsp)". */
static void keep_sizes(struct note *note, const char *text)
{
    size_t used = 0;

    note->arguments[0] = 0;
    while ((text += strspn(text, " \n")), *text) {
        int length = (int)strcspn(text, "@");

        used += (size_t)snprintf(note->arguments + used, sizeof note->arguments - used, "%.*s ",
                                 length, text);
        text += strcspn(text, " \n");
    }
}

static void read_notes(const char *file, struct note notes[])
{
    char command[4096], line[1024];
    struct note *note = NULL;
    unsigned long semaphore = 0;

    snprintf(command, sizeof command, "readelf -nW '%s/%s'", getenv("BUILD_DIR"), file);
    FILE *said = popen(command, "r");
    assert_non_null(said);
    while (fgets(line, sizeof line, said)) {
        char name[100], *place;

        if (sscanf(line, " Name: %99s", name) == 1) {
            const struct th_probe *probe = th_probe_find(name);

            if (!probe)
                fail_msg("%s has a note for %s, which is not in the table", file, name);
            note = &notes[probe - th_probe_probes];
            note->times++;
        } else if ((place = strstr(line, "Semaphore: ")) != NULL) {
            semaphore = strtoul(place + strlen("Semaphore: "), NULL, 16);
            assert_non_null(note);
            note->semaphore = semaphore;
        } else if ((place = strstr(line, "Arguments: ")) != NULL) {
            keep_sizes(note, place + strlen("Arguments: "));
        }
    }
    assert_int_equal(pclose(said), 0);
}

static void compare(const char *file)
{
    struct note *notes = th_alloc_zero(TH_PROBE_COUNT_OF_ALL * sizeof *notes);

    read_notes(file, notes);
    for (size_t i = 0; i < TH_PROBE_COUNT_OF_ALL; i++) {
        const struct th_probe *probe = &th_probe_probes[i];
        struct th_buffer sizes = {0};

        for (unsigned k = 0; k < probe->count; k++)
            th_buffer_printf(&sizes, "%d ", th_probe_type_size(probe->arguments[k].type));
        if (notes[i].times != 1 || !notes[i].semaphore ||
            strcmp(notes[i].arguments, th_buffer_text(&sizes)) != 0)
            fail_msg("%s: %s: %d notes, semaphore %#lx, arguments %s", file, probe->name,
                     notes[i].times, notes[i].semaphore, notes[i].arguments);
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(notes[k].semaphore, notes[i].semaphore);
        th_buffer_free(&sizes);
    }
    th_free(notes);
}

static void the_program_has_a_note_for_each_probe(void **state)
{
    (void)state;
    compare("bin/tracehost");
}

static void libtracehost_has_a_note_for_each_probe(void **state)
{
    (void)state;
    compare("lib/libtracehost.so");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_program_has_a_note_for_each_probe),
        cmocka_unit_test(libtracehost_has_a_note_for_each_probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
