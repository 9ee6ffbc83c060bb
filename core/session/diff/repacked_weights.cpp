#include "core/session/diff/repacked_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>

#include "core/analysis/call_arguments.h"
#include "core/graph/stored_tensor.h"
#include "core/graph/traits.h"
#include "core/session/diff/parameter_layout.h"

namespace sonde::session::diff {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;
using operators::Trait;
using tensor::Tensor;

namespace {

constexpr double kMaxRelative = 16.0 / (1 << 23);  ///< of rounding

std::vector<NodeId> ownTensors(const InternalGraph& graph, const Expr& expr) {
    std::vector<NodeId> stored;
    for (const NodeId input : expr.inputs)
        if (isValueExpr(graph.expr(graph.node(input).producer)) && storedTensor(graph, input)) stored.push_back(input);
    return stored;
}

// --- recurrent layers -----------------------------------------------------------------------------------------------

/// The weights of one direction of one layer: weight_ih, weight_hh, and bias_ih, bias_hh if it has them.
struct Cell {
    std::vector<NodeId> nodes;
    std::vector<Tensor> values;
};

/// Where the gates of PyTorch are among those of ONNX, for layers of 1, 3 and 4 gates.
std::optional<std::vector<std::int64_t>> gateOrder(std::int64_t gates) {
    if (gates == 1) return std::vector<std::int64_t>{0};
    if (gates == 3) return std::vector<std::int64_t>{1, 0, 2};
    if (gates == 4) return std::vector<std::int64_t>{0, 2, 3, 1};
    return std::nullopt;
}

/// Blocks of `rows` rows in another order; empty without memory for it.
std::optional<Tensor> reordered(const Tensor& tensor, const std::vector<std::int64_t>& order) {
    const auto whole = tensor.contiguous();
    auto result = Tensor::allocate(tensor.dtype(), tensor.shape());
    if (!whole || !result || tensor.dtype() == tensor::DType::String) return std::nullopt;
    const std::size_t block = tensor.sizeBytes() / order.size();
    for (std::size_t i = 0; i < order.size(); ++i)
        std::memcpy(result->mutableBytes() + i * block, whole->bytes() + static_cast<std::size_t>(order[i]) * block,
                    block);
    return std::move(*result);
}

bool addPart(Cell& cell, NodeId node, const Tensor& part, const std::vector<std::int64_t>& order) {
    auto value = reordered(part, order);
    if (!value) return false;
    cell.nodes.push_back(node);
    cell.values.push_back(std::move(*value));
    return true;
}

/// W, R and B of three, three and two dimensions, as PyTorch has them.
void addPackedCells(const InternalGraph& graph, const Expr& expr, std::vector<Cell>& cells) {
    const auto stored = [&](std::size_t at) {
        return at < expr.inputs.size() ? storedTensor(graph, expr.inputs[at]) : nullptr;
    };
    const Tensor *const w = stored(1), *const r = stored(2);
    if (!w || !r || w->rank() != 3 || r->rank() != 3 || r->dim(2) == 0) return;
    const std::int64_t rows = r->dim(1), directions = r->dim(0);
    const auto order = gateOrder(rows / r->dim(2));
    if (!order || rows % r->dim(2) != 0 || w->dim(0) != directions || w->dim(1) != rows) return;
    const Tensor* const b = stored(3);
    const bool hasBias = b && b->rank() == 2 && b->dim(0) == directions && b->dim(1) == 2 * rows;
    for (std::int64_t direction = 0; direction < directions; ++direction) {
        Cell cell;
        bool isWhole = addPart(cell, expr.inputs[1], w->selected(0, direction), *order) &&
                       addPart(cell, expr.inputs[2], r->selected(0, direction), *order);
        for (std::int64_t half = 0; isWhole && hasBias && half < 2; ++half)
            isWhole = addPart(cell, expr.inputs[3], b->selected(0, direction).sliced(0, half * rows, rows), *order);
        if (isWhole) cells.push_back(std::move(cell));
    }
}

/// Of a call with the weights of all layers in a list: two matrices, then two vectors if there are biases.
void addPlainCells(const InternalGraph& graph, const Expr& expr, std::vector<Cell>& cells) {
    const std::vector<NodeId> stored = ownTensors(graph, expr);
    const auto rankOf = [&](std::size_t at) {
        return at < stored.size() ? storedTensor(graph, stored[at])->rank() : 0;
    };
    for (std::size_t at = 0; at < stored.size();) {
        if (rankOf(at) != 2 || rankOf(at + 1) != 2) {
            ++at;
            continue;
        }
        Cell cell;
        const std::size_t count = rankOf(at + 2) == 1 && rankOf(at + 3) == 1 ? 4 : 2;
        for (std::size_t i = 0; i < count; ++i) {
            cell.nodes.push_back(stored[at + i]);
            cell.values.push_back(*storedTensor(graph, stored[at + i]));
        }
        cells.push_back(std::move(cell));
        at += count;
    }
}

std::vector<Cell> cellsOf(const InternalGraph& graph, bool arePacked) {
    std::vector<Cell> cells;
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if (isValueExpr(expr) || graph::traitsOf(expr).opClass != OpClass::Recurrent) continue;
        arePacked ? addPackedCells(graph, expr, cells) : addPlainCells(graph, expr, cells);
    }
    return cells;
}

bool haveSameShapes(const Cell& a, const Cell& b) {
    return std::ranges::equal(a.values, b.values,
                              [](const Tensor& one, const Tensor& other) { return one.shape() == other.shape(); });
}

/// In the order of the program, which is that of the layers.
void addRecurrent(const InternalGraph& packed, const InternalGraph& plain, std::vector<RepackedWeight>& found) {
    const std::vector<Cell> ours = cellsOf(packed, true), theirs = cellsOf(plain, false);
    if (ours.size() != theirs.size()) return;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        if (!haveSameShapes(ours[i], theirs[i])) continue;
        for (std::size_t k = 0; k < ours[i].nodes.size(); ++k)
            found.push_back({ours[i].nodes[k],
                             theirs[i].nodes[k],
                             ours[i].values[k],
                             theirs[i].values[k],
                             "gates in another order",
                             {},
                             {}});
    }
}

// --- convolutions with a normalisation ------------------------------------------------------------------------------

std::optional<std::vector<double>> numbersOf(const Tensor& tensor, std::int64_t count) {
    if (tensor.numel() != count) return std::nullopt;
    const auto wide = tensor.cast(tensor::DType::Float64);
    if (!wide) return std::nullopt;
    const auto whole = wide->contiguous();
    if (!whole) return std::nullopt;
    const auto numbers = whole->span<double>();
    return std::vector<double>(numbers.begin(), numbers.end());
}

double epsilonOf(const InternalGraph& graph, const Expr& norm) {
    constexpr double kDefault = 1e-5;  // of ONNX and PyTorch
    if (norm.attributes.find("epsilon")) return norm.attributes.getFloat("epsilon", kDefault);
    const tensor::Value value = analysis::CallArguments(graph, norm).named("eps");
    return value.kind() == tensor::ValueKind::Float ? value.toFloat() : kDefault;
}

/// A convolution and the normalisation behind it, with what both are as one.
class FoldedConvolution {
  public:
    FoldedConvolution(const FlatGraph& flat, ExprId norm) : m_graph(flat.graph) {
        const Expr& expr = m_graph.expr(norm);
        const std::vector<NodeId> inputs = flat.inputsOf(norm);
        if (inputs.empty()) return;
        const Expr& convolution = m_graph.expr(m_graph.node(inputs.front()).producer);
        if (isValueExpr(convolution) || graph::traitsOf(convolution).opClass != OpClass::Conv) return;
        m_conv = ownTensors(m_graph, convolution);
        m_norm = ownTensors(m_graph, expr);
        if (m_conv.empty() || m_conv.size() > 2 || m_norm.size() != 4) return;
        const Tensor& kernel = *storedTensor(m_graph, m_conv.front());
        if (kernel.rank() < 3) return;
        const std::int64_t filters = kernel.dim(0);
        std::array<std::vector<double>, 4> numbers;  // γ, β, μ, σ²
        for (std::size_t i = 0; i < 4; ++i) {
            auto read = numbersOf(*storedTensor(m_graph, m_norm[i]), filters);
            if (!read) return;
            numbers[i] = std::move(*read);
        }
        auto bias = m_conv.size() == 2 ? numbersOf(*storedTensor(m_graph, m_conv[1]), filters)
                                       : std::optional(std::vector<double>(static_cast<std::size_t>(filters), 0.0));
        if (bias) fold(kernel, *bias, numbers, epsilonOf(m_graph, expr));
    }

    bool isKnown() const { return m_kernel && m_bias; }
    const Tensor& kernel() const { return *m_kernel; }
    const Tensor& bias() const { return *m_bias; }
    const Tensor& magnitudes() const { return *m_magnitudes; }  ///< of the bias
    NodeId kernelNode() const { return m_conv.front(); }
    NodeId biasNode() const { return m_norm[1]; }  ///< β
    /// What has no counterpart of its own: γ, μ, σ², and the bias of the convolution.
    std::vector<NodeId> rest() const {
        std::vector<NodeId> nodes{m_norm[0], m_norm[2], m_norm[3]};
        if (m_conv.size() == 2) nodes.push_back(m_conv[1]);
        return nodes;
    }

  private:
    void fold(const Tensor& kernel, const std::vector<double>& bias, const std::array<std::vector<double>, 4>& norm,
              double epsilon) {
        auto weights = numbersOf(kernel, kernel.numel());
        auto folded = Tensor::allocate(kernel.dtype(), kernel.shape());
        auto shift = Tensor::allocate(kernel.dtype(), tensor::Shape{kernel.dim(0)});
        auto magnitudes = Tensor::allocate(kernel.dtype(), tensor::Shape{kernel.dim(0)});
        if (!weights || !folded || !shift || !magnitudes || kernel.dtype() != tensor::DType::Float32) return;
        const std::size_t filters = bias.size(), each = weights->size() / std::max<std::size_t>(filters, 1);
        for (std::size_t filter = 0; filter < filters; ++filter) {
            const double scale = norm[0][filter] / std::sqrt(norm[3][filter] + epsilon);
            for (std::size_t i = filter * each; i < (filter + 1) * each; ++i)
                folded->mutableData<float>()[i] = static_cast<float>((*weights)[i] * scale);
            shift->mutableData<float>()[filter] =
                static_cast<float>(norm[1][filter] + (bias[filter] - norm[2][filter]) * scale);
            magnitudes->mutableData<float>()[filter] = static_cast<float>(
                std::abs(norm[1][filter]) + (std::abs(bias[filter]) + std::abs(norm[2][filter])) * std::abs(scale));
        }
        m_kernel = std::move(*folded);
        m_bias = std::move(*shift);
        m_magnitudes = std::move(*magnitudes);
    }

    const InternalGraph& m_graph;
    std::vector<NodeId> m_conv, m_norm;
    std::optional<Tensor> m_kernel, m_bias, m_magnitudes;
};

/// The counterpart of a convolution is the one in front of a normalisation, or that, whose result it gives.
ExprId normBehind(const FlatGraph& plain, ExprId counterpart) {
    const Expr& expr = plain.graph.expr(counterpart);
    if (graph::traitsOf(expr).opClass == OpClass::BatchNorm) return counterpart;
    if (graph::traitsOf(expr).opClass != OpClass::Conv || expr.outputs.empty()) return {};
    // A script asks for its rank as well.
    ExprId norm;
    for (const ExprId user : plain.users[expr.outputs.front().index()]) {
        const operators::Traits& traits = graph::traitsOf(plain.graph.expr(user));
        if (traits.query != operators::ShapeQuery::None) continue;
        if (traits.opClass != OpClass::BatchNorm || norm.valid()) return {};
        norm = user;
    }
    return norm;
}

bool isNormalised(const FlatGraph& flat, const Expr& expr) {
    return std::ranges::any_of(flat.users[expr.outputs.front().index()], [&](ExprId user) {
        return graph::traitsOf(flat.graph.expr(user)).opClass == OpClass::BatchNorm;
    });
}

void addFolded(const InternalGraph& packed, const InternalGraph& plain, const std::vector<ExprId>& ofPacked,
               std::vector<RepackedWeight>& found) {
    const FlatGraph ours(packed), theirs(plain);
    for (const ExprId id : ours.order) {
        const Expr& expr = packed.expr(id);
        if (expr.outputs.empty() || graph::traitsOf(expr).opClass != OpClass::Conv || !ofPacked[id.index()].valid() ||
            isNormalised(ours, expr))
            continue;
        const std::vector<NodeId> stored = ownTensors(packed, expr);
        const ExprId norm = normBehind(theirs, ofPacked[id.index()]);
        if (stored.size() != 2 || !norm.valid()) continue;
        const FoldedConvolution folded(theirs, norm);
        const Tensor &kernel = *storedTensor(packed, stored[0]), &bias = *storedTensor(packed, stored[1]);
        if (!folded.isKnown() || !(folded.kernel().shape() == kernel.shape()) || bias.numel() != folded.bias().numel())
            continue;
        const std::string how = "with the batch normalisation behind it";
        found.push_back({stored[0], folded.kernelNode(), kernel, folded.kernel(), how, {}, folded.kernel()});
        found.push_back({stored[1], folded.biasNode(), bias, folded.bias(), how, folded.rest(), folded.magnitudes()});
    }
}

}  // namespace

Hash hashOfLayerWeight(const FlatGraph& flat, ExprId id) {
    const InternalGraph& graph = flat.graph;
    const Expr& expr = graph.expr(id);
    const operators::Traits& traits = graph::traitsOf(expr);
    const bool isConv = traits.opClass == OpClass::Conv;
    if (!isConv && !traits.is(Trait::Multiplies)) return 0;
    std::optional<Tensor> weight;
    for (const NodeId stored : storedInputs(graph, id))
        if (const Tensor* const tensor = storedTensor(graph, stored); tensor && tensor->rank() > 1 && !weight)
            weight = *tensor;
    if (const ExprId norm = isConv ? normBehind(flat, id) : ExprId(); norm.valid())
        if (const FoldedConvolution folded(flat, norm); folded.isKnown()) weight = folded.kernel();
    const auto numbers = weight ? numbersOf(*weight, weight->numel()) : std::nullopt;
    if (!numbers) return 0;
    double sum = 0, squares = 0;
    for (const double number : *numbers) sum += std::abs(number), squares += number * number;
    if (!(sum > 0) || !std::isfinite(squares)) return 0;
    // Thousandths: far more than rounding, far less than other weights differ by.
    const auto rounded = [](double number) { return static_cast<Hash>(std::llround(std::log(number) * 1000)); };
    return mixed(mixed(static_cast<Hash>(numbers->size()), rounded(sum)), rounded(squares));
}

bool differByRounding(const Tensor& ours, const Tensor& theirs) {
    const auto a = numbersOf(ours, ours.numel()), b = numbersOf(theirs, ours.numel());
    if (!a || !b || ours.dtype() != tensor::DType::Float32 || theirs.dtype() != tensor::DType::Float32) return false;
    double largest = 0;
    for (const double number : *a) largest = std::max(largest, std::abs(number));
    for (std::size_t i = 0; i < a->size(); ++i)
        if (!(std::abs((*a)[i] - (*b)[i]) <= kMaxRelative * largest)) return false;
    return true;
}

bool differByRounding(const Tensor& ours, const Tensor& theirs, const Tensor& magnitudes) {
    const auto a = numbersOf(ours, ours.numel()), b = numbersOf(theirs, ours.numel()),
               m = numbersOf(magnitudes, ours.numel());
    if (!a || !b || !m) return false;
    for (std::size_t i = 0; i < a->size(); ++i)
        if (!(std::abs((*a)[i] - (*b)[i]) <= kMaxRelative * std::abs((*m)[i]))) return false;
    return true;
}

std::vector<RepackedWeight> repackedWeights(const InternalGraph& packed, const InternalGraph& plain,
                                            const std::vector<ExprId>& ofPacked) {
    std::vector<RepackedWeight> found;
    addRecurrent(packed, plain, found);
    addFolded(packed, plain, ofPacked, found);
    return found;
}

}  // namespace sonde::session::diff
