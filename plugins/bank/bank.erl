%% The module for bank.so in an Erlang node. Until bank.so is loaded, it is the same bank in Erlang.
-module(bank).
-export([load/1]).
-export([start/0, stop/0, open/2, close/1, names/0, balance/1, deposit/2, withdraw/2, transfer/3, audit/0]).
-export([freeze/2, crash/1]).
-export([run/0, run/1, account/3]). % functions that the processes run

-define(PATIENCE, 500). % milliseconds

%% File: the path of bank.so, without the suffix.
load(File) ->
    erlang:load_nif(File, 0).

%% --- The interface ---

start() ->
    Bank = spawn(?MODULE, run, []),
    try register(bank, Bank), ok
    catch error:badarg -> exit(Bank, kill), {error, already_started}
    end.

stop() -> ask(bank, stop).

open(Name, Balance) when is_atom(Name), is_integer(Balance), Balance >= 0 -> ask(bank, {open, Name, Balance}).

close(Name) -> ask(Name, close).

names() -> ask(bank, names).

balance(Name) -> ask(Name, balance).

deposit(Name, Amount) when is_integer(Amount), Amount >= 0 -> ask(Name, {deposit, Amount}).

withdraw(Name, Amount) when is_integer(Amount), Amount >= 0 -> ask(Name, {withdraw, Amount}).

transfer(From, To, Amount) ->
    ?MODULE:withdraw(From, Amount),
    try ?MODULE:deposit(To, Amount) of
        _ -> ok
    catch error:{not_open, _} = Reason ->
        ?MODULE:deposit(From, Amount),
        error(Reason)
    end.

audit() ->
    Names = ?MODULE:names(),
    Reference = make_ref(),
    Asked = [Name || Name <- Names, sent(Name, {balance, self(), Reference})],
    collect(Reference, length(Asked), 0).

freeze(Name, Milliseconds) when is_integer(Milliseconds), Milliseconds >= 0 -> ask(Name, {freeze, Milliseconds}).

crash(Name) -> ask(bank, {crash, Name}).

%% --- Requests ---

ask(Name, Request) when is_atom(Name) ->
    case whereis(Name) of
        undefined -> error({not_open, Name});
        Pid -> ask(Name, Pid, monitor(process, Pid), Request)
    end;
ask(_, _) ->
    error(badarg).

ask(Name, Pid, Reference, Request) ->
    Pid ! {Request, self(), Reference},
    receive
        {Reference, Reply} ->
            demonitor(Reference, [flush]),
            case Reply of
                {ok, Value} -> Value;
                {throw, Thrown} -> throw(Thrown);
                {error, _} -> Reply
            end;
        {'DOWN', Reference, process, _, _} ->
            error({not_open, Name})
    after ?PATIENCE ->
        demonitor(Reference, [flush]),
        error({silent, Name})
    end.

sent(Name, Message) ->
    case whereis(Name) of
        undefined -> false;
        Pid -> Pid ! Message, true
    end.

collect(_, 0, Total) ->
    {Total, 0};
collect(Reference, Left, Total) ->
    receive {Reference, {ok, Balance}} -> collect(Reference, Left - 1, Total + Balance)
    after ?PATIENCE -> {Total, Left}
    end.

%% --- The process of an account ---

account(Bank, Name, Balance) ->
    receive
        crash -> error(embezzled);
        upgrade -> ?MODULE:account(Bank, Name, Balance);
        {Request, From, Reference} -> account(Bank, Name, Balance, Request, From, Reference)
    end.

account(_, _, Balance, close, From, Reference) ->
    From ! {Reference, {ok, Balance}},
    closed;
account(Bank, Name, Balance, {freeze, Milliseconds}, From, Reference) ->
    From ! {Reference, {ok, ok}},
    timer:sleep(Milliseconds),
    account(Bank, Name, Balance);
account(Bank, Name, Balance, balance, From, Reference) ->
    From ! {Reference, {ok, Balance}},
    account(Bank, Name, Balance);
account(Bank, Name, Balance, {withdraw, Amount}, From, Reference) when Amount > Balance ->
    From ! {Reference, {throw, {insufficient_funds, Balance}}},
    account(Bank, Name, Balance);
account(Bank, Name, Balance, Request, From, Reference) ->
    New = case Request of {deposit, Amount} -> Balance + Amount; {withdraw, Amount} -> Balance - Amount end,
    Bank ! {balance, Name, New},
    From ! {Reference, {ok, New}},
    account(Bank, Name, New).

%% --- The process of the bank ---

run() ->
    process_flag(trap_exit, true),
    run(#{}).

%% Accounts: Name => {Pid, Balance}
run(Accounts) ->
    receive
        upgrade ->
            [Pid ! upgrade || {Pid, _} <- maps:values(Accounts)],
            ?MODULE:run(Accounts);
        {balance, Name, Balance} -> run(noted(Accounts, Name, Balance));
        {'EXIT', Pid, Reason} -> run(ended(Accounts, Pid, Reason));
        {{open, Name, Balance}, From, Reference} ->
            New = opened(Accounts, Name, Balance),
            From ! {Reference, if New =:= Accounts -> {error, name_taken}; true -> {ok, ok} end},
            run(New);
        {{crash, Name}, From, Reference} when is_map_key(Name, Accounts) ->
            #{Name := {Pid, _}} = Accounts,
            Pid ! crash,
            New = receive {'EXIT', Pid, Reason} -> ended(Accounts, Pid, Reason) end,
            #{Name := {_, Balance}} = New,
            From ! {Reference, {ok, {reopened, Balance}}},
            run(New);
        {{crash, _}, From, Reference} -> From ! {Reference, {error, not_open}}, run(Accounts);
        {names, From, Reference} -> From ! {Reference, {ok, maps:keys(Accounts)}}, run(Accounts);
        {stop, From, Reference} -> From ! {Reference, {ok, ok}}, exit(shutdown)
    end.

opened(Accounts, Name, Balance) ->
    Pid = spawn_link(?MODULE, account, [self(), Name, Balance]),
    try register(Name, Pid), Accounts#{Name => {Pid, Balance}}
    catch error:badarg -> unlink(Pid), exit(Pid, kill), Accounts
    end.

noted(Accounts, Name, Balance) ->
    case Accounts of
        #{Name := {Pid, _}} -> Accounts#{Name := {Pid, Balance}};
        _ -> Accounts
    end.

%% Forgets an account that was closed; opens an account that crashed again, with its last reported balance.
ended(Accounts, Pid, Reason) ->
    case [{Name, Balance} || {Name, {Of, Balance}} <- maps:to_list(Accounts), Of =:= Pid] of
        [{Name, _}] when Reason =:= normal -> maps:remove(Name, Accounts);
        [{Name, Balance}] -> opened(maps:remove(Name, Accounts), Name, Balance);
        [] -> Accounts
    end.
