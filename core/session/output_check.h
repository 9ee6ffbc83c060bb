#pragma once

#include <filesystem>
#include <vector>

#include "core/document/output_check.h"
#include "core/session/session.h"

namespace sonde::session {

/// The files that a session reads: the model, its inputs, the reference that it is compared with.
std::vector<document::FileRead> filesRead(const Session& session);

/// Error (Usage): writing `output` would destroy one of them. See document::checkOutput().
base::Result<void> checkOutput(const Session& session, const std::filesystem::path& output);

}  // namespace sonde::session
