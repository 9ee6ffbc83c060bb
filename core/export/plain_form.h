#pragma once

#include <memory>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/internal_graph.h"

namespace sonde::exporting {

/// The graph of a dump in the operators of the model (dump.md, "The unoptimised graph"): each ConvBias is the
/// convolution, the sum and the activation that it stands for, on tensors that are not in blocks; float16 is float32.
/// Every node keeps its name and shape, also one in blocks, so that both graphs can be compared node by node. What the
/// graph does not tell stays as it is: weights that were rounded to float16 or took in a norm, operations that were
/// removed. Errors: a packing or weights that the file has wrong.
base::Result<std::shared_ptr<graph::InternalGraph>> plainForm(const graph::InternalGraph& graph,
                                                              const base::WorkContext& work = {});

}  // namespace sonde::exporting
