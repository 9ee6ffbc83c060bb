#include "core/session/diff/form_call.h"

#include <algorithm>

#include "core/analysis/call_arguments.h"

namespace sonde::session::diff {

using graph::Argument;
using tensor::Tensor;
using tensor::TypeInfo;
using tensor::Value;

namespace {

std::optional<double> numberFilling(const Value* value) {
    constexpr std::int64_t kMaxElements = 1 << 20;
    if (!value || !value->isTensor()) return std::nullopt;
    const Tensor& tensor = value->tensor();
    if (!tensor::isFloating(tensor.dtype()) || tensor.numel() == 0 || tensor.numel() > kMaxElements)
        return std::nullopt;
    const double first = tensor.toDouble(0);
    for (std::int64_t i = 1; i < tensor.numel(); ++i)
        if (tensor.toDouble(i) != first) return std::nullopt;
    return first;
}

}  // namespace

bool FormCall::has(std::size_t position) const {
    return position < m_expr.arguments.size() && m_expr.arguments[position].kind == Argument::Kind::Node;
}

TermId FormCall::in(std::size_t position) const {
    return has(position) ? m_termOf(m_expr.arguments[position].node) : terms.apply("not given");
}

/// Of a stored one the elements, as another file stores them.
TermId FormCall::transposedMatrix(std::size_t position) const {
    const Value* const value = known(position);
    if (value && value->isTensor() && value->tensor().rank() == 2)
        if (const auto turned = value->tensor().transposed(0, 1).contiguous()) return m_storedTerm(Value(*turned));
    return terms.transposed(in(position), {1, 0});
}

TermId FormCall::operand(std::size_t position, std::size_t other) const {
    const auto number = filled(position);
    if (!number) return in(position);
    const auto own = type(position).staticShape();
    const bool isPlain = own && own->rank() == 0;
    const auto there = sizes(type(other)), result = sizes(resultType());
    return isPlain || (there && result && *there == *result) ? terms.number(*number) : in(position);
}

const TypeInfo& FormCall::type(std::size_t position) const {
    static const TypeInfo notGiven;
    return has(position) ? m_graph.node(m_expr.arguments[position].node).type : notGiven;
}

std::optional<std::size_t> FormCall::rank(std::size_t position) const {
    if (!has(position) || !type(position).shape) return std::nullopt;
    return type(position).shape->size();
}

std::optional<std::int64_t> FormCall::dim(std::size_t position, std::size_t axis) const {
    const auto count = rank(position);
    if (!count || axis >= *count || !(*type(position).shape)[axis].known()) return std::nullopt;
    return (*type(position).shape)[axis].value;
}

std::optional<CanonicalTerms::Sizes> FormCall::sizes(const TypeInfo& type) {
    if (!type.shape) return std::nullopt;
    CanonicalTerms::Sizes sizes;
    for (const tensor::Dim& dim : *type.shape) {
        if (!dim.known() && dim.symbol.empty()) return std::nullopt;
        sizes.push_back(dim.known() ? std::to_string(dim.value) : dim.symbol);
    }
    return sizes;
}

const Value* FormCall::known(std::size_t position) const {
    return has(position) ? m_valueOf(m_expr.arguments[position].node) : nullptr;
}

std::optional<double> FormCall::filled(std::size_t position) const { return numberFilling(known(position)); }

std::optional<std::vector<std::int64_t>> FormCall::integers(std::size_t position) const {
    const Value* const value = known(position);
    return value ? analysis::CallArguments::integers(*value) : std::nullopt;
}

std::optional<std::vector<double>> FormCall::numbers(std::size_t position) const {
    constexpr std::int64_t kMaxElements = 64;
    const Value* const value = known(position);
    if (!value || !value->isTensor() || value->tensor().numel() > kMaxElements) return std::nullopt;
    if (!tensor::isFloating(value->tensor().dtype())) return std::nullopt;
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < value->tensor().numel(); ++i) numbers.push_back(value->tensor().toDouble(i));
    return numbers;
}

std::optional<std::vector<std::size_t>> FormCall::axes(std::size_t position) const {
    const auto count = rank(0);
    if (!count) return std::nullopt;
    std::vector<std::int64_t> given = attributes().getInts("axes");
    if (has(position)) {
        const auto read = integers(position);
        if (!read) return std::nullopt;
        given = *read;
    }
    std::vector<std::size_t> axes;
    for (const std::int64_t each : given) {
        const auto one = tensor::normalizedAxis(each, *count);
        if (!one) return std::nullopt;
        axes.push_back(*one);
    }
    for (std::size_t i = 0; axes.size() < *count && given.empty(); ++i) axes.push_back(i);
    std::ranges::sort(axes);
    return axes;
}

std::optional<std::size_t> FormCall::axis(std::string_view attribute, std::int64_t fallback) const {
    const auto count = rank(0);
    return count ? tensor::normalizedAxis(attributes().getInt(attribute, fallback), *count) : std::nullopt;
}

bool FormCall::isFloating() const { return tensor::isFloating(resultType().dtype); }

}  // namespace sonde::session::diff
