#!/usr/bin/env bash
# Sets everything up on Debian 12 and runs all tests: packages, build in build/release, ctest.
#   ./installer/test.sh            all tests
#   ./installer/test.sh ARG…       handed to ctest, e.g. -L core or -R tst_npz
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./installer/build.sh
ctest --test-dir build/release -j2 --output-on-failure "$@"
