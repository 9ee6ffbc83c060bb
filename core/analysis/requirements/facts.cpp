#include "core/analysis/requirements/facts.h"

#include <algorithm>

#include "core/ops/registry/registry.h"

namespace sonde::analysis::requirement {

using graph::Argument;
using graph::Expr;
using tensor::TypeInfo;
using tensor::Value;

namespace {

/// One question may walk so far: sums of sums have more ways back than anybody can wait for.
constexpr int kMaxSteps = 200;

}  // namespace

bool isOperation(const Traits& traits) { return traits.is(Trait::Broadcasts) && traits.opClass != OpClass::Where; }

const Expr* Facts::producerOf(const Argument& value) const {
    return value.kind == Argument::Kind::Node ? &m_graph.expr(m_graph.node(value.node).producer) : nullptr;
}

Argument Facts::argument(const Expr& expr, std::string_view name) {
    const auto keyword = std::ranges::find_if(expr.keywords, [&](const auto& given) { return given.first == name; });
    if (keyword != expr.keywords.end()) return keyword->second;
    const ops::OpDef* op = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
    if (!op) return {};
    const auto parameter = std::ranges::find(op->parameters, name, &ops::Parameter::name);
    if (parameter == op->parameters.end()) return {};
    const auto at = static_cast<std::size_t>(parameter - op->parameters.begin());
    if (at < expr.arguments.size()) return expr.arguments[at];
    return parameter->fallback ? Argument::of(*parameter->fallback) : Argument{};
}

Value Facts::valueOf(const Argument& value) const {
    if (value.kind == Argument::Kind::Constant) return value.constant;
    if (value.kind != Argument::Kind::Node) return {};
    return m_graph.node(value.node).constant.value_or(Value());
}

std::optional<std::int64_t> Facts::integer(const Argument& value) const {
    const Value known = valueOf(value);
    return known.kind() == tensor::ValueKind::Int ? std::optional(known.toInt()) : std::nullopt;
}

Ints Facts::integers(const Argument& value) const {
    Ints result;
    if (value.kind == Argument::Kind::List || value.kind == Argument::Kind::Tuple) {
        for (const Argument& item : value.items) {
            const auto one = integer(item);
            if (!one) return {};
            result.push_back(*one);
        }
        return result;
    }
    const Value known = valueOf(value);
    if (!known.isListLike()) return {};
    for (const Value& item : known.items()) {
        if (item.kind() != tensor::ValueKind::Int) return {};
        result.push_back(item.toInt());
    }
    return result;
}

Ints Facts::integersFor(const Argument& value, std::size_t count) const {
    Ints result = integers(value);
    if (const auto one = integer(value)) result = {*one};
    if (result.size() == 1) result.resize(count, result.front());
    return result.size() == count ? result : Ints();
}

bool Facts::isNumber(const Argument& value) const {
    const Value known = valueOf(value);
    return known.isNumber() || (known.isTensor() && known.tensor().rank() == 0);
}

bool Facts::isNone(const Argument& value) const {
    if (value.kind == Argument::Kind::Node)
        return m_graph.node(value.node).constant && m_graph.node(value.node).constant->isNone();
    return value.kind == Argument::Kind::Omitted || (value.kind == Argument::Kind::Constant && value.constant.isNone());
}

TypeInfo Facts::typeOf(const Argument& value) const {
    const Value known = valueOf(value);
    if (!known.isNone()) return TypeInfo::of(known);
    return value.kind == Argument::Kind::Node ? m_graph.node(value.node).type : TypeInfo();
}

std::optional<Ints> Facts::shapeOf(const Argument& value) const {
    if (const auto shape = typeOf(value).staticShape()) return Ints(shape->begin(), shape->end());
    // Weights turned round: x @ w.t()
    const Expr* expr = producerOf(value);
    if (!expr || expr->op.domain != "aten" || expr->arguments.empty()) return std::nullopt;
    if (graph::traitsOf(*expr).form != ViewForm::Transpose) return std::nullopt;
    const auto shape = typeOf(expr->arguments.front()).staticShape();
    if (!shape || shape->rank() != 2) return std::nullopt;
    return Ints{(*shape)[1], (*shape)[0]};
}

tensor::DType Facts::dtypeOf(const Argument& value) const { return typeOf(value).dtype; }

/// Through calls and into them: the value that this one is.
Argument Facts::sourceOf(const Argument& value) const {
    Argument source = value;
    for (int steps = 0; source.kind == Argument::Kind::Node && steps < kMaxSteps; ++steps) {
        if (const auto given = m_given.find(source.node.index()); given != m_given.end()) {
            source = Argument::of(given->second);
            continue;
        }
        const Expr& expr = m_graph.expr(m_graph.node(source.node).producer);
        if (!expr.op.name.empty() || expr.bodies.empty() || expr.outputs.size() != 1) break;
        source = m_graph.body(expr.bodies.front()).result;
    }
    return source;
}

std::optional<std::size_t> Facts::rankOf(const Argument& value) const {
    int steps = 0;
    return rankFrom(value, steps);
}

std::optional<std::size_t> Facts::rankFrom(const Argument& value, int& steps) const {
    if (++steps > kMaxSteps) return std::nullopt;
    const Argument source = sourceOf(value);
    if (const TypeInfo type = typeOf(source); type.shape) return type.shape->size();
    const Expr* expr = producerOf(source);
    if (!expr || expr->op.domain != "aten" || expr->arguments.empty()) return std::nullopt;
    const Traits& traits = graph::traitsOf(*expr);
    const Argument& x = expr->arguments.front();
    if (traits.opClass == OpClass::Conv || traits.opClass == OpClass::ConvTranspose) {
        const auto weight = shapeOf(argument(*expr, "weight"));
        return weight ? std::optional(weight->size()) : std::nullopt;
    }
    const ViewForm form = traits.form;
    if (form == ViewForm::Expand || form == ViewForm::NewShape || form == ViewForm::Permute) {
        const std::size_t listed = expr->arguments.size() > 1
                                       ? std::max(expr->arguments[1].items.size(), integers(expr->arguments[1]).size())
                                       : 0;
        return listed > 0 ? std::optional(listed) : std::nullopt;
    }
    if (form == ViewForm::Flatten && integer(argument(*expr, "end_dim")) == -1) {
        const auto start = integer(argument(*expr, "start_dim"));
        return start && *start >= 0 && *start < 64 ? std::optional(static_cast<std::size_t>(*start + 1)) : std::nullopt;
    }
    if (traits.opClass == OpClass::Create && !traits.is(Trait::KeepsShape))
        return x.items.empty() ? std::nullopt : std::optional(x.items.size());
    if (traits.opClass == OpClass::Concat) return x.items.empty() ? std::nullopt : rankFrom(x.items.front(), steps);
    return traits.is(Trait::KeepsRank) || isOperation(traits) ? rankFrom(x, steps) : std::nullopt;
}

std::int64_t Facts::dimSizeOf(const Argument& value, std::int64_t axis) const {
    int steps = 0;
    return dimSizeFrom(value, axis, steps);
}

std::int64_t Facts::dimSizeFrom(const Argument& value, std::int64_t axis, int& steps) const {
    if (++steps > kMaxSteps) return -1;
    const Argument source = sourceOf(value);
    if (const TypeInfo type = typeOf(source); type.shape) {
        const auto at = tensor::normalizedAxis(axis, type.shape->size());
        if (!at || (*type.shape)[*at].known()) return at ? (*type.shape)[*at].value : -1;
    }
    const Expr* expr = producerOf(source);
    if (!expr || expr->op.domain != "aten" || expr->arguments.empty()) return -1;
    const Traits& traits = graph::traitsOf(*expr);
    const Argument& x = expr->arguments.front();
    if (traits.opClass == OpClass::Conv && axis == 1) {
        const Value flag = valueOf(argument(*expr, "transposed"));
        const bool turned = flag.isNumber() && flag.number() != 0;
        const auto weight = shapeOf(argument(*expr, "weight"));
        return weight && weight->size() > 2 && !turned ? weight->front() : -1;
    }
    if (traits.opClass == OpClass::Linear && axis == -1) {
        const auto weight = shapeOf(argument(*expr, "weight"));
        return weight && weight->size() == 2 ? weight->front() : -1;
    }
    if (traits.opClass == OpClass::Concat) return joinedDimSize(*expr, axis, steps);
    if (traits.form == ViewForm::Expand) return expandedDimSize(*expr, axis, steps);
    const bool keepsChannels = traits.is(Trait::KeepsChannels);
    const bool isAdaptive = keepsChannels && !traits.is(Trait::SlidesWindow) && traits.opClass != OpClass::Resample;
    if (isAdaptive && axis >= 2) {
        const Ints size = integersFor(argument(*expr, "output_size"), traits.spatialDims);
        return axis - 2 < static_cast<std::int64_t>(size.size()) ? size[static_cast<std::size_t>(axis - 2)] : -1;
    }
    if (traits.is(Trait::KeepsShape) || (keepsChannels && (axis == 0 || axis == 1))) return dimSizeFrom(x, axis, steps);
    if (!isOperation(traits)) return -1;
    const std::int64_t first = dimSizeFrom(x, axis, steps);
    return first >= 0 || expr->arguments.size() < 2 ? first : dimSizeFrom(expr->arguments[1], axis, steps);
}

std::int64_t Facts::joinedDimSize(const Expr& cat, std::int64_t axis, int& steps) const {
    const auto dim = integer(argument(cat, "dim"));
    const std::vector<Argument>& items = cat.arguments.front().items;
    if (!dim || (*dim < 0) != (axis < 0)) return -1;
    std::int64_t sum = 0;
    for (const Argument& item : items) {
        if (steps > kMaxSteps) return -1;
        const std::int64_t dimSize = dimSizeFrom(item, axis, steps);
        if (axis != *dim && dimSize >= 0) return dimSize;
        if (axis == *dim && (dimSize < 0 || dimSize > (std::int64_t{1} << 31))) return -1;
        sum += dimSize;
    }
    return axis == *dim ? sum : -1;
}

/// The new size of the axis, or -1 for the one that it has.
std::int64_t Facts::expandedDimSize(const Expr& expand, std::int64_t axis, int& steps) const {
    const std::vector<Argument>& sizes = argument(expand, "size").items;
    const auto at = tensor::normalizedAxis(axis, sizes.size());
    const auto size = at ? integer(sizes[*at]) : std::nullopt;
    if (!size) return -1;
    return *size >= 0 ? *size
                      : dimSizeFrom(expand.arguments.front(),
                                    static_cast<std::int64_t>(*at) - static_cast<std::int64_t>(sizes.size()), steps);
}

}  // namespace sonde::analysis::requirement
