/* Tests names as Elixir writes them. The names and their quotes are those that Elixir 1.14 prints for
 * captures, as by inspect(&Enum.sort/1), but for texts that say otherwise. */
#include "host/base/base.h"
#include "host/term/term.h"
#include "host/term/text.h"
#include "tests/support/assertions.h"

#include <string.h>

struct name {
    const char *module, *function; /* NULL: any */
    const char *text;
};

static const struct name names[] = {
    {"Elixir.Enum", "sort", "Enum.sort"},
    {"Elixir.MyApp.Shop_2.Cart", "valid?", "MyApp.Shop_2.Cart.valid?"},
    {"Elixir.A", "go!", "A.go!"},
    {"Elixir.A", "__struct__", "A.__struct__"},
    {"Elixir.A", "do", "A.do"},
    {"Elixir.A", "\xC3\xA9t\xC3\xA9", "A.\xC3\xA9t\xC3\xA9"},
    {"Elixir.A", "\xC3\x9Cnix", "A.\"\xC3\x9Cnix\""},
    {"Elixir.A", "\xC5\x82\xC3\xB3", "A.\xC5\x82\xC3\xB3"},
    {"Elixir.A", "odd name", "A.\"odd name\""},
    {"Elixir.A", "-add/2-fun-0-", "A.\"-add/2-fun-0-\""},
    {"Elixir.A", "Foo", "A.\"Foo\""},
    {"Elixir.A", "a@b", "A.\"a@b\""},
    {"Elixir.A", "1a", "A.\"1a\""},
    {"Elixir.A", "a?b", "A.\"a?b\""},
    {"Elixir.A", "", "A.\"\""},
    {"Elixir.A", "_", "A.\"_\""}, /* Elixir has no wildcard */
    {"Elixir.A", NULL, "A._"},
    {"Elixir.A", "_a", "A._a"},
    {"Elixir.A", "a\"b\\c\n\x1B#{", "A.\"a\\\"b\\\\c\\n\\e\\#{\""},
    {"Elixir.A", "\x01", "A.\"\\x{1}\""}, /* Elixir: \x01 */
    {"Elixir.Kernel", "+", "Kernel.+"},
    {"Elixir.Kernel", "/", "Kernel./"},
    {"Elixir.Kernel", "<>", "Kernel.<>"},
    {"Elixir.Kernel", "===", "Kernel.==="},
    {"Elixir.Kernel", "|>", "Kernel.|>"},
    {"Elixir.Kernel", "..", "Kernel.\"..\""},
    {"Elixir.Kernel", "->", "Kernel.\"->\""},
    {"lists", "sort", ":lists.sort"},
    {"lists", NULL, ":lists._"},
    {"a@b", "f", ":a@b.f"},
    {"X", "f", ":X.f"},
    {"_x", "f", ":_x.f"},
    {"a!", "f", ":a!.f"},
    {"odd mod", "f", ":\"odd mod\".f"},
    {"Elixir", "f", ":Elixir.f"}, /* Elixir: Elixir.f */
    {"Elixir.", "f", ":\"Elixir.\".f"},
    {"Elixir.foo", "f", ":\"Elixir.foo\".f"},
    {"Elixir.Foo.bar", "f", ":\"Elixir.Foo.bar\".f"},
    {"Elixir.Foo.", "f", ":\"Elixir.Foo.\".f"},
    {"Elixir.Foo..Bar", "f", ":\"Elixir.Foo..Bar\".f"},
    {"Elixir.Foo.\xC3\x9Cnix", "f", ":\"Elixir.Foo.\xC3\x9Cnix\".f"},
    {"Elixir.Elixir.Foo", "f", ":\"Elixir.Elixir.Foo\".f"},
    {"Elixir.ElixirX", "f", "ElixirX.f"},
};

static th_term atom_of(const char *name)
{
    return name ? th_atom_utf8(name, strlen(name)) : TH_NONE;
}

static void names_are_printed_with_the_quotes_of_elixir(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct th_buffer out = {0};
        th_text_elixir_function(&out, atom_of(names[i].module), atom_of(names[i].function));
        assert_string_equal(th_buffer_text(&out), names[i].text);
        th_buffer_free(&out);
    }
}

static void names_are_read_back_in_front_of_an_arity_and_at_the_end(void **state)
{
    th_term module, function;

    (void)state;
    for (size_t i = 0; i < 2 * (sizeof names / sizeof *names); i++) {
        const struct name *name = &names[i / 2];
        const char *arity = i % 2 ? "/2" : "";
        char *text = th_printf("%s%s", name->text, arity);
        const char *at = text;
        assert_true(th_text_elixir_take(&at, &module, &function));
        assert_string_equal(at, arity);
        assert_true(module == atom_of(name->module));
        assert_true(function == atom_of(name->function));
        th_free(text);
    }
}

static void other_forms_are_read(void **state)
{
    static const struct name others[] = {
        {"Elixir.Enum", "sort", "Elixir.Enum.sort"},
        {"Elixir.Enum", "sort", ":\"Elixir.Enum\".sort"},
        {"Elixir.Enum", "sort", "Enum.\"sort\""},
        {"Elixir", "f", "Elixir.f"},
        {"Elixir.A", NULL, "A._/_"},
        {"Elixir.A", "/", "A.//_"},
    };
    th_term module, function;

    (void)state;
    assert_true(th_text_elixir_module("MyApp.Repo,x", 10) == atom_of("Elixir.MyApp.Repo"));
    assert_true(th_text_elixir_module("MyApp.repo", 10) == TH_NONE);
    assert_true(th_text_elixir_module("MyApp", 4) == TH_NONE);
    assert_true(th_text_elixir_module("", 0) == TH_NONE);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *at = others[i].text;
        assert_true(th_text_elixir_take(&at, &module, &function));
        assert_true(module == atom_of(others[i].module));
        assert_true(function == atom_of(others[i].function));
    }
}

static void other_texts_are_no_names(void **state)
{
    static const char *const texts[] = {
        "",         "enum.sort", "Enum",     "Enum.",   "Enum.Sort", "Enum.\"sort",
        ":lists",   ":.f",       ":Foo.Bar", "Enum..f", "Enum.+-",   ".f",
        "Enum.'a'", "Enum:sort", "A.\xFF/1", "A.a.b",   "A.+ /1",    "\xC3\x9C.f",
    };
    th_term module, function;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *at = texts[i];
        bool good = th_text_elixir_take(&at, &module, &function);
        assert_true(!good || (*at && *at != '/'));
    }
}

static const char *shown(struct th_buffer *out, const char *text)
{
    th_env env;
    th_term term;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, text, strlen(text), &term), TH_OK);
    out->size = 0;
    th_text_show(out, term);
    th_env_release(&env);
    return th_buffer_text(out);
}

static void aliases_are_shown_in_terms_if_asked_for(void **state)
{
    static const char term[] = "{'Elixir.Enum',[lists|'Elixir.A.B'],#{a => 'Elixir.foo'},'B c'}";
    struct th_buffer out = {0};

    (void)state;
    assert_string_equal(shown(&out, term), term);
    th_text_show_names(TH_TEXT_ELIXIR);
    assert_string_equal(shown(&out, term), "{Enum,[lists|A.B],#{a => 'Elixir.foo'},'B c'}");
    out.size = 0;
    th_text_show_function(&out, TH_NONE, TH_NONE);
    th_text_show_function(&out, atom_of("lists"), TH_NONE);
    th_text_show_atom(&out, atom_of("Elixir.A"));
    th_text_print_atom(&out, atom_of("Elixir.A"));
    assert_string_equal(th_buffer_text(&out), "_:_:lists._A'Elixir.A'");
    th_text_show_names(TH_TEXT_ERLANG);
    out.size = 0;
    th_text_show_function(&out, atom_of("Elixir.A"), atom_of("f"));
    th_text_show_atom(&out, atom_of("Elixir.A"));
    assert_string_equal(th_buffer_text(&out), "'Elixir.A':f'Elixir.A'");
    th_buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_printed_with_the_quotes_of_elixir),
        cmocka_unit_test(names_are_read_back_in_front_of_an_arity_and_at_the_end),
        cmocka_unit_test(other_forms_are_read),
        cmocka_unit_test(other_texts_are_no_names),
        cmocka_unit_test(aliases_are_shown_in_terms_if_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
