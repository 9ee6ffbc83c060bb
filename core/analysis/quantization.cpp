#include "core/analysis/quantization.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <span>
#include <string_view>

#include "core/analysis/model_summary.h"
#include "core/ops/registry/registry.h"
#include "core/tensor/plane.h"

namespace sonde::analysis {

namespace {

using base::Result;
using graph::NodeId;
using tensor::DType;
using tensor::Tensor;
using tensor::Value;

constexpr std::int64_t kPiece = 1 << 16;  ///< elements between two looks at the stop token

/// "X" has "x_scale" in some operators.
bool isNamed(std::string_view name, std::string_view stem, std::string_view ending) {
    if (name.size() != stem.size() + ending.size() || !name.ends_with(ending)) return false;
    return std::ranges::equal(name.substr(0, stem.size()), stem,
                              [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

/// The inputs and outputs of one call by the names of the schema.
class NamedValues {
  public:
    using ValueOf = std::function<const Value*(NodeId)>;

    NamedValues(const graph::Expr& expr, const ops::OpDef& def, const ValueOf& valueOf)
        : m_expr(expr), m_def(def), m_valueOf(valueOf) {}

    /// Undefined if the call has no such tensor, or nobody knows it.
    Tensor find(std::string_view stem, std::string_view ending) const {
        for (std::size_t i = 0; i < m_def.inputs.size() && i < m_expr.arguments.size(); ++i)
            if (isNamed(m_def.inputs[i].name, stem, ending)) return of(m_expr.arguments[i]);
        for (std::size_t i = 0; i < m_def.outputs.size() && i < m_expr.outputs.size(); ++i)
            if (isNamed(m_def.outputs[i].name, stem, ending)) return of(graph::Argument::of(m_expr.outputs[i]));
        return {};
    }

    std::optional<Quantization> of(std::string_view stem) const {
        Quantization found;
        found.scale = find(stem, "_scale");
        if (!found.scale.defined() || !tensor::isFloating(found.scale.dtype())) return std::nullopt;
        found.zeroPoint = find(stem, "_zero_point");
        if (found.zeroPoint.defined() && found.zeroPoint.numel() != found.scale.numel()) return std::nullopt;
        const auto hasAxis = std::ranges::find(m_def.attributes, "axis", &ops::FormalAttribute::name);
        if (hasAxis != m_def.attributes.end()) found.axis = m_expr.attributes.getInt("axis", 1);
        found.blockSize = std::max<std::int64_t>(m_expr.attributes.getInt("block_size", 0), 0);
        return found;
    }

  private:
    Tensor of(const graph::Argument& argument) const {
        if (argument.kind == graph::Argument::Kind::Constant && argument.constant.isTensor())
            return argument.constant.tensor();
        if (argument.kind != graph::Argument::Kind::Node) return {};
        const Value* const value = m_valueOf(argument.node);
        return value && value->isTensor() ? value->tensor() : Tensor();
    }

    const graph::Expr& m_expr;
    const ops::OpDef& m_def;
    const ValueOf& m_valueOf;
};

base::Error doesNotFit(const Tensor& quantized, const Quantization& by) {
    return base::usageError("the scales " + by.scale.typeText() + " do not fit the quantised tensor " +
                            quantized.typeText());
}

/// Which axis many scales are along if no attribute says so: output channels of filters, else columns.
std::optional<std::size_t> axisOf(const Tensor& quantized, const Quantization& by) {
    const auto rank = static_cast<std::int64_t>(quantized.rank());
    if (by.axis) {
        const std::int64_t axis = *by.axis < 0 ? *by.axis + rank : *by.axis;
        return axis >= 0 && axis < rank ? std::optional(static_cast<std::size_t>(axis)) : std::nullopt;
    }
    if (rank >= 3 && quantized.dim(0) == by.scale.numel()) return 0;
    for (std::size_t axis = quantized.rank(); axis-- > 0;)
        if (quantized.dim(axis) == by.scale.numel()) return axis;
    return std::nullopt;
}

}  // namespace

Result<ScalePlaces> scalePlaces(const Tensor& quantized, const Quantization& by) {
    ScalePlaces places;
    if (by.scale.numel() == 1) return places;
    const auto axis = axisOf(quantized, by);
    if (!axis) return doesNotFit(quantized, by);
    places.isOne = false;
    places.size = quantized.dim(*axis);
    for (std::size_t i = *axis + 1; i < quantized.rank(); ++i) places.inner *= quantized.dim(i);
    if (by.scale.rank() == 1 && by.blockSize == 0 && by.scale.numel() == places.size) return places;
    if (by.blockSize == 0 || by.scale.rank() != quantized.rank()) return doesNotFit(quantized, by);
    places.block = std::clamp<std::int64_t>(by.blockSize, 1, std::max<std::int64_t>(places.size, 1));
    places.blocks = by.scale.dim(*axis);
    for (std::size_t i = 0; i < quantized.rank(); ++i)
        if (i == *axis ? places.blocks < (places.size + places.block - 1) / places.block
                       : by.scale.dim(i) != quantized.dim(i))
            return doesNotFit(quantized, by);
    return places;
}

bool isQuantizedType(DType dtype) {
    return tensor::isInteger(dtype) || (tensor::isFloating(dtype) && tensor::itemSize(dtype) == 1);
}

std::optional<Quantization> quantizationOf(const graph::InternalGraph& graph, NodeId node,
                                           const std::function<const Value*(NodeId)>& valueOf) {
    const graph::Node& quantized = graph.node(node);
    const graph::Expr& producer = graph.expr(quantized.producer);
    if (const ops::OpDef* def = definitionOf(producer); def && quantized.outputIndex < def->outputs.size())
        if (auto found = NamedValues(producer, *def, valueOf).of(def->outputs[quantized.outputIndex].name))
            return found;
    for (const graph::ExprId id : quantized.users) {
        const graph::Expr& user = graph.expr(id);
        const ops::OpDef* const def = definitionOf(user);
        if (!def) continue;
        for (std::size_t i = 0; i < user.arguments.size() && i < def->inputs.size(); ++i) {
            if (user.arguments[i].kind != graph::Argument::Kind::Node || user.arguments[i].node != node) continue;
            if (auto found = NamedValues(user, *def, valueOf).of(def->inputs[i].name)) return found;
        }
    }
    return std::nullopt;
}

Result<Tensor> dequantized(const Tensor& quantized, const Quantization& by, const std::stop_token& stop) {
    if (!isQuantizedType(quantized.dtype()))
        return base::usageError("a tensor of " + std::string(tensor::name(quantized.dtype())) + " is not quantised");
    SONDE_ASSIGN(const ScalePlaces places, scalePlaces(quantized, by));
    if (by.zeroPoint.defined() && by.zeroPoint.numel() != by.scale.numel()) return doesNotFit(quantized, by);
    SONDE_ASSIGN(const Tensor stored, quantized.contiguous());
    SONDE_ASSIGN(Tensor real, Tensor::allocate(DType::Float32, quantized.shape()));
    const std::int64_t count = stored.numel();
    const Tensor row = Tensor::onStorage(stored.dtype(), tensor::Shape{1, count}, {count, 1}, stored.storage(),
                                         stored.offsetElements());
    const auto read = tensor::planeReader(row);
    auto* const out = real.mutableData<float>();
    for (std::int64_t i = 0; i < count; ++i) {
        if (i % kPiece == 0 && stop.stop_requested()) return base::cancelled();
        const std::int64_t place = places.of(i);
        const double zero = by.zeroPoint.defined() ? by.zeroPoint.toDouble(place) : 0;
        out[i] = static_cast<float>((read(0, i) - zero) * by.scale.toDouble(place));
    }
    return real;
}

std::string quantizationText(const Quantization& by) {
    if (by.scale.numel() == 1)
        return fmt::format("scale {:.6g}, zero point {:.6g}", by.scale.toDouble(0),
                           by.zeroPoint.defined() ? by.zeroPoint.toDouble(0) : 0);
    if (by.blockSize > 0) return fmt::format("{} scales, of blocks of {}", by.scale.numel(), by.blockSize);
    return fmt::format("{} scales", by.scale.numel());
}

}  // namespace sonde::analysis
