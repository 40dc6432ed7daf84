%% Evaluates the forms of a file in a real BEAM, as `tracehost call` does, and prints the value of each, then the
%% OTP release. nif_api.so is loaded before, and unloaded after the process that evaluates the forms has ended.
-module(calls).
-export([main/1, evaluate/1]).

main([Library, File]) ->
    ok = nif_api:load(Library),
    {Pid, Monitor} = spawn_monitor(fun() -> evaluate(File) end),
    normal = receive {'DOWN', Monitor, process, Pid, Reason} -> Reason end,
    true = code:delete(nif_api),
    false = code:purge(nif_api),
    io:format("~s~n", [erlang:system_info(otp_release)]),
    halt(0, [{flush, true}]).

evaluate(File) ->
    {ok, Device} = file:open(File, [read]),
    evaluate(Device, erl_eval:new_bindings()).

evaluate(Device, Bindings) ->
    case io:parse_erl_exprs(Device, '') of
        {ok, Form, _} ->
            {value, Value, More} = erl_eval:exprs(Form, Bindings),
            io:format("~0p~n", [Value]),
            evaluate(Device, More);
        {eof, _} ->
            ok
    end.
