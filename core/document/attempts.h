#pragma once

// What was tried with modules that could not be traced: findings of a document.

#include <string>
#include <string_view>
#include <vector>

#include "core/document/trace_request.h"
#include "core/trace/attempt.h"

namespace sonde::trace {
class RobustTracer;
}

namespace sonde::document {

/// A finding for each attempt at the module.
void addAttempts(base::Diagnostics& diagnostics, const std::string& qualname,
                 const std::vector<trace::Attempt>& attempts);
/// The same for each module below the root that the tree says has failed.
void addAttempts(TracedGraph& traced, trace::Module& root, const trace::RobustTracer& tracer);
/// The attempts at a module, in order: "trace its forward as part of Net: TraceError: …". Text of the document; empty
/// if the module was traced.
std::vector<std::string_view> triedWith(const Document& document, std::string_view qualname);

}  // namespace sonde::document
