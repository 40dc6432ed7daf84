defmodule Mix.Tasks.Tracehost.Record do
  @shortdoc "Runs a task, and records calls or other events for tracehost"
  @moduledoc """
  Runs a task of Mix in this node, and records what happens meanwhile:

      mix tracehost.record [OPTION]... -- TASK [ARGUMENT]...
      mix tracehost.record --output shop.trace --pattern Shop.sell/1 -- run -e 'Shop.sell(:apple)'
      MIX_ENV=test mix tracehost.record --pattern Shop --limit events=1000 -- test

  `tracehost replay shop.trace` shows the recording.

  ## Options

    * `--output FILE` - the recording (trace.trace)
    * `--pattern FUNCTION` - record calls of it: `Shop.sell/1`, `Shop.sell`, `Shop`, `:lists.sort/1`; may be repeated
    * `--return` - with results and exceptions
    * `--caller` - with callers
    * `--flags FLAGS` - the flags of `:erlang.trace/3`, as `call,send,receive,procs`; `call` without it
    * `--limit KIND=N` - end the recording at N `events`, `bytes`, `ms`, or messages in the `queue` of a process; N may be
      `infinity`; may be repeated. Without it: 1000000 events, 100000000 bytes, 60000 ms, 10000 messages
    * `--overwrite` - overwrite an existing file
    * `--help` - show this text
  """
  use Mix.Task

  @switches [
    output: :string,
    pattern: :keep,
    return: :boolean,
    caller: :boolean,
    flags: :string,
    limit: :keep,
    overwrite: :boolean,
    help: :boolean
  ]

  @impl Mix.Task
  @spec run([String.t()]) :: term()
  def run(arguments) do
    {own, task} = Enum.split_while(arguments, &(&1 != "--"))

    case OptionParser.parse(own, strict: @switches, aliases: [o: :output, p: :pattern, h: :help]) do
      {options, [], []} ->
        if options[:help], do: Mix.shell().info(@moduledoc), else: record(options, Enum.drop(task, 1))

      {_, [word | _], []} ->
        refuse("#{word}: the task stands behind --")

      {_, _, [{option, nil} | _]} ->
        refuse("#{option} is unknown, or lacks its value")

      {_, _, [{option, value} | _]} ->
        refuse("#{option} cannot be #{value}")
    end
  end

  defp record(_options, []), do: refuse("no task; it stands behind --: -- run -e 'Shop.sell(:apple)'")

  defp record(options, [task | arguments]) do
    recording = recording(options)
    # Functions can be found when their modules are there.
    Mix.Task.run("compile", [])

    case :tracehost_record.run(recording, fn -> Mix.Task.run(task, arguments) end) do
      {:ok, value, report} ->
        tell(report)
        value

      {:error, reason} ->
        refuse(reason(reason))
    end
  end

  defp recording(options) do
    patterns = for pattern <- Keyword.get_values(options, :pattern), do: {pattern(pattern), specification(options)}

    %{
      file: Keyword.get(options, :output, "trace.trace"),
      patterns: patterns,
      limits: Map.new(Keyword.get_values(options, :limit), &limit/1),
      overwrite: Keyword.get(options, :overwrite, false)
    }
    |> Map.merge(flags(options[:flags]))
  end

  defp flags(nil), do: %{}
  defp flags(text), do: %{flags: text |> String.split(",", trim: true) |> Enum.map(&String.to_atom/1)}

  defp specification(options) do
    case {options[:return], options[:caller]} do
      {true, true} -> :cx
      {true, _} -> :x
      {_, true} -> :c
      _ -> true
    end
  end

  defp limit(text) do
    with [kind, number] <- String.split(text, "="),
         true <- kind in ~w(events bytes ms queue) do
      {String.to_atom(kind), if(number == "infinity", do: :infinity, else: number(number, text))}
    else
      _ -> refuse("--limit #{text}: KIND=N is needed, where KIND is events, bytes, ms or queue")
    end
  end

  defp number(digits, text) do
    case Integer.parse(digits) do
      {number, ""} -> number
      _ -> refuse("--limit #{text}: #{digits} is no number")
    end
  end

  # A function's name begins with a small letter, so `Shop.Till` is a module, and `Shop.sell` a function.
  defp pattern(text) do
    case Regex.run(~r{^(:?[[:alpha:]_][\w.@]*?|:"[^"]+")(?:(?:\.|(?<!:):)([a-z_]\w*[?!]?))?(?:/(\d+))?$}u, text) do
      [_, module] -> {module(module), :_, :_}
      [_, module, function] -> {module(module), String.to_atom(function), :_}
      [_, module, function, arity] when function != "" -> {module(module), String.to_atom(function), String.to_integer(arity)}
      _ -> refuse("--pattern #{text}: a function such as Shop.sell/1, Shop.sell, Shop or :lists.sort/1 is needed")
    end
  end

  defp module(":" <> name), do: name |> String.trim("\"") |> String.to_atom()
  defp module(<<letter, _::binary>> = name) when letter in ?A..?Z, do: Module.concat([name])
  defp module(name), do: String.to_atom(name)

  defp tell(%{ended: :stopped} = report), do: Mix.shell().info(summary(report))

  defp tell(%{ended: ended} = report) do
    Mix.shell().error("#{summary(report)}; the recording ended before the task: #{inspect(ended)}")
  end

  defp summary(report) do
    others = if report.traced_by_others > 0, do: ", #{report.traced_by_others} processes were not traced, as others trace them", else: ""
    "#{report.file}: #{report.events} events, #{report.bytes} bytes#{others}"
  end

  defp reason({:file, file, :eexist}), do: "#{file} exists; --overwrite replaces it"
  defp reason({:file, file, posix}), do: "#{file} cannot be written: #{:file.format_error(posix)}"
  defp reason({:no_function, {m, f, a}}), do: "no function matches #{inspect(m)}.#{f}/#{a}; modules of tests are not loaded yet"
  defp reason({:nothing_to_record, text}), do: "nothing would be recorded: #{text}"
  defp reason(other), do: "the recording did not begin: #{inspect(other)}"

  @spec refuse(String.t()) :: no_return()
  defp refuse(text), do: Mix.raise("mix tracehost.record: " <> text)
end
