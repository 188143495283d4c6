#!/bin/bash
# Fail when a source file is not as clang-format would write it.
#
#   tools/check_format.sh ROOT [FILE]...
#
# Versions of clang-format disagree, so only Debian 12's counts; elsewhere the test is skipped.
set -euo pipefail
cd "$1"
shift
version=14
formatter=$(command -v "clang-format-$version" || command -v clang-format || true)
if [ -z "$formatter" ] || [[ $("$formatter" --version) != *"version $version."* ]]; then
    echo "no clang-format $version"
    exit 77
fi
if [ $# -eq 0 ]; then
    mapfile -t files < <(find rt dynamics io config tools tests \
        \( -name node_modules -o -path tools/subprojects \) -prune -o -name '*.[ch]' -print | sort)
    set -- "${files[@]}"
fi
[ $# -eq 0 ] || "$formatter" --dry-run -Werror "$@"
