%% The module for files.so in an Erlang node. Until files.so is loaded, it has the same functions in Erlang.
-module(files).
-export([load/1]).
-export([rename/2, write/2, read/1, list/1, delete/1, copy/2, put_tag/1, get_tag/0]).

%% File: the path of files.so, without the suffix.
load(File) ->
    erlang:load_nif(File, 0).

rename(Old, New) -> file:rename(Old, New).

write(Path, Data) ->
    Bytes = try iolist_to_binary(Data) catch error:_ -> error(badarg) end,
    file:write_file(Path, Bytes, [raw]).

read(Path) -> file:read_file(Path).

list(Path) ->
    case file:list_dir_all(Path) of
        {ok, Names} -> {ok, [unicode:characters_to_binary(Name) || Name <- Names]};
        Error -> Error
    end.

delete(Path) -> file:delete(Path, [raw]).

copy(From, To) -> file:copy(From, To).

%% The tags are those of a BEAM that was built with probes.
put_tag(Tag) -> dyntrace:put_tag(Tag).

get_tag() -> dyntrace:get_tag().
