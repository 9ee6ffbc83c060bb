#pragma once

#include <string>
#include <vector>

#include "core/analysis/bisect.h"
#include "core/base/mapped_file.h"
#include "core/document/document_types.h"

namespace sonde::session::bisection {

/// One case of a reference file, by nodes.
struct ReferenceCase {
    std::string label;                      ///< "case1"; empty of a file with one
    std::vector<tensor::Value> inputs;      ///< in the order of the graph's
    analysis::BisectTarget::Values values;  ///< whole values outside of loops, by their sources
    base::MappedFiles files;
};

/// The case that is named behind '#', else the first that differs from what the document gives, else the first. Errors:
/// those of document::compareWithReference(); no such case, or it is a sequence of runs (Usage); the run of the case
/// failed.
base::Result<ReferenceCase> referenceCase(const document::Document& document, const std::string& path,
                                          const analysis::Tolerances& tolerances, exec::Runner& runner,
                                          const base::WorkContext& work);

}  // namespace sonde::session::bisection
