#pragma once

#include <QObject>
#include <QString>
#include <QStringList>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/session/precision/precision.h"
#include "ui/context/job.h"
#include "ui/context/used_edits.h"

namespace sonde::session {
class Session;
}

namespace sonde::context {

class OpenModel;

/// What a lower precision, or a quantised model, costs each value of the open model, for views: the numbers of `sonde
/// precision`, found in the background on the session's inputs. They stay until the next ones, or until the model
/// goes. Belongs to the UI thread.
class Precision : public QObject {
    Q_OBJECT
  public:
    using NodeError = session::precision::NodeError;
    using Report = session::precision::Report;
    /// What a row has of its node: the value of one that has edits is compared before them and after them.
    enum class Stage : std::uint8_t { Value, BeforeEdits, Edit };
    /// What is measured, as a user says it.
    struct Wanted {
        QString type;         ///< "float16", "bfloat16", "int8"; empty: `quantised`
        QStringList queries;  ///< which operations are rounded; empty: all
        bool perChannel = false;
        QString quantised;  ///< the file of another model
    };

    Precision(session::Session& session, OpenModel& model);
    ~Precision() override;

    bool isActive() const { return m_job.isActive(); }
    const base::Progress& progress() const { return m_progress; }
    /// Null: nothing was measured, or it is being measured. Its nodes are those of the open model; those that it lacks
    /// are left out.
    const Report* report() const { return m_report.get(); }
    const std::optional<base::Error>& error() const { return m_error; }
    bool hasAny() const { return m_report || m_error || isActive(); }
    Stage stageOf(std::size_t row) const { return row < m_stages.size() ? m_stages[row] : Stage::Value; }
    /// The row in which the error begins; past the last one if it does not.
    std::size_t beginsRow() const { return m_beginsRow; }
    /// Of a node, after its edits; null: it was not compared.
    const NodeError* of(graph::NodeId node) const;
    /// Noise against signal of a node's value: 0 if it is equal, 0.01 at 40 dB, infinite if it is not finite. Nothing
    /// if it was not compared.
    std::optional<double> relativeError(graph::NodeId node) const;
    /// Lines above a list: where the error begins, and what it is at the outputs.
    QStringList summary() const;

  public Q_SLOTS:
    void start(const sonde::context::Precision::Wanted& wanted);
    void cancel() { m_job.cancel(); }
    void clear();
    /// By the context: what it was found with may be something else now.
    void followEdits() {
        if (hasAny()) Q_EMIT changed();
    }

  Q_SIGNALS:
    void changed();
    void started();
    void progressed(const sonde::base::Progress& progress);

  private:
    void take(Report report, const document::Document& measured);

    session::Session& m_session;
    OpenModel& m_model;
    Job m_job;
    base::Progress m_progress;
    std::shared_ptr<const Report> m_report;
    std::vector<std::size_t> m_rowOf;  ///< by node: its row + 1; 0: none
    std::vector<Stage> m_stages;       ///< by row; empty: all are values
    std::size_t m_beginsRow = 0;
    std::optional<base::Error> m_error;
    UsedEdits m_edits;
    QString m_title, m_detail;  ///< "int8", ", a scale for each channel"
};

/// "41.2 dB", "equal", "only noise" (of what should be 0), "not finite".
QString decibelText(double decibels);

}  // namespace sonde::context
