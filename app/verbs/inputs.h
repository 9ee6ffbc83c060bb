#pragma once

#include <string>
#include <vector>

#include "core/document/document.h"
#include "core/io/inputs/inputs.h"

namespace sonde::app {

/// The values that a specification gives for a document's inputs, in the order of the graph's.
base::Result<std::vector<io::InputCase>> inputsFor(const document::Document& document, const std::string& spec,
                                                   std::uint64_t seed);

/// Nodes by the names of the command line.
base::Result<std::vector<graph::NodeId>> nodesFor(const document::Document& document, const std::vector<std::string>& names);

}  // namespace sonde::app
