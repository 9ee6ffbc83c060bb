#include "core/session/model_reference.h"

#include "core/analysis/match.h"
#include "core/analysis/model_target.h"
#include "core/graph/source_files.h"
#include "core/session/debug/recorded_run.h"

namespace sonde::session {

using debug::ItemId;
using debug::kNoItem;
using graph::NodeId;
using tensor::Value;

ModelReference::ModelReference(const debug::View& view, std::shared_ptr<const document::Document> other,
                               const base::WorkContext& work)
    : m_view(view), m_work(work), m_other(std::move(other)),
      m_counterparts(analysis::matchNodes(*view.document().graph, *m_other->graph)) {}

ModelReference::~ModelReference() = default;

base::Result<std::unique_ptr<ModelReference>> ModelReference::of(const debug::View& view, const std::string& path,
                                                                 const ModelReferenceOptions& options,
                                                                 const base::WorkContext& work) {
    SONDE_ASSIGN(auto other, document::open(path, {}, work));
    std::unique_ptr<ModelReference> reference(new ModelReference(view, std::move(other), work));
    SONDE_TRY(reference->run(options));
    SONDE_TRY(graph::checkFiles(reference->m_other->graph));
    return reference;
}

/// What the run that is looked at was given, edits included, in the other model's order and element types.
base::Result<std::vector<Value>> ModelReference::inputs() const {
    const auto& graph = m_view.document().graph;
    analysis::BisectModel own{graph, {}, 0};
    for (const NodeId input : graph->inputs()) {
        auto value = m_view.value(input, m_work);
        own.inputs.push_back(value ? std::move(*value) : Value());
    }
    return analysis::inputsLike(own, *m_other->graph);
}

base::Result<void> ModelReference::run(const ModelReferenceOptions& options) {
    debug::RecordedTask task;
    SONDE_ASSIGN(task.plan, exec::Plan::make(m_other->graph, {}));
    SONDE_ASSIGN(task.inputs, inputs());
    task.runner = std::make_shared<exec::Runner>(options.threads);
    task.seed = options.seed;
    m_run = std::make_shared<debug::RecordedRun>(std::move(task));
    m_run->advance({}, m_work.stop);
    if (m_work.cancelled() || !m_run->hasEnded()) return base::cancelled("while the other model runs");
    if (const auto& error = m_run->recording()->error) {
        base::Error failed = *error;
        failed.what = m_other->title + " cannot be run on these inputs: " + failed.what;
        return failed;
    }
    return {};
}

/// Whether something reads a weight by the same operator in both models: what one stores transposed is another value.
bool ModelReference::isReadAlike(NodeId weight) const {
    const graph::InternalGraph &own = *m_view.document().graph, &other = *m_other->graph;
    for (const graph::ExprId user : own.node(weight).users) {
        for (const NodeId result : own.expr(user).outputs) {
            const NodeId there = m_counterparts[result.index()];
            if (!there.valid()) continue;
            const graph::OpKey &a = own.expr(user).op, &b = other.expr(other.node(there).producer).op;
            const bool isSameTurn = own.expr(user).attributes.getInt("transB", 0) ==
                                    other.expr(other.node(there).producer).attributes.getInt("transB", 0);
            if (a.domain == b.domain && a.name == b.name && isSameTurn) return true;
        }
    }
    return false;
}

base::Result<Value> ModelReference::value(NodeId node) {
    const graph::InternalGraph& own = *m_view.document().graph;
    const NodeId source = m_view.run().sourceOf(node);
    const NodeId counterpart =
        m_counterparts[node.index()].valid() ? m_counterparts[node.index()] : m_counterparts[source.index()];
    const bool isWeight = own.node(source).constant.has_value();
    if (!counterpart.valid() || (isWeight && !isReadAlike(node)))
        return base::usageError("'" + own.node(node).name + "' has no counterpart in " + m_other->title);
    SONDE_ASSIGN(Value found, valueOf(source, m_run->sourceOf(counterpart)));
    const auto mine = m_view.value(node, m_work);
    if (mine && mine->isTensor() && found.isTensor() && mine->tensor().shape() != found.tensor().shape())
        return base::usageError("'" + own.node(node).name + "' has another shape in " + m_other->title);
    return found;
}

/// As manieth as the value that is looked at was made.
base::Result<Value> ModelReference::valueOf(NodeId node, NodeId counterpart) {
    const graph::InternalGraph& other = m_run->graph();
    const debug::Trace &ours = m_view.run().trace(), &theirs = m_run->trace();
    const auto last = static_cast<ItemId>(theirs.size() - std::min<std::size_t>(theirs.size(), 1));
    const graph::ExprId maker = other.node(counterpart).producer;
    const graph::ExprId own = m_view.run().graph().node(node).producer;
    const ItemId item = m_view.itemOf(node);
    if (item == kNoItem || ours[item].kind != debug::Item::Kind::Operation || theirs.times(maker) == 0)
        return m_run->value(counterpart, last, true, m_work);
    const std::size_t count = ours.countBefore(own, item);
    const ItemId there = theirs.timeOf(maker, count);
    if (there == kNoItem)
        return base::usageError("'" + other.node(counterpart).name + "' was computed less often in " + m_other->title);
    return m_run->value(counterpart, there, true, m_work);
}

}  // namespace sonde::session
