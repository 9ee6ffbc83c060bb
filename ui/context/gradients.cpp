#include "ui/context/gradients.h"

#include <QStringList>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/exec/dependants.h"
#include "core/exec/flatten.h"
#include "core/graph/source_files.h"
#include "core/ops/dependence/region.h"
#include "ui/context/background.h"

namespace sonde::context {

using session::RepeatedRun;
using session::debug::View;
using session::gradient::Request;
using session::gradient::Saliency;

namespace {

/// Gradients that were looked at are kept as long as they take no more.
constexpr std::size_t kMaxKeptBytes = std::size_t{256} << 20;

/// Whether an element of one value may depend on another one.
bool reaches(const graph::InternalGraph& graph, NodeId from, NodeId to) {
    const std::vector<NodeId> sources = exec::valueSources(graph);
    exec::Edits edits;
    edits.values.push_back({sources[from.index()], {}, {}});
    return sources[from.index()] == sources[to.index()] ||
           exec::dependantsOf(graph, edits).nodes[sources[to.index()].index()];
}

base::Result<Gradients::Gradient> measured(const session::gradient::NodeSaliency& one) {
    Gradients::Gradient gradient;
    gradient.tensor = one.gradient;
    gradient.isReached = one.isReached;
    SONDE_ASSIGN(gradient.magnitudes, tensor::Tensor::zeros(tensor::DType::Float32, one.gradient.shape()));
    float* const sizes = gradient.magnitudes.mutableData<float>();
    for (std::int64_t i = 0; i < one.gradient.numel(); ++i) {
        const double value = one.gradient.toDouble(i), size = std::fabs(value);
        sizes[i] = std::isfinite(size) ? static_cast<float>(size) : 0;
        gradient.low = i == 0 ? value : std::min(gradient.low, value);
        gradient.high = i == 0 ? value : std::max(gradient.high, value);
    }
    if (const auto largest = session::gradient::largestElements(one.gradient, 1); !largest.empty())
        gradient.largest = ops::dependence::indexOf(largest.front(), one.gradient.shape());
    return gradient;
}

}  // namespace

struct Gradients::Answer {
    Place of;
    double value = 0;
    std::vector<std::pair<NodeId, Gradient>> gradients;
};

Gradients::Gradients(session::Session& session, Debugger& debugger, Runs& runs, OpenModel& model)
    : m_session(session), m_debugger(debugger) {
    connect(&runs, &Runs::runFinished, this, &Gradients::follow);
    connect(&debugger, &Debugger::changed, this, &Gradients::follow);
    connect(&model, &OpenModel::documentLeft, this, &Gradients::clear);
    connect(&model, &OpenModel::fileChanged, this, &Gradients::follow);
    connect(&m_job, &Job::progressed, this, &Gradients::progressed);
    connect(&debugger, &Debugger::progressed, this, [this](const base::Progress& progress) {
        if (m_isBusy && m_shown.isDebugged) Q_EMIT progressed(progress);
    });
}

Gradients::~Gradients() = default;

QString Gradients::text() const {
    if (!m_of.node.valid() || !m_session.document()) return tr("the largest output");
    QStringList index;
    if (m_of.member) index << QString::number(*m_of.member);
    for (const std::int64_t i : m_of.index) index << QString::number(i);
    const QString name = QString::fromStdString(m_session.document()->graph->node(m_of.node).name);
    return index.isEmpty() ? name : name + u'[' + index.join(QStringLiteral(", ")) + u']';
}

const Gradients::Gradient* Gradients::by(NodeId node) const {
    const auto entry = m_entries.find(node);
    return entry == m_entries.end() || !entry->second.gradient ? nullptr : &*entry->second.gradient;
}

const base::Error* Gradients::errorOf(NodeId node) const {
    if (by(node)) return nullptr;
    for (const NodeId each : {node, NodeId()})
        if (const auto entry = m_entries.find(each); entry != m_entries.end() && entry->second.error)
            return &*entry->second.error;
    return nullptr;
}

const base::Error* Gradients::inputError() const {
    const auto entry = m_entries.find(NodeId());
    return entry == m_entries.end() || !entry->second.error ? nullptr : &*entry->second.error;
}

// --- what is asked ---------------------------------------------------------------------------------------------------

void Gradients::ask(const Place& of, std::optional<std::size_t> iteration) {
    if (!m_session.document()) return;
    drop();
    m_isAsked = m_isNew = true;
    m_of = of;
    m_iteration = iteration;
    m_shown = shown();
    forget();
    next();
}

void Gradients::lookAt(NodeId node) {
    m_looked = node;
    next();
}

void Gradients::cancel() {
    if (m_shown.isDebugged && m_isBusy) m_session.debugger().stop();
    m_job.cancel();
}

void Gradients::clear() {
    drop();
    freeLater(std::exchange(m_again, {}));
    m_looked = {};
    if (!std::exchange(m_isAsked, false)) return;
    m_of = {};
    forget();
}

void Gradients::forget() {
    m_entries.clear();
    m_inputs.clear();
    m_value.reset();
    Q_EMIT changed();
}

void Gradients::drop() {
    m_job.abandon();
    ++m_number;
    m_isBusy = false;
}

// --- the run ---------------------------------------------------------------------------------------------------------

Gradients::Shown Gradients::shown() const {
    if (!m_debugger.isShown()) return {false, m_session.runs().last().recording.get()};
    return {true, m_session.debugger().run(), m_debugger.place().item, m_debugger.place().isEnd};
}

/// Another run, or another place of it: other gradients.
void Gradients::follow() {
    if (m_again && !m_again->isOf(m_session)) {
        drop();
        freeLater(std::exchange(m_again, {}));
    }
    if (!m_isAsked || (m_debugger.isShown() && m_debugger.isRunning()) || m_session.runs().isRunning()) return;
    const Shown now = shown();
    if (now == m_shown && (!m_isBusy || !now.isDebugged)) return;
    drop();
    m_shown = now;
    forget();
    next();
}

void Gradients::next() {
    if (m_isBusy || !m_isAsked || !m_session.document() || m_session.runs().isRunning()) return;
    if (m_inputs.empty() && !m_entries.contains(NodeId())) return find({});
    if (m_looked.valid() && !m_entries.contains(m_looked)) return find(m_looked);
}

/// By a node, or by the inputs.
void Gradients::find(NodeId by) {
    Request request;
    request.of = m_of;
    // Of a list the first number is the tensor's.
    if (m_of.member) request.of.index.insert(request.of.index.begin(), static_cast<std::int64_t>(*m_of.member));
    request.of.member.reset();
    if (by.valid()) request.to = {by};
    request.threads = m_session.runs().settings().threads;
    const auto work = [document = m_session.document(), request](
                          const View& view, const base::WorkContext& context) -> base::Result<Answer> {
        // What is not upstream need not have been computed.
        const NodeId to = request.to.empty() ? NodeId() : request.to.front();
        if (to.valid() && request.of.node.valid() && !reaches(*document->graph, to, request.of.node))
            return Answer{{}, 0, {{to, Gradient{{}, {}, 0, 0, {}, false}}}};
        SONDE_ASSIGN(const Saliency found, session::gradient::saliency(view, request, context));
        Answer answer{found.of, found.value, {}};
        for (const auto& one : found.gradients) {
            SONDE_ASSIGN(Gradient gradient, measured(one));
            answer.gradients.emplace_back(one.node, std::move(gradient));
        }
        SONDE_TRY(graph::checkFiles(document->graph));
        return answer;
    };
    const auto done = [this, by, number = ++m_number](base::Result<Answer> answer) {
        if (number == m_number) take(by, std::move(answer));
    };
    if (m_debugger.isShown()) {
        if (!m_debugger.isStopped()) return;  // follow() comes
        m_isBusy = true;
        m_session.debugger().inspect(
            [work](const View& view, const base::WorkContext& context) {
                view.doCurrent(context);
                return work(view, context);
            },
            done);
    } else {
        if (!m_again) {
            auto made = RepeatedRun::of(m_session);
            if (!made) return take(by, std::move(made).error());
            m_again = std::move(*made);
        }
        m_isBusy = true;
        const auto& outputs = m_session.document()->graph->outputs();
        const NodeId node = m_of.node.valid() || outputs.empty() ? m_of.node : outputs.front();
        m_job.start(
            [again = m_again, node, iteration = m_iteration,
             work](const base::WorkContext& context) -> base::Result<Answer> {
                SONDE_TRY(again->reach(node, context));
                return work(again->view(node, iteration), context);
            },
            done);
    }
    Q_EMIT changed();
}

void Gradients::take(NodeId by, base::Result<Answer> answer) {
    m_isBusy = false;
    if (!answer) {
        m_entries[by].error = std::move(answer).error();
        Q_EMIT changed();
        return next();
    }
    makeRoom();
    if (answer->of.node.valid()) {
        m_of = answer->of;
        m_value = answer->value;
    }
    for (auto& [node, gradient] : answer->gradients) {
        if (!by.valid()) m_inputs.push_back(node);
        m_entries[node] = {std::move(gradient), {}};
    }
    const bool isFirst = !by.valid() && std::exchange(m_isNew, false);
    Q_EMIT changed();
    if (isFirst) Q_EMIT found();
    next();
}

/// Those by inner nodes can be found again.
void Gradients::makeRoom() {
    std::size_t bytes = 0;
    for (const auto& [node, entry] : m_entries)
        if (entry.gradient) bytes += entry.gradient->tensor.sizeBytes() + entry.gradient->magnitudes.sizeBytes();
    if (bytes > kMaxKeptBytes)
        std::erase_if(m_entries, [&](const auto& entry) {
            return entry.first.valid() && std::ranges::find(m_inputs, entry.first) == m_inputs.end();
        });
}

}  // namespace sonde::context
