#pragma once

#include <memory>
#include <optional>

#include "core/session/debug/view.h"
#include "core/session/session.h"

namespace sonde::session {

/// The last run of a session, done again on the same inputs with all of its values, which a plain run does not keep: of
/// these as much stays in memory as debug::KeptLimits allows. Values are those of the run, bit for bit.
///
/// Made and compared on the session's thread; reach() and view() may be called on any other, one at a time.
class RepeatedRun {
  public:
    /// Nothing is computed yet. Usage errors: no model is open; there was no run, or its values are gone.
    static base::Result<std::shared_ptr<RepeatedRun>> of(const Session& session);
    /// Whether it is still the session's last run.
    bool isOf(const Session& session) const;

    /// Goes on until a node is computed for the last time, or to the end. Errors: Cancelled.
    base::Result<void> reach(graph::NodeId node, const base::WorkContext& work);
    /// The run as it is seen after a node, in a loop after an iteration, was computed. Without one: from where the run
    /// is. Only once reach() has come to the node.
    debug::View view(graph::NodeId node, std::optional<std::size_t> iteration = {}) const;
    std::size_t takenSteps() const { return m_run->trace().size(); }

  private:
    RepeatedRun(std::shared_ptr<const document::Document> document, std::shared_ptr<const exec::Recording> recording,
                debug::RecordedTask task);

    std::shared_ptr<const document::Document> m_document;
    std::shared_ptr<const exec::Recording> m_recording;  ///< of the session's run
    std::shared_ptr<debug::RecordedRun> m_run;
};

}  // namespace sonde::session
