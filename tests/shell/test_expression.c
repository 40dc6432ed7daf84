/* Tests expressions: their values, and the errors of those that cannot be parsed. */
#include "tests/support/assertions.h"
#include "tests/support/evaluating.h"

#include <stdlib.h>
#include <string.h>

static void constant_terms_are_evaluated(void **state)
{
    (void)state;
    EVALUATING_SAY(
        {"1.", "1\n"}, {"a", "a\n"}, {"\"abc\".", "\"abc\"\n"}, {"[1,2|x].", "[1,2|x]\n"},
        {"[].", "[]\n"}, {"{}.", "{}\n"}, {"{a,\"b\",'C d',$e}.", "{a,\"b\",'C d',101}\n"},
        {"#{a => 1, b => [x]}.", "#{a => 1,b => [x]}\n"}, {"#{a => 1, a => 2}.", "#{a => 2}\n"},
        {"<<1,2,\"ab\",3:4>>.", "<<1,2,97,98,3:4>>\n"}, {"<<>>.", "<<>>\n"},
        {"-1. - 2. -(3). +4. -1.5.", "-1\n-2\n-3\n4\n-1.5\n"},
        {"fun lists:seq/2.", "fun lists:seq/2\n"},
        {"16#ffffffffffffffffffff.", "1208925819614629174706175\n"}, {"<0.80.0>.", "<0.80.0>\n"},
        {"(1).", "1\n"}, {"begin 1, 2 end.", "2\n"}, {"% nothing\n  ", ""}, {"", ""},
        {"1. % one\n2.", "1\n2\n"});
}

static void variables_are_bound_and_matched(void **state)
{
    (void)state;
    EVALUATING_SAY(
        {"X = 1.", "1\n"}, {"X.", "1\n"},
        {"X = 2.", "** exception error: no match of right hand side value 2\n"},
        {"{X, Y} = {1, [2]}.", "{1,[2]}\n"}, {"Y.", "[2]\n"},
        {"{_, [Z|_]} = {x, [3,4]}, Z.", "3\n"},
        {"{A, A} = {1, 2}.", "** exception error: no match of right hand side value {1,2}\n"},
        {"A.", "* 1:1: variable 'A' is unbound\n"},
        {"#{k := V, l := {W}} = #{k => 1, l => {2}, m => 3}, {V, W}.", "{1,2}\n"},
        {"#{none := N} = #{k => 1}.",
         "** exception error: no match of right hand side value #{k => 1}\n"},
        {"#{X := One} = #{1 => one}, One.", "one\n"},
        {"P = {_, Q} = {5, 6}, {P, Q}.", "{{5,6},6}\n"},
        {"[1, _, \"ab\"] = [1, x, \"ab\"].", "[1,x,\"ab\"]\n"}, {"f(X).", "ok\n"},
        {"X = other.", "other\n"}, {"f().", "ok\n"}, {"b().", "ok\n"},
        {"C = 1, D = \"x\". b().", "\"x\"\nC = 1\nD = \"x\"\nok\n"},
        {"t:echo(7), E.", "* 1:12: variable 'E' is unbound\n"});
}

/* A form with an unbound variable is not even started. */
static void a_failed_form_binds_nothing(void **state)
{
    struct evaluating t;

    (void)state;
    evaluating_start(&t);
    evaluating_say(&t, "Y = 1, 2 = Y.");
    assert_string_equal(evaluating_say(&t, "Y."), "* 1:1: variable 'Y' is unbound\n");
    evaluating_say(&t, "A = 1, B = 2, ok.");
    evaluating_say(&t, "f(A), C = 3, 4 = C.");
    assert_string_equal(evaluating_say(&t, "b()."), "B = 2\nok\n");
    evaluating_say(&t, "f(), C = 3, 4 = C.");
    assert_string_equal(evaluating_say(&t, "b()."), "ok\n");
    t.calls = 0;
    evaluating_say(&t, "t:count(), Unbound.");
    assert_int_equal(t.calls, 0);
    evaluating_end(&t);
}

static void calls_are_evaluated(void **state)
{
    (void)state;
    EVALUATING_SAY({"t:echo({a, t:echo(b)}).", "{a,b}\n"}, {"M = t, M:echo(1).", "1\n"},
                   {"F = echo, M:F(2).", "2\n"}, {"(t:echo(t)):echo(3).", "3\n"},
                   {"[t:echo(1) | t:echo([2])].", "[1,2]\n"},
                   {"{ok, R} = t:echo({ok, <<1>>}), R.", "<<1>>\n"},
                   {"#{t:echo(k) => t:echo(v)}.", "#{k => v}\n"},
                   {"#{a => 1}#{a := 2, b => 3}.", "#{a => 2,b => 3}\n"},
                   {"t:echo().", "** exception error: undefined function t:echo/0\n"},
                   {"no:thing(1, 2).", "** exception error: undefined function no:thing/2\n"},
                   {"nothing(1, 2).", "** exception error: undefined shell command nothing/2\n"},
                   {"1:echo(x).",
                    "** exception error: bad argument\n     in function  apply/3\n"
                    "        called as apply(1,echo,[x])\n        *** argument 1: not an atom\n"});
}

static void operators_are_evaluated(void **state)
{
    (void)state;
    EVALUATING_SAY(
        {"1 + 2 * 3 - 4.", "3\n"}, {"(1 + 2) * 3.", "9\n"}, {"2 - 3 - 4.", "-5\n"},
        {"1 + 1.5.", "2.5\n"}, {"2 * 1.5.", "3.0\n"}, {"- (1 + 2).", "-3\n"},
        {"1 == 1.0.", "true\n"}, {"1 =:= 1.0.", "false\n"}, {"1 < a.", "true\n"},
        {"{1} >= {2}.", "false\n"}, {"a /= b.", "true\n"}, {"1 =/= 1.0.", "true\n"},
        {"1 =< 1.", "true\n"}, {"2 > 1.", "true\n"}, {"[1,2] ++ [3] ++ [4|x].", "[1,2,3,4|x]\n"},
        {"\"ab\" ++ \"c\".", "\"abc\"\n"}, {"true and not false.", "true\n"},
        {"true xor true or false.", "false\n"}, {"false andalso t:raise(x).", "false\n"},
        {"true orelse t:raise(x).", "true\n"}, {"true andalso 1.", "1\n"},
        {"16#7ffffffffffffff + 1.", "576460752303423488\n"},
        {"16#ffffffffffffffff * 16#ffffffffffffffff.", "340282366920938463426481119284349108225\n"},
        {"18446744073709551616 - 18446744073709551617.", "-1\n"},
        {"-18446744073709551616 + 18446744073709551615.", "-1\n"}, {"-5 * 0.", "0\n"},
        {"0 - 18446744073709551616.", "-18446744073709551616\n"},
        {"18446744073709551616 + 18446744073709551616.", "36893488147419103232\n"},
        {"1 + a.",
         "** exception error: an error occurred when evaluating an arithmetic expression\n"
         "     in operator  +/2\n        called as 1 + a\n"},
        {"1.0e308 * 10.",
         "** exception error: an error occurred when evaluating an arithmetic expression\n"
         "     in operator  */2\n        called as 1.0e308 * 10\n"},
        {"not 1.",
         "** exception error: bad argument\n     in operator  not/1\n        called as not 1\n"},
        {"1 andalso true.", "** exception error: bad argument: 1\n"},
        {"a ++ [].",
         "** exception error: bad argument\n     in operator  ++/2\n        called as a ++ []\n"});
}

static void division_and_bit_operators_are_evaluated(void **state)
{
    (void)state;
    EVALUATING_SAY(
        {"5 / 2. 4 / 2.", "2.5\n2.0\n"}, {"-5 div 2. -5 rem 3. 5 rem -3.", "-2\n-2\n2\n"},
        {"100 div 10 div 5 * 2.", "4\n"}, {"1 bor 2 bxor 3 band 6.", "1\n"},
        {"bnot 5 band 7. -bnot 1.", "2\n2\n"}, {"1 bsl 2 + 1. 2 bsl 3 bsr 1.", "5\n8\n"},
        {"(1 bsl 100) bsr 99. -1 bsr 200. 5 bsl -1.", "2\n-1\n2\n"},
        {"(1 bsl 130) bor 1 bxor (1 bsl 130).", "1\n"},
        {"[1,2,3,2] -- [2]. [1,2,3] -- [1] -- [1].", "[1,3,2]\n[1,2,3]\n"},
        {"[1,1.0,{a},1] -- [1.0,{a},1]. [1,2] ++ [3] -- [2].", "[1]\n[1,2,3]\n"},
        {"case 7 of X when X rem 2 =:= 1, X bsr 1 == 3 -> odd end.", "odd\n"},
        {"case 7 of X when X div 0 == 1 -> no; _ -> yes end.", "yes\n"},
        {"1 / 0.",
         "** exception error: an error occurred when evaluating an arithmetic expression\n"
         "     in operator  '/'/2\n        called as 1 / 0\n"},
        {"7.0 rem 2.",
         "** exception error: an error occurred when evaluating an arithmetic expression\n"
         "     in operator  rem/2\n        called as 7.0 rem 2\n"},
        {"bnot a.",
         "** exception error: an error occurred when evaluating an arithmetic expression\n"
         "     in operator  bnot/1\n        called as bnot a\n"},
        {"1 bsl a.",
         "** exception error: an error occurred when evaluating an arithmetic expression\n"
         "     in operator  bsl/2\n        called as 1 bsl a\n"},
        {"1 bsl 100000000000.", "** exception error: a system limit has been reached\n"
                                "     in operator  bsl/2\n"
                                "        called as 1 bsl 100000000000\n"},
        {"[1|2] -- [].", "** exception error: bad argument\n     in operator  --/2\n"
                         "        called as [1|2] -- []\n"});
}

/* Multiplies numbers until the limit is reached. */
static void large_numbers_are_bounded(void **state)
{
    struct evaluating t;
    const char *said = "";

    (void)state;
    evaluating_start(&t);
    evaluating_say(&t, "X0 = 123456789012345678901234567890.");
    for (int i = 0; i < 30 && !strstr(said, "system limit"); i++) {
        char line[64];
        snprintf(line, sizeof line, "X%d = X%d * X%d, ok.", i + 1, i, i);
        said = evaluating_say(&t, line);
    }
    assert_non_null(strstr(said, "** exception error: a system limit has been reached\n"));
    evaluating_end(&t);
}

static void case_and_if_choose_a_branch(void **state)
{
    (void)state;
    EVALUATING_SAY(
        {"case t:echo({ok, 1}) of error -> no; {ok, N} when N > 0, is_integer(N) -> N end.", "1\n"},
        {"N.", "1\n"}, {"case 5 of X when X > 9; X < 6 -> X end.", "5\n"},
        {"case a of b -> 1 end.", "** exception error: no case clause matching a\n"},
        {"if N > 5 -> big; true -> small end.", "small\n"},
        {"if false -> 1 end.",
         "** exception error: no true branch found when evaluating an if expression\n"},
        {"case 1 of Y when hd(Y) -> 1; _ -> 2 end.", "2\n"},
        {"case {1, 2} of {Z, 3} -> Z; {_, Z} -> Z end.", "2\n"},
        {"case x of y -> U = 1; x -> 2 end, U.", "* 1:35: variable 'U' is unbound\n"});
}

static void exceptions_are_raised_and_caught(void **state)
{
    (void)state;
    EVALUATING_SAY(
        {"catch t:raise(oops).", "{'EXIT',{oops,[{t,raise,[oops],[]}]}}\n"},
        {"X = (catch throw(ball)), {X}.", "{ball}\n"}, {"catch exit(why).", "{'EXIT',why}\n"},
        {"catch 1 + 1.", "2\n"}, {"catch {1} = {2}.", "{'EXIT',{{badmatch,{2}},[]}}\n"},
        {"try t:raise(a) catch error:R -> {caught, R} end.", "{caught,a}\n"},
        {"try throw(b) catch T -> {thrown, T} end.", "{thrown,b}\n"},
        {"try throw(b) catch throw:T2 when is_atom(T2) -> T2 end.", "b\n"},
        {"try exit(c) catch error:_ -> no end.", "** exception exit: c\n"},
        {"try t:echo(1) of 2 -> two; O -> {other, O} catch _:_ -> no end.", "{other,1}\n"},
        {"try 1 of 2 -> x catch _:_ -> y end.", "** exception error: no try clause matching 1\n"},
        {"try t:raise(d) catch C:D:S -> {C, D, S} after self() ! done end.",
         "{error,d,[{t,raise,[d],[]}]}\n"},
        {"flush().", "Shell got done\nok\n"},
        {"try t:raise(d2) after 1 end.",
         "** exception error: d2\n     in function  t:raise/1\n        called as t:raise(d2)\n"},
        {"try 5 after t:raise(e) end.",
         "** exception error: e\n     in function  t:raise/1\n        called as t:raise(e)\n"},
        {"throw({a}). exit(normal). error({badmatch, 1}).",
         "** exception throw: {a}\n** exception exit: normal\n"
         "** exception error: no match of right hand side value 1\n"});
}

static void messages_are_sent_and_received(void **state)
{
    (void)state;
    EVALUATING_SAY(
        {"self() ! {a, 1}, self() ! b, self() ! {a, 2}.", "{a,2}\n"},
        {"receive b -> got_b end.", "got_b\n"},
        {"receive {a, N} when N > 1 -> N after 0 -> none end.", "2\n"}, {"N.", "2\n"},
        {"receive nothing -> x after 5 -> late end.", "late\n"},
        {"flush().", "Shell got {a,1}\nok\n"}, {"flush().", "ok\n"},
        {"receive after 1 -> ok end.", "ok\n"},
        {"receive after never -> ok end.", "** exception error: bad receive timeout value\n"},
        {"self() ! \"kept\", receive M -> M end.", "\"kept\"\n"}, {"M ++ M.", "\"keptkept\"\n"},
        {"timer:sleep(2).", "ok\n"},
        {"timer:sleep(a).", "** exception error: bad receive timeout value\n"},
        {"erlang:send(self(), x), flush().", "Shell got x\nok\n"},
        {"1 ! x.",
         "** exception error: bad argument\n     in operator  !/2\n        called as 1 ! x\n"},
        {"nobody_there ! x.", "** exception error: bad argument\n     in operator  !/2\n"
                              "        called as nobody_there ! x\n"});
}

static void binaries_are_constructed_and_matched(void **state)
{
    (void)state;
    EVALUATING_SAY(
        {"X = <<1,2,3>>, <<X/binary, 4:16/little, 2.5/float>>.",
         "<<1,2,3,4,0,64,4,0,0,0,0,0,0>>\n"},
        {"N = 12, <<5:N>>.", "<<0,5:4>>\n"}, {"<<(t:echo(1)), (t:echo(2)):(4 + 4)>>.", "<<1,2>>\n"},
        {"<<\"\303\244b\"/utf8, $c>>.", "<<\"\303\203\302\244bc\">>\n"},
        {"<<X:2/binary>>.", "<<1,2>>\n"}, {"<<A, B/binary>> = X, {A, B}.", "{1,<<2,3>>}\n"},
        {"<<S/signed, U:16/little, R:4/bits, _/bits>> = <<255,1,2,16#ab>>, {S, U, R}.",
         "{-1,513,<<10:4>>}\n"},
        {"<<L:8, D:L/binary, E/binary>> = <<2,\"hello\">>, {D, E}.", "{<<\"he\">>,<<\"llo\">>}\n"},
        {"<<\"he\", C/utf8, _/binary>> = <<\"h\", \"e\", 8364/utf8, 1>>, C.", "8364\n"},
        {"<<G:32/float, H:16/float-little>> = <<1.5:32/float, -2:16/float-little>>, {G, H}.",
         "{1.5,-2.0}\n"},
        {"<<I:20/signed-little>> = <<-2:20/signed-little>>, I.", "-2\n"},
        {"<<J:130/signed>> = <<-3:130>>, J.", "-3\n"},
        {"<<K/utf16, O/utf32>> = <<66560/utf16, 65/utf32>>, {K, O}.", "{66560,65}\n"},
        {"<<1, Q/binary>> = <<2, 3>>.",
         "** exception error: no match of right hand side value <<2,3>>\n"},
        {"<<P:8>> = <<1, 2>>.", "** exception error: no match of right hand side value <<1,2>>\n"},
        {"<<_:200/float>> = <<7:200>>.", "** exception error: no match of right hand side value "
                                         "<<0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,7>>\n"},
        {"<<1, (t:echo(a)):8>>.",
         "** exception error: construction of binary failed\n        *** segment 2 of type "
         "'integer': expected an integer, or another type but got: a\n"},
        {"<<1:(t:echo(-1))>>.",
         "** exception error: construction of binary failed\n        *** segment 1 of type "
         "'integer': expected a non-negative integer as size but got: -1\n"},
        {"<<0:(1500000000 * 2)>>.",
         "** exception error: construction of binary failed\n        *** segment 1 of type "
         "'integer': expected a non-negative integer as size but got: 3000000000\n"});
}

static void built_in_functions_are_evaluated(void **state)
{
    (void)state;
    EVALUATING_SAY(
        {"length([1,2]).", "2\n"}, {"erlang:length([]).", "0\n"}, {"hd([a]). tl([a]).", "a\n[]\n"},
        {"element(2, {a,b}).", "b\n"}, {"tuple_size({a}).", "1\n"}, {"map_size(#{a => 1}).", "1\n"},
        {"map_get(a, #{a => 1}).", "1\n"}, {"byte_size(<<1:9>>). bit_size(<<1:9>>).", "2\n9\n"},
        {"is_pid(self()). is_atom(1). is_reference(make_ref()).", "true\nfalse\ntrue\n"},
        {"is_function(fun a:b/1). is_list([]). is_binary(<<1:1>>).", "true\ntrue\nfalse\n"},
        {"erlang:phash2(a).", "97\n"}, {"lists:seq(1, 5). lists:seq(2, 1).", "[1,2,3,4,5]\n[]\n"},
        {"lists:duplicate(2, x).", "[x,x]\n"}, {"binary:copy(<<\"ab\">>, 3).", "<<\"ababab\">>\n"},
        {"binary:copy(<<1>>, 100000000000).",
         "** exception error: a system limit has been reached\n"},
        {"lists:seq(1, 100000000000).", "** exception error: a system limit has been reached\n"},
        {"abs(-3). float(2). round(2.5). trunc(-2.5). floor(-2.5). ceil(2.5).",
         "3\n2.0\n3\n-2\n-3\n3\n"},
        {"abs(a).", "** exception error: bad argument\n     in function  abs/1\n"
                    "        called as abs(a)\n        *** argument 1: not a number\n"},
        {"is_process_alive(self()). is_pid(tracehost:console()).", "true\ntrue\n"},
        {"whereis(nobody).", "undefined\n"},
        {"seq(1, 2).", "** exception error: undefined shell command seq/2\n"},
        {"element(3, {a}).",
         "** exception error: bad argument\n     in function  element/2\n"
         "        called as element(3,{a})\n        *** argument 1: out of range\n"},
        {"lists:duplicate(x, 1).",
         "** exception error: bad argument\n     in function  lists:duplicate/2\n"
         "        called as lists:duplicate(x,1)\n"
         "        *** argument 1: not a non-negative integer\n"});
}

static void syntax_errors_are_reported_with_line_and_column(void **state)
{
    (void)state;
    EVALUATING_SAY(
        {"1 +",
         "unreadable: line 1, column 4: expected an expression, found the end of the text\n"},
        {"m:f(1,",
         "unreadable: line 1, column 7: expected an expression, found the end of the text\n"},
        {"m:f(1 2).",
         "unreadable: line 1, column 7: expected an operator, ',' or ')', found \"2).\"\n"},
        {"m:f.", "unreadable: line 1, column 4: expected '(' and the arguments of the function, "
                 "found \".\"\n"},
        {"X = .", "unreadable: line 1, column 5: expected an expression, found \".\"\n"},
        {"1.\n [a,\n b|c,d].", "unreadable: line 3, column 5: expected ']', found \",d].\"\n"},
        {"m:f() = 1.",
         "unreadable: line 1, column 1: expected a pattern: variables, _, constants, and lists, "
         "tuples, maps and bit strings of these, found \"m:f() = 1.\"\n"},
        {"{X, _}.",
         "unreadable: line 1, column 5: expected an expression; '_' has no value, found \"_}.\"\n"},
        {"#{a := 1}.",
         "unreadable: line 1, column 3: expected '=>' between key and value of a new map, found "
         "\"a := 1}.\"\n"},
        {"#{a => X} = y.",
         "unreadable: line 1, column 3: expected ':=' between key and value, as this is a "
         "pattern, found \"a => X} = y.\"\n"},
        {"#r{a = 1}.", "unreadable: line 1, column 2: expected '{' behind '#' (there are no "
                       "records here), found \"r{a = 1}.\"\n"},
        {"case 1 of X when [X] ++ [] == [1] -> 1 end.",
         "unreadable: line 1, column 18: expected a guard, which has no ++ and --, found "
         "\"[X] ++ [] == [1] -> \"\n"},
        {"1 < 2 < 3.",
         "unreadable: line 1, column 7: expected no second comparison: parentheses say which "
         "comes first, found \"< 3.\"\n"},
        {"case 1 of X when t:echo(X) -> 1 end.",
         "unreadable: line 1, column 18: expected a guard, which may "
         "call is_atom/1 and the like, but not this, found "
         "\"t:echo(X) -> 1 end.\"\n"},
        {"receive x -> 1.",
         "unreadable: line 1, column 15: expected an operator, ',', ';' or 'end', found \".\"\n"},
        {"try 1 end.",
         "unreadable: line 1, column 7: expected 'catch' or 'after', found \"end.\"\n"},
        {"when.",
         "unreadable: line 1, column 1: expected an expression (a reserved word is an atom only in "
         "single quotes), found \"when.\"\n"},
        {"\"abc", "unreadable: line 1, column 5: expected \" at the end of what begins with \"abc, "
                  "found the "
                  "end of the text\n"},
        {"<<A/binary, B>> = <<1>>.",
         "unreadable: line 1, column 3: expected a size, as only the last segment "
         "takes all that is left, found \"A/binary, B>> = <<1>\"\n"});
}

/* Returns OPEN and CLOSE repeated COUNT times around MIDDLE. */
static char *nested(const char *open, const char *middle, const char *close, int count)
{
    struct th_buffer b = {0};

    for (int i = 0; i < count; i++)
        th_buffer_add_text(&b, open);
    th_buffer_add_text(&b, middle);
    for (int i = 0; i < count; i++)
        th_buffer_add_text(&b, close);
    th_buffer_add_byte(&b, '.');
    th_buffer_add_byte(&b, 0);
    return (char *)b.data;
}

static void the_depth_of_expressions_is_bounded(void **state)
{
    static const struct {
        const char *open, *middle, *close;
    } shapes[] = {
        {"[", "", "]"},
        {"{", "", "}"},
        {"(", "1", ")"},
        {"- ", "x", ""},
        {"1 + ", "1", ""},
        {"", "1", " + 1"},
        {"catch ", "1", ""},
        {"t:echo(", "1", ")"},
        {"#{a => ", "1", "}"},
        {"<<", "", ">>"},
        {"case ", "1", " of _ -> 2 end"},
        {"begin ", "1", " end"},
        {"X = ", "1", ""},
        {"", "#{}", "#{a => 1}"},
        {"receive after 0 -> ", "1", " end"},
        {"try ", "1", " after 2 end"},
        {"fun() -> ", "1", " end"},
        {"[", "1", " || true]"},
        {"[1 || _ <- ", "[]", "]"},
        {"<< ", "<<>>", " || true >>"},
        {"if true -> ", "1", " end"},
        {"1 ! ", "2", ""},
    };
    struct evaluating t;

    (void)state;
    evaluating_start(&t);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        char *fits = nested(shapes[i].open, shapes[i].middle, shapes[i].close, 300);
        char *deep = nested(shapes[i].open, shapes[i].middle, shapes[i].close, 100000);
        const char *said = evaluating_say(&t, fits);
        if (strncmp(said, "unreadable", 10) == 0)
            fail_msg("300 of %s: %s", shapes[i].open, said);
        said = evaluating_say(&t, deep);
        if (strncmp(said, "unreadable: line 1", 18) != 0)
            fail_msg("100000 of %s: %.100s", shapes[i].open, said);
        th_free(fits);
        th_free(deep);
    }
    evaluating_end(&t);
}

static void complete_and_incomplete_input_is_recognised(void **state)
{
    static const struct {
        const char *text;
        enum th_typed typed;
    } rows[] = {
        {"", TH_TYPED_NOTHING},          {" % x\n", TH_TYPED_NOTHING},  {"1 +\n", TH_TYPED_PART},
        {"1.\n", TH_TYPED_FORMS},        {"1.5\n", TH_TYPED_PART},      {"\"a.\n", TH_TYPED_PART},
        {"\"a.\n\".\n", TH_TYPED_FORMS}, {"1. 2", TH_TYPED_PART},       {"'a\n", TH_TYPED_PART},
        {"\377\n", TH_TYPED_FORMS},      {"a. % more", TH_TYPED_FORMS},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (th_shell_typed(rows[i].text, strlen(rows[i].text)) != rows[i].typed)
            fail_msg("\"%s\"", rows[i].text);
}

/* Terms that no variable refers to are freed; others stay, whether from text or from a message. */
static void terms_without_a_variable_are_freed(void **state)
{
    struct evaluating t;

    (void)state;
    evaluating_start(&t);
    evaluating_say(&t, "K = [kept, \"with a string\", <<1,2,3>>, 1.5, 123456789012345678901234].");
    for (int i = 0; i < 200; i++)
        evaluating_say(&t, "lists:seq(1, 10000), t:echo(K), ok.");
    assert_order(th_env_footprint(&t.e.heap), <, 1 << 20);
    assert_string_equal(evaluating_say(&t, "K."),
                        "[kept,\"with a string\",<<1,2,3>>,1.5,123456789012345678901234]\n");
    evaluating_say(&t, "B = lists:seq(1, 100000), ok.");
    for (int i = 0; i < 50; i++)
        evaluating_say(&t, "lists:seq(1, 100000), ok.");
    assert_order(th_env_footprint(&t.e.heap), <, 16 << 20);
    assert_string_equal(evaluating_say(&t, "length(B)."), "100000\n");
    evaluating_end(&t);
}

static void an_interrupt_stops_the_evaluation(void **state)
{
    struct evaluating t;

    (void)state;
    evaluating_start(&t);
    assert_string_equal(evaluating_say(&t, "t:stop(), timer:sleep(infinity). never."), "stopped\n");
    evaluating_end(&t);
    evaluating_start(&t);
    assert_string_equal(evaluating_say(&t, "catch (try q() after t:count() end). 1."), "stopped\n");
    assert_int_equal(t.calls, 0);
    evaluating_end(&t);
    evaluating_start(&t);
    t.interrupted = true;
    assert_string_equal(evaluating_say(&t, "receive never -> 1 end."), "stopped\n");
    evaluating_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_terms_are_evaluated),
        cmocka_unit_test(variables_are_bound_and_matched),
        cmocka_unit_test(a_failed_form_binds_nothing),
        cmocka_unit_test(calls_are_evaluated),
        cmocka_unit_test(operators_are_evaluated),
        cmocka_unit_test(division_and_bit_operators_are_evaluated),
        cmocka_unit_test(large_numbers_are_bounded),
        cmocka_unit_test(case_and_if_choose_a_branch),
        cmocka_unit_test(exceptions_are_raised_and_caught),
        cmocka_unit_test(messages_are_sent_and_received),
        cmocka_unit_test(binaries_are_constructed_and_matched),
        cmocka_unit_test(built_in_functions_are_evaluated),
        cmocka_unit_test(syntax_errors_are_reported_with_line_and_column),
        cmocka_unit_test(the_depth_of_expressions_is_bounded),
        cmocka_unit_test(complete_and_incomplete_input_is_recognised),
        cmocka_unit_test(terms_without_a_variable_are_freed),
        cmocka_unit_test(an_interrupt_stops_the_evaluation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
