#pragma once

#include <string>
#include <vector>

#include "core/analysis/tensor_stats.h"
#include "core/document/document_types.h"

namespace sonde::session {

/// An input, an output or a watched value of one run.
struct ReportedValue {
    std::string kind;  ///< "input", "output", "watched"
    std::string name, type;
    analysis::TensorStats stats;
    std::string sha256;  ///< of the elements in row-major order, as they are in memory; empty: it is no tensor
};

/// Runs the document on `inputs` (in the order of Document::inputs). Blocks. Errors: the run's.
base::Result<std::vector<ReportedValue>> reportedValues(const document::Document& document,
                                                        const std::vector<tensor::Value>& inputs,
                                                        const std::vector<graph::NodeId>& watched, std::uint64_t seed,
                                                        std::size_t threads, const base::WorkContext& work = {});

}  // namespace sonde::session
