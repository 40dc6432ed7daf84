/* Tests expressions: comprehensions and funs. */
#include "host/term/term.h"
#include "tests/support/assertions.h"
#include "tests/support/evaluating.h"

#include "host/shell/shell_internal.h"

#include <stdlib.h>
#include <string.h>

static void comprehensions_are_evaluated(void **state)
{
    (void)state;
    EVALUATING_SAY(
        {"[X * X || X <- [1,2,3], X rem 2 =:= 1].", "[1,9]\n"},
        {"[{X,Y} || X <- [1,2], Y <- lists:seq(1, X)].", "[{1,1},{2,1},{2,2}]\n"},
        {"X = 7. [X || {X} <- [{1}, 2, {3}]]. X.", "7\n[1,3]\n7\n"},
        {"[X || X <- [[1],[2]], X <- X].", "[1,2]\n"},
        {"[{X,Y} || {Y,Y} <- [{1,1},{1,2}]].", "[{7,1}]\n"},
        {"[Y || X <- [1,2], begin Y = X + 1, true end].", "[2,3]\n"},
        {"[X || X <- [1,a], X + 1 > 1]. [X || X <- [true,false,1], X].", "[1]\n[true]\n"},
        {"[1 || t:echo(true), 1 < 2]. [].", "[1]\n[]\n"},
        {"[x || t:echo(ok)].", "** exception error: bad filter ok\n"},
        {"[X || X <- foo].", "** exception error: bad generator foo\n"},
        {"[X || X <- [1|2]].", "** exception error: bad generator 2\n"},
        {"[X || <<X>> <= foo].", "** exception error: bad generator foo\n"},
        {"[t:raise(X) || X <- [one]].",
         "** exception error: one\n     in function  t:raise/1\n        called as t:raise(one)\n"},
        {"<< <<X:16>> || X <- [1,2] >>. << <<X:3>> || X <- [1,2] >>.", "<<0,1,0,2>>\n<<10:6>>\n"},
        {"[X || <<X:3>> <= <<255,0>>]. << <<(X + 1)>> || <<X>> <= <<\"HAL\">> >>.",
         "[7,7,6,0,0]\n<<\"IBM\">>\n"},
        {"[X || <<1, X>> <= <<1,2,3,4,1,5,1>>].", "[2,5]\n"},
        {"[D || <<N, D:N/binary>> <= <<1,$a,2,$b,$c,9>>].", "[<<\"a\">>,<<\"bc\">>]\n"},
        {"[C || <<C/utf8>> <= <<\"a\303\244\"/utf8, 255, 1>>].", "\"a\303\244\"\n"},
        {"<< X || X <- [<<1>>, a] >>.", "** exception error: construction of binary failed\n"},
        {"#{K => V || {K, V} <- [{a, 1}, {b, 2}, {a, 3}]}.", "#{a => 3,b => 2}\n"},
        {"[{K, V} || K := V <- #{a => 1, b => 2}]. #{V => K || K := V <- #{a => 1}}.",
         "[{a,1},{b,2}]\n#{1 => a}\n"},
        {"[V || b := V <- #{a => 1, b => 2}]. [K || K := _ <- []].",
         "[2]\n** exception error: bad generator []\n"},
        {"[Z || X <- [1]].", "* 1:2: variable 'Z' is unbound\n"},
        {"[Z || Z <- [1]], Z.", "* 1:18: variable 'Z' is unbound\n"});
}

static void funs_are_defined_and_called(void **state)
{
    (void)state;
    EVALUATING_SAY(
        {"F = fun(X) -> X + 1 end, F(1).", "2\n"}, {"F(F(F(1))).", "4\n"},
        {"(fun() -> ok end)(). (fun(A, B) -> {B, A} end)(1, 2).", "ok\n{2,1}\n"},
        {"G = fun(a) -> 1; ({b, N}) when N > 1 -> N; (_) -> other end, {G(a), G({b, 2}), G({b, "
         "1})}.",
         "{1,2,other}\n"},
        {"Y = 5, (fun(Y) -> Y end)(7). Y.", "7\n5\n"},
        {"Add = fun(A) -> fun(B) -> A + B end end, (Add(3))(4).", "7\n"},
        {"[H(1) || H <- [fun(X) -> X + I end || I <- [1,2,3]]].", "[2,3,4]\n"},
        {"Sum = fun S([]) -> 0; S([X|Xs]) -> X + S(Xs) end, Sum([1,2,3]).", "6\n"},
        {"(fun S(S) -> S end)(1).", "1\n"},
        {"is_function(F). is_function(F, 1). is_function(F, 2). is_function(fun m:f/2, 2).",
         "true\ntrue\nfalse\ntrue\n"},
        {"F == F. F =:= t:echo(F). Add(1) == Add(1). Add(1) == Add(2). F == Add.",
         "true\ntrue\ntrue\nfalse\nfalse\n"},
        {"(t:echo(F))(1).", "2\n"}, {"self() ! F, receive R -> R(5) end.", "6\n"},
        {"#{f => F} =:= #{f => F}. erlang:phash2(F) =:= erlang:phash2(F).", "true\ntrue\n"},
        {"(fun lists:seq/2)(1, 3). M = lists, Q = seq, V = 2, (fun M:Q/V)(2, 3).",
         "[1,2,3]\n[2,3]\n"},
        {"(fun t:echo/1)(x).", "x\n"},
        {"fun foo/1.", "** exception error: undefined function erl_eval:foo/1\n"},
        {"fun M:Q/M.", "** exception error: bad argument\n     in function  erlang:make_fun/3\n"
                       "        called as erlang:make_fun(lists,seq,lists)\n"
                       "        *** argument 3: not an integer\n"},
        {"F(1, 2). F().",
         "** exception error: interpreted function with arity 1 called with two arguments\n"
         "** exception error: interpreted function with arity 1 called with no arguments\n"},
        {"(fun lists:seq/2)(1).", "** exception error: lists:seq/2 called with one argument\n"},
        {"1(2).", "** exception error: bad function 1\n"},
        {"(fun(a) -> 1 end)(b, c).",
         "** exception error: interpreted function with arity 1 called with two arguments\n"},
        {"(fun(a) -> 1 end)(b).", "** exception error: no function clause matching "
                                  "erl_eval:'-inside-an-interpreted-fun-'(b) \n"},
        {"try G2 = fun(a) -> 1 end, G2(b) catch error:E -> E end.", "function_clause\n"},
        {"try F(a) catch error:E2:S2 -> {E2, S2} end.", "{badarith,[{erlang,'+',[a,1],[]}]}\n"},
        {"(fun() -> throw(x) end)().", "** exception throw: x\n"},
        {"fun() -> Nothing end.", "* 1:10: variable 'Nothing' is unbound\n"},
        {"fun() -> In = 1 end, In.", "* 1:22: variable 'In' is unbound\n"},
        {"(fun() -> f(), b() end)().", "ok\n"}, {"F(1).", "2\n"});
}

static void tail_calls_are_unlimited_and_other_recursion_is_limited(void **state)
{
    (void)state;
    EVALUATING_SAY(
        {"(fun L(0) -> done; L(N) -> L(N - 1) end)(100000).", "done\n"},
        {"(fun L(N) -> case N of 0 -> done; _ -> if true -> begin ok, N > 0 andalso L(N - 1) end "
         "end end end)(100000).",
         "done\n"},
        {"(fun L(0) -> done; L(N) -> self() ! N, receive N -> L(N - 1) end end)(10000).", "done\n"},
        {"Even = fun E(0, _) -> true; E(N, O) -> O(N - 1, E) end, "
         "Even(10001, fun O(0, _) -> false; O(N, E) -> E(N - 1, O) end).",
         "false\n"},
        {"Count = fun C(0) -> 0; C(N) -> 1 + C(N - 1) end, Count(500).", "500\n"},
        {"Count(10000000).",
         "** exception error: a system limit has been reached\n"
         "        *** calls of funs inside each other take all of the thread's stack\n"},
        {"try Count(10000000) catch error:R -> R end. Count(500).", "system_limit\n500\n"},
        {"Grow = fun G(T) -> G({T, T}) end, Grow(x).",
         "** exception error: a system limit has been reached\n"
         "        *** values take more than half a gigabyte of memory\n"},
        {"try lists:seq(1, 3) of [A|_] -> (fun L(0, X) -> X; L(N, X) -> L(N - 1, [N|X]) end)"
         "(300000, []) after Kept = {A, [a]} end, length([Kept || _ <- lists:seq(1, 300000)]), "
         "Kept.",
         "{1,[a]}\n"},
        {"try try throw({[a], <<\"kept\">>}) after [{X, X} || X <- lists:seq(1, 300000)] end "
         "catch T -> T end.",
         "{[a],<<\"kept\">>}\n"},
        {"#{[k] => [{X} || X <- lists:seq(1, 300000)] =/= [], [l] => {[m], <<1>>}}.",
         "#{[k] => true,[l] => {[m],<<1>>}}\n"});
}

/* The last term that refers to a fun frees the text of its definition. */
static void funs_outlive_the_text_of_their_definition(void **state)
{
    struct evaluating t;

    (void)state;
    evaluating_start(&t);
    evaluating_say(&t, "Text = \"kept\", F = fun(X) -> [Text, \"and constants\", X] end.");
    for (int i = 0; i < 20; i++)
        evaluating_say(&t,
                       "f(G), G = fun(X) -> F({X, 12345678901234567890}) end, G(1), self() ! G.");
    assert_string_equal(evaluating_say(&t, "receive H -> H(2) end."),
                        "[\"kept\",\"and constants\",{2,12345678901234567890}]\n");
    evaluating_say(&t, "f(F), f(G).");
    assert_string_equal(evaluating_say(&t, "H(3)."),
                        "[\"kept\",\"and constants\",{3,12345678901234567890}]\n");
    assert_non_null(strstr(evaluating_say(&t, "H."), "#Fun<tracehost.0."));
    evaluating_end(&t);
}

/* The fun is encoded as an external term and decoded again. */
static void a_decoded_fun_is_a_function_but_cannot_be_called(void **state)
{
    const struct th_etf_options options = {.here = {TH_AM(nonode), 0}};
    struct th_buffer bytes = {0};
    struct evaluating t;
    struct th_binding *binding;
    size_t used;
    th_term back;

    (void)state;
    evaluating_start(&t);
    evaluating_say(&t, "X = 1, F = fun(Y) -> X + Y end.");
    binding = th_shell_find_binding(&t.e, th_atom("F"));
    assert_non_null(binding);
    assert_int_equal(th_etf_encode(&bytes, binding->value, true, &options), TH_OK);
    assert_int_equal(th_etf_decode(&t.e.heap, bytes.data, bytes.size, true, &options, &back, &used),
                     TH_OK);
    th_shell_find_binding(&t.e, th_atom("F"))->value = back;
    assert_string_equal(evaluating_say(&t, "is_function(F, 1)."), "true\n");
    assert_non_null(
        strstr(evaluating_say(&t, "F(1)."), "** exception error: bad function #Fun<tracehost.0."));
    th_buffer_free(&bytes);
    evaluating_end(&t);
}

static void an_interrupt_ends_endless_loops(void **state)
{
    static const char *const loops[] = {
        "(fun L() -> L() end)().", "[x || <<>> <= <<1>>].",
        "[x || _ <- lists:seq(1, 10000), _ <- lists:seq(1, 10000)]."};

    (void)state;
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        struct evaluating t;
        evaluating_start(&t);
        t.pauses = 1000;
        assert_string_equal(evaluating_say(&t, loops[i]), "stopped\n");
        evaluating_end(&t);
    }
}

static void syntax_errors_in_funs_and_comprehensions_are_reported(void **state)
{
    (void)state;
    EVALUATING_SAY(
        {"fun 1.", "unreadable: line 1, column 5: expected clauses, Module:Function/Arity or "
                   "Function/Arity, found \"1.\"\n"},
        {"fun m:f/300.", "unreadable: line 1, column 9: expected an arity from 0 to 255, found "
                         "\"300.\"\n"},
        {"fun F/1.", "unreadable: line 1, column 1: expected constants in fun Function/Arity, "
                     "found \"fun F/1.\"\n"},
        {"fun(X) -> X; (X, Y) -> Y end.",
         "unreadable: line 1, column 14: expected as many arguments as in the first clause, found "
         "\"(X, Y) -> Y end.\"\n"},
        {"fun F(X) -> X; G(Y) -> Y end.",
         "unreadable: line 1, column 16: expected the fun's name, as in front of the first clause, "
         "found \"G(Y) -> Y end.\"\n"},
        {"fun F(X) -> X; (Y) -> Y end.",
         "unreadable: line 1, column 16: expected the fun's name, as in front of the first clause, "
         "found \"(Y) -> Y end.\"\n"},
        {"fun(1 + X) -> X end.",
         "unreadable: line 1, column 5: expected a pattern: variables, _, constants, and lists, "
         "tuples, maps and bit strings of these, found \"1 + X) -> X end.\"\n"},
        {"fun() -> 1.", "unreadable: line 1, column 11: expected an operator, ',', ';' or 'end', "
                        "found \".\"\n"},
        {"F(1)(2).", "unreadable: line 1, column 5: expected an operator (what is called is put in "
                     "parentheses), found \"(2).\"\n"},
        {"case 1 of X when fun() -> X end -> 1 end.",
         "unreadable: line 1, column 18: expected a guard: tests without effects, found "
         "\"fun() -> X end -> 1 \"\n"},
        {"[1, X || X <- [1]].", "unreadable: line 1, column 7: expected ',', '|' or ']' behind "
                                "several elements, found \"|| X <- [1]].\"\n"},
        {"[X || X <- [1] | Y].", "unreadable: line 1, column 16: expected an operator, ',' or ']', "
                                 "found \"| Y].\"\n"},
        {"[X || X <= <<1>>].", "unreadable: line 1, column 7: expected a bit string as the pattern "
                               "before '<=', found \"X <= <<1>>].\"\n"},
        {"#{a := X || X <- [1]}.", "unreadable: line 1, column 3: expected '=>' between key and "
                                   "value of a new map, found \"a := X || X <- [1]}.\"\n"},
        {"[K || K := 1 + 1 <- #{}].",
         "unreadable: line 1, column 12: expected a pattern: variables, _, constants, and lists, "
         "tuples, maps and bit strings of these, found \"1 + 1 <- #{}].\"\n"},
        {"[K || K := V].", "unreadable: line 1, column 13: expected an operator or '<-', found "
                           "\"].\"\n"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comprehensions_are_evaluated),
        cmocka_unit_test(funs_are_defined_and_called),
        cmocka_unit_test(tail_calls_are_unlimited_and_other_recursion_is_limited),
        cmocka_unit_test(funs_outlive_the_text_of_their_definition),
        cmocka_unit_test(a_decoded_fun_is_a_function_but_cannot_be_called),
        cmocka_unit_test(an_interrupt_ends_endless_loops),
        cmocka_unit_test(syntax_errors_in_funs_and_comprehensions_are_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
