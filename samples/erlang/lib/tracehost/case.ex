defmodule Tracehost.Case do
  @moduledoc """
  Assertions about calls for ExUnit. Each runs a block, returns its value, and fails if the calls of a function in this node
  break the rule. The failure has the calls, with process, arguments and caller.

      defmodule ShopTest do
        use ExUnit.Case
        use Tracehost.Case

        test "selling asks once" do
          assert_called Shop.ask/1, at_most: 1 do
            Shop.sell(:apple)
          end
        end
      end

  The calls of all processes count, so the tests must not run with `async: true`, unless `processes: self()` names the
  processes. `limits: %{events: 1000}` changes the limits of `:tracehost_record.start/1`.
  """

  @doc "Imports the macros."
  defmacro __using__(_options) do
    quote do
      import Tracehost.Case, only: [assert_called: 2, assert_called: 3, refute_called: 2, refute_called: 3, refute_raised: 2, refute_raised: 3]
    end
  end

  @doc "Fails if the function is called in the block."
  defmacro refute_called(function, options, block \\ []) do
    checked([at_most: 0], function, options ++ block)
  end

  @doc """
  Fails if the function is not called in the block; with `at_most: N` if it is called more than N times, with `at_least: N` if
  less than N times.
  """
  defmacro assert_called(function, options, block \\ []) do
    {rules, options} = Keyword.split(options ++ block, [:at_most, :at_least])
    checked(if(rules == [], do: [at_least: 1], else: rules), function, options)
  end

  @doc "Fails if a call of the function in the block ends in an exception, also if the exception is rescued."
  defmacro refute_raised(function, options, block \\ []) do
    checked([:no_exception], function, options ++ block)
  end

  defp checked(rules, function, options) do
    {block, options} = Keyword.pop!(options, :do)

    quote do
      Tracehost.Case.check(unquote(rules), unquote(function(function)), unquote(options), fn -> unquote(block) end)
    end
  end

  defp function({:&, _, [function]}), do: function(function)

  defp function({:/, _, [{{:., _, [module, name]}, _, []}, arity]}) when is_atom(name) and is_integer(arity) do
    quote(do: {unquote(module), unquote(name), unquote(arity)})
  end

  defp function({:{}, _, [_, _, _]} = function), do: function

  defp function(other) do
    raise ArgumentError, "a function such as Shop.ask/1 is needed, not #{Macro.to_string(other)}"
  end

  @doc false
  @spec check([:tracehost_calls.rule()], mfa(), keyword(), (() -> value)) :: value when value: term()
  def check(rules, function, options, fun) do
    case :tracehost_calls.check(rules, function, Map.new(options), fun) do
      {:kept, value} -> value
      {:broken, finding} -> raise ExUnit.AssertionError, message: text(finding)
      {:error, reason} -> raise ExUnit.AssertionError, message: "the calls cannot be recorded: #{inspect(reason)}"
    end
  end

  # The first line is as in Erlang but for the function; the calls are written as Elixir writes them.
  defp text(finding) do
    [_ | rest] = :tracehost_calls.text(finding)
    more = Enum.drop(rest, length(finding.shown))
    Enum.join([title(finding) | Enum.map(finding.shown, &call/1)] ++ more, "\n    ")
  end

  defp title(%{function: function, rule: rule} = finding) do
    came = if rule == :no_exception, do: finding.exceptions, else: finding.calls

    wanted =
      case rule do
        {:at_most, 0} -> "no call is allowed"
        {:at_most, n} -> "at most #{n} calls are allowed"
        {:at_least, n} -> "at least #{n} calls are wanted"
        :no_exception -> "no exception is allowed"
      end

    "#{mfa(function)}: #{wanted}, #{came} came"
  end

  defp call(%{pid: pid, function: {module, name, arity}} = call) do
    arguments = Map.get(call, :arguments, arity)
    exception = with %{exception: {class, reason}} <- call, do: " ! #{class}: #{inspect(reason)}", else: (_ -> "")
    caller = with %{caller: {_, _, _} = caller} <- call, do: ", called by #{mfa(caller)}", else: (_ -> "")
    "#{inspect(pid)} #{Exception.format_mfa(module, name, arguments)}#{exception}#{caller}"
  end

  defp mfa({module, name, arity}), do: Exception.format_mfa(module, name, arity)
end
