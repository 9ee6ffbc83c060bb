#include "core/session/debug/recorded_run.h"

#include <algorithm>
#include <cmath>

#include "core/exec/dependants.h"
#include "core/exec/flatten.h"
#include "core/exec/plan_impl.h"
#include "core/ops/kernels/finite.h"

namespace sonde::session::debug {

using graph::ExprId;
using graph::NodeId;
using tensor::Tensor;
using tensor::Value;

namespace {

constexpr std::uint8_t bit(TensorEvent event) { return static_cast<std::uint8_t>(event); }

/// Memory of values that have gone, which the run takes again: no more of it than this lies idle.
constexpr std::size_t kIdleBytes = std::size_t{32} << 20;

/// Whether every element is zero; reads until the first that is not.
bool isZero(const Tensor& tensor) {
    if (tensor.dtype() == tensor::DType::Float32 && tensor.isContiguous())
        return std::ranges::all_of(tensor.span<float>(), [](float x) { return x == 0.0F; });
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
        if (tensor.toDouble(i) != 0) return false;
    return true;
}

}  // namespace

/// What the run tells, on its thread.
class RecordedRun::Listener : public exec::RunObserver {
  public:
    explicit Listener(RecordedRun& run) : m_run(run) {}

    void exprStarted(ExprId expr) override {
        m_run.m_trace.started(expr);
        m_run.begun();
    }
    bool takeKnown(ExprId expr, std::vector<Value>& outputs) override { return m_run.takeKnown(expr, outputs); }
    void exprFinished(ExprId expr, std::span<const Value> outputs, std::int64_t elapsedNs) override {
        const ItemId item = m_run.m_trace.finished(expr, elapsedNs);
        if (item != kNoItem) m_run.keepResults(item, outputs);
    }
    void bodyStarted(graph::BodyId body, std::span<const Value> inputs, std::int64_t iteration) override {
        const ItemId item = m_run.m_trace.bodyStarted(body, !inputs.empty(), iteration);
        if (item != kNoItem) m_run.keepInputs(body, item, inputs);
    }

  private:
    RecordedRun& m_run;
};

RecordedRun::RecordedRun(RecordedTask task)
    : m_task(std::move(task)), m_sources(plan().impl().source), m_trace(plan()), m_kept(m_task.limits),
      m_canDrop(exec::replayable(plan())), m_state(graph().nodeCount(), 0),
      m_listener(std::make_unique<Listener>(*this)) {
    for (const Value& input : m_task.inputs) m_kept.addForeign(input);
    for (std::size_t i = 0; i < graph().nodeCount(); ++i)
        if (const auto& constant = plan().impl().constantOf(NodeId(i))) m_kept.addForeign(*constant);
    if (m_task.base) findKnown();
}

RecordedRun::~RecordedRun() { end(); }

void RecordedRun::end() {
    if (!m_thread.joinable()) return;
    m_end.request_stop();
    {
        const std::scoped_lock lock(m_mutex);
        m_isGoing = true;
    }
    m_changed.notify_all();
    m_thread.join();
    if (m_left) ended();
}

// --- what another run has -------------------------------------------------------------------------------------------

/// What has the same results in the run that this one is based on, and which of those are read by what is done here.
void RecordedRun::findKnown() {
    const RecordedRun& base = *m_task.base;
    exec::Edits all;
    for (const exec::Plan* const one : {m_task.plan.get(), base.m_task.plan.get()}) {
        const auto& edits = one->options().edits;
        if (!edits) continue;
        all.values.insert(all.values.end(), edits->values.begin(), edits->values.end());
        all.constants.insert(edits->constants.begin(), edits->constants.end());
        all.inputs.insert(all.inputs.end(), edits->inputs.begin(), edits->inputs.end());
    }
    const exec::Dependants changed = exec::dependantsOf(graph(), all);
    m_isKnown.assign(graph().exprCount(), false);
    m_isRead.assign(graph().nodeCount(), false);
    for (std::size_t i = 0; i < graph().exprCount(); ++i) {
        if (graph().isErased(ExprId(i))) continue;
        const graph::Expr& expr = graph().expr(ExprId(i));
        // The values that edits there are made of are not kept there.
        const bool isEditedThere = std::ranges::any_of(
            expr.outputs, [&](NodeId node) { return base.plan().impl().isEdited(base.sourceOf(node)); });
        m_isKnown[i] = !changed.exprs[i] && !isEditedThere && expr.bodies.empty() && !expr.outputs.empty() &&
                       expr.kind != graph::ExprKind::Output;
    }
    const auto read = [this](NodeId node) { m_isRead[sourceOf(node).index()] = true; };
    for (std::size_t i = 0; i < graph().exprCount(); ++i) {
        if (graph().isErased(ExprId(i))) continue;
        const graph::Expr& expr = graph().expr(ExprId(i));
        // Of a loop that is not through, some iterations may still be done here.
        const bool isInRow = exec::rowOf(graph(), expr.body) == graph().mainId();
        const ItemId item = base.m_trace.times(expr.id) == 0 ? kNoItem : base.m_trace.timeOf(expr.id, 0);
        const bool isDone =
            isInRow ? item != kNoItem && base.m_trace.isDone(item) : base.hasEnded() && !base.m_recording->error;
        if (m_isKnown[i] && isDone) continue;
        if (!exec::isCall(expr)) std::ranges::for_each(expr.inputs, read);
        for (const graph::BodyId body : expr.bodies) std::ranges::for_each(graph().body(body).outputs, read);
    }
    for (const auto& [node, edits] : plan().impl().edits) plan().impl().forEachOperand(std::span(&node, 1), read);
    for (const auto& [node, edits] : plan().impl().edits) m_isRead[node.index()] = true;
}

/// By the run's thread: the results of an operation as that run has them.
bool RecordedRun::takeKnown(ExprId id, std::vector<Value>& outputs) {
    m_knownItem = kNoItem;
    if (m_isKnown.empty() || !m_isKnown[id.index()]) return false;
    RecordedRun& base = *m_task.base;
    const ItemId item = base.m_trace.timeOf(id, m_trace.times(id) - 1);
    if (item == kNoItem || !base.m_trace.isDone(item)) return false;
    const graph::Expr& expr = graph().expr(id);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const KeptValue* const kept = base.keptOf(expr.outputs[i], item);
        if (!kept) return false;
        // What nobody reads stays where it is.
        const bool isNeeded = m_isRead[expr.outputs[i].index()] || base.m_bad.contains(expr.outputs[i]);
        if (!isNeeded && m_canDrop[id.index()]) continue;
        auto value = base.valueOf(*kept, {m_end.get_token(), {}});
        if (!value) return false;
        outputs[i] = std::move(*value);
    }
    m_knownItem = item;
    ++m_takenOver;
    return true;
}

// --- going on -------------------------------------------------------------------------------------------------------

void RecordedRun::run() {
    exec::RunOptions options;
    options.seed = m_task.seed;
    options.observer = m_listener.get();
    options.countsBad = !m_task.base;  // with one, all that is shown is what note() has counted
    options.keepsWatched = false;
    exec::Recording recording = m_task.runner->run(plan(), m_task.inputs, {m_end.get_token(), {}}, options);
    {
        const std::scoped_lock lock(m_mutex);
        m_left = std::move(recording);
        m_isGoing = false;
    }
    m_changed.notify_all();
}

/// By the run's thread: lets the other one go on until that asks for more.
void RecordedRun::wait() {
    std::unique_lock lock(m_mutex);
    m_isGoing = false;
    m_changed.notify_all();
    m_changed.wait(lock, [this] { return m_isGoing; });
}

/// An operation is about to be done: by the run's thread.
void RecordedRun::begun() {
    m_valuesOf.resize(m_trace.size());
    if (m_trace.size() > kMaxItems && !m_tooLong) {
        m_tooLong = base::runError("the run has more than " + std::to_string(kMaxItems) + " steps", {},
                                   "debug a part of it, or set an end point");
        m_end.request_stop();
    }
    if (m_end.stop_requested()) return;
    bool isReached = m_isReached || m_pause.stop_requested();
    if (m_until->done != kNoItem && m_trace.isDone(m_until->done)) isReached = true;
    for (; m_asked < m_trace.size(); ++m_asked)
        if (m_until->at && m_until->at(static_cast<ItemId>(m_asked))) isReached = true;
    if (isReached) wait();
}

void RecordedRun::advance(const Until& until, const std::stop_token& stop) {
    if (hasEnded()) return;
    m_until = &until;
    m_pause = stop;
    m_isReached = false;
    m_asked = m_trace.size();
    std::unique_lock lock(m_mutex);
    m_isGoing = true;
    if (m_thread.joinable()) m_changed.notify_all();
    else m_thread = std::thread([this] { run(); });
    m_changed.wait(lock, [this] { return !m_isGoing; });
    m_until = nullptr;
    if (m_left) ended();
}

void RecordedRun::ended() {
    m_recording = std::move(*m_left);
    m_left.reset();
    if (m_tooLong) m_recording->error = m_tooLong;
    // What was known was not counted in the run.
    if (m_task.base) m_recording->bad = m_bad;
    m_trace.close();
    m_valuesOf.resize(m_trace.size());
}

bool RecordedRun::finish(ItemId item, const std::stop_token& stop) {
    while (!m_trace.isDone(item) && !hasEnded() && !stop.stop_requested()) advance({{}, 0, item}, stop);
    return m_trace.isDone(item);
}

// --- keeping --------------------------------------------------------------------------------------------------------

void RecordedRun::keepInputs(graph::BodyId id, ItemId item, std::span<const Value> inputs) {
    const graph::Body& body = graph().body(id);
    m_valuesOf.resize(m_trace.size());
    for (std::size_t i = 0; i < inputs.size() && i < body.inputs.size(); ++i) {
        m_valuesOf[item].emplace_back(body.inputs[i], m_kept.keep(inputs[i], item, false));
        (void)note(body.inputs[i], inputs[i]);
    }
}

/// What is in a value, see TensorEvent, and counts what is bad of it.
std::uint8_t RecordedRun::note(NodeId node, const Value& value) {
    ops::kernels::BadCount count;
    bool isNarrow = false, hasElements = false, isAllZero = true;
    forEachTensor(value, [&](const Tensor& tensor) {
        if (!tensor.defined() || !tensor::isFloating(tensor.dtype()) || tensor.numel() == 0) return;
        const ops::kernels::BadCount bad = ops::kernels::countBad(tensor, m_task.runner->pool());
        count += bad;
        isNarrow = isNarrow || (bad.inf > 0 && tensor::itemSize(tensor.dtype()) <= 2);
        hasElements = true;
        isAllZero = isAllZero && !bad.any() && isZero(tensor);
    });
    if (value.kind() == tensor::ValueKind::Float) {
        count.nan += std::isnan(value.toFloat()) ? 1 : 0;
        count.inf += std::isinf(value.toFloat()) ? 1 : 0;
    }
    std::uint8_t state = 0;
    if (count.nan > 0) state |= bit(TensorEvent::Nan);
    if (count.inf > 0) state |= bit(TensorEvent::Inf);
    if (isNarrow) state |= bit(TensorEvent::Overflow);
    if (hasElements && isAllZero) state |= bit(TensorEvent::Zero);
    m_state[node.index()] = state;
    if (count.any()) {
        exec::BadValues& bad = m_bad[node];
        bad.nan += count.nan;
        bad.inf += count.inf;
        if (value.isTensor()) bad.dtype = value.tensor().dtype();
    }
    return state;
}

void RecordedRun::keepResults(ItemId item, std::span<const Value> outputs) {
    const graph::Expr& expr = graph().expr(m_trace[item].expr);
    std::uint8_t before = 0, after = 0;
    const auto read = [&](NodeId node) {
        const NodeId source = sourceOf(node);
        const ExprId producer = graph().node(source).producer;
        const bool isGiven =
            graph().expr(producer).kind == graph::ExprKind::Input && graph().expr(producer).body == graph().mainId();
        if (!isGiven && !graph().node(source).constant) before |= m_state[source.index()];
    };
    std::ranges::for_each(expr.inputs, read);
    for (const graph::BodyId body : expr.bodies) std::ranges::for_each(graph().body(body).outputs, read);
    const bool canDrop = m_canDrop[expr.id.index()];
    if (!expr.bodies.empty()) m_knownItem = kNoItem;  // of what was done inside
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const NodeId node = expr.outputs[i];
        // Calls hand on what was kept inside. A run that ends inside of a loop or a branch leaves it without results.
        const bool isCut = outputs[i].isNone() && !expr.bodies.empty() && !exec::isCall(expr);
        if (sourceOf(node) != node || isCut) continue;
        if (m_knownItem != kNoItem && !m_task.base->m_bad.contains(node) && !plan().impl().isEdited(node)) {
            RecordedRun& base = *m_task.base;
            m_state[node.index()] = base.m_state[node.index()] & bit(TensorEvent::Zero);
            after |= m_state[node.index()];
            m_valuesOf[item].emplace_back(node, outputs[i].isNone()
                                                    ? m_kept.adopt(*base.keptOf(node, m_knownItem), base.m_kept, item)
                                                    : m_kept.keep(outputs[i], item, canDrop));
            continue;
        }
        const std::uint8_t state = note(node, outputs[i]);
        after |= state;
        if (const auto bad = m_bad.find(node); bad != m_bad.end() && (state & 3) != 0 && (before & 3) == 0)
            bad->second.isOrigin = true;
        m_valuesOf[item].emplace_back(node, m_kept.keep(outputs[i], item, canDrop));
    }
    // What is infinite may become NaN: that is new. What is NaN does not become infinite by anybody's doing.
    unsigned cameIn = before;
    if ((before & bit(TensorEvent::Nan)) != 0) cameIn |= unsigned{bit(TensorEvent::Inf)} | bit(TensorEvent::Overflow);
    if ((before & bit(TensorEvent::Inf)) != 0) cameIn |= bit(TensorEvent::Overflow);
    const auto events = static_cast<std::uint8_t>(after & ~cameIn);
    m_trace.addEvents(item, events);
    if (m_until && (m_until->events & events) != 0) m_isReached = true;
    m_task.runner->trim(kIdleBytes);
}

exec::Recording RecordedRun::partialRecording() const {
    if (m_recording) return *m_recording;
    exec::Recording recording;
    recording.states.assign(graph().exprCount(), exec::ExprState::NotReached);
    recording.computedNodes.assign(graph().nodeCount(), false);
    for (ItemId item = 0; item < m_trace.size(); ++item) {
        if (m_trace[item].kind != Item::Kind::Operation || !m_trace.isDone(item)) continue;
        recording.states[m_trace[item].expr.index()] = exec::ExprState::Done;
        for (const NodeId node : graph().expr(m_trace[item].expr).outputs) recording.computedNodes[node.index()] = true;
    }
    recording.bad = m_bad;
    return recording;
}

// --- values ---------------------------------------------------------------------------------------------------------

/// What is there in every run: weights and the model's inputs. Null: neither.
const Value* RecordedRun::given(NodeId source) const {
    if (const auto& constant = plan().impl().constantOf(source)) return &*constant;
    const auto input = std::ranges::find(graph().inputs(), source);
    if (input == graph().inputs().end()) return nullptr;
    const auto index = static_cast<std::size_t>(input - graph().inputs().begin());
    if (index < m_task.inputs.size() && !m_task.inputs[index].isNone()) return &m_task.inputs[index];
    // A parameter that is not given has its default.
    const graph::Expr& expr = graph().expr(graph().node(source).producer);
    if (expr.arguments.empty()) return nullptr;
    const graph::Argument& fallback = expr.arguments.front();
    return fallback.kind == graph::Argument::Kind::Constant ? &fallback.constant : nullptr;
}

const KeptValue* RecordedRun::keptOf(NodeId source, ItemId item) const {
    if (item >= m_valuesOf.size()) return nullptr;
    const auto& values = m_valuesOf[item];
    const auto found = std::ranges::find(values, source, &std::pair<NodeId, KeptValue>::first);
    return found == values.end() ? nullptr : &found->second;
}

/// The last item at or before `at` that a value of the node came from.
ItemId RecordedRun::makerOf(NodeId source, ItemId at) const {
    const graph::Expr& expr = graph().expr(graph().node(source).producer);
    const bool isBodyInput = expr.kind == graph::ExprKind::Input;
    ItemId item = isBodyInput ? m_trace.lastOf(expr.body, at) : m_trace.lastOf(expr.id, at);
    while (item != kNoItem && !keptOf(source, item))  // not done, or failed
        item = item == 0     ? kNoItem
               : isBodyInput ? m_trace.lastOf(expr.body, item - 1)
                             : m_trace.lastOf(expr.id, item - 1);
    return item;
}

ItemId RecordedRun::itemOf(NodeId node, ItemId at, bool isAfter) const {
    const ExprId producer = graph().node(node).producer;
    ItemId last = at;
    if (isAfter && at < m_trace.size() && m_trace.isDone(at)) {
        // Inside of a call is where its results come from.
        if (m_trace[at].kind == Item::Kind::Operation && m_trace[at].expr == producer) last = m_trace[at].end - 1;
    } else if (!isAfter) {
        const bool isInput = graph().expr(graph().node(sourceOf(node)).producer).kind == graph::ExprKind::Input;
        if (!isInput && at == 0) return kNoItem;
        if (!isInput) last = at - 1;
    }
    ItemId item = makerOf(sourceOf(node), last);
    // What is around an item is not done before it.
    while (item != kNoItem && item < at && m_trace[item].kind == Item::Kind::Operation && m_trace[item].end > at)
        item = item == 0 ? kNoItem : makerOf(sourceOf(node), item - 1);
    return item;
}

base::Result<Value> RecordedRun::value(NodeId node, ItemId at, bool isAfter, const base::WorkContext& work) {
    if (const Value* const known = given(sourceOf(node))) return *known;
    const ItemId item = itemOf(node, at, isAfter);
    if (item == kNoItem)
        return base::usageError("the value of '" + graph().node(node).name + "' is not computed yet", {},
                                "run to the node first");
    return valueOf(*keptOf(sourceOf(node), item), work);
}

/// An operation that is to be done again, and what it takes.
struct RecordedRun::Again {
    ItemId item = kNoItem;
    Blocks held;  ///< of what it reads
};

/// Collects the blocks of a value that are there. False: of one that is not, the operation that made it was added.
base::Result<bool> RecordedRun::gather(const KeptValue& kept, Blocks& blocks, std::vector<Again>& todo) {
    std::vector<BlockId> all;
    collectBlocks(kept, all);
    for (const BlockId block : all) {
        if (blocks.contains(block)) continue;
        SONDE_ASSIGN(auto storage, m_kept.find(block));
        if (!storage) {
            todo.push_back({m_kept.makerOf(block), {}});
            return false;
        }
        blocks.emplace(block, std::move(storage));
    }
    return true;
}

base::Result<exec::ReplayInputs> RecordedRun::inputsOf(Again& again, std::vector<Again>& todo, bool& isComplete) {
    const ItemId item = again.item;
    exec::ReplayInputs inputs;
    inputs.expr = m_trace[item].expr;
    isComplete = true;
    for (const NodeId node : exec::readsOf(plan(), inputs.expr)) {
        if (const Value* const known = given(node)) {
            inputs.values.emplace(node, *known);
            continue;
        }
        const ItemId maker = itemOf(node, item, false);
        if (maker == kNoItem) continue;  // read by what was not done
        const KeptValue& kept = *keptOf(node, maker);
        SONDE_ASSIGN(isComplete, gather(kept, again.held, todo));
        if (!isComplete) return inputs;
        inputs.values.emplace(node, valueOn(kept, again.held));
    }
    for (const ExprId draw : exec::drawsOf(plan(), inputs.expr))
        inputs.draws.emplace(draw, m_trace.countBefore(draw, item));
    return inputs;
}

/// Does operations again, the last one of the list first, each after those that made what it reads.
base::Result<void> RecordedRun::compute(std::vector<Again>& todo, Blocks& blocks, const base::WorkContext& work) {
    exec::RunOptions options;
    options.seed = m_task.seed;
    while (!todo.empty()) {
        if (work.cancelled()) return base::cancelled("while a value is computed again");
        Again now = std::move(todo.back());
        todo.pop_back();
        const std::size_t position = todo.size();
        bool isComplete = false;
        SONDE_ASSIGN(const exec::ReplayInputs inputs, inputsOf(now, todo, isComplete));
        if (!isComplete) {
            todo.insert(todo.begin() + static_cast<std::ptrdiff_t>(position), std::move(now));
            continue;
        }
        SONDE_ASSIGN(const auto outputs, m_task.runner->replay(plan(), inputs, work, options));
        ++m_computedAgain;
        const graph::Expr& expr = graph().expr(inputs.expr);
        Blocks made;
        for (std::size_t i = 0; i < expr.outputs.size() && i < outputs.size(); ++i) {
            const KeptValue* const kept = keptOf(expr.outputs[i], now.item);
            if (kept && !pairBlocks(*kept, outputs[i], made))
                return base::runError("a value is not the same when it is computed again",
                                      "node '" + graph().node(expr.outputs[i]).name + "'");
        }
        // Whoever waits for them has them now, however little may stay in memory.
        Blocks& waiting = todo.empty() ? blocks : todo.back().held;
        for (const auto& [block, storage] : made) {
            if (m_kept.makerOf(block) == now.item) m_kept.restore(block, storage);
            waiting.emplace(block, storage);
        }
    }
    return {};
}

base::Result<Value> RecordedRun::valueOf(const KeptValue& kept, const base::WorkContext& work) {
    Blocks blocks;
    for (;;) {
        std::vector<Again> todo;
        SONDE_ASSIGN(const bool isComplete, gather(kept, blocks, todo));
        if (isComplete) break;
        SONDE_TRY(compute(todo, blocks, work));
    }
    m_task.runner->trim(kIdleBytes);
    return valueOn(kept, blocks);
}

base::Result<std::vector<Value>> RecordedRun::doAgain(ItemId item, const std::unordered_map<NodeId, Value>& instead,
                                                      const base::WorkContext& work) {
    exec::RunOptions options;
    options.seed = m_task.seed;
    Again again{item, {}};
    for (;;) {
        std::vector<Again> todo;
        bool isComplete = false;
        SONDE_ASSIGN(exec::ReplayInputs inputs, inputsOf(again, todo, isComplete));
        for (auto& [node, value] : inputs.values)
            if (const auto other = instead.find(node); other != instead.end()) value = other->second;
        if (isComplete) return m_task.runner->replay(plan(), inputs, work, options);
        SONDE_TRY(compute(todo, again.held, work));
    }
}

}  // namespace sonde::session::debug
