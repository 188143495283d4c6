# Sourced by the scripts of tools/: where the tree is, and how they speak.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
deps=$root/build-deps

say() {
    echo "${0##*/}: $*"
}

# Set-up cannot go on: one line that says what to do, exit 2.
fail() {
    echo "${0##*/}: $*" >&2
    exit 2
}
