#include "ui/context/watches.h"

#include <algorithm>
#include <unordered_map>

#include "core/session/node_names.h"
#include "ui/context/count_text.h"
#include "ui/context/messages.h"

namespace sonde::context {

using graph::NodeId;
using session::WatchKeep;

namespace {

const QString kKeep = QStringLiteral("watches/keep");
const QString kBudget = QStringLiteral("watches/budgetMiB");
const QString kSample = QStringLiteral("watches/sample");
const QString kRuns = QStringLiteral("watches/runs");

QString watchText(std::string_view text) { return QString::fromUtf8(text.data(), static_cast<int>(text.size())); }

session::WatchPolicy storedPolicy() {
    session::WatchPolicy policy;
    const QByteArray keep = stored(kKeep).toString().toUtf8();
    policy.keep = session::watchKeep({keep.constData(), static_cast<std::size_t>(keep.size())}).value_or(policy.keep);
    bool isNumber = false;
    const qlonglong budget = stored(kBudget).toLongLong(&isNumber);
    if (isNumber && budget >= 0 && budget < (qlonglong{1} << 40))
        policy.budgetBytes = static_cast<std::size_t>(budget) << 20;
    const qlonglong sample = stored(kSample).toLongLong(&isNumber);
    if (isNumber && sample > 0) policy.sampleElements = sample;
    return policy;
}

}  // namespace

Watches::Watches(session::Session& session, Debugger& debugger, Messages& messages)
    : m_session(session), m_debugger(debugger), m_messages(messages) {
    m_session.runs().setPolicy(storedPolicy());
    if (const int runs = stored(kRuns).toInt(); runs > 0)
        m_session.expressionWatches().setHistoryLimit(static_cast<std::size_t>(runs));
    connect(&m_debugger, &Debugger::changed, this, &Watches::evaluateHere);
    connect(&m_debugger, &Debugger::valueArrived, this, &Watches::evaluateHere);
}

const session::ExpressionResult* Watches::result(int id) const {
    if (m_debugger.isShown()) {
        const auto here = m_here.find(id);
        if (here != m_here.end()) return &here->second;
        const Entry* const entry = expression(id);
        return entry && entry->parsed.empty() && entry->result ? &*entry->result : nullptr;
    }
    const Entry* const entry = expression(id);
    return entry && entry->result ? &*entry->result : nullptr;
}

/// With the values that the debugger has fetched; those that are missing are requested, and this is called again.
void Watches::evaluateHere() {
    if (!m_debugger.isShown()) return forgetHere();
    if (!m_debugger.isStopped() || !m_session.document()) return;
    std::unordered_map<NodeId, tensor::Value> known;
    std::vector<std::pair<int, expression::Expression>> expressions;
    for (const Entry& entry : this->expressions()) {
        if (!entry.isEnabled || entry.parsed.empty()) continue;
        bool isComplete = true;
        for (const std::string& name : entry.parsed.names()) {
            const auto node = m_session.document()->findNode(name);
            if (!node || known.contains(*node)) continue;
            m_debugger.request(*node);
            if (const tensor::Value* const value = m_debugger.value(*node)) known.emplace(*node, *value);
            else isComplete = false;
        }
        if (isComplete) expressions.emplace_back(entry.id, entry.parsed);
    }
    if (expressions.empty()) return forgetHere();
    using Results = std::map<int, session::ExpressionResult>;
    m_job.start(
        [document = m_session.document(), known = std::move(known),
         expressions = std::move(expressions)](const base::WorkContext& work) {
            const auto value = [&known](NodeId node) -> const tensor::Value* {
                const auto found = known.find(node);
                return found == known.end() ? nullptr : &found->second;
            };
            Results results;
            for (const auto& [id, expression] : expressions)
                results.emplace(id, session::evaluateWatch(expression, session::nodeNames(*document, value), work));
            return results;
        },
        [this](Results results) {
            m_here = std::move(results);
            Q_EMIT changed();
        });
}

void Watches::forgetHere() {
    m_job.abandon();
    if (m_here.empty()) return;
    m_here.clear();
    Q_EMIT changed();
}

void Watches::follow() {
    evaluateHere();
    Q_EMIT changed();
}

void Watches::reset() {
    m_job.abandon();
    m_here.clear();
}

// --- what was kept --------------------------------------------------------------------------------------------------

QString Watches::foundText(NodeId node) const {
    const session::FoundBy by = m_session.points().watched.foundBy(node);
    if (by == session::FoundBy::Module) return tr("found by its module");
    return by == session::FoundBy::Structure ? tr("found by structure") : QString();
}

QString Watches::keptText(NodeId node) const {
    if (m_debugger.isShown()) return {};  // its values are of another run
    if (const session::WatchSummary* const left = summary(node))
        return left->sample.defined() ? tr("sample of %1").arg(countText(left->sample.numel())) : tr("statistics");
    const auto& recording = m_session.runs().last().recording;
    return recording && recording->iterations(node) > 0 ? tr("whole") : QString();
}

QString Watches::overBudgetText() const { return watchText(m_session.runs().watchedValues().text()); }

void Watches::setPolicy(const session::WatchPolicy& policy) {
    if (policy == this->policy()) return;
    m_session.runs().setPolicy(policy);
    store(kKeep, watchText(session::name(policy.keep)));
    store(kBudget, static_cast<qlonglong>(policy.budgetBytes >> 20));
    store(kSample, static_cast<qlonglong>(policy.sampleElements));
    Q_EMIT policyChanged();
}

void Watches::setHistoryLimit(int runs) {
    m_session.expressionWatches().setHistoryLimit(static_cast<std::size_t>(std::max(runs, 2)));
    store(kRuns, runs);
    Q_EMIT changed();
}

// --- what a user does -----------------------------------------------------------------------------------------------

std::optional<int> Watches::addExpression(const QString& text, NodeId pin) {
    if (!m_session.document()) return std::nullopt;
    const auto id = m_session.expressionWatches().add(text.toStdString(), pin);
    if (id) return *id;
    m_messages.report(id.error());
    return std::nullopt;
}

void Watches::setExpression(int id, const QString& text) {
    m_session.expressionWatches().setText(id, text.toStdString());
}

void Watches::setPin(int id, NodeId node) { m_session.expressionWatches().setPin(id, node); }
void Watches::setEnabled(int id, bool enabled) { m_session.expressionWatches().setEnabled(id, enabled); }
void Watches::removeExpression(int id) { m_session.expressionWatches().remove(id); }

bool Watches::addGroup(session::WatchGroup group) {
    const auto added = m_session.addWatchGroup(std::move(group));
    if (!added) m_messages.report(added.error());
    return added.has_value();
}

void Watches::removeGroup(const session::WatchGroup& group) {
    const auto found = std::ranges::find(groups(), group, &Group::group);
    if (found != groups().end()) m_session.removeWatchGroup(static_cast<std::size_t>(found - groups().begin()));
}

QString Watches::firstExpression(NodeId node) const {
    if (!node.valid() || !m_session.document()) return QStringLiteral("0");
    const std::string name = expression::quoted(m_session.document()->graph->node(node).name);
    return QStringLiteral("max(abs(%1))").arg(QString::fromStdString(name));
}

void Watches::clear() {
    m_session.clearWatched();
    m_session.expressionWatches().clear();
}

}  // namespace sonde::context
