// Loop, Scan and SequenceMap seen from behind: what they gave are results of their iterations, and what an iteration
// was given comes from the one before it, or from outside.

#include <algorithm>

#include "core/session/gradient/backward.h"
#include "core/tensor/shape.h"

namespace sonde::session::gradient {

using debug::kNoItem;
using graph::Argument;
using graph::Expr;
using tensor::Tensor;

namespace {

graph::NodeId argumentNode(const Expr& expr, std::size_t argument) {
    const auto& arguments = expr.arguments;
    const bool isNode = argument < arguments.size() && arguments[argument].kind == Argument::Kind::Node;
    return isNode ? arguments[argument].node : graph::NodeId();
}

base::Result<tensor::Value> partOf(const tensor::Value& whole, std::size_t axis, std::int64_t index) {
    if (!whole.isTensor() || axis >= whole.tensor().rank() || index < 0 || index >= whole.tensor().dim(axis))
        return base::runError("a gradient of " + whole.typeText() + " has no part " + std::to_string(index));
    SONDE_ASSIGN(Tensor part, whole.tensor().selected(axis, index).contiguous());
    return tensor::Value(std::move(part));
}

}  // namespace

// --- Loop: the trip count and the condition come before what is carried, the condition before what iterations give ---

base::Result<void> Backward::enterLoop(ItemId item, const Expr& expr) {
    const std::vector<ItemId> iterations = iterationsOf(item);
    const std::size_t carried = expr.arguments.size() > 2 ? expr.arguments.size() - 2 : 0;
    for (std::size_t i = 0; i < expr.outputs.size(); ++i) {
        SONDE_ASSIGN(const Value gradient, take({expr.outputs[i], item}));
        if (gradient.isNone()) continue;
        if (i < carried) {
            const NodeId start = argumentNode(expr, 2 + i);
            if (!iterations.empty()) SONDE_TRY(giveResult(iterations.back(), 1 + i, gradient));
            else if (start.valid()) SONDE_TRY(give(keyOf(start, item, false), gradient));
            continue;
        }
        // Stacked: each iteration has its row.
        for (std::size_t k = 0; k < iterations.size(); ++k) {
            SONDE_ASSIGN(const Value row, partOf(gradient, 0, static_cast<std::int64_t>(k)));
            SONDE_TRY(giveResult(iterations[k], 1 + i, row));
        }
    }
    return {};
}

base::Result<void> Backward::leaveLoop(ItemId item, ItemId loop, const Expr& expr) {
    const graph::Body& body = m_graph.body(expr.bodies.front());
    const ItemId before = iterationBefore(item);
    for (std::size_t i = 2; i < body.inputs.size(); ++i) {
        SONDE_ASSIGN(const Value gradient, take({body.inputs[i], item}));
        const NodeId start = argumentNode(expr, i);
        if (before != kNoItem) SONDE_TRY(giveResult(before, i - 1, gradient));
        else if (start.valid()) SONDE_TRY(give(keyOf(start, loop, false), gradient));
    }
    return {};
}

// --- Scan -----------------------------------------------------------------------------------------------------------

/// Which arguments are states and which are scanned, and along which axes.
struct Backward::ScanLayout {
    explicit ScanLayout(const Expr& expr)
        : isBatched(expr.op.version < 9), first(isBatched ? 1 : 0),
          inputAxes(expr.attributes.getInts("scan_input_axes")),
          outputAxes(expr.attributes.getInts("scan_output_axes")),
          inputDirections(expr.attributes.getInts(isBatched ? "directions" : "scan_input_directions")),
          outputDirections(expr.attributes.getInts("scan_output_directions")) {
        const std::size_t count = expr.arguments.size() - std::min(first, expr.arguments.size());
        const std::int64_t scanned = expr.attributes.getInt("num_scan_inputs", 0);
        states = count - std::min(count, static_cast<std::size_t>(std::max<std::int64_t>(scanned, 0)));
    }
    static std::int64_t entry(const std::vector<std::int64_t>& list, std::size_t i) {
        return i < list.size() ? list[i] : 0;
    }
    /// Version 8 numbers the iterations of the batch `b` from b · 2^20 on.
    std::int64_t batchOf(std::int64_t iteration) const { return isBatched ? iteration >> 20 : 0; }
    std::int64_t stepOf(std::int64_t iteration) const { return isBatched ? iteration & ((1 << 20) - 1) : iteration; }

    bool isBatched;
    std::size_t first;       ///< argument
    std::size_t states = 0;  ///< the others are scanned
    std::vector<std::int64_t> inputAxes, outputAxes, inputDirections, outputDirections;
};

base::Result<void> Backward::enterScan(ItemId item, const Expr& expr) {
    const ScanLayout layout(expr);
    std::map<std::int64_t, std::vector<ItemId>> batches;
    for (const ItemId iteration : iterationsOf(item))
        batches[layout.batchOf(m_trace[iteration].iteration)].push_back(iteration);
    for (std::size_t i = 0; i < expr.outputs.size(); ++i) {
        SONDE_ASSIGN(const Value gradient, take({expr.outputs[i], item}));
        if (gradient.isNone()) continue;
        const std::int64_t count = !layout.isBatched ? 1 : gradient.isTensor() ? gradient.tensor().dim(0) : 0;
        for (std::int64_t b = 0; b < count; ++b) {
            Value own = gradient;
            Part batch;
            if (layout.isBatched) {
                SONDE_ASSIGN(own, partOf(gradient, 0, b));
                batch.emplace_back(0, b);
            }
            SONDE_TRY(enterScanOf(layout, item, batches[b], i, own, batch));
        }
    }
    return {};
}

base::Result<void> Backward::enterScanOf(const ScanLayout& layout, ItemId item, const std::vector<ItemId>& iterations,
                                         std::size_t output, const Value& gradient, const Part& batch) {
    if (output < layout.states) {
        if (!iterations.empty()) return giveResult(iterations.back(), output, gradient);
        const NodeId start = argumentNode(exprOf(item), layout.first + output);
        if (!start.valid()) return {};
        return batch.empty() ? give(keyOf(start, item, false), gradient) : givePart(start, item, batch, gradient);
    }
    const std::size_t scan = output - layout.states;
    const auto axis = gradient.isTensor()
                          ? tensor::normalizedAxis(ScanLayout::entry(layout.outputAxes, scan), gradient.tensor().rank())
                          : std::nullopt;
    if (!axis) return base::runError("a result of Scan has no axis to be split along");
    const bool isReversed = ScanLayout::entry(layout.outputDirections, scan) != 0;
    for (std::size_t k = 0; k < iterations.size(); ++k) {
        const std::size_t at = isReversed ? iterations.size() - 1 - k : k;
        SONDE_ASSIGN(const Value row, partOf(gradient, *axis, static_cast<std::int64_t>(at)));
        SONDE_TRY(giveResult(iterations[k], output, row));
    }
    return {};
}

base::Result<void> Backward::leaveScan(ItemId item, ItemId loop, const Expr& expr) {
    const ScanLayout layout(expr);
    const graph::Body& body = m_graph.body(expr.bodies.front());
    const std::int64_t number = m_trace[item].iteration, b = layout.batchOf(number), step = layout.stepOf(number);
    const ItemId before = step > 0 ? iterationBefore(item) : kNoItem;
    std::int64_t length = 0;  // of this batch
    for (const ItemId iteration : iterationsOf(loop))
        if (layout.batchOf(m_trace[iteration].iteration) == b) ++length;
    Part batch;
    if (layout.isBatched) batch.emplace_back(0, b);
    for (std::size_t i = 0; i < body.inputs.size(); ++i) {
        SONDE_ASSIGN(const Value gradient, take({body.inputs[i], item}));
        const NodeId start = argumentNode(expr, layout.first + i);
        if (gradient.isNone() || !start.valid()) continue;
        if (i < layout.states) {
            if (before != kNoItem) SONDE_TRY(giveResult(before, i, gradient));
            else if (batch.empty()) SONDE_TRY(give(keyOf(start, loop, false), gradient));
            else SONDE_TRY(givePart(start, loop, batch, gradient));
            continue;
        }
        const std::size_t scan = i - layout.states;
        const std::size_t rank = gradient.isTensor() ? gradient.tensor().rank() + 1 : 1;
        const auto axis = tensor::normalizedAxis(ScanLayout::entry(layout.inputAxes, scan), rank);
        if (!axis) return base::runError("an input of Scan has no axis to be split along");
        Part part = batch;
        const bool isReversed = ScanLayout::entry(layout.inputDirections, scan) != 0;
        part.emplace_back(*axis, isReversed ? length - 1 - step : step);
        SONDE_TRY(givePart(start, loop, part, gradient));
    }
    return {};
}

// --- SequenceMap ----------------------------------------------------------------------------------------------------

base::Result<void> Backward::enterMap(ItemId item, const Expr& expr) {
    const std::vector<ItemId> iterations = iterationsOf(item);
    for (std::size_t i = 0; i < expr.outputs.size(); ++i) {
        SONDE_ASSIGN(const Value gradient, take({expr.outputs[i], item}));
        if (!gradient.isListLike()) continue;
        for (std::size_t k = 0; k < iterations.size() && k < gradient.items().size(); ++k)
            SONDE_TRY(giveResult(iterations[k], i, gradient.items()[k]));
    }
    return {};
}

/// Elements of sequences are those at the iteration's place; other values are given whole to every iteration.
base::Result<void> Backward::leaveMap(ItemId item, ItemId loop, const Expr& expr) {
    const graph::Body& body = m_graph.body(expr.bodies.front());
    const auto at = static_cast<std::size_t>(m_trace[item].iteration);
    for (std::size_t i = 0; i < body.inputs.size(); ++i) {
        SONDE_ASSIGN(Value gradient, take({body.inputs[i], item}));
        const NodeId from = argumentNode(expr, i);
        if (gradient.isNone() || !from.valid()) continue;
        SONDE_ASSIGN(const Value whole, m_run.value(from, loop, false, m_work));
        if (whole.isListLike()) {
            tensor::ValueList items(whole.items().size());
            if (at < items.size()) items[at] = std::move(gradient);
            gradient = Value::list(std::move(items));
        }
        SONDE_TRY(give(keyOf(from, loop, false), std::move(gradient)));
    }
    return {};
}

}  // namespace sonde::session::gradient
