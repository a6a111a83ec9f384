#!/usr/bin/env bash
# tool_rooms.sh — who may know whom. The text of the sources is held against the rules in CONTRIBUTING.md, comments
# taken out first. Then every rule is broken once in a copy of the tree, and this script must notice.
set -eu

# strip FILE: the text without comments; headers and macros stay as they are written.
strip() {
    "${CC:-cc}" -fpreprocessed -dD -E -P -x c "$1" 2>/dev/null
}

# forbid RULE REGEX FILE...: no line of these files may match.
forbid() {
    local rule=$1 regex=$2 file hits
    shift 2
    for file in "$@"; do
        [ -e "$file" ] || continue
        hits=$(strip "$file" | grep -P "$regex") || continue
        printf '%s: %s:\n%s\n' "$file" "$rule" "$hits" >&2
        broken=1
    done
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

# check TREE: status 0 when the tree keeps every rule.
check() (
    cd "$1"
    shopt -s nullglob
    broken=0
    pure=(src/plan*.[ch] src/collective.[ch] src/check*.[ch] src/model.[ch] src/bound.c src/profile.[ch] src/history.[ch] src/outlook.[ch] src/pace.[ch] algorithms/*.[ch])

    files=(algorithms/*.[ch])
    forbid "an algorithm includes only the plan, its own room and the plain C headers" \
        '#include *(<(mpi|pat|time|sys/.*|pthread|threads|signal|unistd|hwloc|math|stdio)\.h>|"(.*/|mpi|pat|[a-z]*(model|check|collective|engine|clock|thread|milestone|exchange|config|error)[a-z]*\.h))' \
        "${files[@]}"
    # In quotes it is only the name of a call.
    forbid "plans, algorithms, model, checker and pace know no MPI, no clock and no thread" \
        '#include *[<"](mpi|pat|clock|thread|exchange|milestone|engine|time|sys/time|pthread|threads)\.h|(?<!")\bP?MPI_[A-Za-z]|\bpthread_|\bclock_gettime\b|\bgettimeofday\b|\btime *\(' \
        "${pure[@]}"
    forbid "plan code has no floating point: every rank must get the same bits" \
        '\b(float|double|_Float[0-9]+|sqrt|log2?|pow|floor|ceil)\b|[0-9]\.[0-9]' src/plan*.[ch] algorithms/*.[ch]
    forbid "pat/ knows nothing of algorithms" \
        '#include *["<].*(algorithms|plan|engine|model|check)\.h|\bpat_(plan|algorithm|engine|model)_' pat/*.[ch]
    forbid "the model, the checker and plans know nothing of the engine" '#include *["<].*engine' "${pure[@]}"

    files=(src/*.c pat/*.c algorithms/*.c)
    except src/wire.c src/link.c pat/clock.c
    # A send to MPI_PROC_NULL moves nothing: it asks MPI's opinion of a datatype.
    forbid "only wire.c sends and receives (link.c and clock.c measure)" \
        '\bP?MPI_(I?[BbSsRr]?[Ss]end|I?[Mm]?[Rr]ecv|I?[Mm]?[Pp]robe|Sendrecv|Isendrecv|(Send|Bsend|Ssend|Rsend|Recv)_init|P(send|recv)_init|Put|R?get|R?put)(_replace)? *\((?!.*\bMPI_PROC_NULL\b)' \
        "${files[@]}"
    forbid "the library's own traffic uses PMPI_, not MPI_" '(^|[^A-Za-z0-9_])MPI_[A-Z][a-z][A-Za-z0-9_]* *\(' \
        src/*.[ch] pat/*.[ch] algorithms/*.[ch]
    forbid "a duplicate would run the user's attribute callbacks: PMPI_Comm_split" '\bP?MPI_Comm_i?dup' src/*.c pat/*.c
    forbid "only the drop-in defines MPI_* functions" '^int MPI_[A-Z]' src/*.c pat/*.c algorithms/*.c
    forbid "the drop-in calls PMPI_, or the next MPI_ by PAT_NEXT" \
        '^(?!int MPI_).*(^|[^A-Za-z0-9_])MPI_[A-Z][a-z][A-Za-z0-9_]* *\(' src/dropin/*.[ch]
    forbid "the preloaded file knows no MPI library" '#include *[<"](mpi|pat|dropin|calls|runtime)\.h|\bPMPI_[A-Za-z_]+ *\(' \
        src/dropin/gate*.[ch]
    forbid "the drop-in sends nothing of its own but its report" \
        '\bPMPI_(I?[BbSsRr]?[Ss]end|I?[Mm]?[Rr]ecv|Sendrecv|Put|R?get) *\(' src/dropin/*.[ch]
    files=(src/*.c pat/*.c algorithms/*.c)
    except src/trace.c src/explain.c
    forbid "the library never prints (but for what PAT_TRACE and PAT_EXPLAIN ask for) and never exits" \
        '(^|[^A-Za-z0-9_])(f?printf|f?puts|perror|putchar|exit|_exit|abort|PMPI_Abort) *\(' "${files[@]}"
    forbid "a trace goes to its file, and nothing ends the program" \
        '(^|[^A-Za-z0-9_])(printf|f?puts|perror|putchar|exit|_exit|abort|PMPI_Abort) *\(|\bstd(out|err)\b' src/trace.c
    exit $broken
)

check "$PAT_SOURCE" || exit 1

# caught FILE LINE: a tree in which FILE holds LINE must be refused.
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
caught() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree/src/dropin" "$tree/pat" "$tree/algorithms"
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
caught algorithms/ring.c '#include "../src/engine.h"'
caught algorithms/ring.c 'double x;'
caught src/plan.c 'int x = 0.5 * 3;'
caught src/plan.c '#include "clock.h"'
caught src/model.c 'MPI_Comm comm;'
caught src/check.c '#include <pthread.h>'
caught src/model.c '#include "engine.h"'
caught src/pace.c 'now = clock_gettime(a, &b);'
caught pat/thread.c '#include "algorithms.h"'
caught pat/exchange.c '#include "plan.h"'
caught pat/exchange.c 'PMPI_Isend(a, b);'
caught src/api.c 'PMPI_Recv(a, b);'
caught src/api.c 'PMPI_Sendrecv(a, b);'
caught src/api.c 'MPI_Barrier(comm);'
caught pat/clock.c 'x = MPI_Wtime();'
caught src/comm.c 'PMPI_Comm_dup(a, &b);'
caught src/api.c 'printf("x");'
caught pat/place.c 'exit(1);'
caught src/api.c 'int MPI_Barrier(MPI_Comm comm)'
caught src/dropin/watch.c '    MPI_Barrier(comm);'
caught src/dropin/report.c 'PMPI_Send(a, b);'
caught src/dropin/gate.c '#include <mpi.h>'
caught src/dropin/gate_c.c 'PMPI_Comm_rank(a, &b);'
caught src/trace.c 'fprintf(stderr, "x");'
echo "every rule is kept, and every rule is watched"
