%% A client of tracehost_agent, as the program is one: loads or evaluates the module in a node by RPC, starts it, takes
%% and acknowledges batches, sends beats. The functions are called in a hidden node of their own.
-module(client).
-export([start/4, go/1, stop/1, die/1, clocks/1, acknowledge/1, taken/1, await/2, await_ended/1, gone/1, rpc/4]).

%% Starts tracing in NODE. HOW is {load, Beam} or {evaluate, Evaluator, Source}. Returns {ok, Client, Answer}, or the
%% error. OPTIONS: ack (false: nothing is acknowledged), beat (false: no beats).
start(Node, How, Wish, Options) ->
    Caller = self(),
    {Client, Monitor} = spawn_monitor(fun() -> client(Caller, Node, How, Wish, Options) end),
    receive
        {Client, Answer} ->
            erlang:demonitor(Monitor, [flush]),
            Answer;
        {'DOWN', Monitor, process, _, Reason} ->
            {error, Reason}
    end.

client(Caller, Node, How, Wish, Options) ->
    case set_up(Node, How, Wish) of
        {ok, Controller, Sender, Report} ->
            Caller ! {self(), {ok, self(), {Controller, Sender, Report}}},
            self() ! beat,
            monitor_node(Node, true),
            loop(#{controller => Controller, sender => Sender, data => [], ended => false, waiting => [], node => Node,
                owed => 0, ack => maps:get(ack, Options, true), beat => maps:get(beat, Options, true), down => false});
        {error, {busy, _}} = Error ->
            Caller ! {self(), Error};
        Error ->
            erlang:disconnect_node(Node),
            Caller ! {self(), Error}
    end.

%% As ei_rpc does.
rpc(Node, Module, Function, Arguments) ->
    gen_server:call({rex, Node}, {call, Module, Function, Arguments, group_leader()}, 30000).

set_up(Node, How, Wish) ->
    case rpc(Node, erlang, whereis, [tracehost_agent]) of
        undefined -> set_up_there(Node, How, Wish);
        _ -> {error, {busy, "tracehost_agent"}}
    end.

set_up_there(Node, {load, Beam}, Wish) ->
    {module, _} = rpc(Node, code, load_binary, [tracehost_agent, "tracehost_agent", Beam]),
    case rpc(Node, tracehost_agent, start, [self(), Wish]) of
        {error, {busy, _}} = Error ->
            Error;
        {error, _} = Error ->
            rpc(Node, code, delete, [tracehost_agent]),
            rpc(Node, code, purge, [tracehost_agent]),
            Error;
        Result ->
            Result
    end;
set_up_there(Node, {evaluate, Evaluator, Source}, Wish) ->
    {ok, Tokens, _} = rpc(Node, erl_scan, string, [Evaluator]),
    {ok, [Expression]} = rpc(Node, erl_parse, parse_exprs, [Tokens]),
    Bindings = [{'Client', self()}, {'Source', Source}, {'Wish', Wish}],
    rpc(Node, erl_eval, expr, [Expression, Bindings, none, none, value]).

loop(State) ->
    #{controller := Controller, sender := Sender, data := Data, ack := Ack, beat := Beat, waiting := Waiting,
        owed := Owed} = State,
    receive
        {data, Batch} ->
            Ack andalso (Sender ! {ack, byte_size(Batch)}),
            loop(answer(State#{data := [Batch | Data], owed := Owed + case Ack of true -> 0; false -> byte_size(Batch) end}));
        {clocks, Monotonic, System} ->
            Encoded = term_to_binary({tracehost, clocks, {Monotonic, System}}),
            loop(answer(State#{data := [<<0, (byte_size(Encoded)):32, Encoded/binary>> | Data]}));
        {ended, Reason, Stats} ->
            Controller ! bye,
            Sender ! bye,
            loop(answer(State#{ended := {Reason, Stats}, beat := false}));
        {nodedown, _} ->
            loop(answer(State#{down := true, beat := false}));
        beat when Beat ->
            Controller ! beat,
            erlang:send_after(1000, self(), beat),
            loop(State);
        acknowledge ->
            Sender ! {ack, Owed},
            loop(State#{ack := true, owed := 0});
        {send, Who, Message} ->
            maps:get(Who, State) ! Message,
            loop(State);
        {ask, Caller, Condition} ->
            loop(answer(State#{waiting := [{Caller, Condition} | Waiting]}));
        die ->
            ok;
        _ ->
            loop(State)
    end.

%% Answers the callers whose condition is met.
answer(#{waiting := []} = State) ->
    State;
answer(#{waiting := Waiting, data := Data, ended := Ended, down := Down} = State) ->
    Records = records(iolist_to_binary(lists:reverse(Data))),
    Met = [Asked || {_, Condition} = Asked <- Waiting, met(Condition, Records, Ended, Down)],
    [Caller ! {self(), {Records, Ended}} || {Caller, _} <- Met],
    State#{waiting := Waiting -- Met}.

met(now, _, _, _) -> true;
met(ended, _, Ended, _) -> Ended =/= false;
met(gone, _, _, Down) -> Down;
met({text, Count, Text}, Records, _, Down) ->
    Down orelse length([found || Record <- Records, is_tuple(Record), contains(Record, Text)]) >= Count.

contains(Record, Text) ->
    string:find(io_lib:format("~0p", [Record]), Text) =/= nomatch.

records(<<0, Size:32, Record:Size/binary, Rest/binary>>) -> [binary_to_term(Record) | records(Rest)];
records(<<1, Count:32, Rest/binary>>) -> [{drop, Count} | records(Rest)];
records(<<>>) -> [].

ask(Client, Condition) ->
    Monitor = monitor(process, Client),
    Client ! {ask, self(), Condition},
    receive
        {Client, Answer} ->
            erlang:demonitor(Monitor, [flush]),
            Answer;
        {'DOWN', Monitor, process, _, Reason} ->
            {error, Reason}
    after 30000 ->
        Client ! {ask, self(), now},
        receive
            {Client, {Records, Ended}} -> {error, {in_vain, Condition, lists:sublist(Records, 50), Ended}}
        end
    end.

go(Client) -> Client ! {send, sender, go}.
stop(Client) -> Client ! {send, controller, stop}.
die(Client) -> Client ! die.
%% Asks for the clocks. The answer becomes a record {tracehost, clocks, {Monotonic, System}}.
clocks(Client) -> Client ! {send, sender, clocks}.
%% Acknowledges all that came and that comes.
acknowledge(Client) -> Client ! acknowledge.
%% Returns {records so far, false or {Reason, Stats}}.
taken(Client) -> ask(Client, now).
await(Client, {Count, Text}) -> ask(Client, {text, Count, Text}).
await_ended(Client) -> ask(Client, ended).
%% Waits until the node has cut the connection.
gone(Client) -> ask(Client, gone).
