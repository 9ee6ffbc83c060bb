#pragma once

#include <string>
#include <vector>

#include "core/session/outputs/choice.h"
#include "core/session/session.h"

namespace CLI {
class App;
}

namespace sonde::app {

/// How the outputs of a run are shown, for verbs that are asked for more than their types.
struct OutputForms {
    std::vector<std::string> shows;  ///< [OUTPUT=]FORM[:OPTIONS]
    std::string labels, vocabulary;  ///< files

    /// Adds --show, --labels and --vocabulary; they are filled in when the command line is parsed.
    void addTo(CLI::App& command);
    bool isAsked() const { return !shows.empty() || !labels.empty() || !vocabulary.empty(); }
    /// Before anything is run. Errors: a text that is no choice, a file that cannot be read.
    base::Result<void> check() const;
    /// The outputs of the last run on standard output, each in its form: what the command line says takes the place of
    /// what a session file has. Errors (Usage): there is no such output; labels that no output has as many classes as.
    base::Result<void> print(const session::Session& session) const;

  private:
    base::Result<std::vector<session::outputs::Choice>> choicesFor(
        const document::Document& document, const std::vector<std::pair<std::string, graph::NodeId>>& names) const;
};

}  // namespace sonde::app
