// What the symbolic values of a CustomTracer know and record.

#include "core/operators/traits.h"
#include "core/tensor/value.h"
#include "core/trace/custom_proxy.h"
#include "core/trace/custom_tracer.h"
#include "core/trace/error.h"
#include "core/trace/record.h"

namespace sonde::trace {

using tensor::Value;
using tensor::ValueKind;

std::string_view name(InstanceKind kind) {
    constexpr std::string_view kNames[] = {
        "bool",   "int",         "float",          "complex",         "str", "NoneType", "list", "tuple", "dict",
        "Tensor", "CustomProxy", "CustomProxyInt", "CustomProxyFloat"};
    return kNames[static_cast<std::size_t>(kind)];
}

CustomProxy::CustomProxy(const Var& var) : Var(var) {
    if (!isProxy() || !dynamic_cast<CustomTracer*>(&tracer())) {
        throw TraceError(TraceErrorKind::Assertion, "the tracer of a CustomProxy must be a CustomTracer");
    }
}

CustomTracer& CustomProxy::customTracer() const { return static_cast<CustomTracer&>(tracer()); }

CustomProxyInt CustomProxy::length() const {
    constexpr Function kLength{"len", "__len__", "__len__", false, "prim"};
    return CustomProxyInt(callMethod(kLength, {*this}));
}

bool CustomProxy::instanceOf(InstanceKind kind) const {
    if (const auto known = customTracer().instanceKind(node())) {
        return *known == InstanceKind::CustomProxyInt ? CustomProxyInt::isKind(kind) : CustomProxyFloat::isKind(kind);
    }
    throw TraceError(TraceErrorKind::Runtime, "Unable to know if cls is from type " + std::string(name(kind)) + ": '" +
                                                  text() + "' is symbolic");
}

CustomAttribute CustomProxy::attribute(std::string attributeName) const { return {*this, std::move(attributeName)}; }

std::string CustomProxy::text() const { return "CustomProxy(" + customTracer().nameOf(node()) + ")"; }

Var CustomProxy::cat(const Var& tensors, std::optional<std::int64_t> dim, const Var& out,
                     std::optional<std::int64_t> axis) {
    if (!out.isNone()) throw TraceError(TraceErrorKind::Assertion, "cat with out is not supported while tracing");
    if (dim && axis && *dim != *axis) {
        throw TraceError(TraceErrorKind::Assertion,
                         "cat is given dim " + std::to_string(*dim) + " and axis " + std::to_string(*axis));
    }
    constexpr Function kCat{"cat", "cat", "torch.cat"};
    return callFunction(kCat, {tensors.kind() == Kind::Tuple ? Var::list(tensors.items()) : tensors,
                               Var(dim ? *dim : axis.value_or(0))});
}

CustomProxyInt::CustomProxyInt(const Var& var) : CustomProxy(var) {
    customTracer().setInstanceKind(node(), InstanceKind::CustomProxyInt);
}
CustomProxyFloat::CustomProxyFloat(const Var& var) : CustomProxy(var) {
    customTracer().setInstanceKind(node(), InstanceKind::CustomProxyFloat);
}

Var CustomAttribute::value() const {
    if (!*m_node) *m_node = m_root.attr(m_name);
    return **m_node;
}

CustomParameterProxy::CustomParameterProxy(const Var& var) : CustomProxy(var) {
    if (!customTracer().parameterValue(node()))
        throw TraceError(TraceErrorKind::Assertion, text() + " is not a parameter");
}

std::vector<std::int64_t> CustomParameterProxy::shape() const {
    return customTracer().parameterValue(node())->shape().dims();
}

std::int64_t CustomParameterProxy::size(std::int64_t axis) const {
    const std::vector<std::int64_t> dims = shape();
    const auto rank = static_cast<std::int64_t>(dims.size());
    if (axis < -rank || axis >= rank) {
        throw TraceError(TraceErrorKind::Value, "axis " + std::to_string(axis) + " is out of range for " +
                                                    std::to_string(rank) + " dimensions");
    }
    return dims[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)];
}

std::int64_t CustomParameterProxy::numel() const { return customTracer().parameterValue(node())->numel(); }

Var lengthOf(const Var& x) {
    if (x.isProxy() && dynamic_cast<CustomTracer*>(&x.tracer())) return CustomProxy(x).length();
    return Var(x.length());
}

bool isInstance(const Var& x, InstanceKind kind) {
    if (x.isProxy()) return CustomProxy(x).instanceOf(kind);
    switch (x.kind()) {
        case Var::Kind::List: return kind == InstanceKind::List;
        case Var::Kind::Tuple: return kind == InstanceKind::Tuple;
        case Var::Kind::Dict: return kind == InstanceKind::Dict;
        case Var::Kind::Value: break;
        default: return false;
    }
    switch (x.value().kind()) {
        case ValueKind::None: return kind == InstanceKind::None;
        case ValueKind::Bool:
            return kind == InstanceKind::Bool || kind == InstanceKind::Int;  // bool is a subclass of int
        case ValueKind::Int: return kind == InstanceKind::Int;
        case ValueKind::Float: return kind == InstanceKind::Float;
        case ValueKind::String: return kind == InstanceKind::String;
        case ValueKind::List: return kind == InstanceKind::List;
        case ValueKind::Tuple: return kind == InstanceKind::Tuple;
        case ValueKind::Dict: return kind == InstanceKind::Dict;
        case ValueKind::Tensor: return kind == InstanceKind::Tensor;
        default: return false;
    }
}

Var elementType(InstanceKind kind) {
    // c10/core/ScalarType.h
    switch (kind) {
        case InstanceKind::Bool: return Var(11);
        case InstanceKind::Int: return Var(4);
        case InstanceKind::Float: return Var(6);
        case InstanceKind::Complex: return Var(9);
        default:
            throw TraceError(TraceErrorKind::NotImplemented,
                             "an argument of type " + std::string(name(kind)) + " cannot be recorded");
    }
}

namespace {

Var rebuilt(const Value& spec, std::span<const Var> leaves, std::size_t& next) {
    const auto leaf = [&] {
        if (next >= leaves.size())
            throw TraceError(TraceErrorKind::Assertion,
                             "there are more indices than the " + std::to_string(leaves.size()) + " leaves");
        return leaves[next++];
    };
    if (spec.kind() == ValueKind::Dict) {
        std::vector<std::pair<Value, Var>> entries;
        for (const auto& [key, item] : spec.dictItems()) entries.emplace_back(key, rebuilt(item, leaves, next));
        return Var::dict(std::move(entries));
    }
    if (spec.kind() != ValueKind::List && spec.kind() != ValueKind::Tuple) return leaf();
    std::vector<Var> items;
    for (const Value& item : spec.items()) items.push_back(rebuilt(item, leaves, next));
    return spec.kind() == ValueKind::List ? Var::list(std::move(items)) : Var::tuple(std::move(items));
}

}  // namespace

Var treeUnflattenWithProxy(const Value& spec, std::span<const Var> leaves) {
    std::size_t next = 0;
    Var result = rebuilt(spec, leaves, next);
    if (next != leaves.size()) {
        throw TraceError(TraceErrorKind::Assertion,
                         std::to_string(leaves.size()) + " leaves for " + std::to_string(next) + " positions");
    }
    return result;
}

Var setItemWithTransformation(const Var& x, const Var& index,
                              const std::vector<std::pair<std::string, std::vector<Var>>>& transformations) {
    if (transformations.empty()) throw TraceError(TraceErrorKind::Assertion, "there are no transformations");
    std::vector<Var> steps;
    for (const auto& [function, arguments] : transformations) {
        const operators::Traits& traits = operators::traitsOf("aten", function);
        const bool isKnown =
            (traits.opClass == operators::OpClass::Exp || traits.opClass == operators::OpClass::Sigmoid) &&
            traits.is(operators::Trait::HasInPlaceForm);
        if (!isKnown)
            throw TraceError(TraceErrorKind::Assertion,
                             "the transformation '" + function + "' is not supported; known are exp and sigmoid");
        if (!arguments.empty())
            throw TraceError(TraceErrorKind::Assertion, "the transformation '" + function + "' takes no arguments");
        steps.push_back(Var::tuple({Var(function), Var::tuple({})}));
    }
    constexpr Function kTransform{"setitem_with_transformation", "setitem_with_transformation",
                                  "setitem_with_transformation", true, "prim"};
    return callFunction(kTransform, {x, index, Var::tuple(std::move(steps))});
}

}  // namespace sonde::trace
