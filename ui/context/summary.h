#pragma once

#include <QObject>
#include <QString>

#include <memory>
#include <vector>

#include "core/session/model_info.h"
#include "ui/context/job.h"

namespace sonde::session {
class Session;
}

namespace sonde::context {

class OpenModel;

/// What `sonde info` says of the open model, found out in the background: first all but the SHA-256 of its files, which
/// takes as long as reading them. After a run with other types it is of those. Belongs to the UI thread.
class Summary : public QObject {
    Q_OBJECT
  public:
    Summary(session::Session& session, OpenModel& model);

    /// The lines of `sonde info`; empty while nothing is known.
    const std::vector<session::InfoLine>& lines() const { return m_lines; }
    /// Something is to come soon; reading large files for their hashes does not count.
    bool isBusy() const { return (m_job.isActive() && !m_isHashing) || m_textJob.isActive(); }
    /// The files are still being read for their SHA-256.
    bool isHashing() const { return m_isHashing; }
    /// Why there is nothing; empty if there is, or will be.
    const QString& failure() const { return m_failure; }

    /// Asks for what `sonde info` prints, or `sonde info --json`: textMade().
    void makeText(bool asJson);

  Q_SIGNALS:
    /// lines() are others, or what is said of them.
    void changed();
    void textMade(const QString& text);

  private:
    struct Found;
    void begin(bool withHashes);
    void take(base::Result<Found> found, bool withHashes);
    void forget();

    session::Session& m_session;
    OpenModel& m_model;
    std::vector<session::InfoLine> m_lines;
    QString m_failure;
    bool m_isHashing = false;
    Job m_job, m_textJob;
};

}  // namespace sonde::context
