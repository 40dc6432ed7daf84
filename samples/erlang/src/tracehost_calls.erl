%% @doc Checks how often a function is called while a fun runs, and whether it fails. {@link tracehost_eunit} and Elixir's
%% `Tracehost.Case' make failures of tests from the results.
%%
%% The calls are recorded by the tracer `trace_port', to a file in the folder of `TMPDIR' that is deleted afterwards. Calls
%% by all processes count that happen before the fun returns, unless the options name processes.
-module(tracehost_calls).
-export([check/4, text/1]).
-export_type([rule/0, options/0, finding/0, call/0]).

-type rule() :: {at_most | at_least, non_neg_integer()} | no_exception.
-type options() :: #{processes => term(), limits => tracehost_record:limits()}.
%% As those of {@link tracehost_record:start/1}; `ms' is infinity without a limit.
-type call() :: #{pid := pid(), function := mfa(), arguments => [term()], caller => mfa() | undefined,
                  exception => {atom(), term()}}.
%% A call without `arguments' was not recorded, only its exception was.
-type finding() :: #{function := mfa(), rule := rule(), calls := non_neg_integer(), exceptions := non_neg_integer(),
                     shown := [call()], doubt => {atom(), term()}}.
%% `shown' are the first of the calls that broke the rule, at most ten. `doubt' is the reason why there may be calls that are
%% unknown.

-define(SHOWN, 10).
-define(WIDTH, 200). % characters of a line of text

%% @doc Runs Fun. Returns its value if the calls of the function keep the rules; else what was found about the first that is broken. If a
%% limit ended the recording, or processes could not be traced, a rule that unknown calls may break is not kept.
-spec check([rule()], mfa(), options(), fun(() -> Value)) -> {kept, Value} | {broken, finding()} | {error, term()}.
check(Rules, {_, _, Arity} = Function, Options, Fun) when is_integer(Arity) ->
    File = scratch_file(),
    Limits = maps:merge(#{ms => infinity}, maps:get(limits, Options, #{})),
    Recording = Options#{file => File, flags => [call], limits => Limits, patterns => [{Function, specification(Rules)}]},
    try tracehost_record:run(Recording, Fun) of
        {ok, Value, Report} ->
            Found = tracehost_recording:fold(fun add/2, #{calls => [], exceptions => [], open => #{}}, File),
            verdict(Rules, Function, Found, doubt(Report), Value);
        {error, Reason} ->
            {error, Reason}
    after
        _ = file:delete(File)
    end.

specification(Rules) ->
    case lists:member(no_exception, Rules) of
        true -> cx;
        false -> c
    end.

scratch_file() ->
    Name = io_lib:format("tracehost-~s-~w", [os:getpid(), erlang:unique_integer([positive])]),
    filename:join(os:getenv("TMPDIR", "/tmp"), Name).

%% Adds an event. The calls that have not ended, the last first, are kept for each process, to find the call of an exception.
add({trace_ts, Pid, call, {M, F, Arguments}, Caller, _}, #{calls := Calls, open := Open} = Found) ->
    Call = #{pid => Pid, function => {M, F, length(Arguments)}, arguments => Arguments, caller => Caller},
    Found#{calls := [Call | Calls], open := Open#{Pid => [Call | maps:get(Pid, Open, [])]}};
add({trace_ts, Pid, return_from, _, _, _}, #{open := Open} = Found) ->
    Found#{open := Open#{Pid => rest(maps:get(Pid, Open, []))}};
add({trace_ts, Pid, exception_from, Function, Exception, _}, #{exceptions := Exceptions, open := Open} = Found) ->
    Calls = maps:get(Pid, Open, []),
    Call = case Calls of
        [Last | _] -> Last;
        [] -> #{pid => Pid, function => Function}
    end,
    Found#{exceptions := [Call#{exception => Exception} | Exceptions], open := Open#{Pid => rest(Calls)}};
add(_, Found) ->
    Found.

rest([_ | Calls]) -> Calls;
rest([]) -> [].

doubt(#{ended := Ended}) when Ended =/= stopped -> {ended, Ended};
doubt(#{left_out := N}) when N > 0 -> {left_out, N};
doubt(#{traced_by_others := N}) when N > 0 -> {traced_by_others, N};
doubt(_) -> none.

verdict([], _, _, _, Value) ->
    {kept, Value};
verdict([Rule | Rules], Function, #{calls := Calls, exceptions := Exceptions} = Found, Doubt, Value) ->
    Finding = #{function => Function, rule => Rule, calls => length(Calls), exceptions => length(Exceptions)},
    case holds(Rule, Finding) of
        true when Doubt =:= none; element(1, Rule) =:= at_least ->
            verdict(Rules, Function, Found, Doubt, Value);
        _ ->
            Shown = lists:sublist(lists:reverse(case Rule of no_exception -> Exceptions; _ -> Calls end), ?SHOWN),
            {broken, maps:merge(Finding#{shown => Shown}, maps:from_list([{doubt, Doubt} || Doubt =/= none]))}
    end.

holds({at_most, N}, #{calls := Calls}) -> Calls =< N;
holds({at_least, N}, #{calls := Calls}) -> Calls >= N;
holds(no_exception, #{exceptions := Exceptions}) -> Exceptions =:= 0.

%% @doc Returns a finding as lines of text: what the rule is, what came, and the calls.
-spec text(finding()) -> [unicode:chardata()].
text(#{function := Function, rule := Rule, calls := Calls, exceptions := Exceptions, shown := Shown} = Finding) ->
    Count = case Rule of no_exception -> Exceptions; _ -> Calls end,
    More = [io_lib:format("... ~w more", [Count - ?SHOWN]) || Count > ?SHOWN],
    Doubt = [io_lib:format("unknown calls are possible: ~0tp", [Why]) || {ok, Why} <- [maps:find(doubt, Finding)]],
    [io_lib:format("~ts: ~ts", [function(Function), wanted(Rule, Count)]) | [call(Call) || Call <- Shown] ++ More ++ Doubt].

wanted({at_most, 0}, Count) -> io_lib:format("no call is allowed, ~w came", [Count]);
wanted({at_most, N}, Count) -> io_lib:format("at most ~w calls are allowed, ~w came", [N, Count]);
wanted({at_least, N}, Count) -> io_lib:format("at least ~w calls are wanted, ~w came", [N, Count]);
wanted(no_exception, Count) -> io_lib:format("no exception is allowed, ~w came", [Count]).

call(#{pid := Pid, function := {M, F, _} = Function} = Call) ->
    Name = case Call of
        #{arguments := Arguments} ->
            io_lib:format("~tw:~tw(~ts)", [M, F, lists:join(",", [io_lib:format("~0tp", [A]) || A <- Arguments])]);
        _ -> function(Function)
    end,
    Caller = [[", called by ", function(By)] || #{caller := {_, _, _} = By} <- [Call]],
    Exception = [io_lib:format(" ! ~tw:~0tp", [Class, Reason]) || #{exception := {Class, Reason}} <- [Call]],
    cut(io_lib:format("~w ~ts~ts~ts", [Pid, Name, Exception, Caller])).

function({M, F, A}) ->
    io_lib:format("~tw:~tw/~w", [M, F, A]).

cut(Text) ->
    case string:length(Text) > ?WIDTH of
        true -> [string:slice(Text, 0, ?WIDTH - 3), "..."];
        false -> Text
    end.
