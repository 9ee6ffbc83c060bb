#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/document/document_types.h"
#include "core/session/diff/graph_pairs.h"

namespace sonde::session {

/// A parameter or buffer that one model has.
struct ParameterRef {
    std::string name;
    graph::NodeId node;  ///< of that model's graph; none if nothing reads it
};

/// A parameter or buffer that both models have.
struct ParameterChange {
    std::string name;                      ///< in the first model
    std::string otherName;                 ///< in the second, if it is another one; else empty
    graph::NodeId a, b;                    ///< in the graphs; none if nothing reads it
    std::optional<double> maxAbs, maxRel;  ///< see analysis::Difference; none: they cannot be compared by element
    std::string what;                      ///< "shape: [64,3] -> [64,4]", "float32 -> float16"; may be empty
};

/// What only one model has, or has otherwise, and what is no difference of what the models compute.
struct ParameterNote {
    std::string name;
    graph::NodeId node;  ///< none if nothing reads it
    bool isOfSecond = false;
    std::string what;  ///< "a buffer that nothing reads"
};

/// How the parameters and buffers of two models differ.
struct ParameterDiff {
    std::vector<ParameterRef> added, removed;
    std::vector<ParameterChange> changed;
    std::vector<std::pair<graph::NodeId, graph::NodeId>> pairs;  ///< of both graphs, equal or not
    std::size_t equal = 0, renamed = 0;                          ///< to the last bit; `renamed` of all pairs
    std::size_t rounded = 0;  ///< equal but for rounding: convolutions that have a normalisation folded into them
    std::vector<ParameterNote> notes;  ///< no differences

    bool isEqual() const { return added.empty() && removed.empty() && changed.empty(); }
};

/// Pairs by name, as exporters are known to repack them (diff::repackedWeights), by the operations that read them, and
/// by equal elements (of a matrix also transposed, of others also with other dimensions of 1); never a weight with a
/// bias (diff::ParameterRole). Matrices are compared as the products read them (diff::isOutputFirst). Tied ones once.
/// Buffers that nothing reads (num_batches_tracked), and between two vocabularies further copies of a paired tensor,
/// are notes. Blocks; reads all weights. Error: Cancelled.
base::Result<ParameterDiff> parameterDiff(const document::Document& first, const document::Document& second,
                                          const GraphPairs& pairs, const base::WorkContext& work = {});

}  // namespace sonde::session
