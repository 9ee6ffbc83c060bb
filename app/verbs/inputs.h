#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/document/document.h"
#include "core/io/inputs/inputs.h"

namespace CLI {
class App;
}

namespace sonde::app {

/// What verbs that run a model are told about its inputs.
struct InputChoice {
    std::string spec;
    std::string image = "bgr";  ///< name of an io::ImagePreset
    std::optional<std::uint64_t> seed = {};

    /// Adds --input-data and --image; they are filled in when the command line is parsed.
    void addTo(CLI::App& command);
};

/// "sonde: warning: WHAT (WHERE)" on standard error, with control characters made visible.
void printWarning(const std::string& what, const std::string& where = {});
/// "sonde: note: …" likewise, a line for each.
void printNotes(const std::vector<std::string>& notes);

/// The seed that is given, else that of the session file that the document was opened by, else 0.
std::uint64_t seedOf(const document::Document& document, const InputChoice& choice);
/// The values that a choice gives for a document's inputs, in the order of the graph's. Without --input-data those of
/// the session file that the document was opened by.
base::Result<std::vector<io::InputCase>> inputsFor(const document::Document& document, const InputChoice& choice);

/// Nodes by the names of the command line; of a module ("QUALNAME:") all that it returns.
base::Result<std::vector<graph::NodeId>> nodesFor(const document::Document& document,
                                                  const std::vector<std::string>& names);

}  // namespace sonde::app
