#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/findings/finding.h"
#include "core/base/result.h"
#include "core/io/session_file/session_file.h"

namespace sonde::session {

/// Somebody looked at a finding and says why the model may stay as it is.
struct Acceptance {
    std::string id;
    std::optional<std::vector<std::string>> nodes;  ///< none: every finding of the id
    std::string reason;                             ///< never empty

    /// All that the finding names is accepted.
    bool covers(const graph::InternalGraph& graph, const analysis::Finding& finding) const;
};

/// The key of a session file with a list of acceptances. Files keep keys that readers of them do not know, so that
/// older versions do not lose it.
inline constexpr const char* kAcceptedFindingsKey = "accepted_findings";

/// The text of a file of acceptances (help page "Auditing a model"):
/// {"format":"sonde-accepted","version":1,"accepted":[{"id","nodes","reason"}…]}.
/// Errors (Unreadable): no JSON, with the position; a key that is missing, unknown or of a wrong type, an id that no
/// checker has, an empty reason, with its path: "accepted[3].reason".
base::Result<std::vector<Acceptance>> parseAcceptances(std::string_view text);
base::Result<std::vector<Acceptance>> readAcceptances(const std::filesystem::path& path);
/// Those of a session file; the same errors.
base::Result<std::vector<Acceptance>> acceptancesOf(const io::SessionFile& file);
/// Puts them into a session file, in place of those it has.
void storeAcceptances(io::SessionFile& file, const std::vector<Acceptance>& acceptances);

}  // namespace sonde::session
