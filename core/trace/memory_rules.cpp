#include "core/trace/memory_rules.h"

#include <unordered_set>

#include "core/graph/memory.h"
#include "core/trace/memory.h"
#include "core/trace/tracer.h"

namespace sonde::trace {

using tensor::ValueKind;

namespace {

using Names = std::unordered_set<std::string_view>;

bool isNumber(const Var& var, std::int64_t number) {
    return var.kind() == Var::Kind::Value && var.value().kind() == tensor::ValueKind::Int && var.value().toInt() == number;
}
bool isNumberOrOmitted(const Var* var, std::int64_t number) { return !var || var->isNone() || isNumber(*var, number); }

bool gathers(ValueKind kind) { return kind == ValueKind::Tensor || kind == ValueKind::List || kind == ValueKind::Bool; }

/// Of one part of an index that is known: a number shows a part, and so does a tensor that is one; masks and lists copy.
Link linkOfIndex(const tensor::Value& index) {
    if (index.kind() == ValueKind::Tuple) {
        Link result = Link::View;
        for (const tensor::Value& part : index.items()) {
            if (part.kind() == ValueKind::Tuple || linkOfIndex(part) == Link::None) result = Link::None;
        }
        return result;
    }
    if (index.isTensor() && index.tensor().rank() == 0 && index.tensor().dtype() != tensor::DType::Bool) return Link::View;
    return gathers(index.kind()) ? Link::None : Link::View;
}

/// What the parts of an index say together, proxies included.
Link linkOfIndex(const Var& index, const Tracer* tracer) {
    switch (index.kind()) {
        case Var::Kind::Value: return linkOfIndex(index.value());
        case Var::Kind::Slice: return Link::View;
        case Var::Kind::Proxy: {
            const auto kind = tracer->kindOf(index.node());
            return !kind ? Link::Conditional : gathers(*kind) ? Link::None : Link::View;
        }
        case Var::Kind::Tuple: break;
        default: return Link::None;
    }
    Link result = Link::View;
    for (const Var& part : index.items()) {
        const Link one = part.kind() == Var::Kind::Tuple ? Link::None : linkOfIndex(part, tracer);
        if (one == Link::None) return one;
        if (one == Link::Conditional) result = one;
    }
    return result;
}

Link linkOfAttribute(const OperatorCall& call) {
    const bool isText = call.arguments.size() > 1 && call.arguments[1].kind() == Var::Kind::Value && call.arguments[1].value().kind() == ValueKind::String;
    if (!isText) return Link::Conditional;
    const std::string& name = call.arguments[1].value().toString();
    if (name == "data") return Link::Same;
    static const Names views{"T", "mT", "H", "mH", "imag"};
    if (views.contains(name)) return Link::View;
    return name == "real" || name == "grad" ? Link::Conditional : Link::None;
}

/// A dropout that does not train gives its input.
Link linkOfDropout(const OperatorCall& call) {
    const Var* train = call.argument(2, "train");
    if (!train || train->kind() != Var::Kind::Value || !train->value().isNumber()) return Link::Conditional;
    return train->toBool() ? Link::None : Link::Same;
}

bool isSame(std::string_view name) {
    static const Names same{"detach", "alias", "positive", "lift", "lift_fresh", "data", "requires_grad_", "detach_", "unchecked_cast"};
    return same.contains(name);
}

}  // namespace

bool keepsAll(const OperatorCall& call) {
    const std::string_view name = graph::withoutOverload(call.op);
    if (name == "getattr") return call.arguments.size() > 1 && linkOfAttribute(call) == Link::Same;
    return isSame(name) || name == "contiguous" || name.ends_with("dropout");
}

Link linkOf(const OperatorCall& call, const Tracer* tracer, bool isPacked) {
    const std::string_view name = graph::withoutOverload(call.op);
    if (call.domain == "prim" && name == "getitem") return call.arguments.size() > 1 ? linkOfIndex(call.arguments[1], tracer) : Link::Conditional;
    if (call.domain == "prim" && name == "getattr") return linkOfAttribute(call);
    if (call.domain == "aten" && name.ends_with("dropout") && name != "native_dropout") return linkOfDropout(call);
    if (isSame(name)) return Link::Same;
    const graph::MemoryEffect effect = graph::memoryEffect(call.domain, call.op);
    if (effect.reforms) return Link::Reform;
    if (effect.writes) return Link::Write;
    if (effect.sharing == graph::Sharing::View) return effect.isList ? Link::Parts : Link::View;
    if (effect.sharing != graph::Sharing::MaybeView) return Link::None;
    const bool isPlain = call.keywords.empty() && (name != "contiguous" || call.arguments.size() == 1);
    if (isPlain && isPacked && name == "contiguous") return Link::Same;
    return isPlain && isPacked && keepsOrder(name) ? Link::View : Link::Conditional;
}

bool takesLeadingPart(const OperatorCall& call) {
    const std::string_view name = graph::withoutOverload(call.op);
    if (name == "getitem") {
        const Var& index = call.arguments.at(1);
        if (index.kind() == Var::Kind::Slice) return isNumberOrOmitted(&index.items()[2], 1);
        return index.kind() == Var::Kind::Value && index.value().kind() == tensor::ValueKind::Int;
    }
    if (name == "select" || name == "narrow" || name == "unbind") return isNumberOrOmitted(call.argument(1, "dim"), 0);
    if (name == "slice") return isNumberOrOmitted(call.argument(1, "dim"), 0) && isNumberOrOmitted(call.argument(4, "step"), 1);
    return (name == "chunk" || name == "split" || name == "split_with_sizes") && isNumberOrOmitted(call.argument(2, "dim"), 0);
}

bool mayOverlap(std::string_view name) {
    static const Names names{"expand", "expand_as", "broadcast_to", "broadcast_tensors", "unfold", "as_strided", "meshgrid"};
    return names.contains(graph::withoutOverload(name));
}

bool keepsOrder(std::string_view name) {
    static const Names names{"view", "_unsafe_view", "view_as", "unflatten", "unsqueeze", "squeeze", "reshape", "flatten", "ravel", "reshape_as"};
    return names.contains(graph::withoutOverload(name));
}

bool makesPacked(std::string_view name) {
    static const Names names{"zeros", "ones", "full", "empty", "rand", "randn", "randint", "arange", "linspace", "eye", "tensor", "scalar_tensor",
                             "new_zeros", "new_ones", "new_full", "new_empty"};
    return names.contains(graph::withoutOverload(name));
}

bool keepsPacked(std::string_view name) {
    static const Names names{
        "clone", "zeros_like", "ones_like", "full_like", "empty_like", "rand_like", "randn_like", "add", "sub", "rsub", "mul", "div", "truediv", "floordiv",
        "mod", "pow", "neg", "abs", "exp", "log", "sqrt", "rsqrt", "square", "reciprocal", "sin", "cos", "tan", "tanh", "sigmoid", "relu", "relu6", "gelu", "silu",
        "leaky_relu", "elu", "hardtanh", "hardswish", "hardsigmoid", "softplus", "mish", "selu", "celu", "erf", "floor", "ceil", "round", "trunc", "sign",
        "clamp", "clamp_min", "clamp_max", "minimum", "maximum", "where", "masked_fill", "softmax", "log_softmax", "cat", "stack", "cumsum", "linear", "matmul",
        "mm", "bmm", "addmm", "conv1d", "conv2d", "conv3d", "batch_norm", "layer_norm", "group_norm", "max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d",
        "adaptive_avg_pool1d", "adaptive_avg_pool2d", "embedding", "sum", "mean", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_not",
        "index_select", "gather", "slice_scatter", "select_scatter", "diagonal_scatter", "repeat", "flip", "roll", "tril", "triu", "write_out"};
    return names.contains(graph::withoutOverload(name));
}

}  // namespace sonde::trace
