#pragma once

#include <optional>
#include <string>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/ops/dependence/dependence.h"

namespace sonde::session::why {

/// The value of a formula over its terms, in float64. Errors: as expression::evaluate().
base::Result<double> recombined(const ops::Dependence& dependence, const base::WorkContext& work = {});

/// The formula with numbers in place of names; what is computed of many elements becomes the number that it gives:
/// "3.42 + 0.1". Names that stay are those of arrays that no function reduces.
std::string withNumbers(const ops::Dependence& dependence, const base::WorkContext& work = {});

}  // namespace sonde::session::why
