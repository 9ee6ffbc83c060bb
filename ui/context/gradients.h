#pragma once

#include <QObject>
#include <QString>

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/session/gradient/saliency.h"
#include "core/session/repeated_run.h"
#include "ui/context/debugger.h"
#include "ui/context/job.h"
#include "ui/context/open_model.h"
#include "ui/context/runs.h"

namespace sonde::context {

/// Saliency for views: how much one element changes with those of other values, in the run that all views show. By the
/// model's inputs at once, by another node once it is looked at; again with each run. All is found in the background.
/// Belongs to the UI thread.
class Gradients : public QObject {
    Q_OBJECT
  public:
    using Place = session::why::Place;
    /// The gradient by one value, and what there is to say of it.
    struct Gradient {
        tensor::Tensor tensor;      ///< as large as the value, in its dtype; may be undefined if it is not reached
        tensor::Tensor magnitudes;  ///< float32
        double low = 0, high = 0;
        std::vector<std::int64_t> largest;  ///< where the magnitude is the largest
        bool isReached = true;              ///< false: all zero, the element does not depend on it
    };

    Gradients(session::Session& session, Debugger& debugger, Runs& runs, OpenModel& model);
    ~Gradients() override;

    bool isAsked() const { return m_isAsked; }
    /// The element, once it is known with indices from 0 on.
    const Place& of() const { return m_of; }
    /// "fc[0, 781]"; "the largest output" before it is known.
    QString text() const;
    std::optional<double> value() const { return m_value; }
    /// Those by which the model's inputs are known, in their order.
    const std::vector<NodeId>& inputs() const { return m_inputs; }
    /// Null: not known (yet).
    const Gradient* by(NodeId node) const;
    /// Why the gradient by a node is not known; null: it is, or nobody looked at it.
    const base::Error* errorOf(NodeId node) const;
    /// Why those by the inputs are not known.
    const base::Error* inputError() const;
    bool isBusy() const { return m_isBusy; }

  public Q_SLOTS:
    /// Begins with an element, in a loop in that iteration. Without an index: the largest; without a node: of the first
    /// output.
    void ask(const sonde::session::why::Place& of, std::optional<std::size_t> iteration = {});
    /// Finds the gradient by this node, too; an invalid one: by none but the inputs.
    void lookAt(sonde::graph::NodeId node);
    void cancel();
    void clear();

  Q_SIGNALS:
    void changed();
    /// The gradients by the inputs are known for the first time since ask().
    void found();
    void progressed(const sonde::base::Progress& progress);

  private:
    struct Answer;
    struct Entry {
        std::optional<Gradient> gradient = {};
        std::optional<base::Error> error = {};
    };
    struct Shown {
        bool isDebugged = false;
        const void* run = nullptr;
        session::debug::ItemId item = session::debug::kNoItem;
        bool isEnd = false;
        bool operator==(const Shown&) const = default;
    };

    Shown shown() const;
    void follow();
    void forget();
    void drop();
    void next();
    void find(NodeId by);
    void take(NodeId by, base::Result<Answer> answer);
    void makeRoom();

    session::Session& m_session;
    Debugger& m_debugger;
    Job m_job;
    std::shared_ptr<session::RepeatedRun> m_again;  ///< of a run that is not debugged
    Place m_of;
    std::optional<std::size_t> m_iteration;
    std::optional<double> m_value;
    bool m_isAsked = false, m_isBusy = false, m_isNew = false;
    NodeId m_looked;
    std::vector<NodeId> m_inputs;
    std::map<NodeId, Entry> m_entries;  ///< that of the invalid node: what went wrong by all inputs
    quint64 m_number = 0;               ///< of the work that goes on; results of others are dropped
    Shown m_shown;
};

}  // namespace sonde::context
