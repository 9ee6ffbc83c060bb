#pragma once

#include <string_view>
#include <vector>

#include "core/document/trace_request.h"

namespace sonde::document {

/// A way to make a graph of a module. One entry in the table in tracers.cpp for each.
struct TracerInfo {
    std::string_view id;           ///< "module-path": the value of --tracer
    std::string_view name;         ///< "Module path"
    std::string_view description;  ///< help text
    base::Result<TracedGraph> (*trace)(const TraceRequest& request);
};
const std::vector<TracerInfo>& tracers();

/// The entry of that id; of an empty id the one that is used when nothing is said. Usage error: there is none.
base::Result<const TracerInfo*> findTracer(std::string_view id);

}  // namespace sonde::document
