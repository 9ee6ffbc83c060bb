#!/usr/bin/env bash
# Installs what is missing and builds in build/release: everything, or the named targets. Used by start.sh and test.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./installer/deps.sh
if [ ! -f build/release/build.ninja ]; then
    echo "Configuring build/release" >&2
    mkdir -p build
    cmake --preset release >build/configure.log 2>&1 || { cat build/configure.log >&2; exit 1; }
fi
# ccache learns from the compiler what a source includes, and need not run the preprocessor before it.
[ -n "${CCACHE_NODEPEND-}" ] || export CCACHE_DEPEND=1
cmake --build --preset release ${1+--target "$@"}
