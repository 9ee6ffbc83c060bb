#include "core/session/model_reference.h"

#include <algorithm>
#include <utility>

#include "core/analysis/edited_values.h"
#include "core/analysis/match.h"
#include "core/analysis/model_target.h"
#include "core/graph/source_files.h"
#include "core/session/debug/recorded_run.h"

namespace sonde::session {

using debug::ItemId;
using debug::kNoItem;
using graph::NodeId;
using tensor::Value;

const std::shared_ptr<ModelReferenceCache>& ModelReferenceCache::shared() {
    static const auto cache = std::make_shared<ModelReferenceCache>();
    return cache;
}

std::shared_ptr<ModelReferenceCache::Kept> ModelReferenceCache::take() {
    const std::scoped_lock lock(m_mutex);
    return std::exchange(m_kept, nullptr);
}

void ModelReferenceCache::give(std::shared_ptr<Kept> kept) {
    const std::scoped_lock lock(m_mutex);
    m_kept.swap(kept);
}

ModelReference::ModelReference(const debug::View& view, const base::WorkContext& work,
                               std::shared_ptr<ModelReferenceCache> cache)
    : m_view(view), m_work(work), m_cache(std::move(cache)) {}

ModelReference::~ModelReference() {
    if (m_cache && m_kept && m_kept->run) m_cache->give(std::move(m_kept));
}

base::Result<std::unique_ptr<ModelReference>> ModelReference::of(const debug::View& view, const std::string& path,
                                                                 const ModelReferenceOptions& options,
                                                                 const base::WorkContext& work,
                                                                 std::shared_ptr<ModelReferenceCache> cache) {
    std::unique_ptr<ModelReference> reference(new ModelReference(view, work, std::move(cache)));
    SONDE_ASSIGN(const bool isKept, reference->takeKept(path, options));
    if (!isKept) SONDE_TRY(reference->open(path, options));
    SONDE_TRY(graph::checkFiles(reference->m_kept->other->graph));
    return reference;
}

/// Whether the cache has it. What it has else is let go of: there is one at a time.
base::Result<bool> ModelReference::takeKept(const std::string& path, const ModelReferenceOptions& options) {
    auto kept = m_cache ? m_cache->take() : nullptr;
    if (!kept || kept->path != path || kept->options != options || kept->own.lock() != m_view.document().graph ||
        !graph::checkFiles(kept->other->graph))
        return false;
    SONDE_ASSIGN(const std::vector<Value> now, inputs(*kept->other->graph));
    if (!std::ranges::equal(now, kept->inputs, [](const Value& a, const Value& b) { return tensor::identical(a, b); }))
        return false;
    m_kept = std::move(kept);
    return true;
}

base::Result<void> ModelReference::open(const std::string& path, const ModelReferenceOptions& options) {
    SONDE_ASSIGN(auto other, document::open(path, {}, m_work));
    m_kept = std::make_shared<ModelReferenceCache::Kept>();
    m_kept->path = path;
    m_kept->options = options;
    m_kept->own = m_view.document().graph;
    m_kept->counterparts = analysis::withEditedValues(analysis::matchNodes(*m_view.document().graph, *other->graph),
                                                      *m_view.document().graph, *other->graph);
    m_kept->other = std::move(other);
    return run(options);
}

/// What the run that is looked at was given, edits included, in the other model's order and element types.
base::Result<std::vector<Value>> ModelReference::inputs(const graph::InternalGraph& other) const {
    const auto& graph = m_view.document().graph;
    analysis::BisectModel own{graph, {}, 0};
    for (const NodeId input : graph->inputs()) {
        auto value = m_view.value(input, m_work);
        own.inputs.push_back(value ? std::move(*value) : Value());
    }
    return analysis::inputsLike(own, other);
}

base::Result<void> ModelReference::run(const ModelReferenceOptions& options) {
    debug::RecordedTask task;
    SONDE_ASSIGN(task.plan, exec::Plan::make(m_kept->other->graph, {}));
    SONDE_ASSIGN(task.inputs, inputs(*m_kept->other->graph));
    m_kept->inputs = task.inputs;
    task.runner = std::make_shared<exec::Runner>(options.threads);
    task.seed = options.seed;
    auto run = std::make_shared<debug::RecordedRun>(std::move(task));
    run->advance({}, m_work.stop);
    if (m_work.cancelled() || !run->hasEnded()) return base::cancelled("while the other model runs");
    if (const auto& error = run->recording()->error) {
        base::Error failed = *error;
        failed.what = m_kept->other->title + " cannot be run on these inputs: " + failed.what;
        return failed;
    }
    m_kept->run = std::move(run);
    return {};
}

/// Whether something reads a weight by the same operator in both models: what one stores transposed is another value.
bool ModelReference::isReadAlike(NodeId weight) const {
    const graph::InternalGraph &own = *m_view.document().graph, &other = *m_kept->other->graph;
    for (const graph::ExprId user : own.node(weight).users) {
        for (const NodeId result : own.expr(user).outputs) {
            const NodeId there = m_kept->counterparts[result.index()];
            if (!there.valid()) continue;
            const graph::OpKey &a = own.expr(user).op, &b = other.expr(other.node(there).producer).op;
            const bool isSameTurn = own.expr(user).attributes.getInt("transB", 0) ==
                                    other.expr(other.node(there).producer).attributes.getInt("transB", 0);
            if (a.domain == b.domain && a.name == b.name && isSameTurn) return true;
        }
    }
    return false;
}

base::Result<NodeId> ModelReference::counterpartOf(NodeId node) const {
    const graph::InternalGraph& own = *m_view.document().graph;
    const NodeId source = m_view.run().sourceOf(node);
    const NodeId counterpart = m_kept->counterparts[node.index()].valid() ? m_kept->counterparts[node.index()]
                                                                          : m_kept->counterparts[source.index()];
    const bool isWeight = own.node(source).constant.has_value();
    if (!counterpart.valid() || (isWeight && !isReadAlike(node)))
        return base::usageError("'" + own.node(node).name + "' has no counterpart in " + m_kept->other->title);
    return m_kept->run->sourceOf(counterpart);
}

base::Result<Value> ModelReference::sameShape(NodeId node, Value found) const {
    const auto mine = m_view.value(node, m_work);
    if (mine && mine->isTensor() && found.isTensor() && mine->tensor().shape() != found.tensor().shape())
        return base::usageError("'" + m_view.document().graph->node(node).name + "' has another shape in " +
                                m_kept->other->title);
    return found;
}

base::Result<Value> ModelReference::value(NodeId node) {
    SONDE_ASSIGN(const NodeId counterpart, counterpartOf(node));
    SONDE_ASSIGN(Value found, valueOf(m_view.run().sourceOf(node), counterpart));
    return sameShape(node, std::move(found));
}

base::Result<Value> ModelReference::valueIn(NodeId node, const std::vector<std::int64_t>& iterations, bool isLast) {
    SONDE_ASSIGN(const NodeId counterpart, counterpartOf(node));
    auto found = debug::valueInPass(*m_kept->run, counterpart, iterations, m_work);
    // Loops of the other model may be counted in another way: then as often as the value was computed here.
    if (!found && found.error().kind == base::ErrorKind::Usage && isLast) return value(node);
    if (!found) return found;
    return sameShape(node, std::move(*found));
}

/// As manieth as the value that is looked at was made.
base::Result<Value> ModelReference::valueOf(NodeId node, NodeId counterpart) {
    const graph::InternalGraph& other = m_kept->run->graph();
    const debug::Trace &ours = m_view.run().trace(), &theirs = m_kept->run->trace();
    const auto last = static_cast<ItemId>(theirs.size() - std::min<std::size_t>(theirs.size(), 1));
    const graph::ExprId maker = other.node(counterpart).producer;
    const graph::ExprId own = m_view.run().graph().node(node).producer;
    const ItemId item = m_view.itemOf(node);
    if (item == kNoItem || ours[item].kind != debug::Item::Kind::Operation || theirs.times(maker) == 0)
        return m_kept->run->value(counterpart, last, true, m_work);
    const std::size_t count = ours.countBefore(own, item);
    const ItemId there = theirs.timeOf(maker, count);
    if (there == kNoItem)
        return base::usageError("'" + other.node(counterpart).name + "' was computed less often in " +
                                m_kept->other->title);
    return m_kept->run->value(counterpart, there, true, m_work);
}

}  // namespace sonde::session
