# Counts test cases in meson's testlog.json, one test program a line.
#
# Criterion's closing line and "N passed, N failed, N skipped" count the cases
# of a program; a program that prints neither is one case. What ends badly has
# failed, whatever it printed.

def output: (.stdout // "") + "\n" + (.stderr // "");

def by_criterion:
    output as $text
    | [$text | capture("Synthesis: Tested: (?<n>\\d+) \\| Passing: (?<ok>\\d+)"; "g")]
    | last // empty
    | (.ok | tonumber) as $ok
    | [$ok, (.n | tonumber) - $ok, ([$text | scan("\\[SKIP\\]")] | length)];

def by_closing_line:
    [output
     | capture("(?<p>\\d+) passed, (?<f>\\d+) failed, (?<s>\\d+) skipped"; "g")]
    | last // empty
    | [.p, .f, .s] | map(tonumber);

def by_result:
    if .result == "OK" then [1, 0, 0]
    elif .result == "SKIP" then [0, 0, 1]
    else [0, 1, 0] end;

def cases:
    first(by_criterion, by_closing_line, by_result) as $n
    | if .result != "OK" and .result != "SKIP" and $n[1] == 0
      then [$n[0], 1, $n[2]] else $n end;

[inputs | cases] | transpose | map(add) | if . == [] then [0, 0, 0] else . end
| "\(.[0]) \(.[1]) \(.[2])"
