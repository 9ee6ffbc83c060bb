#!/usr/bin/env bash
# Sets everything up on Debian 12 and runs all tests: packages, build in build/release, ctest. Closes with the test functions
# that were skipped, counted by reason.
#   ./installer/test.sh            all tests
#   ./installer/test.sh ARG…       handed to ctest, e.g. -L core or -R tst_npz
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./installer/build.sh sonde-tests
log=build/release/Testing/Temporary/LastTest.log
rm -f "$log"
status=0
ctest --test-dir build/release -j2 --output-on-failure "$@" || status=$?
[ ! -f "$log" ] || ./installer/skipped.sh "$log"
exit "$status"
