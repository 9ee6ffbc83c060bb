#pragma once

#include <string>

#include "core/session/session.h"

namespace sonde::session {

/// How far the run with edits is from other values.
struct EditedComparison {
    std::string with;     ///< "resnet18.npz"; "case1 of resnet18.npz" where several cases are there and not all agree
    std::string first;    ///< the first node that differs; empty: none
    std::string summary;  ///< "3 of 40 values differ from resnet18.npz (with 2 edits)"
    std::size_t compared = 0, differing = 0;  ///< of an .npz in all its cases
    std::size_t edits = 0;
};

/// Compares the model with the edits that are switched on, run on the inputs of a reference file (.npz), or, with
/// another model, on those of the session's last run, as Comparison does without them. Edits of inputs count after
/// that; an edited value itself is compared as it is after its edits. The session stays as it is. Blocks. Errors
/// (Usage): those of editedDocument(), of edits that are made of values of the run; those of
/// document::compareWithReference(), document::open() and analysis::compareRuns().
base::Result<EditedComparison> compareEdited(const Session& session, const std::string& path,
                                             const base::WorkContext& work = {});

}  // namespace sonde::session
