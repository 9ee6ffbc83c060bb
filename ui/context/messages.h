#pragma once

#include <QObject>
#include <QString>

#include <cstddef>
#include <memory>
#include <vector>

#include "core/base/diagnostics.h"
#include "core/base/result.h"
#include "core/graph/internal_graph.h"

namespace sonde::session {
class Session;
}

namespace sonde::context {

/// Something to tell the user: a line of the log and, if it matters now, the banner.
struct Message {
    base::Severity severity = base::Severity::Info;
    QString text;
    QString where;
    QString hint;
    graph::NodeId node;                                    ///< what it is about, if it can be shown
    std::weak_ptr<const graph::InternalGraph> graph = {};  ///< that the node is of; report() sets it
    bool isOfRun = false;                                  ///< about one run: no more true when another one begins
    bool isOfSaving = false;    ///< a file was written, or could not be: no more true when the next one is
    bool isDifference = false;  ///< what a comparison found: no problem, F7 goes to its nodes
};

/// What was told to the user of one window. Belongs to the UI thread.
class Messages : public QObject {
    Q_OBJECT
  public:
    explicit Messages(const session::Session& session) : m_session(session) {}

    /// The last ones, no more than kMaxCount.
    const std::vector<Message>& all() const { return m_all; }
    static constexpr std::size_t kMaxCount = 2000;
    /// What a message is about, if that is a node of the graph that is shown.
    graph::NodeId nodeOf(const Message& message) const;

    /// What came of writing a file: `saved`, which takes the banner of a failure away, or why it was not written.
    void reportSaving(const base::Result<void>& written, const Message& saved);

  public Q_SLOTS:
    void report(const sonde::context::Message& message);
    void report(const sonde::base::Error& error);
    void clearBanner() { Q_EMIT bannerCleared(); }
    /// Only if it is about a run.
    void clearRunBanner() { Q_EMIT runBannerCleared(); }
    /// Only if it is about a file that could not be written.
    void clearSavingBanner() { Q_EMIT savingBannerCleared(); }

  Q_SIGNALS:
    void messageReported(const sonde::context::Message& message);
    void bannerRequested(const sonde::context::Message& message);
    void bannerCleared();
    void runBannerCleared();
    void savingBannerCleared();

  private:
    Message messageOf(const base::Error& error) const;

    const session::Session& m_session;
    std::vector<Message> m_all;
};

}  // namespace sonde::context
