#pragma once

#include <string>

#include "core/graph/internal_graph.h"
#include "core/tensor/tensor.h"

namespace sonde::session::diff {

/// What a stored tensor is for, whatever it is called and however its file writes it.
enum class ParameterRole {
    Unknown,
    Matrix,  ///< kernels and matrices
    Scale,   ///< one factor for each channel
    Shift,   ///< a bias
    Mean,
    Variance
};

/// By its name where that says it ("bn1.running_mean"), else by the operation that reads it. `node` is none of a tensor
/// that nothing reads.
ParameterRole parameterRole(const graph::InternalGraph& graph, graph::NodeId node, const std::string& name,
                            const tensor::Tensor& value);

}  // namespace sonde::session::diff
