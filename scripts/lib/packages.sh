# Sourced by scripts/test (bash): what must be there before anything is built.

require_cargo() {
    if ! command -v cargo >/dev/null; then
        say 'cargo is missing: install a Rust toolchain (https://rustup.rs) and try again'
        exit 1
    fi
}

# server_programs_of KIND: the programs that its script needs.
server_programs_of() {
    (. "scripts/lib/servers/$1.sh" && printf '%s\n' "$server_programs")
}

# require_programs SERVER...: the lines of the table whose servers are to be started. Installs what
# is missing, or says how to.
require_programs() {
    local packages complaints line
    look_for_programs "$@"
    if [ ${#packages[@]} -gt 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        for line in "${complaints[@]}"; do
            say "$line; installing it"
        done
        install_packages "${packages[@]}" || say 'the installation failed, see above'
        look_for_programs "$@"
    fi
    if [ ${#packages[@]} -gt 0 ]; then
        say 'cannot run the tests:'
        for line in "${complaints[@]}"; do
            say "  $line"
        done
        say "install them: as root, apt-get install ${packages[*]} (or your system's packages)"
        say 'or use running servers, or --embedded-only: see scripts/test -h'
        exit 1
    fi
}

# Sets the caller's packages and complaints.
look_for_programs() {
    local server kind name package missing
    packages=()
    complaints=()
    # For SQLite, which is built from its source; and Rust links with it.
    if ! command -v cc >/dev/null; then
        packages+=(gcc libc6-dev)
        complaints+=('the C compiler is missing: cc (looked in PATH)')
    fi
    for server in "$@"; do
        IFS='|' read -r kind name package _ <<<"$server"
        # shellcheck disable=SC2046 # a list of words
        missing=$(find_missing $(server_programs_of "$kind"))
        if [ -n "$missing" ]; then
            packages+=("$package")
            complaints+=("$name is missing: $missing (looked in $find_places)")
        fi
    done
}

# Debian asks this file whether a service may be started. Empty unless we have made it.
service_policy=

forget_service_policy() {
    if [ -n "$service_policy" ]; then
        rm -f "$service_policy"
        service_policy=
    fi
}

# Without starting the services that Debian's packages start when they are installed: the tests have
# servers of their own, and nothing shall be left running.
install_packages() {
    local policy=/usr/sbin/policy-rc.d status=0
    if [ ! -e "$policy" ]; then
        service_policy=$policy
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod 755 "$policy"
    fi
    export DEBIAN_FRONTEND=noninteractive
    { apt-get -qq update && apt-get -qq -y install --no-install-recommends "$@"; } \
        </dev/null >&2 || status=$?
    forget_service_policy
    return "$status"
}
