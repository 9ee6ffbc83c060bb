#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/document/document.h"
#include "core/document/output_check.h"
#include "core/session/session.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sonde::app {

/// What a verb reads beside the model, and what it writes. No output may replace what is read, or another output.
struct VerbFiles {
    std::vector<std::pair<std::string_view, std::string>> outputs;  ///< option and path; an empty path is none
    std::vector<std::string> inputData = {};                        ///< further specifications of inputs
    bool mayReplaceModel = false;  ///< the first output is a model, and may take the place of the ONNX model it is of
};

/// Usage error: an output is one of the files that are read (document::checkOutput), or another output.
base::Result<void> checkOutputs(const VerbFiles& files, const std::vector<document::FileRead>& read);

/// What every verb that opens a model takes: MODEL and how to trace it.
struct ModelOptions {
    std::string model;
    document::OpenOptions open;
    std::vector<std::string> concrete;  ///< NAME=VALUE as given
    bool needsValues = true;            ///< false: a model whose data files are missing is of use, too
    bool makesEdits = false;            ///< the verb counts the edits of a session file; others warn that they do not

    /// Adds the arguments to a command; they are filled in when the command line is parsed.
    void addTo(CLI::App& command);
    /// Warns of each of them that is given, where no model is opened: "--tracer has no effect with --check".
    void tellUnused(const std::string& why) const;
    /// Opens the model, and tells its findings on standard error. `inputData`: what it is going to be run on, which is
    /// the example for tracers that run it if no other one was given. Usage error if an output is one of the files that
    /// are read (document::checkOutput), or another output.
    base::Result<std::shared_ptr<const document::Document>> load(const std::string& inputData = {},
                                                                 const VerbFiles& files = {});

  private:
    std::vector<const CLI::Option*> m_options;  ///< but for MODEL
};

/// Shows the document in the session; what was in the session file that it was opened by is there again, edits only
/// with `withEdits`, and what could not be found again is warned of.
void showIn(session::Session& session, std::shared_ptr<const document::Document> document, bool withEdits = false);

/// "--batch_size,--batch-size" of batch_size: an option of MegEngine is taken with underscores and with dashes. The
/// spelling of `name` is the first.
std::string bothSpellings(std::string_view name);

/// The originating module of a node for a table: its qualname, "(root)" or "-".
std::string qualnameText(const graph::InternalGraph& graph, graph::NodeId node);

}  // namespace sonde::app
