# Sourced by the scripts of tools/: where the tree is, and how they speak.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
deps=$root/build-deps

# Prints the comment at the top of the calling script.
usage() {
    sed -n '2,/^set/{/^set/d;s/^# \?//p}' "$0"
}

# Prints the build directory of kind $1 (see tools/build).
directory_of() {
    if [ "$1" = plain ]; then
        echo "$root/build"
    else
        echo "$root/build-$1"
    fi
}

say() {
    echo "${0##*/}: $*"
}

# Runs a command that others wrote without privileges: root becomes nobody, who owns nothing here, and
# nothing that it starts gets more.
unprivileged() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid=nobody --regid=nogroup --clear-groups --no-new-privs --inh-caps=-all \
            env HOME=/nonexistent "$@"
    else
        "$@"
    fi
}

# Set-up cannot go on: one line that says what to do, exit 2.
fail() {
    echo "${0##*/}: $*" >&2
    exit 2
}
