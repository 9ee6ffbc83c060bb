#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/exec/runner.h"

namespace sonde::session::gradient {

/// One operation that was done, with its values.
struct DoneOperation {
    const graph::Expr* expr = nullptr;
    std::unordered_map<graph::NodeId, tensor::Value> inputs;  ///< of each node that it reads
    std::vector<tensor::Value> outputs;                       ///< none: not known, because nobody reads it
};

/// A gradient is like the value that it is of: a tensor, or a list of gradients; none where it is zero.
using Gradients = std::unordered_map<graph::NodeId, tensor::Value>;

/// The gradients of those inputs of an operation that are wanted, given those of its outputs. ONNX operators by their
/// rules (core/passes/gradient.h); operators of PyTorch by the ONNX operators that they are exported as; lists by what
/// is put in and taken out. Computed on the values given, in their dtype. Errors (Usage): there is no rule, and why; of
/// the run.
base::Result<Gradients> operationGradient(const DoneOperation& operation, const std::vector<tensor::Value>& given,
                                          const std::unordered_set<graph::NodeId>& wanted, exec::Runner& runner,
                                          const base::WorkContext& work = {});

/// The same for what puts tensors into lists and takes them out; nothing for other operations.
std::optional<base::Result<Gradients>> structureGradient(const DoneOperation& operation,
                                                         const std::vector<tensor::Value>& given,
                                                         const std::unordered_set<graph::NodeId>& wanted);

/// Adds a gradient to another one of the same value; none counts as zero.
base::Result<void> addGradient(tensor::Value& sum, const tensor::Value& more);

}  // namespace sonde::session::gradient
