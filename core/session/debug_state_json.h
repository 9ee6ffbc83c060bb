#pragma once

#include <nlohmann/json.hpp>

#include "core/session/session.h"

namespace sonde::session {

/// What every answer of DebugCommands says: "state", "current", the place and why the run stopped there, and what
/// watched nodes and expressions have by now.
nlohmann::ordered_json debugStateJson(Session& session, const base::WorkContext& work);

/// Adds what log points have written since this was last called.
void addLogTo(nlohmann::ordered_json& answer, Session& session);

}  // namespace sonde::session
