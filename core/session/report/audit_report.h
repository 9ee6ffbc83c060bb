#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/session/findings/find_findings.h"
#include "core/session/report/report.h"

namespace sonde::session {

/// What a report is asked for.
struct AuditRequest {
    /// Inputs, acceptances, seed and threads. The first of the inputs is the one whose values are shown.
    FindingRequest findings;
    std::string inputData;                            ///< what that is, as it was given; empty: random numbers
    std::vector<graph::NodeId> watched;               ///< whose values are shown besides inputs and outputs
    std::vector<std::string> modules;                 ///< qualnames: drawn from inside, in the order of the tree
    std::shared_ptr<const document::Document> other;  ///< to compare with; null: nothing is compared
    bool measuresTimes = false;
    /// Draws the graph as an <svg>: whole at depth 1 for an empty qualname. Empty: `withoutPictures` says why.
    std::function<base::Result<std::string>(const std::string& qualname, const base::WorkContext& work)> picture;
    std::string withoutPictures;
};

/// Input data as they are named in a report: of files at absolute paths their names alone, as the folders are of the
/// machine and often of a person. "x:/home/a/b.npz#c;y:#rand(0,1)" becomes "x:b.npz#c;y:#rand(0,1)".
std::string withoutFolders(const std::string& inputData);

/// Looks at everything that a report is about, and puts it together. What cannot be had (the run fails, the whole graph
/// is too large to be drawn) is told in the report. Blocks, on any thread. Errors: Cancelled; a file of a model
/// changed; a module that cannot be drawn.
base::Result<Report> auditReport(const document::Document& document, const AuditRequest& request,
                                 const base::WorkContext& work = {});

}  // namespace sonde::session
