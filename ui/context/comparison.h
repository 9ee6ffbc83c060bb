#pragma once

#include <QObject>
#include <QString>

#include <optional>
#include <vector>

#include "core/session/comparison.h"
#include "ui/context/file_watch.h"

namespace sonde::context {

/// The session's comparison, for views: how far the values of the run that is shown are from those of a reference file,
/// of a run that was kept, of the model before its passes, or of another model. With edits it is of the run with them,
/// and is made again in the background when they change. See session::Comparison for what becomes of it when something
/// else does. Belongs to the UI thread.
class Comparison : public QObject {
    Q_OBJECT
  public:
    explicit Comparison(session::Comparison& comparison);

    bool isKnown() const { return m_of.isKnown(); }
    /// Known, but of another run than the one that is shown; see staleReason().
    bool isStale() const { return m_of.isKnown() && (m_of.isStale() || !otherReason().isEmpty()); }
    QString staleReason() const;
    /// That the run has which was compared.
    std::size_t editCount() const { return m_of.editCount(); }
    /// "with 2 edits"; empty without.
    QString editsText() const;
    bool isActive() const { return m_of.isActive(); }
    /// With what: "resnet18.npz", "the baseline"; empty if nothing is known.
    QString title() const { return QString::fromStdString(m_of.title()); }
    /// "3 of 40 values differ from resnet18.npz"; what came of the last comparison, stale or not. Only if it is known.
    QString summary() const { return QString::fromStdString(m_of.summary()); }
    /// What the summary does not count: "1 reference value has no counterpart in the model: node.zzz"; empty if there
    /// is nothing.
    QString remarks() const { return QString::fromStdString(m_of.remarks()); }
    /// Which run the values are of, for the panels that show them: "compared with resnet18.npz", "compared with case1
    /// of resnet18.npz, with 2 edits"; empty of any other run.
    QString runText() const;
    /// Of a node in the run that is shown; null if it was not compared, or the comparison is stale.
    const analysis::NodeDifference* of(graph::NodeId node) const { return isStale() ? nullptr : m_of.of(node); }
    /// The same of the last comparison, stale or not.
    const analysis::NodeDifference* lastOf(graph::NodeId node) const { return m_of.lastOf(node); }
    std::size_t compared() const { return m_of.compared(); }
    /// The same in all cases of a reference file together.
    std::size_t comparedInAll() const { return m_of.comparedInAll(); }
    std::size_t differing() const { return m_of.differing(); }
    graph::NodeId firstDiverging() const { return m_of.firstDiverging(); }
    /// Nodes above the tolerance in order of execution.
    const std::vector<graph::NodeId>& diverging() const { return m_of.diverging(); }
    /// The same, the worst first.
    std::vector<graph::NodeId> worstFirst() const { return m_of.worstFirst(); }
    bool hasKeptRun() const { return m_of.hasBaseline(); }
    /// Inputs of the model whose values are not those of the other run: differences may come from there.
    const std::vector<graph::NodeId>& differingInputs() const { return m_of.differingInputs(); }
    const analysis::Tolerances& tolerances() const { return m_of.tolerances(); }
    void setTolerances(const analysis::Tolerances& tolerances);
    /// The same tolerance for all element types.
    void setTolerance(const analysis::Tolerance& tolerance) { setTolerances(tolerance); }
    /// Whether they are those that every model begins with.
    bool hasUsualTolerances() const { return m_of.hasDefaultTolerances(); }
    /// What is remembered with the model: the tolerance of float32, none if it is the usual one.
    std::optional<double> keptTolerance() const;
    /// By the context, of a model that is being opened: documentOpened() tells.
    void restoreTolerance(std::optional<double> float32);
    /// By the context: the session's comparison has changed.
    void follow();
    /// Which run is shown.
    struct ShownRun {
        bool isUnfinished = false;  ///< a debugged one that has not been to its end
        bool hasEdits = false;      ///< and shows the values with them
        bool operator==(const ShownRun&) const = default;
    };
    /// By the context.
    void setShownRun(const ShownRun& shown);

  public Q_SLOTS:
    /// Remembers the model and the last run's inputs (before one: the present ones), to be compared with later.
    void keepRun();
    void withKeptRun() { m_of.withBaseline(); }
    void withBeforePasses() { m_of.withBeforePasses(); }
    /// An .npz with reference values, whose inputs become the window's, or another model, which gets the present
    /// inputs.
    void withFile(const QString& path) { m_of.withFile(path.toStdString()); }
    /// Makes the last comparison again; after reloading the model, the one before that. If there was none,
    /// nothingToRepeat() tells.
    void again();
    void clear() { m_of.clear(); }
    void cancel() { m_of.cancel(); }
    /// Looks whether the file of the reference is still what was read.
    void checkFiles() { m_of.checkFiles(); }

  Q_SIGNALS:
    /// Told before inputs and tolerances are taken, whatever began it: what is typed and not confirmed is given now.
    void started();
    /// Differences are there, stale, or gone; or a comparison has begun or ended without any.
    void changed();
    void tolerancesChanged();
    /// The baseline was set: what is to be known of it, which the log has as well.
    void runKept(const QString& text);
    void nothingToRepeat();

  private:
    QString otherReason() const;

    session::Comparison& m_of;
    ShownRun m_shown;
    FileWatch m_watch;  ///< of the reference
    base::MappedFiles m_watched;
};

}  // namespace sonde::context
