#include "core/analysis/findings/observed_values.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "core/analysis/findings/computed.h"

namespace sonde::analysis {

using graph::ExprId;
using graph::NodeId;
using tensor::DType;
using tensor::Tensor;

namespace {

constexpr std::int64_t kMaxUnits = 1 << 16;

template <typename T>
double observedNumber(const T& element) {
    if constexpr (std::is_same_v<T, double>) return element;
    else return static_cast<double>(static_cast<float>(element));
}

template <typename T>
void observe(ObservedValue& value, const Tensor& tensor, const ValueLimits& limits) {
    const double normal = smallestNormal(tensor.dtype());
    std::int64_t nan = 0, inf = 0, zero = 0, denormal = 0, low = 0, high = 0;
    double minimum = value.minimum, maximum = value.maximum, squares = 0;
    const std::span<const T> elements = tensor.span<T>();
    if (value.count == 0 && !elements.empty()) value.first = observedNumber(elements.front());
    bool isUniform = value.isUniform;
    for (const T& element : elements) {
        const double x = observedNumber(element);
        if (!std::isfinite(x)) {
            ++(std::isnan(x) ? nan : inf);
            isUniform = false;
            continue;
        }
        zero += x == 0 ? 1 : 0;
        denormal += x != 0 && std::abs(x) < normal ? 1 : 0;
        low += x <= limits.low ? 1 : 0;
        high += x >= limits.high ? 1 : 0;
        minimum = std::min(minimum, x);
        maximum = std::max(maximum, x);
        squares += x * x;
        isUniform = isUniform && x == value.first;
    }
    value.count += static_cast<std::int64_t>(elements.size());
    value.nan += nan;
    value.inf += inf;
    value.zero += zero;
    value.denormal += denormal;
    value.low += low;
    value.high += high;
    value.minimum = minimum;
    value.maximum = maximum;
    value.squares += squares;
    value.isUniform = isUniform;
}

}  // namespace

double smallestNormal(DType dtype) {
    switch (dtype) {
        case DType::Float64: return DBL_MIN;
        case DType::Float16: return 6.103515625e-05;
        case DType::Float32:
        case DType::BFloat16: return FLT_MIN;
        default: return 0;
    }
}

double ObservedValue::magnitude() const { return finite() == 0 ? 0 : std::max(std::abs(minimum), std::abs(maximum)); }
double ObservedValue::rms() const { return finite() == 0 ? 0 : std::sqrt(squares / static_cast<double>(finite())); }

ObservedValues::ObservedValues(std::shared_ptr<const graph::InternalGraph> graph)
    : m_graph(std::move(graph)), m_limits(m_graph->exprCount()) {
    for (std::size_t i = 0; i < m_graph->exprCount(); ++i)
        if (!m_graph->isErased(ExprId(i))) m_limits[i] = limitsOf(*m_graph, m_graph->expr(ExprId(i)));
}

void ObservedValues::add(NodeId node, const tensor::Value& value) {
    if (value.isTensor()) addTensor(node, value.tensor(), nullptr);
}

void ObservedValues::exprFinished(ExprId id, std::span<const tensor::Value> outputs, std::int64_t) {
    const graph::Expr& expr = m_graph->expr(id);
    if (!isComputed(expr)) return;
    const std::optional<ValueLimits>& limits = m_limits[id.index()];
    for (std::size_t i = 0; i < expr.outputs.size() && i < outputs.size(); ++i) {
        if (!outputs[i].isTensor()) continue;
        addTensor(expr.outputs[i], outputs[i].tensor(), limits ? &*limits : nullptr);
        if (limits && limits->isRectifier) addActivity(expr.outputs[i], outputs[i].tensor(), limits->isChannelLast);
    }
}

void ObservedValues::addTensor(NodeId node, const Tensor& given, const ValueLimits* bounds) {
    ValueLimits limits = bounds ? *bounds : ValueLimits{};
    const DType dtype = given.dtype();
    const bool isQuantized = limits.isQuantized && (dtype == DType::Int8 || dtype == DType::UInt8);
    if (isQuantized) {
        limits.low = dtype == DType::Int8 ? -128 : 0;
        limits.high = dtype == DType::Int8 ? 127 : 255;
    }
    if (!isQuantized && smallestNormal(dtype) == 0) return;
    const auto tensor = given.contiguous();
    if (!tensor) return;
    ObservedValue& value = m_values[node];
    value.dtype = dtype;
    ++value.times;
    switch (dtype) {
        case DType::Float32: return observe<float>(value, *tensor, limits);
        case DType::Float64: return observe<double>(value, *tensor, limits);
        case DType::Float16: return observe<tensor::Half>(value, *tensor, limits);
        case DType::BFloat16: return observe<tensor::BFloat16>(value, *tensor, limits);
        case DType::Int8: return observe<std::int8_t>(value, *tensor, limits);
        case DType::UInt8: return observe<std::uint8_t>(value, *tensor, limits);
        default: return;
    }
}

/// Of float32, in [N,C,…], [N,C] or [N,T,C].
void ObservedValues::addActivity(NodeId node, const Tensor& given, bool isLast) {
    if (given.dtype() != DType::Float32 || given.rank() < 2) return;
    const std::size_t axis = given.rank() == 3 && isLast ? 2 : 1;
    const std::int64_t units = given.shape()[axis];
    const auto tensor = given.contiguous();
    if (!tensor || units == 0 || units > kMaxUnits || given.numel() == 0) return;
    UnitActivity& activity = m_units[node];
    if (activity.isActive.empty()) activity.isActive.resize(static_cast<std::size_t>(units), false);
    if (static_cast<std::int64_t>(activity.isActive.size()) != units) return;  // another shape in another iteration
    std::int64_t inner = 1;
    for (std::size_t i = axis + 1; i < given.rank(); ++i) inner *= given.shape()[i];
    const std::span<const float> elements = tensor->span<float>();
    for (std::int64_t begin = 0; begin < given.numel(); begin += inner) {
        const auto unit = static_cast<std::size_t>(begin / inner % units);
        if (activity.isActive[unit]) continue;
        const auto part = elements.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(inner));
        // NaN is nothing that a rectifier has cut off.
        activity.isActive[unit] = std::ranges::any_of(part, [](float x) { return !(x <= 0); });
    }
    activity.samples += given.numel() / units;
}

const ObservedValue* ObservedValues::of(NodeId node) const {
    const auto found = m_values.find(node);
    return found == m_values.end() ? nullptr : &found->second;
}

const UnitActivity* ObservedValues::activity(NodeId node) const {
    const auto found = m_units.find(node);
    return found == m_units.end() ? nullptr : &found->second;
}

}  // namespace sonde::analysis
