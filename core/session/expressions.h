#pragma once

#include <functional>
#include <string_view>

#include "core/expression/expression.h"
#include "core/session/session.h"

namespace sonde::session {

/// The names of an expression as nodes of a model: "conv1", or in backticks whatever Document::findNode() takes, `#12`
/// and `layer1.0:` among it. `value` returns null for nodes whose values are not known: an error of that name. Both
/// are used whenever a name is resolved.
expression::Names nodeNames(const document::Document& document,
                            std::function<const tensor::Value*(graph::NodeId)> value);

/// Computes an expression of the values of the last run, weights and given inputs (Values::of; inside loops the last
/// ones). Those that the run passed but did not keep are requested (Values::request): with an executor that has threads
/// they are an error until they have arrived. The result may share memory with them. Errors: as expression::parse() and
/// expression::evaluate(), with the column; Usage without a document.
base::Result<tensor::Value> evaluate(Session& session, std::string_view text, const base::WorkContext& work = {});

}  // namespace sonde::session
