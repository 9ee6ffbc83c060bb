#pragma once

#include <vector>

#include "core/document/document_types.h"

namespace sonde::session {

/// Values in the order of Document::inputs in that of the graph's inputs, none for what is not given.
std::vector<tensor::Value> inGraphOrder(const document::Document& document, const std::vector<tensor::Value>& values);

/// The second model's values, in the order of its inputs, for what the first is given: by name if all of its names are
/// in both, else by position.
std::vector<tensor::Value> valuesForSecond(const document::Document& first, const document::Document& second,
                                           const std::vector<tensor::Value>& values);

}  // namespace sonde::session
