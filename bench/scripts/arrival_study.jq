# arrival_study.jq — a report of PAT_REPORT=json as a line of the table of bench/arrival-study. $file: PROGRAM-RANKS. Means over all calls of collectives that block.
def short(x): if x >= 9999 then "\(x / 1000 | round)K" elif x >= 100 then "\(x | round)" elif x >= 10 then "\(x * 10 | round / 10)" else "\(x * 100 | round / 100)" end;
def percent(part; whole): if whole > 0 then "\(100 * part / whole | round) %" else "-" end;
def all_of(key): [.sites[][key] // empty];
def factors(list): (list | map(.calls_with_factors) | add // 0) as $calls
    | if $calls == 0 then "-" else "\(short((list | map((.aif // 0) * .calls_with_factors) | add) / $calls)) / \(short((list | map((.wif // 0) * .calls_with_factors) | add) / $calls))" end;
all_of("arrivals_up_to_1000_bytes") as $short | all_of("arrivals_above_1000_bytes") as $long | ($short + $long) as $all
| ($all | map(.calls) | add // 0) as $calls | ($all | map(.calls_with_factors) | add // 0) as $known
| ($all | map(.wif_below_1_2_8_32_and_above[0]? // 0) | add // 0) as $balanced
| ($all | map(.right_after_a_collective // 0) | add // 0) as $after
| ($all | map(.of_these_balanced // 0) | add // 0) as $after_balanced
| ($file | sub("-[0-9]+$"; "")) as $program
| "| \($program) | \(.ranks) | \(short(.seconds)) | \(percent(.program.waiting_ms / 1000; .seconds)) | \($calls / .ranks | round) | \(factors($all)) | \(factors($short)) | \(factors($long)) | \(percent($balanced; $known)) | \(percent($after_balanced; $after)) of \($after / .ranks | round) | \(percent($balanced - $after_balanced; $known - $after)) | \(if $calls > 0 then ($all | map(.alike * .calls) | add) / $calls * 100 | round / 100 else "-" end) |"
