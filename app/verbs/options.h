#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/document/document.h"

namespace CLI {
class App;
}

namespace sonde::app {

/// What every verb that opens a model takes: MODEL and how to trace it.
struct ModelOptions {
    std::string model;
    document::OpenOptions open;
    std::vector<std::string> concrete;  ///< NAME=VALUE as given

    /// Adds the arguments to a command; they are filled in when the command line is parsed.
    void addTo(CLI::App& command);
    /// Opens the model, and tells its findings on standard error. `inputData`: what it is going to be run on, which is
    /// the example for tracers that run it if no other one was given.
    base::Result<std::shared_ptr<const document::Document>> load(const std::string& inputData = {});
};

/// The originating module of a node for a table: its qualname, "(root)" or "-".
std::string qualnameText(const graph::InternalGraph& graph, graph::NodeId node);

}  // namespace sonde::app
