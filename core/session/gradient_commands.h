#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "core/session/debug/command_words.h"
#include "core/session/session.h"
#include "core/session/why/place_text.h"

namespace sonde::session {

/// The command `gradient [NODE[INDEX]] [to NODE]… [save FILE]`: `words` is what follows the name of the command. The
/// gradients in the debugged run are added to the answer. What is wrong, with the column in the line, if that cannot be
/// done.
std::optional<why::PlaceProblem> answerGradient(Session& session, debug::Words& words, nlohmann::ordered_json& answer);

}  // namespace sonde::session
