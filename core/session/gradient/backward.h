#pragma once

#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "core/exec/runner.h"
#include "core/session/debug/recorded_run.h"

namespace sonde::session::gradient {

/// What to do where no gradient can be had by a node.
inline constexpr std::string_view kNameBehind = "name a node behind it";

/// One value of a run: a node, by source, as it was made in an item; none of weights and inputs.
using ValueKey = std::pair<graph::NodeId, debug::ItemId>;

/// Reverse mode over what a recorded run has done: from a value back to others, operation by operation, the one that
/// ended last first. Branches, calls and loops of all kinds are followed as they ran.
class Backward {
  public:
    /// `to`: what is differentiated by; nothing is done for what does not depend on it. The run must outlive this.
    Backward(debug::RecordedRun& run, const std::vector<graph::NodeId>& to, std::size_t threads,
             const base::WorkContext& work);

    /// Gradients of these values are kept when they are complete.
    void keep(const ValueKey& key) { m_kept.insert({key, tensor::Value()}); }
    /// `seed`: the gradient of the value that is differentiated. Errors (Usage): an operation has no rule, by node and
    /// operator; of computing values again; cancelled.
    base::Result<void> run(const ValueKey& start, tensor::Value seed);
    /// After run(): none where the value that is differentiated does not depend on it.
    const tensor::Value& kept(const ValueKey& key) const { return m_kept.at(key); }
    std::size_t operations() const { return m_operations; }  ///< that were differentiated
    /// Operators that let no gradient through and were given one, each once.
    const std::vector<graph::ExprId>& stops() const { return m_stops; }

  private:
    using NodeId = graph::NodeId;
    using ItemId = debug::ItemId;
    using Value = tensor::Value;
    /// Axes and indices on them, from the outermost on: a part of a tensor without these axes.
    using Part = std::vector<std::pair<std::size_t, std::int64_t>>;
    struct ScanLayout;

    ValueKey keyOf(NodeId node, ItemId at, bool isAfter) const;
    ValueKey resultKey(NodeId node, ItemId end) const;
    bool isGiven(NodeId source) const;
    const graph::Expr& exprOf(ItemId item) const { return m_graph.expr(m_trace[item].expr); }
    bool isControl(ItemId item) const;
    base::Error blamed(base::Error error, const graph::Expr& expr) const;

    void isDue(const ValueKey& key);
    base::Result<void> give(const ValueKey& key, Value gradient);
    base::Result<void> givePart(NodeId node, ItemId reader, const Part& part, const Value& gradient);
    base::Result<Value> complete(const ValueKey& key);
    base::Result<Value> take(const ValueKey& key);
    base::Result<Value> beforeEdits(NodeId node, Value gradient) const;

    base::Result<void> visit(ItemId item);
    base::Result<void> differentiate(ItemId item);
    base::Result<void> enterControl(ItemId item);
    base::Result<void> enterCall(ItemId item, const graph::Expr& expr);
    base::Result<void> giveParts(const graph::Argument& argument, const Value& gradient, ItemId end);
    base::Result<void> enterBranch(ItemId item, const graph::Expr& expr);
    base::Result<void> leaveIteration(ItemId item);
    std::vector<ItemId> iterationsOf(ItemId loop) const;
    ItemId iterationBefore(ItemId item) const;
    base::Result<void> giveResult(ItemId iteration, std::size_t output, const Value& gradient);

    base::Result<void> enterLoop(ItemId item, const graph::Expr& expr);
    base::Result<void> leaveLoop(ItemId item, ItemId loop, const graph::Expr& expr);
    base::Result<void> enterScan(ItemId item, const graph::Expr& expr);
    base::Result<void> enterScanOf(const ScanLayout& layout, ItemId item, const std::vector<ItemId>& iterations,
                                   std::size_t output, const Value& gradient, const Part& batch);
    base::Result<void> leaveScan(ItemId item, ItemId loop, const graph::Expr& expr);
    base::Result<void> enterMap(ItemId item, const graph::Expr& expr);
    base::Result<void> leaveMap(ItemId item, ItemId loop, const graph::Expr& expr);

    debug::RecordedRun& m_run;
    const graph::InternalGraph& m_graph;
    const debug::Trace& m_trace;
    const base::WorkContext& m_work;
    exec::Runner m_runner;
    std::vector<bool> m_reach;  ///< by source node: depends on what is differentiated by
    std::map<ValueKey, Value> m_sums, m_kept;
    std::map<ValueKey, tensor::Tensor> m_parts;  ///< what was given to parts of a value; nobody else has these
    std::map<std::pair<std::uint64_t, ItemId>, bool, std::greater<>> m_pending;  ///< by position, and ~item
    std::size_t m_operations = 0;
    std::vector<graph::ExprId> m_stops;
};

}  // namespace sonde::session::gradient
