#pragma once

#include <span>

#include "core/base/progress.h"
#include "core/document/test_cases.h"
#include "core/io/dump/export_options.h"

namespace sonde::exporting {

/// The model of a document as `options` optimise it, with the checks of `cases` on its outputs, for running the same
/// test cases: what a dump with these options would hold. The metadata has these options beside those of `cases`.
/// `example`: one value for each of document.inputs, for models that are run once to be written in ONNX operators.
/// Errors: those of makeDump().
base::Result<document::TestCases> optimisedCases(const document::Document& document, const document::TestCases& cases,
                                                 const io::dump::InferenceOptions& options,
                                                 std::span<const tensor::Value> example,
                                                 const base::WorkContext& work = {});

}  // namespace sonde::exporting
