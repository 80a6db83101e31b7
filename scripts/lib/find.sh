# Sourced (POSIX sh): where the programs of the test servers are looked for.

# The places beside PATH where Debian and its relatives keep servers, as one text for messages.
find_places='PATH, /usr/lib/postgresql/*/bin, /usr/local/sbin, /usr/sbin'

# find_binary NAME: prints the program's path; fails if there is none.
find_binary() {
    if command -v "$1" 2>/dev/null; then
        return 0
    fi
    # Several versions of PostgreSQL can stand side by side: the newest wins.
    for find_candidate in $(printf '%s\n' /usr/lib/postgresql/*/bin | sort -t/ -k5,5nr) \
        /usr/local/sbin /usr/sbin; do
        if [ -x "$find_candidate/$1" ]; then
            printf '%s\n' "$find_candidate/$1"
            return 0
        fi
    done
    return 1
}

# find_missing NAME...: prints the programs that find_binary does not find, on one line.
find_missing() {
    find_absent=
    for find_name in "$@"; do
        find_binary "$find_name" >/dev/null || find_absent="$find_absent $find_name"
    done
    printf '%s\n' "${find_absent# }"
}
