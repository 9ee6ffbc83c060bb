#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/tensor/value.h"

namespace sonde::document {

/// What a model's own code gives, to be compared with what its graph gives.
struct OwnOutputs {
    std::vector<tensor::Value> values;  ///< in order, out of all of the code's containers
    std::string reason;                 ///< why there are none: what the code raised, or what is not supported
    bool isRandom = false;              ///< there are none because random numbers decide
};

/// Runs the model's own code, without a graph, on values of the document's inputs, in their order. Run error: the code
/// calls an operator that is not known. One call at a time.
using OwnCode =
    std::function<base::Result<OwnOutputs>(std::span<const tensor::Value> inputs, const base::WorkContext& work)>;

}  // namespace sonde::document
