#pragma once

#include <optional>

#include "core/base/result.h"

namespace sonde::session {
class Session;
}

namespace sonde::context {

/// Why nothing can be computed on the session's inputs: the first that has no value, and what to do. Nothing if all
/// have one.
std::optional<base::Error> missingInput(const session::Session& session);

}  // namespace sonde::context
