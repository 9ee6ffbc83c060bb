#pragma once

#include <memory>
#include <vector>

#include "core/graph/internal_graph.h"
#include "core/tensor/dim_size_hint.h"

namespace sonde::document {

/// Sizes of the open dimensions of the inputs that a first run should take, in the order of graph.inputs(), where those
/// that it would take (io::usualShape) are refused by operators: 1 element is less than the kernel of a convolution
/// covers. Tries powers of two, first for one dimension alone, those of one symbol together. Empty if the usual sizes
/// fit, if nothing is open, or if none is better. Takes time by the size of the graph for each try, of 200,000
/// operations at most; graphs of more than 20,000 operations are left as they are. Worked out once for a graph, on the
/// thread that opens it; on any thread.
std::vector<tensor::DimSizeHints> fittingSizes(const std::shared_ptr<const graph::InternalGraph>& graph);

}  // namespace sonde::document
