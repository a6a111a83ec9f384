# guidelines_trust.jq — what bench/guidelines-trust makes of the results of pat-guidelines: where a collective is made slower, and what came of it.
def round_to(n): . * n | round / n;
def mockups: .series[1:] | map(select(.median_ms != null and .verdict != null));
def best: mockups | min_by(.median_ms);
def violated: mockups | map(select(.verdict.violation));
def bytes_text: if . >= 1048576 and . % 1048576 == 0 then "\(. / 1048576)M" elif . >= 1024 and . % 1024 == 0 then "\(. / 1024)K" else tostring end;
def padded(n): . + " " * ([n - length, 0] | max);

# Three cells of one collective, those first where nothing is violated and of these the largest; nothing where there are not three. By `us` a call is made longer.
def plan($percent; $collective; $order):
    [.cells[] | select((mockups | length) > 0 and .series[0].median_ms != null)
        | {mpi: .collective, bytes, clean: (violated == []), own_ms: .series[0].median_ms, best: best.algorithm, best_ms: best.median_ms,
           us: (1000 * ((1 + $percent / 100) * best.median_ms - .series[0].median_ms) | round_to(1000))}
        | select(.us > 0)] as $cells
    | [($order / " ")[] | select($collective == "" or . == $collective) as $mpi | [$cells[] | select(.mpi == $mpi)]
        | sort_by([(.clean | not), -.bytes]) | .[:3] | select(length == 3)]
    | (map(select(all(.clean))) + .)[0] // empty | sort_by(.bytes) | tojson;

def cells_text: if length == 0 then "none" else map("\(.collective) \(.bytes | bytes_text)") | join(", ") end;
def flagged(f): [.cells[] | select(mockups | any(.verdict | f))];
# What is called so now, and was no violation before, beside what was made slower.
def newly($plan; $before; f):
    (($before | flagged(.violation) | map([.collective, .bytes])) + ($plan | map([.mpi, .bytes]))) as $known
    | flagged(f) | map(select([.collective, .bytes] as $at | any($known[]; . == $at) | not));

def told($plan; $before):
    ($plan[] as $p | .cells[] | select(.collective == $p.mpi and .bytes == $p.bytes)
        | (violated | min_by(.median_ms)) as $found
        | "  \("\($p.mpi) \($p.bytes | bytes_text):" | padded(22))\($p.own_ms | round_to(1e5)) ms, \($p.best) \($p.best_ms | round_to(1e5)) ms, made longer by \($p.us) us"
            + (if $p.clean then "" else " (violated before)" end)
            + (if $found then ": found, slow-down \($found.verdict.slowdown | round_to(1000)) by \($found.algorithm)"
                   + (if $found.verdict.certain then ", certain" elif $found.verdict.starred then ", starred" else "" end)
               else ": not found" end)),
    "  violations elsewhere that there were not before, of \((.cells | length) - ($plan | length)) cells:",
    "    brave:    \(newly($plan; $before; .violation) | cells_text)",
    "    cautious: \(newly($plan; $before; .violation and (.starred | not)) | cells_text)",
    "    certain:  \(newly($plan; $before; .certain) | cells_text)";
