# shellcheck shell=bash disable=SC2034,SC2154
# options.sh — what the options of the scripts here have in common. Sourced; the script sets name.

# What is measured must not depend on what lies in the user's store of calibrations: a calibration is one that is named.
export PAT_CALIBRATION=${PAT_CALIBRATION-none}

bad() {
    echo "$name: $*" >&2
    exit 2
}

whole() { # OPTION VALUE LEAST MOST
    if ! [[ $2 =~ ^(0|[1-9][0-9]{0,8})$ ]] || (($2 < $3 || $2 > $4)); then
        bad "$1 '$2': accepted: a whole number from $3 to $4"
    fi
}

bytes_per_rank() { # OPTION VALUE: sets bytes
    bytes=0
    [[ $2 =~ ^[1-9][0-9]{0,6}[KMkm]?$ ]] && bytes=$(numfmt --from=iec "${2^^}")
    if ((bytes < 4 || bytes > 4194304 || bytes % 4 != 0)); then
        bad "$1 '$2': accepted: bytes from 4 to 4M, a multiple of 4, with K or M for 1024 or 1024^2"
    fi
}
