#pragma once

#include <string>
#include <vector>

namespace sonde::base {

/// What went wrong, in the terms of the exit status that a command line returns for it.
enum class ErrorKind {
    Comparison = 1,  ///< values differ
    Usage = 2,       ///< wrong arguments
    Unreadable = 3,  ///< the model cannot be read or is not supported
    Run = 4,         ///< an operator failed while running
    Cancelled = 5,   ///< stopped by the user
};

/// One failure, told to a person: what, where, and what to do about it.
struct Error {
    ErrorKind kind = ErrorKind::Unreadable;
    std::string what;   ///< one sentence without a full stop
    std::string where;  ///< file, node, byte offset …; may be empty
    std::string hint;   ///< what to do; may be empty
    std::vector<std::string>
        notes;  ///< context from the inside out: "while running relu_1 (layer1.0.relu), float32[1,64]"

    /// "WHAT (WHERE)", then one line per note.
    std::string text() const;
    /// The exact lines of the command line contract: `sonde: error: WHAT (WHERE)` and, if any, `hint: …`.
    std::string commandLineText() const;
    int exitStatus() const { return static_cast<int>(kind); }

    Error& at(std::string place) {
        where = std::move(place);
        return *this;
    }
    Error& withHint(std::string text) {
        hint = std::move(text);
        return *this;
    }
    Error& withNote(std::string text) {
        notes.push_back(std::move(text));
        return *this;
    }
};

Error usageError(std::string what, std::string where = {}, std::string hint = {});
Error unreadable(std::string what, std::string where = {}, std::string hint = {});
Error runError(std::string what, std::string where = {}, std::string hint = {});
Error cancelled(std::string where = {});

}  // namespace sonde::base
