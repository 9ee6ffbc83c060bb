#pragma once

#include <vector>

#include "core/document/document_types.h"
#include "core/passes/pass.h"

namespace sonde::document {

/// Computes operators for passes with the engine's kernels; refuses random ones.
passes::Evaluate passEvaluator();

/// Runs both graphs on given inputs (one list of values for each case) and compares their outputs: |a - b| <= 1e-4 +
/// 1e-4 |b|. Says "not known" where the graph before cannot be run on them.
decltype(passes::PassContext::compare) outputComparer(std::vector<std::vector<tensor::Value>> cases,
                                                      const base::WorkContext& work = {});

/// Runs OpenOptions::passes on the document's graph and keeps the graph before and the reports. Each pass is verified
/// on OpenOptions::inputData, or on random numbers where the types of all inputs are known. Outputs keep their names.
base::Result<void> applyPasses(Document& document, const OpenOptions& options, const base::WorkContext& work);

}  // namespace sonde::document
