#!/usr/bin/env bash
# tool_rooms.sh — who may know whom. The text of the sources is held against the rules in CONTRIBUTING.md, comments
# taken out first. Then every rule is broken once in a copy of the tree, and this script must notice.
set -eu

# strip TREE TO: the sources of a tree once more below TO, without comments and without what stands in quotes; headers and
# macros stay as they are written.
strip() {
    local tree=$1 to=$2 file
    (cd "$tree" && find src pat algorithms bench -name '*.[ch]') >"$to.list"
    xargs -r dirname <"$to.list" | sort -u | (cd "$to" && xargs -r mkdir -p)
    while read -r file; do
        "${CC:-cc}" -fpreprocessed -dD -E -P -x c "$tree/$file" 2>/dev/null |
            sed -E '/^ *# *include/!s/"([^"\\]|\\.)*"/""/g' >"$to/$file"
    done <"$to.list"
}

# forbid RULE REGEX FILE...: no line of these files may match.
forbid() {
    local rule=$1 regex=$2 hits status=0
    shift 2
    [ $# -gt 0 ] || return 0
    hits=$(grep -H -P "$regex" "$@") || status=$?
    [ $status -ne 1 ] || return 0
    printf '%s:\n%s\n' "$rule" "$hits" >&2
    broken=1
}

# except FILE...: what is left of the array `files` without these.
except() {
    local file other keep kept=()
    for file in "${files[@]}"; do
        keep=yes
        for other in "$@"; do
            [ "$file" = "$other" ] && keep=no
        done
        [ $keep = no ] || kept+=("$file")
    done
    files=("${kept[@]}")
}

# includes: "FILE HEADER" for every #include "HEADER" below here. foo.c and foo.h are one file: foo.
includes() {
    local file
    find src pat algorithms bench -name '*.[ch]' | sort | while read -r file; do
        sed -nE 's|^ *# *include *"(.*/)?([^"/]*)\.[ch]".*|'"${file%.[ch]}"' \2|p' "$file"
        echo "${file%.[ch]}"
    done
}

# circles: names every circle of files, every circle of rooms, and what one tool's room knows of another's. A header is
# the one in the file's own folder, or else any of that name.
circles() {
    includes | awk '
        function folder(path) { sub("/[^/]*$", "", path); return path }
        function connect(from, to) {
            if (from != to && !((from, to) in known)) { known[from, to]; after[from] = after[from] " " to }
        }
        # The shortest way from a place back to it: "a -> b -> a", or nothing.
        function way_back(from,    queue, last, at, i, n, next_ones, came, text) {
            queue[last = 1] = from
            for (at = 1; at <= last; at++) {
                n = queue[at] in after ? split(after[queue[at]], next_ones, " ") : 0
                for (i = 1; i <= n; i++) {
                    if (!(next_ones[i] in came)) { came[next_ones[i]] = queue[at]; queue[++last] = next_ones[i] }
                    if (next_ones[i] != from) continue
                    text = from
                    for (at = came[from]; at != from; at = came[at]) text = at " -> " text
                    return from " -> " text
                }
            }
            return ""
        }
        function complain(text) { print text; broken = 1 }
        NF == 1 { name = $1; sub(".*/", "", name); if (!($1 in file)) { file[$1]; named[name] = named[name] " " $1 } }
        NF == 2 { includer[NR] = $1; header[NR] = $2 }
        END {
            for (i in includer) {
                own = folder(includer[i]) "/" header[i]
                num = split(own in file ? own : named[header[i]], found, " ")
                for (k = 1; k <= num; k++) {
                    connect(includer[i], found[k])
                    room = folder(includer[i]); other = folder(found[k])
                    if (room == other) continue
                    connect(room "/", other "/")
                    if (room !~ "^bench/" || other !~ "^bench/") continue
                    if (other !~ "^bench/(shared|results|report)$") complain(includer[i] " knows another tool: " found[k])
                }
            }
            for (place in after) {
                if (place in told || (way = way_back(place)) == "") continue
                complain("a circle: " way)
                num = split(way, list, " -> ")
                for (k = 1; k <= num; k++) told[list[k]]
            }
            exit broken
        }' >&2 || broken=1
}

# check TREE: status 0 when the tree keeps every rule.
check() (
    stripped=$(mktemp -d "$work/XXXXXX")
    mkdir "$stripped/tree"
    strip "$1" "$stripped/tree"
    cd "$stripped/tree"
    mkdir -p src pat algorithms bench
    shopt -s nullglob
    broken=0
    pure=(src/{plan,check,choose,rules,log}/*.[ch] algorithms/*.[ch])
    library=(src/{base,plan,check,choose,rules,log,engine,run,face}/*.[ch] pat/*.[ch] algorithms/*.[ch])

    files=(algorithms/*.[ch])
    forbid "an algorithm includes only the plan, its own room and the plain C headers" \
        '#include *(<(mpi|pat|time|sys/.*|pthread|threads|signal|unistd|hwloc|math|stdio)\.h>|"(.*/|mpi|pat|[a-z]*(model|check|collective|engine|clock|thread|milestone|exchange|config|error)[a-z]*\.h))' \
        "${files[@]}"
    forbid "plans, algorithms, proofs, choices and rules know no MPI, no clock and no thread" \
        '#include *[<"](mpi|pat|clock|thread|exchange|milestone|engine|time|sys/time|pthread|threads)\.h|\bP?MPI_[A-Za-z]|\bpthread_|\bclock_gettime\b|\bgettimeofday\b|\btime *\(' \
        "${pure[@]}"
    forbid "plan code has no floating point: every rank must get the same bits" \
        '\b(float|double|_Float[0-9]+|sqrt|log2?|pow|floor|ceil)\b|[0-9]\.[0-9]' src/plan/*.[ch] algorithms/*.[ch]
    forbid "pat/ knows nothing of algorithms" \
        '#include *["<].*(algorithms|plan|engine|model|check)\.h|\bpat_(plan|algorithm|engine|model)_' pat/*.[ch]
    forbid "what is made of results knows no MPI and no clock" \
        '#include *[<"](mpi|pat|clock|bench_clock|bench_wait|time|sys/time|pthread|threads)\.h|\bP?MPI_[A-Za-z]|\bclock_gettime\b' \
        bench/re{port,sults}/*.[ch]
    forbid "pure rooms know nothing of the engine" '#include *["<].*engine' "${pure[@]}"

    files=("${library[@]}")
    except src/engine/wire.c src/run/link.c pat/clock_sync.c pat/one_way.c pat/tell.c pat/timekeeper.c
    # A send to MPI_PROC_NULL moves nothing: it asks MPI's opinion of a datatype.
    forbid "only wire.c sends and receives (link.c, clock_sync.c, one_way.c and timekeeper.c measure, tell.c tells)" \
        '\bP?MPI_(I?[BbSsRr]?[Ss]end|I?[Mm]?[Rr]ecv|I?[Mm]?[Pp]robe|Sendrecv|Isendrecv|(Send|Bsend|Ssend|Rsend|Recv)_init|P(send|recv)_init|Put|R?get|R?put)(_replace)? *\((?!.*\bMPI_PROC_NULL\b)' \
        "${files[@]}"
    library+=(src/mockups/*.[ch]) # these may send
    forbid "mock-ups know MPI, and nothing of plans, of who runs them and of communicators' state" \
        '#include *[<"](pat|plan|algorithms|check|engine|wire|comm|runtime|config|calls|face|dropin)\.h|\bpat_(plan|rt|comm|engine)\b' \
        src/mockups/*.[ch]
    forbid "the library's own traffic uses PMPI_, not MPI_" '(^|[^A-Za-z0-9_])MPI_[A-Z][a-z][A-Za-z0-9_]* *\(' \
        "${library[@]}"
    forbid "a duplicate would run the user's attribute callbacks: PMPI_Comm_split" '\bP?MPI_Comm_i?dup' "${library[@]}"
    forbid "only the drop-in defines MPI_* functions" '^int MPI_[A-Z]' "${library[@]}"
    forbid "the drop-in calls PMPI_, or the next MPI_ by PAT_NEXT" \
        '^(?!int MPI_).*(^|[^A-Za-z0-9_])MPI_[A-Z][a-z][A-Za-z0-9_]* *\(' src/dropin/*.[ch]
    forbid "the preloaded file knows no MPI library" '#include *[<"](mpi|pat|dropin|calls|runtime)\.h|\bPMPI_[A-Za-z_]+ *\(' \
        src/dropin/gate*.[ch]
    forbid "the drop-in sends nothing of its own but its report" \
        '\bPMPI_(I?[BbSsRr]?[Ss]end|I?[Mm]?[Rr]ecv|Sendrecv|Put|R?get) *\(' src/dropin/*.[ch]
    files=("${library[@]}")
    except src/run/trace.c src/choose/explain.c src/log/log_read.c src/log/log_match.c # the last two into memory
    forbid "the library never prints (but for what PAT_TRACE and PAT_EXPLAIN ask for) and never exits" \
        '(^|[^A-Za-z0-9_])(f?printf|f?puts|perror|putchar|exit|_exit|abort|PMPI_Abort) *\(' "${files[@]}"
    forbid "a trace goes to its file, and nothing ends the program" \
        '(^|[^A-Za-z0-9_])(printf|f?puts|perror|putchar|exit|_exit|abort|PMPI_Abort) *\(|\bstd(out|err)\b' src/run/trace.[c]
    circles
    exit $broken
)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
check "$PAT_SOURCE" || exit 1

tree=$work/tree
empty_tree() {
    rm -rf "${tree:?}"
    mkdir -p "$tree"/{src/{base,plan,check,choose,rules,engine,run,face,mockups,dropin},pat,algorithms,bench/{shared,results,report,mini,calibrate}}
}
# caught FILE LINE: a tree in which FILE holds LINE must be refused.
caught() {
    empty_tree
    echo '/* MPI_Send( in a comment is nobody'"'"'s business */' >"$tree/$1"
    check "$tree" || {
        echo "FAIL: a comment was taken for code" >&2
        exit 1
    }
    echo "$2" >>"$tree/$1"
    if check "$tree" 2>/dev/null; then
        echo "FAIL: '$2' in $1 went unnoticed" >&2
        exit 1
    fi
}
caught algorithms/ring.c '#include <mpi.h>'
caught algorithms/ring.c '#include <time.h>'
caught algorithms/ring.c '#include "model.h"'
caught algorithms/ring.c '#include "collective.h"'
caught algorithms/ring.c '#include "../src/engine/engine.h"'
caught algorithms/ring.c 'double x;'
caught src/plan/plan.c 'int x = 0.5 * 3;'
caught src/plan/plan.c '#include "clock.h"'
caught src/check/model.c 'MPI_Comm comm;'
caught src/check/check.c '#include <pthread.h>'
caught src/check/model.c '#include "engine.h"'
caught src/rules/pace.c 'now = clock_gettime(a, &b);'
caught pat/thread.c '#include "algorithms.h"'
caught pat/exchange.c '#include "plan.h"'
caught pat/exchange.c 'PMPI_Isend(a, b);'
caught src/face/api.c 'PMPI_Recv(a, b);'
caught src/face/api.c 'PMPI_Sendrecv(a, b);'
caught src/face/api.c 'MPI_Barrier(comm);'
caught pat/clock_sync.c 'x = MPI_Wtime();'
caught src/run/comm.c 'PMPI_Comm_dup(a, &b);'
caught src/face/api.c 'printf("x");'
caught pat/place.c 'exit(1);'
caught src/face/api.c 'int MPI_Barrier(MPI_Comm comm)'
caught src/dropin/watch.c '    MPI_Barrier(comm);'
caught src/dropin/report.c 'PMPI_Send(a, b);'
caught src/dropin/gate.c '#include <mpi.h>'
caught src/dropin/gate_c.c 'PMPI_Comm_rank(a, &b);'
caught src/mockups/mock_scan.c '#include "runtime.h"'
caught src/mockups/mock_scan.c 'MPI_Scan(a, b);'
caught src/mockups/mock_scan.c 'printf("x");'
caught src/run/trace.c 'fprintf(stderr, "x");'
caught bench/report/bench_plot.c '#include <mpi.h>'
caught bench/results/bench_csv.c 'now = clock_gettime(a, &b);'

# with A:B...: a tree in which file A includes header B, for each of these.
with() {
    local pair
    empty_tree
    for pair in "$@"; do
        echo "#include \"${pair#*:}\"" >>"$tree/${pair%%:*}"
    done
}
# circle TEXT A:B...: such a tree must be refused with that text; without TEXT, it must not.
circle() {
    local text=$1 status=0
    shift
    with "$@"
    check "$tree" 2>"$tree/said" || status=$?
    if [ -n "$text" ] && ! { [ $status -ne 0 ] && grep -qF -e "$text" "$tree/said"; }; then
        echo "FAIL: includes $*: no word of '$text'" >&2
        exit 1
    elif [ -z "$text" ] && [ $status -ne 0 ]; then
        echo "FAIL: includes $*: refused: $(cat "$tree/said")" >&2
        exit 1
    fi
}
circle '' src/run/a.c:a.h src/run/a.h:b.h src/run/b.c:b.h src/run/c.c:a.h
circle 'src/run/a -> src/run/b' src/run/a.h:b.h src/run/b.c:a.h
circle 'src/run/a -> src/run/b' src/run/a.c:../run/b.h src/run/b.h:a.h
circle 'src/run/a -> src/run/b' src/run/a.h:b.h src/run/b.h:a.h
circle 'pat/b -> ' src/run/a.c:b.h pat/b.h:c.h algorithms/c.c:a.h src/run/a.h:d.h src/run/d.h:d.h
circle 'src/check/ -> ' src/check/a.h:b.h src/choose/b.c:c.h src/check/c.h:d.h
circle '' src/run/a.c:b.h src/run/b.h:c.h src/dropin/b.c:a.h src/run/a.h:c.h
circle 'bench/mini/a -> ' bench/mini/a.c:b.h bench/mini/b.h:c.h bench/mini/c.c:a.h
circle '' bench/mini/a.c:b.h bench/report/b.h:c.h bench/results/c.h:d.h
circle 'bench/report/ -> ' bench/report/a.c:b.h bench/results/b.h:c.h bench/results/c.c:d.h bench/report/d.h:e.h
circle 'knows another tool: bench/mini/b' bench/calibrate/a.c:b.h bench/mini/b.h:c.h
echo "every rule is kept, and every rule is watched"
