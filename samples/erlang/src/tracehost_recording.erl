%% @doc Reads recordings that this node has made. `tracehost' reads recordings of all nodes.
-module(tracehost_recording).
-export([fold/3, size/1]).

-define(HEAD, 5). % bytes of a record's op and size

%% @doc Folds over the records, `{trace, Pid, call, ...}' and so on as a tracing process gets them, and `{drop, N}'. A record
%% without its end is left out.
-spec fold(fun((tuple(), Acc) -> Acc), Acc, file:name_all()) -> Acc.
fold(Fun, Acc, File) ->
    records(fun(Record, _, Folded) -> Fun(term(Record), Folded) end, Acc, File).

%% @doc Returns the number of events and of their bytes.
-spec size(file:name_all()) -> {non_neg_integer(), non_neg_integer()}.
size(File) ->
    records(fun({0, _}, Size, {Events, Bytes}) -> {Events + 1, Bytes + Size};
               (_, _, Sum) -> Sum
            end, {0, 0}, File).

term({0, Bytes}) -> binary_to_term(Bytes);
term({1, Count}) -> {drop, Count}.

records(Fun, Acc, File) ->
    case file:open(File, [read, raw, binary, read_ahead]) of
        {ok, Device} ->
            try each(Fun, Acc, Device)
            after ok = file:close(Device)
            end;
        {error, Reason} ->
            error({file, File, Reason})
    end.

each(Fun, Acc, Device) ->
    case file:read(Device, ?HEAD) of
        {ok, <<1, Count:32>>} ->
            each(Fun, Fun({1, Count}, ?HEAD, Acc), Device);
        {ok, <<0, Size:32>>} ->
            case file:read(Device, Size) of
                {ok, Bytes} when byte_size(Bytes) =:= Size ->
                    each(Fun, Fun({0, Bytes}, ?HEAD + Size, Acc), Device);
                _ -> Acc
            end;
        _ -> Acc
    end.
