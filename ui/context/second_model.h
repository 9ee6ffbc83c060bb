#pragma once

#include <QObject>
#include <QString>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/session/diff/difference_rows.h"
#include "core/session/diff/node_pairs.h"
#include "core/session/diff/stored_pairs.h"
#include "ui/context/job.h"
#include "ui/context/selection.h"

namespace sonde::session {
class Session;
}

namespace sonde::context {

class Comparison;
class DifferenceMarks;
class Inputs;
class InspectorContext;
class Loader;
class Messages;
class Navigation;
class OpenModel;
class Runs;
class SessionFiles;
class Settings;

/// What two models side by side need of the context of each.
struct ModelSide {
    session::Session& session;
    OpenModel& model;
    Loader& loader;
    Navigation& navigation;
    Inputs& inputs;
    Runs& runs;
    Comparison& comparison;
    Settings& settings;
    SessionFiles& files;
    Messages& messages;
    DifferenceMarks& marks;
    std::function<bool()> isBusy;
    std::function<std::vector<QObject*>()> parts;
};

/// Another model that a window shows beside its own, and how the two differ: session::modelDiff() on a worker. The
/// other one has a context of its own, with canvases, inputs and runs; what is selected in one is selected in both.
/// Belongs to the UI thread; no verb blocks.
class SecondModel : public QObject {
    Q_OBJECT
  public:
    struct Other {
        std::shared_ptr<InspectorContext> context;
        ModelSide side;
    };
    /// `first` is of the window's own context, which owns this; `make` makes the other one.
    SecondModel(ModelSide first, std::function<Other()> make);
    ~SecondModel() override;

    /// The other model's context from opened() to closing(); null otherwise.
    InspectorContext* context() const { return m_isShown ? m_other->context.get() : nullptr; }
    bool isOpen() const { return m_isShown; }
    /// Path or "zoo:NAME" of what is compared, or being opened; empty: nothing.
    const QString& location() const { return m_location; }
    /// What is known; null until it was compared, and while one of the models is opened again.
    const session::ModelDiff* diff() const { return m_known ? &m_known->diff : nullptr; }
    /// All differences; empty without a diff. Values only as long as the inputs are those that they were compared on.
    const std::vector<session::DifferenceRow>& rows() const { return m_rows; }
    /// "97.5 % matched · 1 removed · 2 changed"; why there is nothing.
    QString summary() const;
    /// Opening or comparing; running is the contexts' own.
    bool isComparing() const { return m_job.isActive(); }
    /// Anything goes on in the background.
    bool isBusy() const;

    /// The value of the other model for one of the first, or the reverse; none if it has none.
    graph::NodeId counterpart(graph::NodeId ofFirst) const;
    graph::NodeId counterpartOfSecond(graph::NodeId node) const;
    /// Both models have a selected node, and these are, or are not, each other's counterpart.
    bool canPair() const;
    bool canUnpair() const;
    const std::vector<session::StoredPair>& pairsByHand() const { return m_pairs; }
    /// Whether moving one camera moves the other one, where both models show the selected pair.
    bool areCamerasLinked() const { return m_areCamerasLinked; }

    /// Whether two nodes are the same operation, from now on. Error (Usage): nothing was compared yet, or they are that
    /// already.
    base::Result<void> setPaired(graph::NodeId first, graph::NodeId second, bool arePaired);

    /// By the context: a document goes, another one is open, or none.
    void documentLeft() { forget(); }
    void documentOpened();
    void documentClosed();

  public Q_SLOTS:
    void open(const QString& location);
    void close();
    /// Ends opening or comparing; what was known stays.
    void cancel();
    /// The selected nodes are the same operation from now on; or are not.
    void pairSelected();
    void unpairSelected();
    /// Runs the first model on its inputs, the other one on the same values, and compares values as well.
    void runBoth();
    /// Selects the nodes of a difference in both models and shows them. False: it has none.
    bool goTo(const sonde::session::DifferenceRow& row);
    void setCamerasLinked(bool linked);

  Q_SIGNALS:
    /// context() is there with a document.
    void opened();
    /// context() goes: let go of it now.
    void closing();
    /// Something is known, or no longer; comparing has begun or ended; another pair is selected.
    void changed();
    /// rows() are others. Before changed().
    void rowsChanged();
    /// What was to be opened could not be; messages have told why.
    void failed();
    void progressed(const sonde::base::Progress& progress);

  private:
    struct Known {
        session::ModelDiff diff;
        session::NodePairs nodes;
        std::vector<session::DifferenceRow> rows;
        std::vector<std::string> lost;
    };

    void connectOther();
    void compare(std::vector<tensor::Value> values = {});
    void take(base::Result<Known> known);
    void forget();
    bool selectFigure(const session::DifferenceRow& row);
    void mark();
    void followFirst();
    void followSecond();
    Selection counterpartOf(const Selection& here, const ModelSide& from, const ModelSide& to) const;
    void follow(const ModelSide& from, const ModelSide& to);
    void firstRan();
    /// On what the first model was given: in order of its graph.
    void runSecond(const std::vector<tensor::Value>& given);
    void secondRan();
    void store();

    const ModelSide m_first;
    const std::function<Other()> m_make;
    std::optional<Other> m_other;
    bool m_isShown = false, m_isFollowing = false, m_areCamerasLinked = true;
    QString m_location;
    Job m_job;
    std::shared_ptr<const Known> m_known;
    std::vector<session::DifferenceRow> m_rows;
    std::vector<session::StoredPair> m_pairs;
    enum class RunStep { None, First, Second } m_runStep = RunStep::None;
    std::vector<tensor::Value> m_values;  ///< that both are run on, in the order of the first document's inputs
};

}  // namespace sonde::context
