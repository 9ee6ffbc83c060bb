#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/internal_graph.h"

namespace sonde::exporting {

/// How the outputs of an ONNX form compare with those of the model.
struct FormCheck {
    double maxAbsolute = 0;  ///< largest difference of all outputs
    /// The first output that is otherwise, in words: "gives other values as 'y': largest difference 0.5".
    std::optional<std::string> problem;
    bool areValues = false;  ///< it is, and only in its values
};

/// Values for the inputs of an ONNX form, which has those of the source's inputs that are tensors, under their names.
std::vector<tensor::Value> inputsOfForm(const graph::InternalGraph& source, std::span<const tensor::Value> values,
                                        const graph::InternalGraph& written);

/// Runs an ONNX form and compares its outputs with the model's, by element type within analysis::Tolerances. Errors:
/// the run's.
base::Result<FormCheck> checkForm(const std::shared_ptr<const graph::InternalGraph>& written,
                                  std::span<const tensor::Value> inputs, std::span<const tensor::Value> expected,
                                  std::span<const std::string> names, const base::WorkContext& work);

}  // namespace sonde::exporting
