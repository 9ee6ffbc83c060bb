#pragma once

#include <functional>

#include "core/document/document.h"
#include "core/expression/expression.h"

namespace sonde::session {

/// The names of an expression as nodes of a model: "conv1", or in backticks whatever Document::findNode() takes, `#12`
/// and `layer1.0:` among it. `value` returns null for nodes whose values are not known: an error of that name. Both
/// are used whenever a name is resolved.
expression::Names nodeNames(const document::Document& document,
                            std::function<const tensor::Value*(graph::NodeId)> value);

}  // namespace sonde::session
