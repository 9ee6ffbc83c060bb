#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/document/test_cases.h"
#include "core/io/inputs/inputs.h"
#include "core/session/load_and_run/options.h"

namespace sonde::session {

/// The values of one case by the names of the graph's inputs: those survive what an optimisation does to the graph.
using CaseValues = std::map<std::string, tensor::Value>;

/// What is run, and on what.
struct CaseInputs {
    document::TestCases tests;  ///< without checks for which no expected values are given
    std::vector<CaseValues> cases;
    std::vector<std::string> notes;  ///< "input mask: #rand(0,1)"
};

/// The cases of a document as the options choose them, else `given`; see loadAndRun() and LoadAndRunTask.
base::Result<CaseInputs> caseInputs(const document::Document& document, const LoadAndRunOptions& options,
                                    std::span<const io::InputCase> given = {});

/// The values in the order of the inputs of a graph.
std::vector<tensor::Value> valuesFor(const graph::InternalGraph& graph, const CaseValues& values);

/// Samples of axis 0, again from the first one after the last, until there are `count`. A scalar stays.
base::Result<tensor::Tensor> withBatch(const tensor::Tensor& tensor, std::int64_t count);

}  // namespace sonde::session
