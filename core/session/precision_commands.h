#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "core/session/debug/command_words.h"
#include "core/session/session.h"
#include "core/session/why/place_text.h"

namespace sonde::session {

/// The command `precision TYPE [QUERY]`: runs the model, with its edits, on its present inputs as it is and rounding to
/// the type, and adds how far both are from each other to the answer. What is wrong, with the column in the line, if
/// that cannot be done.
std::optional<why::PlaceProblem> answerPrecision(Session& session, debug::Words& words, nlohmann::ordered_json& answer,
                                                 const base::WorkContext& work);

}  // namespace sonde::session
