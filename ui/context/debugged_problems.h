#pragma once

#include <QObject>
#include <QString>

#include <vector>

#include "core/session/debugged_problems.h"
#include "ui/context/debugger.h"
#include "ui/context/problems.h"

namespace sonde::context {

/// What a debugged run has come to that is wrong: the list of the command `problems` of `sonde debug`. Found in the
/// background where the run stops. Belongs to the UI thread.
class DebuggedProblems : public QObject {
    Q_OBJECT
  public:
    DebuggedProblems(session::Session& session, Debugger& debugger, Problems& problems, QObject* parent = nullptr);

    /// A run is debugged: these are the problems to show, in place of those of the last plain run.
    bool areShown() const { return m_isShown; }
    const std::vector<analysis::Problem>& rows() const { return m_rows; }
    /// "2 origins, 14 carriers"; empty if there are none.
    QString countText() const;
    /// Writes them as `sonde problems` does: see session::ProblemReport::write().
    base::Result<void> save(const QString& path) const;

  Q_SIGNALS:
    void changed();

  private:
    void follow();

    session::Session& m_session;
    Debugger& m_debugger;
    Problems& m_problems;
    bool m_isShown = false;
    std::vector<analysis::Problem> m_rows;
    session::ProblemCount m_count;  ///< that m_rows are of
};

}  // namespace sonde::context
