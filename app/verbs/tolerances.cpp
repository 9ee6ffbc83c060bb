#include "app/verbs/tolerances.h"

#include <CLI/CLI.hpp>

#include "app/verbs/validators.h"

namespace sonde::app {

void ToleranceChoice::addTo(CLI::App& command) {
    command
        .add_option(
            "--rtol", relative,
            "Allow ATOL + RTOL * |reference| in every element of a float (not given: 0.001); integers and bools are "
            "equal. Without --rtol and --atol each dtype has its tolerance: of the largest magnitude of a value "
            "float32 1e-4, float16 1e-2, bfloat16 8e-2, float64 1e-10; equal mask values (beyond 1/16 of the dtype's "
            "maximum) do not count as largest")
        ->check(finiteFromZero("tolerance"));
    command
        .add_option("--atol", absolute,
                    "See --rtol (not given: 0.0001). Integers may also differ by this (not given: 0)")
        ->check(finiteFromZero("tolerance"));
}

analysis::Tolerances ToleranceChoice::tolerances() const {
    analysis::Tolerances tolerances;
    if (!relative && !absolute) return tolerances;
    tolerances.fixed = analysis::Tolerance{};
    if (relative) tolerances.fixed->relative = *relative;
    if (absolute) tolerances.fixed->absolute = *absolute;
    tolerances.integers = analysis::Tolerance{0, absolute.value_or(0)};
    return tolerances;
}

}  // namespace sonde::app
