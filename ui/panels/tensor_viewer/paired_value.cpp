#include "ui/panels/tensor_viewer/paired_value.h"

#include <algorithm>

#include "core/layout/outline.h"
#include "core/session/reference_value.h"
#include "ui/context/inspector_context.h"
#include "ui/models/node_text.h"
#include "ui/models/short_text.h"

namespace sonde::panels {

using context::ShownValues;
using graph::NodeId;
using Kind = PairedValue::Choice::Kind;

namespace {

constexpr std::size_t kMaxInstances = 64;  ///< in a list to choose from

}  // namespace

PairedValue::PairedValue(session::Session& session, context::OpenModel& opened, context::Runs& runs,
                         context::Edits& edits, context::Debugger& debugger, context::Comparison& comparison,
                         context::SecondModel& second, context::Bisection& bisection, context::Engine& engine,
                         QObject* parent)
    : QObject(parent), m_session(session), m_opened(opened), m_runs(runs), m_edits(edits), m_debugger(debugger),
      m_comparison(comparison), m_second(second), m_bisection(bisection), m_engine(engine) {
    connect(&second, &context::SecondModel::opened, this, &PairedValue::followSecond);
    connect(&second, &context::SecondModel::changed, this, [this] {
        if (m_wanted.kind == Kind::SecondModel) take();
    });
    connect(&opened, &context::OpenModel::documentLeft, this, [this] {
        m_reading.abandon();
        m_of = m_pinned = {};
        m_value.reset();
        m_wanted = m_choice = {};
        Q_EMIT changed();
    });
    connect(&bisection, &context::Bisection::changed, this, [this] {
        if (m_choice.kind == Kind::Bisection) take();
    });
    connect(&runs, &context::Runs::runStarted, this, [this] {
        if (m_choice.kind == Kind::Baseline) m_value.reset();  // of the run before
    });
    connect(&runs, &context::Runs::valueArrived, this, [this](NodeId node) {
        if (m_choice.kind == Kind::Node && node == m_choice.node) Q_EMIT changed();
    });
}

PairedValue::~PairedValue() { m_reading.abandon(); }

QString PairedValue::referenceFile() const {
    if (const QString file = m_engine.file(); !file.isEmpty()) return file;
    const std::string with = session::comparedFile(m_session.comparison());
    const auto name = QString::fromStdString(session::fileAndCase(with).first);
    return name.endsWith(QLatin1String(".npz"), Qt::CaseInsensitive) ? QString::fromStdString(with) : QString();
}

std::vector<PairedValue::Choice> PairedValue::choices(NodeId of) const {
    std::vector<Choice> all{{}};
    if (!m_opened.isOpen() || !of.valid()) return all;
    if (m_edits.isCounterfactual()) all.push_back({Kind::Baseline, {}});
    if (!referenceFile().isEmpty()) all.push_back({Kind::Reference, {}});
    if (m_second.counterpart(of).valid()) all.push_back({Kind::SecondModel, {}});
    if (const auto* found = m_bisection.outcome();
        found && found->found.differs && m_bisection.nodeOf(found->found.node) == of)
        all.push_back({Kind::Bisection, {}});
    if (m_pinned.valid() && m_pinned != of) all.push_back({Kind::Node, m_pinned});
    if (!m_opened.outline()) return all;
    for (const NodeId node : m_opened.outline()->counterparts(of)) {
        if (all.size() > kMaxInstances) break;
        if (node != of && node != m_pinned) all.push_back({Kind::Node, node});
    }
    return all;
}

PairedValue::Choice PairedValue::usual(NodeId of) const {
    const std::vector<Choice> all = choices(of);
    return all.size() > 1 ? all[1] : Choice{};
}

QString PairedValue::titleOf(const Choice& choice) const {
    switch (choice.kind) {
        case Kind::None: return tr("One pane");
        case Kind::Baseline: return tr("Baseline");
        case Kind::Reference: return tr("Reference");
        case Kind::SecondModel: return tr("Second model");
        case Kind::Bisection:
            return m_bisection.outcome() ? tr("Bisection: %1").arg(QString::fromStdString(m_bisection.outcome()->other))
                                         : tr("Bisection");
        case Kind::Node: break;
    }
    // Instances of a block differ by their modules, what was pinned may be of the same one.
    const graph::Node& node = m_opened.graph().node(choice.node);
    if (choice.node == m_pinned) return models::shown(node.name);
    return models::moduleText(m_opened.graph().expr(node.producer));
}

void PairedValue::choose(const Choice& choice) {
    if (choice == m_wanted && choice == m_choice) return;
    m_wanted = choice;
    take();
}

void PairedValue::pin(NodeId node) {
    m_pinned = node;
    choose({Kind::Node, node});
}

void PairedValue::follow(NodeId of, std::optional<std::size_t> iteration) {
    // What was there is of another value: it must not stand beside this one until its own comes.
    if (of != m_of || iteration != m_iteration) m_value.reset();
    m_of = of;
    m_iteration = iteration;
    take();
}

void PairedValue::take() {
    const std::vector<Choice> all = choices(m_of);
    m_choice = std::ranges::find(all, m_wanted) == all.end() ? Choice{} : m_wanted;
    fetch();
}

const tensor::Value* PairedValue::valueOfSecond() const {
    const graph::NodeId there = m_second.isOpen() ? m_second.counterpart(m_of) : NodeId();
    return there.valid() ? m_second.context()->runs().value(there) : nullptr;
}

/// Its values come and go with its own runs.
void PairedValue::followSecond() {
    context::Runs& runs = m_second.context()->runs();
    connect(&runs, &context::Runs::runFinished, this, [this] {
        if (m_choice.kind == Kind::SecondModel) fetch();
    });
    connect(&runs, &context::Runs::valueArrived, this, [this](NodeId node) {
        if (m_choice.kind == Kind::SecondModel && node == m_second.counterpart(m_of)) Q_EMIT changed();
    });
}

const tensor::Value* PairedValue::value() const {
    if (m_choice.kind == Kind::SecondModel) return valueOfSecond();
    if (m_choice.kind == Kind::Node) {
        if (!m_opened.isOpen()) return nullptr;
        return isInStep() ? m_runs.value(m_choice.node, *m_iteration) : m_runs.value(m_choice.node);
    }
    return m_value ? &*m_value : nullptr;
}

bool PairedValue::isInStep() const {
    return m_iteration && m_choice.kind == Kind::Node && m_runs.iterations(m_choice.node) == m_runs.iterations(m_of);
}

session::ReferenceIteration PairedValue::referenceIteration() const {
    if (m_runs.isDebugged())
        return {m_runs.passText(m_of, 0).toStdString(), m_runs.passText(m_of, 0).isEmpty() || m_debugger.place().isEnd};
    if (!m_iteration) return {};
    return {m_runs.passText(m_of, *m_iteration).toStdString(), *m_iteration + 1 == m_runs.iterations(m_of)};
}

QString PairedValue::remark() const {
    if (m_choice.kind == Kind::Node && !isInStep()) return m_runs.iterationText(m_choice.node);
    if (m_choice.kind == Kind::Reference && m_comparison.isStale())
        return tr("stale, %1").arg(m_comparison.staleReason());
    return {};
}

/// Asks for the value; what was there stays until it is there.
void PairedValue::fetch() {
    const quint64 number = ++m_number;
    m_missing = tr("Computing");
    switch (m_choice.kind) {
        case Kind::None: m_value.reset(); break;
        case Kind::Bisection: {
            const context::Bisection::Outcome& outcome = *m_bisection.outcome();
            m_value = outcome.isReference ? outcome.found.own : outcome.found.other;
            break;
        }
        case Kind::Node:
            if (!m_runs.value(m_choice.node)) m_runs.requestValue(m_choice.node);
            m_missing = m_runs.recording() ? tr("There is no value at this place") : tr("Run the model to see it");
            break;
        case Kind::SecondModel: {
            context::Runs& runs = m_second.context()->runs();
            if (!valueOfSecond()) runs.requestValue(m_second.counterpart(m_of));
            m_missing = runs.recording() ? tr("There is no value at this place")
                                         : tr("Run both models to see it (Ctrl+Alt+Shift+K)");
            break;
        }
        case Kind::Baseline: {
            const auto baseline = m_session.debugger().baselineRun();
            if (!baseline) break;
            m_session.debugger().inspect(
                [of = m_of, baseline = *baseline](const session::debug::View& view, const base::WorkContext& work) {
                    return session::debug::shownValue(view, baseline.get(), ShownValues::Baseline, of, work);
                },
                [this, number](base::Result<tensor::Value> value) { arrived(number, std::move(value)); });
            return Q_EMIT changed();
        }
        case Kind::Reference:
            m_reading.start(
                [document = m_session.document(), file = referenceFile().toStdString(), of = m_of,
                 iteration = referenceIteration()](const base::WorkContext& work) {
                    return session::referenceValue(*document, file, of, work, iteration);
                },
                [this, number](base::Result<tensor::Value> value) { arrived(number, std::move(value)); });
            return Q_EMIT changed();
    }
    Q_EMIT changed();
}

void PairedValue::arrived(quint64 number, base::Result<tensor::Value> value) {
    if (number != m_number) return;
    m_value.reset();
    if (value) m_value = std::move(*value);
    else m_missing = QString::fromStdString(value.error().what);
    Q_EMIT changed();
}

}  // namespace sonde::panels
