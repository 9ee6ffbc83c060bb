#pragma once

#include <string_view>

#include "core/session/node_names.h"
#include "core/session/session.h"

namespace sonde::session {

/// Computes an expression of the values of the last run, weights and given inputs (Values::of; inside loops the last
/// ones). Those that the run passed but did not keep are requested (Values::request): with an executor that has threads
/// they are an error until they have arrived. The result may share memory with them. Errors: as expression::parse() and
/// expression::evaluate(), with the column; Usage without a document.
base::Result<tensor::Value> evaluate(Session& session, std::string_view text, const base::WorkContext& work = {});

}  // namespace sonde::session
