%% The functions of tests/plugins/play.c, in Erlang.
-module(play).
-export([run/2]).

run(Script, Names) when not is_map_key(self, Names); map_get(self, Names) =/= self() ->
    run(Script, Names#{self => self()});
run([], _) -> done;
run([{await, Time} | Script], Names) ->
    receive _ -> run(Script, Names) after Time -> run(Script, Names) end;
run([{raise, error, Reason} | _], _) -> error(Reason);
run([{raise, exit, Reason} | _], _) -> exit(Reason);
run([{raise, throw, Reason} | _], _) -> throw(Reason);
run([{spawn, Name, Options, Child} | Script], Names) ->
    Given = [link || Options band 1 =/= 0] ++ [monitor || Options band 2 =/= 0],
    Pid = case spawn_opt(play, run, [Child, Names#{parent => self()}], Given) of
        {Spawned, _} -> Spawned;
        Spawned -> Spawned
    end,
    run(Script, Names#{Name => Pid});
run([Op | Script], Names) -> act(Op, Names), run(Script, Names).

act({send, To, Message}, Names) -> maps:get(To, Names) ! Message;
act({link, Who}, Names) -> link(maps:get(Who, Names));
act({unlink, Who}, Names) -> unlink(maps:get(Who, Names));
act({monitor, Who}, Names) -> monitor(process, maps:get(Who, Names));
act({exit, Who, Reason}, Names) -> exit(maps:get(Who, Names), Reason);
act({register, Name, Who}, Names) -> register(Name, maps:get(Who, Names));
act({unregister, Name}, _) -> unregister(Name);
act({token, Component, Value}, _) -> seq_trace:set_token(Component, Value);
act({print, Label, Info}, _) -> seq_trace:print(Label, Info);
act(no_token, _) -> seq_trace:set_token([]);
act(trap, _) -> process_flag(trap_exit, true).
