#pragma once

#include <QObject>
#include <QString>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/analysis/measured_runs.h"
#include "core/document/document.h"
#include "ui/context/file_watch.h"
#include "ui/context/input_spec.h"
#include "ui/context/job.h"

namespace sonde::context {

class InspectorContext;

/// How far the values of the run that is shown are from others: those of a reference file, of a run that was kept, of
/// the model before its passes, or of another model. A comparison is a run of its own: the inputs that it is made on
/// become the window's inputs, the model is run on them, and every panel shows that run. When anything changes after
/// that (inputs, a further run, tolerances, the file of the reference) it is stale until it was made again; of another
/// model there is none.
class Comparison : public QObject {
    Q_OBJECT
  public:
    explicit Comparison(InspectorContext& context);
    ~Comparison() override;

    bool isKnown() const { return m_known != nullptr; }
    /// Known, but of another run than the one that is shown; see staleReason().
    bool isStale() const { return isKnown() && !staleReason().isEmpty(); }
    const QString& staleReason() const { return m_lastingReason.isEmpty() ? m_runReason : m_lastingReason; }
    bool isActive() const { return m_job.isActive() || m_afterRun != nullptr; }
    /// With what: "resnet18.npz", "the baseline"; empty if nothing is known.
    const QString& title() const { return m_title; }
    /// "3 of 40 values differ from resnet18.npz"; what came of the last comparison, stale or not. Only if it is known.
    QString summary() const;
    /// Which run the values are of, for the panels that show them: "compared with resnet18.npz"; empty of any other
    /// run.
    QString runText() const;
    /// Of a node in the run that is shown; null if it was not compared, or the comparison is stale.
    const analysis::NodeDifference* of(graph::NodeId node) const { return isStale() ? nullptr : lastOf(node); }
    /// The same of the last comparison, stale or not.
    const analysis::NodeDifference* lastOf(graph::NodeId node) const;
    std::size_t compared() const { return m_known ? m_known->compared : 0; }
    std::size_t differing() const { return m_known ? m_known->differing : 0; }
    graph::NodeId firstDiverging() const { return m_known ? m_known->firstDiverging : graph::NodeId(); }
    /// Nodes above the tolerance in order of execution.
    const std::vector<graph::NodeId>& diverging() const;
    /// The same, the worst first: by the part of the noise in the value (SNR), then by the absolute difference.
    std::vector<graph::NodeId> worstFirst() const;
    bool hasKeptRun() const { return m_kept.graph != nullptr; }
    /// Inputs of the model whose values are not those of the other run: differences may come from there.
    const std::vector<graph::NodeId>& differingInputs() const;
    const analysis::Tolerances& tolerances() const { return m_tolerances; }
    void setTolerances(const analysis::Tolerances& tolerances);
    /// The same tolerance for all element types.
    void setTolerance(const analysis::Tolerance& tolerance) { setTolerances(tolerance); }
    /// Whether they are those that every model begins with.
    bool hasUsualTolerances() const;
    /// What is remembered with the model: the tolerance of float32, none if it is the usual one.
    std::optional<double> keptTolerance() const;
    /// By the context, of a model that is being opened: documentOpened() tells.
    void restoreTolerance(std::optional<double> float32);

  public Q_SLOTS:
    /// Remembers the model and the last run's inputs (before one: the present ones), to be compared with later.
    void keepRun();
    void withKeptRun();
    void withBeforePasses();
    /// An .npz with reference values, whose inputs become the window's, or another model, which gets the present
    /// inputs.
    void withFile(const QString& path);
    /// Makes the last comparison again; after reloading the model, the one before that.
    void again();
    void clear();
    void cancel();

  Q_SIGNALS:
    /// Differences are there, stale, or gone; or a comparison has begun or ended without any.
    void changed();

  private:
    struct Outcome {
        std::shared_ptr<const analysis::RunDifferences> known;
        std::optional<base::Error> error;
        std::size_t furtherCases = 0;     ///< of a reference file that were not taken
        base::MappedFiles files;          ///< of the reference
        std::optional<InputSpec> inputs;  ///< where the run's inputs come from, if they are not the window's
        std::vector<tensor::Value> inputValues;
    };
    using Work = std::function<Outcome(const base::WorkContext&)>;

    void withModel(const QString& path);
    void withReference(const QString& path);
    void begin(const QString& title, Work work);
    void take(Outcome outcome);
    void adoptInputs(Outcome outcome);
    void publish(Outcome outcome);
    void compareWith(const QString& title,
                     const std::function<analysis::MeasuredRun(const analysis::MeasuredRun&)>& reference);
    /// Calls `then` with a run on the present inputs: the last one, or a new one.
    void whenRun(std::function<void()> then);
    void followInputs();
    void followRun();
    void checkFiles();
    void makeStale(const QString& reason);
    void makeStaleForGood(const QString& reason);
    void leave();
    static Outcome failed(base::Error error);

    InspectorContext& m_context;
    Job m_job;
    FileWatch m_watch;  ///< of the reference
    QString m_title, m_wantedTitle;
    QString m_runReason;        ///< why it is stale, until the model is run on the same inputs again
    QString m_lastingReason;    ///< the same, until it is made again
    base::MappedFiles m_files;  ///< of the reference
    std::string m_leftModel;    ///< of what m_again was, when it was closed or reloaded
    std::shared_ptr<const analysis::RunDifferences> m_known;
    std::vector<tensor::Value> m_inputs;  ///< that it was made on
    std::vector<InputSpec> m_specs;       ///< what the window's inputs were then
    analysis::MeasuredRun m_kept;
    analysis::Tolerances m_tolerances;
    std::function<void()> m_again;     ///< the same comparison once more
    bool m_followsRuns = false;        ///< whether it can be made of a run on any inputs
    std::function<void()> m_afterRun;  ///< waits for a run
};

}  // namespace sonde::context
