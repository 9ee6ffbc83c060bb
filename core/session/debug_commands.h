#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/session/session.h"

namespace sonde::session {

/// A command of DebugCommands, for help.
struct DebugCommandInfo {
    std::string_view syntax;   ///< "step [over|into|out] [back]"
    std::string_view summary;  ///< one sentence without a full stop
};

/// The commands of `sonde debug`: texts in, answers as JSON out. See resources/help/debugging.md.
class DebugCommands {
  public:
    /// Longer lines are refused.
    static constexpr std::size_t kMaxLine = std::size_t{1} << 16;

    /// On a session whose work is done when its verbs return (InlineExecutor). `work` stops what is not a run: reading
    /// and computing values.
    explicit DebugCommands(Session& session, base::WorkContext work = {})
        : m_session(session), m_work(std::move(work)) {}

    /// One line of JSON, without its end. Empty: there was nothing to answer, in an empty line or a comment (#).
    /// Whatever cannot be understood or done is answered with "error", and changes nothing.
    std::string answer(std::string_view line);
    /// `quit` was given.
    bool hasQuit() const { return m_hasQuit; }

    static std::vector<DebugCommandInfo> all();

  private:
    struct Call;
    struct Command;
    static const std::vector<Command>& commands();

    Session& m_session;
    base::WorkContext m_work;
    bool m_hasQuit = false;
};

}  // namespace sonde::session
