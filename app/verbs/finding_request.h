#pragma once

#include <string>

#include "app/verbs/inputs.h"
#include "core/session/findings/find_findings.h"

namespace sonde::app {

/// What verbs that look for findings are told.
struct FindingChoice {
    InputChoice inputs;
    std::string accepted;  ///< a file; empty: none
    std::size_t threads = 0;

    /// Adds --input-data, --accept, --seed and --threads; they are filled in when the command line is parsed.
    void addTo(CLI::App& command);
};

/// The request for a document: what the session file that it was opened by accepts, and before that what --accept does.
/// Inputs that nobody gave and that cannot be made up are no error: much can be found without a run.
base::Result<session::FindingRequest> findingRequest(const std::shared_ptr<const document::Document>& document,
                                                     const FindingChoice& choice);

}  // namespace sonde::app
