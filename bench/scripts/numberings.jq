# The cells of several ranks a node side by side: an algorithm, the MPI library's own and the bound, by how ranks are numbered;
# and what bench/arrival-grid sums up of them. Input: the JSON files of its cells; $versus, $native: the two algorithms. What was
# not measured is null, and left out.
def geometric: if length == 0 then null else (map(log) | add / length | exp) end;
def shown: if . == null then "-" else (. * 1000 | round / 1000 | tostring) end;
def ms: if . == null then "-" elif . < 100 then (. * 10 | round / 10 | tostring) else (round | tostring) end;
def right($n): (if length < $n then " " * ($n - length) else "" end) + .;
def of($alg): map(select(.alg == $alg and .elapsed_ms))[0];
# Over the bound, and native over it, of the cells of which both are known.
def over: map(select(.bound and .bound > 0) | .ours / .bound);
def gain: map(select(.native) | .native / .ours);
def is_behind($ours; $native):
    $native.elapsed_ci_ms != null and $ours.elapsed_ci_ms != null and
    $ours.elapsed_ms - $ours.elapsed_ci_ms > $native.elapsed_ms + $native.elapsed_ci_ms;

[inputs
    | (input_filename
        | capture("/p(?<layout>[0-9]+x[0-9]+)-(?<map>slot|node|random)-(?<kib>[0-9]+)k-f(?<factor>[0-9.]+)\\.json$")) as $cell
    | .rows | of($versus) as $ours | of($native) as $theirs
    | select($ours)
    | $cell + {kib: ($cell.kib | tonumber), factor: ($cell.factor | tonumber),
        ours: $ours.elapsed_ms, bound: $ours.bound_ms, native: $theirs.elapsed_ms, behind: is_behind($ours; $theirs)}]
| select(length > 0)
| (map(.map) | unique | sort_by({slot: 0, node: 1, random: 2}[.])) as $maps
| "\n# Several ranks a node, by how ranks are numbered: mean elapsed ms of native | \($versus) (the bound); spread: the slowest",
  "# numbering of \($versus) over its fastest. *: behind native, with the two intervals apart",
  ("layout  KiB factor " + ($maps | map(. + " native | \($versus) (bound)" | right(33)) | join("")) + " spread"),
  (group_by([.layout, .kib, .factor])[] | . as $row | .[0]
    | (.layout | right(6)) + (.kib | tostring | right(5)) + (.factor | tostring | right(7)) + " "
    + ([$maps[] as $m | ($row | map(select(.map == $m))[0]) as $c
        | if $c then ($c.native | ms) + " | " + ($c.ours | ms) + " (" + ($c.bound | ms) + ")"
            + (if $c.behind then "*" else " " end) else "-" end
        | right(33)] | join(""))
    + ($row | map(.ours) | (max / min) | shown | right(7))),
  "",
  (map(select(.kib >= 16)) as $long
    | [["cells", (length | tostring)],
    ["\($versus) over the bound, 16 KiB and more: geometric mean", ($long | over | geometric | shown)],
    ["  worst", ($long | over | max | shown)],
    ["\($versus) over the bound, shorter: geometric mean", (map(select(.kib < 16)) | over | geometric | shown)],
    ["slowest over fastest numbering, 16 KiB and more: worst",
        ($long | group_by([.layout, .kib, .factor]) | map(map(.ours) | max / min) | max | shown)],
    ["native over \($versus): geometric mean", (gain | geometric | shown)],
    ["  at factors of 4 and more", (map(select(.factor >= 4)) | gain | geometric | shown)],
    ["  worst cell", (gain | min | shown)],
    ["cells behind native, intervals apart", (map(select(.behind)) | length | tostring)],
    ["cells where native takes less than 0.97 of \($versus)", (gain | map(select(. < 0.97)) | length | tostring)]
   ][] | .[0] + (" " * (64 - (.[0] | length))) + .[1])
