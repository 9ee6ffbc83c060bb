#pragma once

#include <QObject>
#include <QString>

#include <optional>
#include <vector>

#include "core/session/reference_value.h"
#include "core/session/session.h"
#include "ui/context/bisection.h"
#include "ui/context/comparison.h"
#include "ui/context/debugger.h"
#include "ui/context/edits.h"
#include "ui/context/engine.h"
#include "ui/context/job.h"
#include "ui/context/open_model.h"
#include "ui/context/runs.h"
#include "ui/context/second_model.h"

namespace sonde::panels {

/// The value that is looked at beside that of a node: without the edits, of the reference, of the model beside this
/// one, what a bisection found to differ, of another node, or of the same node in another instance of a repeated block.
/// What is not there is asked for.
class PairedValue : public QObject {
    Q_OBJECT
  public:
    struct Choice {
        enum class Kind { None, Baseline, Reference, SecondModel, Bisection, Node } kind = Kind::None;
        graph::NodeId node;  ///< of Node
        bool operator==(const Choice&) const = default;
    };

    PairedValue(session::Session& session, context::OpenModel& opened, context::Runs& runs, context::Edits& edits,
                context::Debugger& debugger, context::Comparison& comparison, context::SecondModel& second,
                context::Bisection& bisection, context::Engine& engine, QObject* parent = nullptr);
    ~PairedValue() override;

    /// What can be looked at beside a node, None first. A node that was pinned is among them.
    std::vector<Choice> choices(graph::NodeId of) const;
    /// What is worth most beside it: the baseline of a run with edits, else the reference, else an instance.
    Choice usual(graph::NodeId of) const;
    QString titleOf(const Choice& choice) const;
    /// The .npz that the run was compared with, with its case if there are several: "x.npz#case1"; empty if there is
    /// none.
    QString referenceFile() const;

    const Choice& choice() const { return m_choice; }
    bool isChosen() const { return m_choice.kind != Choice::Kind::None; }
    void choose(const Choice& choice);
    /// The node beside which it is looked at, or its value, is another one. `iteration`: of the loop that it is in, if
    /// one is chosen.
    void follow(graph::NodeId of, std::optional<std::size_t> iteration = std::nullopt);
    graph::NodeId pinned() const { return m_pinned; }
    /// Looks at this node beside others from now on.
    void pin(graph::NodeId node);

    /// Null: see missing(). Valid until changed().
    const tensor::Value* value() const;
    /// Why there is no value, or not yet.
    QString missing() const { return m_missing; }
    /// What is to be said of the value beside what it is: "last of 4", "stale, the inputs were changed"; else empty.
    QString remark() const;

  Q_SIGNALS:
    void changed();

  private:
    void take();
    void followSecond();
    /// What is asked for of the other model; null: there is none, or it has no such node.
    const tensor::Value* valueOfSecond() const;
    void fetch();
    void arrived(quint64 number, base::Result<tensor::Value> value);
    /// Whether the other node is in a loop as often as this one: both are seen in one iteration then.
    bool isInStep() const;
    session::ReferenceIteration referenceIteration() const;

    session::Session& m_session;
    context::OpenModel& m_opened;
    context::Runs& m_runs;
    context::Edits& m_edits;
    context::Debugger& m_debugger;
    context::Comparison& m_comparison;
    context::SecondModel& m_second;
    context::Bisection& m_bisection;
    context::Engine& m_engine;
    context::Job m_reading;
    Choice m_wanted;  ///< by the user
    Choice m_choice;  ///< the same, or None where there is no such value
    graph::NodeId m_of, m_pinned;
    std::optional<std::size_t> m_iteration;  ///< of m_of
    quint64 m_number = 0;                    ///< of what was asked for last
    std::optional<tensor::Value> m_value;
    QString m_missing;
};

}  // namespace sonde::panels
