#include "assertions.h"

#include "host/base/base.h"
#include "host/term/term.h"

#include <ctype.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* --- Names of enumerators ---------------------------------------------------------------------- */

/* Returns the debug information of this program, which stays open; NULL if there is none. */
static Dwarf *program_information(void)
{
    static Dwarf *information;

    if (!information)
        information = dwarf_begin(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), DWARF_C_READ);
    return information;
}

/* Finds the next enumerator, from the children of ENUMERATION on. */
static bool next_enumerator(Dwarf_Die *enumeration, Dwarf_Die *at, bool first, intmax_t *value)
{
    Dwarf_Attribute attribute;
    Dwarf_Sword number;

    if ((first ? dwarf_child(enumeration, at) : dwarf_siblingof(at, at)) != 0 ||
        !dwarf_attr(at, DW_AT_const_value, &attribute) || dwarf_formsdata(&attribute, &number) != 0)
        return false;
    *value = number;
    return true;
}

static bool has_enumerator(Dwarf_Die *enumeration, const char *name, size_t length)
{
    intmax_t value;
    Dwarf_Die at;

    for (bool first = true; next_enumerator(enumeration, &at, first, &value); first = false) {
        const char *own = dwarf_diename(&at);

        if (own && strlen(own) == length && memcmp(own, name, length) == 0)
            return true;
    }
    return false;
}

/* Finds the enumeration called TAG, or, if TAG is NULL, the one that has the enumerator NAME. */
static bool find_enumeration(const char *tag, const char *name, size_t length, Dwarf_Die *found)
{
    Dwarf *information = program_information();
    Dwarf_CU *unit = NULL;
    Dwarf_Die top;

    while (information && dwarf_get_units(information, unit, &unit, NULL, NULL, &top, NULL) == 0) {
        for (int more = dwarf_child(&top, found); more == 0; more = dwarf_siblingof(found, found)) {
            if (dwarf_tag(found) != DW_TAG_enumeration_type)
                continue;
            if (tag ? dwarf_diename(found) && strcmp(dwarf_diename(found), tag) == 0
                    : has_enumerator(found, name, length))
                return true;
        }
    }
    return false;
}

/* Finds the enumeration of the first enumerator in TEXT. The enumerators of an enumeration without a
 * tag are mostly sizes: only those of the host's headers are names of values. */
static bool find_enumeration_of(const char *text, Dwarf_Die *found)
{
    while (*text) {
        size_t length = 0;

        while (isalnum((unsigned char)text[length]) || text[length] == '_')
            length++;
        if (isupper((unsigned char)*text) && find_enumeration(NULL, text, length, found) &&
            (dwarf_diename(found) || strncmp(text, "TH_", 3) == 0 ||
             strncmp(text, "TRACEHOST_", 10) == 0))
            return true;
        text += length ? length : 1;
    }
    return false;
}

/* Prints VALUE as one enumerator, or as enumerators that together have its bits. */
static bool print_enumerators(Dwarf_Die *enumeration, intmax_t value)
{
    intmax_t each, left = value;
    Dwarf_Die at;

    for (bool first = true; next_enumerator(enumeration, &at, first, &each); first = false) {
        if (each == value) {
            fprintf(stderr, "%s", dwarf_diename(&at));
            return true;
        }
        if ((each & (each - 1)) == 0)
            left &= ~each;
    }
    if (left != 0 || value <= 0)
        return false;
    for (bool first = true; next_enumerator(enumeration, &at, first, &each); first = false) {
        if ((each & (each - 1)) == 0 && each & value) {
            fprintf(stderr, "%s%s", left ? " | " : "", dwarf_diename(&at));
            left |= each;
        }
    }
    fprintf(stderr, " (%jd)", value);
    return true;
}

/* --- Values ------------------------------------------------------------------------------------ */

/* Which names the values of an assertion have. */
struct naming {
    Dwarf_Die enumeration;
    bool has_enumeration, is_errno, is_signal;
};

/* The expression is the name of its value, which is PREFIX and NAME. */
static bool is_called(const struct assertion_number *number, const char *prefix, const char *name)
{
    size_t length = strlen(prefix);

    return name && strncmp(number->text, prefix, length) == 0 &&
           strcmp(number->text + length, name) == 0;
}

static struct naming naming_of(const char *tag, const struct assertion_number *got,
                               const struct assertion_number *expected)
{
    struct naming naming = {.has_enumeration = false};

    naming.has_enumeration = tag ? find_enumeration(tag, NULL, 0, &naming.enumeration)
                                 : find_enumeration_of(expected->text, &naming.enumeration) ||
                                       find_enumeration_of(got->text, &naming.enumeration);
    /* The name of 0 is "0". */
    naming.is_errno =
        expected->value != 0 && is_called(expected, "", strerrorname_np((int)expected->value));
    naming.is_signal = is_called(expected, "SIG", sigabbrev_np((int)expected->value));
    return naming;
}

static bool print_name(struct naming *naming, intmax_t value)
{
    const char *name = naming->is_errno    ? strerrorname_np((int)value)
                       : naming->is_signal ? sigabbrev_np((int)value)
                                           : NULL;

    if (naming->has_enumeration)
        return print_enumerators(&naming->enumeration, value);
    if (name)
        fprintf(stderr, "%s%s", naming->is_signal ? "SIG" : "", name);
    return name != NULL;
}

static void print_number(struct naming *naming, const struct assertion_number *number)
{
    if (print_name(naming, (intmax_t)number->value))
        return;
    if (number->is_signed)
        fprintf(stderr, "%jd", (intmax_t)number->value);
    else
        fprintf(stderr, "%ju", number->value);
}

/* Prints the text of an expression that is more than the number. */
static void print_origin(const struct assertion_number *number)
{
    if (number->text[strspn(number->text, "-0123456789uUlL")] != '\0')
        fprintf(stderr, " (%s)", number->text);
}

static void print_term(th_term term)
{
    struct th_buffer text = {.data = NULL};

    if (term == TH_NONE) {
        fprintf(stderr, "no term");
        return;
    }
    th_text_print(&text, term);
    fprintf(stderr, "%s", th_buffer_text(&text));
    th_buffer_free(&text);
}

/* --- Failures ---------------------------------------------------------------------------------- */

static void print_chain(void)
{
    for (size_t i = 0; th_error_link(i); i++)
        fprintf(stderr, "%s%s", i == 0 ? "\nthe thread's last error: " : "\n  ", th_error_link(i));
}

/* Ends a report with CMocka's line of the place. */
static void end_test(const char *file, int line)
{
    fprintf(stderr, "\n");
    _fail(file, line);
}

static bool is_status(struct naming *naming)
{
    const char *tag = naming->has_enumeration ? dwarf_diename(&naming->enumeration) : NULL;

    return tag && (strcmp(tag, "th_status") == 0 || strcmp(tag, "tracehost_status") == 0);
}

void assertion_numbers(bool equal, struct assertion_number got, struct assertion_number expected,
                       const char *enumeration, const char *file, int line)
{
    struct naming naming;

    if ((got.value == expected.value) == equal)
        return;
    naming = naming_of(enumeration, &got, &expected);
    fprintf(stderr, "%s: expected %s", got.text, equal ? "" : "another value than ");
    print_number(&naming, &expected);
    if (!naming.has_enumeration && !naming.is_errno && !naming.is_signal)
        print_origin(&expected);
    if (equal) {
        fprintf(stderr, ", got ");
        print_number(&naming, &got);
    }
    if (is_status(&naming))
        print_chain();
    end_test(file, line);
}

void assertion_order(struct assertion_number got, const char *relation,
                     struct assertion_number limit, const char *file, int line)
{
    struct naming none = {.has_enumeration = false};

    fprintf(stderr, "%s: expected %s ", got.text, relation);
    print_number(&none, &limit);
    print_origin(&limit);
    fprintf(stderr, ", got ");
    print_number(&none, &got);
    end_test(file, line);
}

void assertion_range(struct assertion_number got, uintmax_t least, uintmax_t most, const char *file,
                     int line)
{
    struct naming none = {.has_enumeration = false};

    if (least <= got.value && got.value <= most)
        return;
    fprintf(stderr, "%s: expected %ju to %ju, got ", got.text, least, most);
    print_number(&none, &got);
    end_test(file, line);
}

void assertion_condition(bool holds, const char *expected, const char *text, const char *file,
                         int line)
{
    if (holds)
        return;
    fprintf(stderr, "%s: expected %s", text, expected);
    print_chain();
    end_test(file, line);
}

void assertion_pointers(bool equal, const void *got, const void *expected, const char *got_text,
                        const char *expected_text, const char *file, int line)
{
    if ((got == expected) == equal)
        return;
    fprintf(stderr, "%s: expected %s%s", got_text, equal ? "" : "another pointer than ",
            expected_text);
    if (equal)
        fprintf(stderr, ", got %s", !got ? "NULL" : !expected ? "a pointer" : "another pointer");
    end_test(file, line);
}

static void print_string(const char *string)
{
    if (!string)
        fprintf(stderr, "NULL");
    else if (strchr(string, '\n'))
        fprintf(stderr, "\n%s%s", string, string[strlen(string) - 1] == '\n' ? "" : "\n");
    else
        fprintf(stderr, " \"%s\"", string);
}

/* Returns the number of the first line in which A and B differ. */
static unsigned first_different_line(const char *a, const char *b)
{
    unsigned line = 1;

    for (; *a && *a == *b; a++, b++)
        line += *a == '\n';
    return line;
}

void assertion_strings(bool equal, const char *got, const char *expected, const char *text,
                       const char *file, int line)
{
    if ((got == expected || (got && expected && strcmp(got, expected) == 0)) == equal)
        return;
    fprintf(stderr, "%s: expected%s", text, equal ? "" : " another string than");
    print_string(expected);
    if (equal) {
        fprintf(stderr, "%s got", strchr(expected ? expected : "", '\n') ? "---" : ",");
        print_string(got);
        if (got && expected && strchr(got, '\n'))
            fprintf(stderr, "--- the first different line is line %u",
                    first_different_line(got, expected));
    }
    end_test(file, line);
}

/* Prints at most 32 BYTES, those that are no printable characters as in C. */
static void print_bytes(const unsigned char *bytes, size_t size)
{
    fprintf(stderr, "\"");
    for (size_t i = 0; i < size && i < 32; i++)
        fprintf(stderr, isprint(bytes[i]) ? "%c" : "\\%03o", bytes[i]);
    fprintf(stderr, size > 32 ? "\"..." : "\"");
}

void assertion_bytes(const void *got, const void *expected, size_t size, const char *text,
                     const char *file, int line)
{
    const unsigned char *a = got, *b = expected;
    size_t i = 0;

    while (i < size && a[i] == b[i])
        i++;
    if (i == size)
        return;
    fprintf(stderr, "%s: from byte %zu of %zu: expected ", text, i, size);
    print_bytes(b + i, size - i);
    fprintf(stderr, ", got ");
    print_bytes(a + i, size - i);
    end_test(file, line);
}

void assertion_terms(bool same_word, th_term got, th_term expected, const char *text,
                     const char *file, int line)
{
    if (got == expected ||
        (!same_word && got != TH_NONE && expected != TH_NONE && th_identical(got, expected)))
        return;
    fprintf(stderr, "%s: expected ", text);
    print_term(expected);
    fprintf(stderr, ", got ");
    print_term(got);
    end_test(file, line);
}
