%% @doc Assertions about calls for EUnit and Common Test: each runs a fun, returns its value, and fails if the calls of a function in
%% this node break the rule. The failure has the calls, with process, arguments and caller.
%%
%% ```
%% sell_asks_once_test() ->
%%     tracehost_eunit:at_most(1, {shop, ask, 1}, fun() -> shop:sell(apple) end).
%% '''
-module(tracehost_eunit).
-export([never_called/2, never_called/3, at_most/3, at_most/4, at_least/3, at_least/4, no_exception/2, no_exception/3]).

%% @doc Fails if the function is called.
-spec never_called(mfa(), fun(() -> Value)) -> Value.
never_called(Function, Fun) -> never_called(Function, #{}, Fun).

%% @doc As {@link never_called/2}, with options such as the processes whose calls count.
-spec never_called(mfa(), tracehost_calls:options(), fun(() -> Value)) -> Value.
never_called(Function, Options, Fun) -> check({at_most, 0}, Function, Options, Fun).

%% @doc Fails if the function is called more than N times.
-spec at_most(non_neg_integer(), mfa(), fun(() -> Value)) -> Value.
at_most(N, Function, Fun) -> at_most(N, Function, #{}, Fun).

-spec at_most(non_neg_integer(), mfa(), tracehost_calls:options(), fun(() -> Value)) -> Value.
at_most(N, Function, Options, Fun) -> check({at_most, N}, Function, Options, Fun).

%% @doc Fails if the function is called less than N times.
-spec at_least(non_neg_integer(), mfa(), fun(() -> Value)) -> Value.
at_least(N, Function, Fun) -> at_least(N, Function, #{}, Fun).

-spec at_least(non_neg_integer(), mfa(), tracehost_calls:options(), fun(() -> Value)) -> Value.
at_least(N, Function, Options, Fun) -> check({at_least, N}, Function, Options, Fun).

%% @doc Fails if a call of the function ends in an exception, also if the exception is caught.
-spec no_exception(mfa(), fun(() -> Value)) -> Value.
no_exception(Function, Fun) -> no_exception(Function, #{}, Fun).

-spec no_exception(mfa(), tracehost_calls:options(), fun(() -> Value)) -> Value.
no_exception(Function, Options, Fun) -> check(no_exception, Function, Options, Fun).

check(Rule, Function, Options, Fun) ->
    case tracehost_calls:check([Rule], Function, Options, Fun) of
        {kept, Value} -> Value;
        {broken, Finding} -> error({broken_rule, [unicode:characters_to_list(Line) || Line <- tracehost_calls:text(Finding)]});
        {error, Reason} -> error({not_recorded, Reason})
    end.
