%% Work that takes time and memory. Its calls are not traced: they would be too many, with arguments too long.
-module(burden).
-export([spin/1, tidy/0, collections/0, slow_exit/0]).

spin(0) -> ok;
spin(N) -> spin(N - 1).

%% Collects garbage on request.
tidy() ->
    [erlang:garbage_collect(self(), [{type, Type}]) || Type <- [minor, major, minor, major]].

%% Collects garbage: on request, since a heap is full, and since a heap exceeds its limit.
collections() ->
    Long = lists:seq(1, 20000),
    erlang:garbage_collect(),
    Map = maps:from_list([{N, {N}} || N <- Long]),
    erlang:garbage_collect(self(), [{type, minor}]),
    Bytes = [binary:copy(<<N:32>>, 100) || N <- lists:seq(1, 500)],
    Limit = #{size => 5000, kill => true, error_logger => false},
    {Large, Ref} = spawn_opt(fun() -> grow([]) end, [monitor, {max_heap_size, Limit}]),
    receive {'DOWN', Ref, process, Large, killed} -> ok end,
    {map_size(Map), length(Long), length(Bytes)}.

grow(List) -> grow([List | List]).

%% A process that exits needs several turns to free the table.
slow_exit() ->
    Table = ets:new(table, [bag, public]),
    [ets:insert(Table, {N, [N]}) || N <- lists:seq(1, 10000)],
    ok.
