#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/document/document.h"
#include "core/exec/recording.h"

namespace sonde::session {

/// What came of comparing a run's outputs with those of the model's own code.
struct OwnCodeCheck {
    std::optional<base::Error> error;  ///< they differ: the graph is not what the model computes
    std::string doubt;  ///< why they could not be compared; empty if they could, or random numbers decide
};

/// A graph is made by following what the model's code does to memory. Where that went wrong, its values are wrong
/// without a sign; so whoever runs it for the first time on inputs of these types compares. `outputs`: of the graph.
OwnCodeCheck checkWithOwnCode(const document::OwnCode& code, std::span<const tensor::Value> inputs,
                              std::span<const tensor::Value> outputs, const base::WorkContext& work);

/// What is to be told of a doubt.
inline std::string doubtText(std::string doubt) {
    std::ranges::replace(doubt, '\n', ' ');
    return "the values could not be compared with those of the model's own code: " + doubt;
}

}  // namespace sonde::session
