#!/usr/bin/env bash
# Counts what Qt Test skipped in a log of ctest, by reason. ctest itself sees whole programs only, which pass.
#   ./installer/skipped.sh build/release/Testing/Temporary/LastTest.log
set -euo pipefail

# "SKIP   : tst_demand::TestDemand::archives(row) the reason"; a row's name may hold anything but ends where the reason begins.
awk '
    /^SKIP +: / {
        sub(/^SKIP +: [A-Za-z0-9_:]+\((.*\) |\) )/, "")
        count[$0]++
        total++
    }
    END {
        printf "%d test functions skipped%s\n", total, total ? ":" : ""
        for (reason in count) printf "  %s × %d\n", reason, count[reason] | "sort"
    }
' "$1"
