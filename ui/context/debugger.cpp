#include "ui/context/debugger.h"

#include <algorithm>
#include <utility>

#include "core/analysis/problems.h"
#include "core/session/debug/missed_node.h"
#include "ui/context/count_text.h"
#include "ui/context/messages.h"
#include "ui/context/window_hint.h"

namespace sonde::context {

using session::debug::Reason;
using session::debug::View;

namespace {

constexpr int kTellMs = 33;                 ///< between two times that views are told
constexpr std::size_t kMaxRequested = 256;  ///< nodes whose values come with each place
constexpr std::size_t kMaxQueued = 8;       ///< commands; a key that is held down repeats faster than a large model

QString passTextOf(const std::vector<std::int64_t>& pass) {
    QStringList numbers;
    for (const std::int64_t iteration : pass) numbers << QString::number(iteration);
    return numbers.join(QLatin1Char('.'));
}

QString iterationTextOf(const std::vector<std::int64_t>& pass) {
    return pass.empty() ? QString() : Debugger::tr("iteration %1").arg(passTextOf(pass));
}

/// "counterfactual, 2 edits" of a run with edits: those that count.
QString editsText(const session::Session& session) {
    if (!session.debugger().isCounterfactual()) return {};
    const auto count = std::ranges::count_if(session.edits().all(), &session::Edits::Entry::counts);
    return count == 1 ? Debugger::tr("counterfactual, 1 edit")
                      : Debugger::tr("counterfactual, %1 edits").arg(countText(count));
}

/// Once the run stands: that it did not come to the node.
void sayIfMissed(Debugger& debugger, const session::Session& session, NodeId node) {
    auto* const until = new QObject(&debugger);
    QObject::connect(&debugger, &Debugger::changed, until, [&debugger, &session, node, until] {
        if (debugger.isRunning()) return;
        until->deleteLater();
        QObject::disconnect(&debugger, nullptr, until, nullptr);
        if (const std::string missed = session::debug::whyMissed(session.debugger(), node); !missed.empty())
            Q_EMIT debugger.refused(QString::fromStdString(missed));
    });
}

}  // namespace

Debugger::Debugger(session::Session& session, Messages& messages) : m_session(session), m_messages(messages) {
    session.debugger().setDoesCurrent(true);
    m_soon.setSingleShot(true);
    m_soon.setInterval(kTellMs);
    connect(&m_soon, &QTimer::timeout, this, &Debugger::tell);
    m_sinceTold.start();
}

// --- commands --------------------------------------------------------------------------------------------------------

/// At once, or when the run stops the next time.
void Debugger::go(std::function<void()> command) {
    if (!m_session.document()) return;
    if (isRunning()) {
        if (m_queue.size() < kMaxQueued) m_queue.push_back(std::move(command));
        return;
    }
    command();
}

void Debugger::restart() {
    m_queue.clear();
    m_session.debugger().pause();
    go([this] {
        m_values.clear();
        m_session.debugger().restart();
    });
}

void Debugger::resume(Direction direction) {
    go([this, direction] { m_session.debugger().resume(direction); });
}

void Debugger::step(StepKind kind, Direction direction) {
    go([this, kind, direction] { m_session.debugger().step(kind, direction); });
}

void Debugger::runTo(NodeId node, Direction direction) {
    go([this, node, direction] {
        if (const auto gone = m_session.debugger().runTo(node, direction); !gone) return say(gone.error());
        sayIfMissed(*this, m_session, node);
    });
}

void Debugger::goTo(quint32 item) {
    go([this, item] {
        m_isFetching = false;  // what is looked at at the place before does not count
        if (const auto gone = m_session.debugger().goTo(item); !gone) say(gone.error());
    });
}

void Debugger::pause() {
    m_queue.clear();
    m_session.debugger().pause();
}

void Debugger::cancel() {
    m_queue.clear();
    m_module = QString();
    m_session.debugger().cancel();
}

void Debugger::end() {
    if (isShown()) cancel();
}

void Debugger::runModule(const QString& qualname) {
    if (isStopped()) return startModuleRun(qualname);
    go([this, qualname] {
        m_module = qualname;
        m_values.clear();
        m_session.debugger().restart();
    });
}

void Debugger::startModuleRun(const QString& qualname) {
    m_session.debugger().inspect(
        [name = qualname.toStdString()](const View& view, const base::WorkContext& work) {
            return session::debug::runAlone(view.run(), name, work);
        },
        [this, qualname](base::Result<session::ModuleRun> alone) {
            if (m_soon.isActive()) tell();  // the place first, so that this is said of it
            if (!alone) return say(alone.error());
            const QString name = qualname.isEmpty() ? tr("The model") : qualname;
            const QString text = alone->isSame ? tr("%1 alone: %n result(s), bit-identical to the run", nullptr,
                                                    static_cast<int>(alone->nodes.size()))
                                                     .arg(name)
                                               : tr("%1 alone: results differ from those of the run").arg(name);
            m_messages.report(
                Message{alone->isSame ? base::Severity::Info : base::Severity::Warning, text, {}, {}, {}});
            Q_EMIT moduleRun(text);
        });
}

void Debugger::say(const base::Error& error) { Q_EMIT refused(windowTextWithHint(error)); }

// --- where it is -----------------------------------------------------------------------------------------------------

void Debugger::follow() {
    const session::Debugger& debugger = m_session.debugger();
    if (!debugger.hasBegun() && debugger.state() == DebugState::Stopped) return reset();
    if (debugger.state() == DebugState::Failed && !debugger.hasBegun()) {
        const base::Error error = *debugger.error();
        reset();
        return m_messages.report(error);
    }
    m_isShown = true;
    if (isRunning()) {
        m_isFetching = false;  // what moves has taken its place
        // Short steps are told of when they are done.
        if (!m_soon.isActive()) m_soon.start();
        return;
    }
    stopped();
}

void Debugger::stopped() {
    if (!m_queue.empty()) {
        const std::function<void()> next = std::move(m_queue.front());
        m_queue.pop_front();
        next();
        if (isRunning()) return;
    }
    if (!std::exchange(m_saysFailure, state() == DebugState::Failed) && m_saysFailure) report();
    // Without edits there is but one kind of values.
    m_shown = shown();
    if (!m_module.isNull()) startModuleRun(std::exchange(m_module, QString()));
    prune();
    fetch();
    if (!m_soon.isActive()) m_soon.start();
}

/// The run has failed.
void Debugger::report() {
    const base::Error& error = *m_session.debugger().error();
    Message message{base::Severity::Error, QString::fromStdString(error.what), windowPlace(error.where),
                    windowHint(error.hint), m_session.debugger().current()};
    message.isOfRun = true;
    m_messages.report(message);
}

void Debugger::reset() {
    const bool wasShown = std::exchange(m_isShown, false);
    m_soon.stop();
    m_queue.clear();
    m_values.clear();
    m_requested.clear();
    m_news.clear();
    m_isFetching = m_saysFailure = false;
    m_current = {};
    m_recording.reset();
    m_position = m_total = 0;
    m_pass.clear();
    m_module = QString();
    if (wasShown) Q_EMIT changed();
}

void Debugger::takePlace() {
    if (!isStopped()) return;
    const session::debug::Snapshot snapshot = session::debug::snapshotAt(*m_session.debugger().run(), place());
    m_recording = snapshot.recording;
    m_position = snapshot.position;
    m_total = snapshot.total;
    m_pass = snapshot.pass;
    m_current = m_session.debugger().current();
}

void Debugger::tell() {
    m_soon.stop();
    m_sinceTold.start();
    if (!m_isShown) return;
    takePlace();
    const std::vector<NodeId> news = std::exchange(m_news, {});
    Q_EMIT changed();
    for (const NodeId node : news) Q_EMIT valueArrived(node);
}

QString Debugger::placeText() const {
    if (!isShown()) return {};
    QStringList parts;
    const QString where = m_current.valid() && m_session.document()
                              ? QString::fromStdString(analysis::placeText(*m_session.runs().graph(), m_current))
                              : QString();
    const session::debug::Place& at = place();
    if (isRunning()) parts << tr("running");
    else if (state() == DebugState::Failed) parts << (where.isEmpty() ? tr("failed") : tr("failed at %1").arg(where));
    else if (at.isEnd) parts << tr("stopped at the end");
    else if (where.isEmpty()) parts << tr("stopped before the first node");
    else parts << (at.reason == Reason::Paused ? tr("paused before %1") : tr("stopped before %1")).arg(where);
    if (m_total > 0) parts << tr("%1 of %2").arg(m_position).arg(m_total);
    else if (m_position > 0) parts << tr("node %1").arg(m_position);
    if (const QString iteration = iterationTextOf(m_pass); !iteration.isEmpty()) parts << iteration;
    for (const int id : isRunning() ? std::vector<int>() : at.breakpoints) parts << tr("breakpoint %1").arg(id);
    if (const QString edits = editsText(m_session); !edits.isEmpty()) parts << edits;
    if (shown() == ShownValues::Baseline) parts << tr("values without the edits");
    if (shown() == ShownValues::Difference) parts << tr("difference from the baseline");
    return parts.join(QStringLiteral(" \u00b7 "));
}

// --- values ----------------------------------------------------------------------------------------------------------

const tensor::Value* Debugger::value(NodeId node) const {
    const auto found = m_values.find(node);
    return found == m_values.end() || !found->second.value ? nullptr : &*found->second.value;
}

const session::debug::ValueChange* Debugger::change(NodeId node) const {
    const auto found = m_values.find(node);
    return found == m_values.end() || !found->second.change ? nullptr : &*found->second.change;
}

void Debugger::setShown(ShownValues shown) {
    if (shown == this->shown() || !m_session.debugger().isCounterfactual()) return;
    m_shown = shown;
    m_values.clear();
    m_isFetching = false;
    fetch();
    tell();
}

QString Debugger::iterationText(NodeId node) const {
    const auto found = m_values.find(node);
    return found == m_values.end() ? QString() : iterationTextOf(found->second.pass);
}

QString Debugger::passText(NodeId node) const {
    const auto found = m_values.find(node);
    return found == m_values.end() ? QString() : passTextOf(found->second.pass);
}

void Debugger::request(NodeId node) {
    if (!isShown() || !node.valid()) return;
    const auto found = std::ranges::find(m_requested, node);
    if (found != m_requested.end()) m_requested.erase(found);
    m_requested.push_back(node);
    if (m_requested.size() > kMaxRequested) m_requested.pop_front();
    if (!m_values.contains(node)) fetch();
}

void Debugger::setLookedAt(std::vector<NodeId> nodes) {
    m_lookedAt = std::move(nodes);
    if (m_lookedAt.size() > kMaxRequested) m_lookedAt.resize(kMaxRequested);
    fetch();
}

/// What is to be known at each place.
std::vector<NodeId> Debugger::wanted() const {
    std::set<NodeId> nodes(m_lookedAt.begin(), m_lookedAt.end());
    nodes.insert(m_requested.begin(), m_requested.end());
    const std::vector<NodeId>& watched = m_session.points().watched.nodes();
    nodes.insert(watched.begin(), watched.end());
    const graph::InternalGraph& graph = *m_session.document()->graph;
    if (const NodeId current = m_session.debugger().current(); current.valid()) {
        const graph::Expr& expr = graph.expr(graph.node(current).producer);
        nodes.insert(expr.inputs.begin(), expr.inputs.end());
        nodes.insert(expr.outputs.begin(), expr.outputs.end());
    }
    std::erase_if(nodes, [&](NodeId node) {
        return !node.valid() || node.index() >= graph.nodeCount() || m_values.contains(node);
    });
    return {nodes.begin(), nodes.end()};
}

/// Values that are others, or none any more, at this place.
void Debugger::prune() {
    const session::debug::RecordedRun& run = *m_session.debugger().run();
    std::erase_if(m_values, [&](const auto& entry) {
        const auto& [node, known] = entry;
        if (!known.value) return true;
        return known.item != kNoItem && View::itemOf(run, place(), node) != known.item;
    });
}

namespace {

/// How far the edits have moved a value; none without them, or if that cannot be said.
std::optional<session::debug::ValueChange> changeOf(const View& view, session::debug::RecordedRun* baseline,
                                                    NodeId node, const base::WorkContext& work) {
    if (!baseline) return std::nullopt;
    const auto before = session::debug::shownValue(view, baseline, ShownValues::Baseline, node, work);
    const auto now = view.value(node, work);
    if (!before || !now) return std::nullopt;
    auto change = session::debug::valueChange(*now, *before, work);
    return change ? std::optional(*change) : std::nullopt;
}

}  // namespace

void Debugger::fetch() {
    if (!isStopped() || m_isFetching) return;
    std::vector<NodeId> nodes = wanted();
    if (nodes.empty()) return;
    m_isFetching = true;
    // Null without edits.
    const auto baseline = m_session.debugger().baselineRun();
    std::vector<bool> isReached;
    for (const NodeId node : nodes) isReached.push_back(m_session.edits().reach(node));
    const std::uint64_t number = ++m_fetch;
    m_session.debugger().inspect(
        [nodes = std::move(nodes), isReached = std::move(isReached), shown = shown(),
         baseline = baseline ? *baseline : nullptr](const View& view, const base::WorkContext& work) {
            std::vector<Fetched> values;
            for (std::size_t i = 0; i < nodes.size() && !work.cancelled(); ++i) {
                const NodeId node = nodes[i];
                const ItemId item = view.itemOf(node);
                std::vector<std::int64_t> pass =
                    item == kNoItem ? std::vector<std::int64_t>() : view.run().trace().passOf(item);
                auto value = session::debug::shownValue(view, baseline.get(), shown, node, work);
                auto change = isReached[i] ? changeOf(view, baseline.get(), node, work) : std::nullopt;
                if (!work.cancelled())
                    values.push_back({node, item, std::move(pass), std::move(value), std::move(change)});
            }
            return values;
        },
        [this, number](std::vector<Fetched> values) {
            if (number == m_fetch) arrived(std::move(values));
        });
}

void Debugger::arrived(std::vector<Fetched> values) {
    m_isFetching = false;
    const bool wasStopped = values.empty();
    for (Fetched& fetched : values) {
        Known known{fetched.item, std::move(fetched.pass), {}, fetched.change};
        if (fetched.value) known.value = std::move(*fetched.value);
        m_values[fetched.node] = std::move(known);
        m_news.push_back(fetched.node);
    }
    if (!wasStopped) fetch();  // what was requested meanwhile
    if (m_sinceTold.elapsed() >= kTellMs) tell();
    else if (!m_soon.isActive()) m_soon.start();
}

}  // namespace sonde::context
