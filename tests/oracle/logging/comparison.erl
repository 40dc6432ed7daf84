%% Compares two logs of tests/tracers/otp/logging.c.
-module(comparison).
-export([lines/2, changed/2, ordered/1, renumbered/1, names/1, difference/2, difference/3, is_later/0]).

%% Returns a file's lines without those for trace_status; on request only callbacks of the trace family. The host
%% writes terms byte for byte as OTP 25 does; a later BEAM writes atoms as other bytes, so both are encoded anew.
lines(File, Which) ->
    {ok, Text} = file:read_file(File),
    Lines = [Line || Line <- binary:split(Text, <<"\n">>, [global]), wanted(Line, Which)],
    once(case is_later() of
        false -> Lines;
        true -> changed(fun(Parts) -> Parts end, Lines)
    end).

%% OTP 26 and later differ from OTP 25, and from the host, in some answers.
is_later() -> list_to_integer(erlang:system_info(otp_release)) > 25.

%% The BEAM calls enabled twice for a seq_trace message that is sent or printed, tracehost once.
once([<<"enabled seq_trace ", _/binary>> = Line, Line | Lines]) -> once([Line | Lines]);
once([Line | Lines]) -> [Line | once(Lines)];
once([]) -> [].

wanted(<<>>, _) -> false;
wanted(<<"enabled trace_status ", _/binary>>, _) -> false;
wanted(<<"enabled", _/binary>>, Which) -> Which =:= all;
wanted(_, _) -> true.

%% Callbacks of several threads mix. Compared are the order of the callbacks of the trace family, as recorded, and
%% the order of all callbacks for one tracee.
ordered(Lines) ->
    Groups = [{tracee(Line), Line} || Line <- Lines],
    [Line || Line <- Lines, wanted(Line, trace)] ++ [Line || {_, Line} <- lists:keysort(1, Groups)].

tracee(Line) -> lists:nth(4, binary:split(Line, <<" ">>, [global])).

%% Returns lines as text, for the comparison of different runs: processes, ports and references are numbered in the
%% order of their first occurrence. Times are left out, and so are sizes of heaps, which include the terms that the
%% tracer makes in them.
renumbered(Lines) ->
    {Texts, _} = lists:mapfoldl(fun renumber_line/2, #{}, Lines),
    Texts.

renumber_line(Line, Numbers) ->
    {Head, Terms} = parse(Line),
    {Renumbered, More} = lists:mapfoldl(fun renumber/2, Numbers, lists:sublist(Terms, 3)),
    {text(Head, Renumbered), More}.

renumber(Id, Numbers) when is_pid(Id); is_port(Id); is_reference(Id) ->
    Known = maps:merge(#{Id => {id, map_size(Numbers)}}, Numbers),
    {map_get(Id, Known), Known};
renumber([{wordsize, _} | _] = Sizes, Numbers) ->
    {[Key || {Key, _} <- Sizes], Numbers};
renumber([Head | Tail], Numbers) ->
    {NewHead, More} = renumber(Head, Numbers),
    {NewTail, Most} = renumber(Tail, More),
    {[NewHead | NewTail], Most};
renumber(Tuple, Numbers) when is_tuple(Tuple) ->
    {Elements, More} = renumber(tuple_to_list(Tuple), Numbers),
    {list_to_tuple(Elements), More};
renumber(Map, Numbers) when is_map(Map) ->
    {Pairs, More} = renumber(maps:to_list(Map), Numbers),
    {maps:from_list(Pairs), More};
renumber(Other, Numbers) -> {Other, Numbers}.

%% Returns the lines after HOW, which makes of {Callback, Tag, Terms} another such tuple, or `none'.
changed(How, Lines) ->
    [Changed || Line <- Lines, {{Callback, Tag, Self}, Terms} <- [parse(Line)],
                Changed <- case How({Callback, Tag, Terms}) of
                    none -> [];
                    {Callback, Tag, New} -> [line({Callback, Tag, Self}, New)]
                end].

line({Callback, Tag, Self}, Terms) ->
    Encoded = [binary:encode_hex(term_to_binary(Term)) || Term <- Terms],
    iolist_to_binary(lists:join(" ", [Callback, Tag, Self | Encoded])).

%% The callbacks and the tags in a file.
names(File) ->
    Words = [binary:split(Line, <<" ">>, [global]) || Line <- lines(File, all)],
    lists:usort(lists:append([[Callback, Tag] || [Callback, Tag | _] <- Words])).

parse(Line) ->
    [Callback, Tag, Self | Terms] = binary:split(Line, <<" ">>, [global]),
    {{Callback, Tag, Self}, [binary_to_term(binary:decode_hex(Term)) || Term <- Terms]}.

text({Callback, Tag, Self}, Terms) ->
    Arguments = lists:join(", ", [io_lib:format("~0tp", [Term]) || Term <- Terms]),
    unicode:characters_to_binary([Callback, $(, Tag, ", State, ", Arguments, ") self: ", Self]).

%% Returns `equal', or a text with the first lines that differ.
difference(Beam, Host) -> difference(Beam, Host, [], 1).

%% Compares a case with `later': a later BEAM may have additional lines with one of these tags, compared with OTP 25 and
%% the host. `any' allows additional lines with all tags, also for other processes, so that numbers of processes differ.
difference(#{later := More}, Beam, Host) ->
    case is_later() of
        true when Beam =:= Host -> "they do not differ any more";
        true when More =:= any -> difference(without_more(any, unnumbered(Beam), unnumbered(Host)), unnumbered(Host));
        true -> difference(without_more(More, Beam, Host), Host);
        false -> difference(Beam, Host)
    end;
difference(_, Beam, Host) -> difference(Beam, Host).

unnumbered(Lines) -> [re:replace(Line, "{id,[0-9]+}", "id", [global, {return, binary}]) || Line <- Lines].

without_more(More, [Line | Beam], [Line | Host]) -> [Line | without_more(More, Beam, Host)];
without_more(More, [Line | Beam], Host) ->
    [_, Tag | _] = re:split(Line, "[( ,]"),
    Rest = without_more(More, Beam, Host),
    case More =:= any orelse lists:member(Tag, More) of
        true -> Rest;
        false -> [Line | Rest]
    end;
without_more(_, [], _) -> [].

difference([], [], _, _) -> equal;
difference([Line | Beam], [Line | Host], Before, N) -> difference(Beam, Host, [Line | Before], N + 1);
difference(Beam, Host, Before, N) ->
    [io_lib:format("they differ from line ~b on~n", [N]),
     [["  both: ", shown(Line)] || Line <- lists:reverse(lists:sublist(Before, 3))],
     [["  BEAM: ", shown(Line)] || Line <- lists:sublist(Beam, 4)],
     [["  host: ", shown(Line)] || Line <- lists:sublist(Host, 4)]].

shown(Line) ->
    {Head, Terms} = try parse(Line) catch error:_ -> {Line, []} end,
    Text = case Terms of [] -> Line; _ -> text(Head, Terms) end,
    [string:slice(Text, 0, 400), $\n].
