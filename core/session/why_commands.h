#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "core/session/debug/command_words.h"
#include "core/session/session.h"
#include "core/session/why/place_text.h"

namespace sonde::session {

/// The commands `why NODE[INDEX] [COUNT]` and `field NODE[INDEX]`: `words` is what follows the name of the command.
/// What the element is made of in the debugged run, or which elements of the inputs reach it, is added to the answer.
/// What is wrong, with the column in the line, if it cannot be done.
std::optional<why::PlaceProblem> answerWhy(Session& session, const debug::Words& words, nlohmann::ordered_json& answer);
std::optional<why::PlaceProblem> answerField(Session& session, const debug::Words& words,
                                             nlohmann::ordered_json& answer);
/// The commands `contributions NODE[INDEX] [COUNT]` and `chain NODE[INDEX] [against FILE|baseline|none]` likewise: how
/// large a part the elements of the inputs have in the element, and the terms that differ most from the reference, or
/// the largest ones, one after the other.
std::optional<why::PlaceProblem> answerContributions(Session& session, const debug::Words& words,
                                                     nlohmann::ordered_json& answer);
std::optional<why::PlaceProblem> answerChain(Session& session, const debug::Words& words,
                                             nlohmann::ordered_json& answer);

}  // namespace sonde::session
