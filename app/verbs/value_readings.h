#pragma once

#include <string>
#include <vector>

#include "core/session/session.h"

namespace CLI {
class App;
}

namespace sonde::app {

/// What a verb that runs a model is told about ways to read its values: NODE=READING.
struct ValueReadingChoice {
    std::vector<std::string> reads;

    /// Adds --read; it is filled in when the command line is parsed.
    void addTo(CLI::App& command);
    /// Has the values kept that are to be read. Usage error: no such node, or nothing that says how to read it.
    base::Result<void> watch(session::Session& session) const;
    /// Prints the lines of each, after a run. `vocabulary`: a file with the tokens; empty: those of the inputs, or of a
    /// file beside the model. Usage error: a value cannot be read so.
    base::Result<void> print(const session::Session& session, const std::string& vocabulary) const;
};

}  // namespace sonde::app
