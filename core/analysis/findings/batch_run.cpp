#include "core/analysis/findings/batch_run.h"

#include <algorithm>
#include <cmath>

#include "core/exec/plan.h"
#include "core/graph/known_argument.h"

namespace sonde::analysis {

using graph::InternalGraph;
using graph::NodeId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

/// The dimension of a value that is a batch, by NodeId of an input or output; nothing: it has none.
std::optional<std::size_t> batchAxis(const graph::Node& node, const std::string& symbol) {
    if (!node.type.shape) return std::nullopt;
    for (std::size_t axis = 0; axis < node.type.shape->size(); ++axis)
        if ((*node.type.shape)[axis].symbol == symbol) return axis;
    return std::nullopt;
}

struct BatchSymbol {
    std::string name;
    NodeId input;
    bool isMadeUp = false;  ///< the file has no name for the dimension: which ones are the same is not known
};

std::optional<BatchSymbol> batchSymbol(const InternalGraph& graph) {
    for (const NodeId input : graph.inputs()) {
        const graph::Node& node = graph.node(input);
        const auto& shape = node.type.shape;
        if (!shape || shape->empty() || shape->front().symbol.empty()) continue;
        return BatchSymbol{shape->front().symbol, input, shape->front().symbol == node.name + ".0"};
    }
    return std::nullopt;
}

/// Of dimensions without names the first open one with as many samples.
std::optional<std::size_t> guessedAxis(const graph::Node& node, const Value& value, std::int64_t samples) {
    if (!node.type.shape || !value.isTensor()) return std::nullopt;
    for (std::size_t axis = 0; axis < node.type.shape->size() && axis < value.tensor().rank(); ++axis)
        if (!(*node.type.shape)[axis].known() && value.tensor().shape()[axis] == samples) return axis;
    return std::nullopt;
}

bool isRandom(const InternalGraph& graph) {
    return std::ranges::any_of(graph.recursiveOrder(graph.mainId()), [&](graph::ExprId id) {
        return graph::drawsNumbers(graph, graph.expr(id)).value_or(false);
    });
}

/// Bytes of a contiguous tensor [outer, n, inner] in a batch twice as large: `first`, then `second`.
base::Result<Tensor> stacked(const Tensor& first, const Tensor& second, std::size_t axis) {
    std::vector<std::int64_t> dims(first.shape().begin(), first.shape().end());
    std::int64_t inner = 1;
    for (std::size_t i = axis; i < dims.size(); ++i) inner *= dims[i];
    dims[axis] *= 2;
    SONDE_ASSIGN(Tensor both, Tensor::allocate(first.dtype(), Shape(dims)));
    const std::size_t part = static_cast<std::size_t>(inner) * tensor::itemSize(first.dtype());
    for (std::size_t at = 0; part > 0 && at < first.sizeBytes(); at += part) {
        std::copy_n(first.bytes() + at, part, both.mutableBytes() + 2 * at);
        std::copy_n(second.bytes() + at, part, both.mutableBytes() + 2 * at + part);
    }
    return both;
}

/// The elements of each sample from the last to the first, without the largest and the smallest: others of the same
/// kind, so that they are as valid. A sum, a mean or a maximum over all of them is another one too.
base::Result<Tensor> otherSample(const Tensor& tensor, std::size_t axis) {
    SONDE_ASSIGN(Tensor result, tensor.clone());
    std::int64_t inner = 1;
    for (std::size_t i = axis + 1; i < tensor.rank(); ++i) inner *= tensor.shape()[i];
    const std::size_t item = tensor::itemSize(tensor.dtype());
    for (std::int64_t begin = 0; inner > 0 && begin < tensor.numel(); begin += inner) {
        double least = INFINITY, most = -INFINITY;
        for (std::int64_t i = begin; i < begin + inner; ++i) {
            least = std::min(least, tensor.toDouble(i));
            most = std::max(most, tensor.toDouble(i));
        }
        const auto isBetween = [&](std::int64_t at) {
            return tensor.toDouble(at) > least && tensor.toDouble(at) < most;
        };
        std::int64_t between = -1;  // the last one that was met
        for (std::int64_t i = begin; i < begin + inner && between < 0; ++i)
            if (isBetween(i)) between = i;
        const bool hasBetween = between >= 0;
        for (std::int64_t i = 0; i < inner; ++i) {
            std::int64_t from = begin + inner - 1 - i;
            if (hasBetween && isBetween(from)) between = from;
            // Of two values each second element again, which are not as many of each.
            from = hasBetween ? between : begin + inner - 1 - i / 2;
            std::copy_n(tensor.bytes() + static_cast<std::size_t>(from) * item, item,
                        result.mutableBytes() + static_cast<std::size_t>(begin + i) * item);
        }
    }
    return result;
}

struct BatchInputs {
    std::vector<Value> single, both;
    bool areDifferent = false;  ///< the samples
    bool isGuessed = false;     ///< which dimensions are the batch
    std::int64_t samples = -1;  ///< of `single`
};

base::Result<std::optional<BatchInputs>> batchInputs(const InternalGraph& graph, const std::vector<Value>& inputs,
                                                     const BatchSymbol& symbol) {
    BatchInputs made{inputs, inputs};
    std::int64_t samples = -1;
    for (std::size_t i = 0; i < inputs.size() && i < graph.inputs().size(); ++i)
        if (graph.inputs()[i] == symbol.input && inputs[i].isTensor() && inputs[i].tensor().rank() > 0)
            samples = inputs[i].tensor().shape()[0];
    for (std::size_t i = 0; i < inputs.size() && i < graph.inputs().size(); ++i) {
        const graph::Node& node = graph.node(graph.inputs()[i]);
        auto axis = batchAxis(node, symbol.name);
        if (!axis && symbol.isMadeUp) {
            axis = guessedAxis(node, inputs[i], samples);
            made.isGuessed = true;
        }
        if (!axis) continue;
        if (!inputs[i].isTensor() || *axis >= inputs[i].tensor().rank() || inputs[i].tensor().dtype() == DType::String)
            return std::optional<BatchInputs>();
        SONDE_ASSIGN(const Tensor first, inputs[i].tensor().contiguous());
        SONDE_ASSIGN(const Tensor second, otherSample(first, *axis));
        made.areDifferent = made.areDifferent || !tensor::identical(first, second);
        SONDE_ASSIGN(Tensor both, stacked(first, second, *axis));
        made.samples = first.shape()[*axis];
        made.single[i] = Value(first);
        made.both[i] = Value(std::move(both));
    }
    return std::optional(std::move(made));
}

/// Compares [outer, n, inner] with the first n of [outer, 2n, inner], and those with the others.
BatchOutput compared(NodeId node, const Tensor& one, const Tensor& two, std::size_t axis) {
    BatchOutput output{node};
    output.isComparable = true;
    std::int64_t inner = 1;
    for (std::size_t i = axis; i < one.rank(); ++i) inner *= one.shape()[i];
    for (std::int64_t i = 0; i < one.numel(); ++i) {
        const std::int64_t at = (i / inner * 2) * inner + i % inner;
        const double a = one.toDouble(i), b = two.toDouble(at), c = two.toDouble(at + inner);
        output.isSameForBoth = output.isSameForBoth && (b == c || (std::isnan(b) && std::isnan(c)));
        if (std::isnan(a) && std::isnan(b)) continue;
        if (std::isfinite(a)) output.magnitude = std::max(output.magnitude, std::abs(a));
        const double difference = a == b ? 0 : std::abs(a - b);
        output.maxAbsolute = std::max(output.maxAbsolute, std::isnan(difference) ? INFINITY : difference);
    }
    return output;
}

BatchOutput compareOutput(const InternalGraph& graph, NodeId node, const Value& one, const Value& two,
                          const std::string& symbol, std::int64_t samples) {
    BatchOutput output{node};
    if (!one.isTensor() || !two.isTensor() || one.tensor().rank() != two.tensor().rank()) return output;
    const Tensor &a = one.tensor(), &b = two.tensor();
    if (a.dtype() != b.dtype() || a.dtype() == DType::String) return output;
    std::optional<std::size_t> axis = batchAxis(graph.node(node), symbol);
    for (std::size_t i = 0; i < a.rank() && !axis; ++i)
        if (a.shape()[i] != b.shape()[i]) axis = i;
    if (!axis || a.shape()[*axis] * 2 != b.shape()[*axis]) return output;
    for (std::size_t i = 0; i < a.rank(); ++i)
        if (i != *axis && a.shape()[i] != b.shape()[i]) return output;
    output = compared(node, a, b, *axis);
    // One row for the sample, and one for two of them: they lie behind one another in a dimension of its own size.
    const bool isElsewhere = *axis > 0 && a.shape()[0] == samples && a.shape()[*axis] != samples;
    if (isElsewhere) output.mergedShapes = a.shape().text() + ", of two samples " + b.shape().text();
    return output;
}

}  // namespace

std::optional<BatchRun> runOnBatches(const std::shared_ptr<const InternalGraph>& graph,
                                     const std::vector<Value>& inputs, exec::Runner& runner, std::uint64_t seed,
                                     std::string& why, const base::WorkContext& work) {
    const auto leftOut = [&why](std::string reason) {
        why = std::move(reason);
        return std::nullopt;
    };
    const auto symbol = batchSymbol(*graph);
    if (!symbol) return leftOut("no input leaves the size of its first dimension open");
    if (isRandom(*graph)) return leftOut("the model draws random numbers");
    const auto made = batchInputs(*graph, inputs, *symbol);
    if (!made) return leftOut(made.error().what);
    if (!*made) return leftOut("an input is no tensor that can be made a batch of");
    if (!(*made)->areDifferent)
        return leftOut("all elements of a sample are equal, so that no other sample could be made of it");
    const auto plan = exec::Plan::make(graph, {});
    if (!plan) return leftOut(plan.error().what);
    exec::RunOptions options;
    options.seed = seed;
    const exec::Recording one = runner.run(**plan, (*made)->single, work, options);
    if (work.cancelled()) return std::nullopt;
    if (one.error) return leftOut("the run failed: " + one.error->text());
    const exec::Recording two = runner.run(**plan, (*made)->both, work, options);
    if (work.cancelled()) return std::nullopt;
    if (two.error && (*made)->isGuessed)
        return leftOut("a batch of 2 failed, and the file does not say which dimensions are the batch");
    BatchRun run;
    run.error = two.error;
    for (std::size_t i = 0; !two.error && i < graph->outputs().size(); ++i)
        if (i < one.outputs.size() && i < two.outputs.size())
            run.outputs.push_back(compareOutput(*graph, graph->outputs()[i], one.outputs[i], two.outputs[i],
                                                symbol->name, (*made)->samples));
    return run;
}

}  // namespace sonde::analysis
