#pragma once

#include <QObject>
#include <QString>

#include "core/analysis/measured_runs.h"
#include "core/document/document.h"
#include "ui/context/job.h"

namespace sonde::context {

class InspectorContext;

/// How far the values of the open model are from others: those of a reference file, of a run that was kept, of the model
/// before its passes, or of another model. Computed in the background by runs of its own (see analysis::compareRuns()).
class Comparison : public QObject {
    Q_OBJECT
  public:
    explicit Comparison(InspectorContext& context);
    ~Comparison() override;

    bool isKnown() const { return m_known != nullptr; }
    bool isActive() const { return m_job.isActive(); }
    /// With what: "resnet18.npz", "the kept run"; empty if nothing is known.
    const QString& title() const { return m_title; }
    const analysis::NodeDifference* of(graph::NodeId node) const;
    std::size_t compared() const { return m_known ? m_known->compared : 0; }
    std::size_t differing() const { return m_known ? m_known->differing : 0; }
    graph::NodeId firstDiverging() const { return m_known ? m_known->firstDiverging : graph::NodeId(); }
    /// Nodes above the tolerance, the worst first.
    std::vector<graph::NodeId> worstFirst() const;
    bool hasKeptRun() const { return m_kept.graph != nullptr; }
    const analysis::Tolerance& tolerance() const { return m_tolerance; }
    void setTolerance(const analysis::Tolerance& tolerance);

  public Q_SLOTS:
    /// Remembers the model and the last run's inputs (before one: the present ones), to be compared with later.
    void keepRun();
    void withKeptRun();
    void withBeforePasses();
    /// An .npz with reference values, or another model.
    void withFile(const QString& path);
    void clear();
    void cancel() { m_job.cancel(); }

  Q_SIGNALS:
    /// Differences are there, or gone.
    void changed();

  private:
    struct Outcome {
        std::shared_ptr<const analysis::RunDifferences> known;
        std::optional<base::Error> error;
    };
    void begin(const QString& title, std::function<Outcome(const base::WorkContext&)> work);
    void take(Outcome outcome);
    void compareWith(const QString& title, analysis::MeasuredRun reference);

    InspectorContext& m_context;
    Job m_job;
    QString m_title, m_wantedTitle;
    std::shared_ptr<const analysis::RunDifferences> m_known;
    analysis::MeasuredRun m_kept;
    analysis::Tolerance m_tolerance;
    std::function<void()> m_again;  ///< the same comparison, after another run
};

}  // namespace sonde::context
