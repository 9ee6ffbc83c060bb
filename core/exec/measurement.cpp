#include "core/exec/measurement.h"

#include <map>

#include "core/exec/flatten.h"

namespace sonde::exec {

namespace {

/// Calls `visit` for every tensor in a value.
template <typename Visit>
void forEachTensor(const Value& value, const Visit& visit) {
    if (value.isTensor()) visit(value.tensor());
    if (value.isListLike()) {
        for (const Value& item : value.items()) forEachTensor(item, visit);
    }
    if (value.kind() == tensor::ValueKind::Dict) {
        for (const auto& [key, item] : value.dictItems()) forEachTensor(item, visit);
    }
}

class Observer final : public RunObserver {
  public:
    Observer(const Plan& plan, std::span<const Value> inputs) : m_plan(plan.impl()), m_graph(plan.graph()) {
        m_made.blocksOf.resize(m_graph.nodeCount());
        for (const Value& input : inputs) addForeign(input);
        for (std::size_t i = 0; i < m_graph.nodeCount(); ++i) {
            if (const auto& constant = m_graph.node(NodeId(i)).constant) addForeign(*constant);
        }
    }

    void exprFinished(ExprId id, std::span<const Value> values, std::int64_t) override {
        const graph::Expr& expr = m_graph.expr(id);
        if (rowOf(m_graph, expr.body) != m_graph.mainId()) return;
        for (std::size_t i = 0; i < expr.outputs.size() && i < values.size(); ++i) {
            const NodeId node = expr.outputs[i];
            if (m_plan.source[node.index()] == node) addBlocks(node, values[i]);
        }
    }

    Measurement take(const Recording& recording) {
        for (std::size_t i = 0; i < m_graph.exprCount(); ++i)
            m_made.elapsedNs.push_back(recording.elapsedNs(ExprId(i)));
        return std::move(m_made);
    }

  private:
    static constexpr std::uint32_t kForeign = static_cast<std::uint32_t>(-1);
    /// The place in memory stays taken while it is watched, so that no other storage can be mistaken for this one.
    using Watched = std::weak_ptr<const tensor::Storage>;

    void addForeign(const Value& value) {
        forEachTensor(value, [this](const tensor::Tensor& tensor) { m_blocks.emplace(tensor.storage(), kForeign); });
    }

    void addBlocks(NodeId node, const Value& value) {
        forEachTensor(value, [&](const tensor::Tensor& tensor) {
            if (!tensor.storage() || tensor.storage()->sizeBytes() == 0) return;
            const auto next = static_cast<std::uint32_t>(m_made.blockBytes.size());
            const auto [found, isNew] = m_blocks.emplace(tensor.storage(), next);
            if (isNew) {
                m_made.blockBytes.push_back(static_cast<std::int64_t>(tensor.storage()->sizeBytes()));
                m_made.blockOwner.push_back(node);
            }
            auto& blocks = m_made.blocksOf[node.index()];
            const bool isThere = std::ranges::find(blocks, found->second) != blocks.end();
            if (found->second != kForeign && !isThere) blocks.push_back(found->second);
        });
    }

    const PlanImpl& m_plan;
    const InternalGraph& m_graph;
    std::map<Watched, std::uint32_t, std::owner_less<Watched>> m_blocks;
    Measurement m_made;
};

}  // namespace

base::Result<Measurement> measure(Runner& runner, const Plan& plan, std::span<const Value> inputs,
                                  const base::WorkContext& work) {
    Observer observer(plan, inputs);
    RunOptions options;
    options.observer = &observer;
    options.countsBad = false;
    const Recording recording = runner.run(plan, inputs, work, options);
    if (recording.error) return *recording.error;
    return observer.take(recording);
}

}  // namespace sonde::exec
