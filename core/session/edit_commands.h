#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "core/session/debug/command_words.h"
#include "core/session/session.h"

namespace sonde::session {

using debug::Words;

/// Why a command was not done, and where in the line that is.
struct CommandError {
    base::Error error;
    std::size_t column = 1;
};

// Commands of `sonde debug` about edits: each reads the rest of its line and writes keys of the answer. Without errors
// nothing is returned.

/// set NODE[SLICE] = EXPRESSION, if `isSet`; else edit NODE[SLICE] OPERATION.
std::optional<CommandError> editValue(Session& session, Words& words, bool isSet, nlohmann::ordered_json& answer,
                                      const base::WorkContext& work);
std::optional<CommandError> undoEdit(Session& session, Words& words, nlohmann::ordered_json& answer);
std::optional<CommandError> redoEdit(Session& session, Words& words, nlohmann::ordered_json& answer);
/// edits; edits on N, off N or remove N, where N counts from 1.
std::optional<CommandError> listEdits(Session& session, Words& words, nlohmann::ordered_json& answer,
                                      const base::WorkContext& work);
/// baseline EXPRESSION: of the values without edits.
std::optional<CommandError> printBaseline(Session& session, Words& words, nlohmann::ordered_json& answer,
                                          const base::WorkContext& work);
/// difference NODE: how far its value is from the one without edits.
std::optional<CommandError> printDifference(Session& session, Words& words, nlohmann::ordered_json& answer,
                                            const base::WorkContext& work);

}  // namespace sonde::session
