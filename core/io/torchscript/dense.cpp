#include "core/io/torchscript/dense.h"

#include <algorithm>
#include <set>

namespace sonde::io::script {

namespace {

using Names = std::set<std::string, std::less<>>;

bool isNumber(const ScriptValue& value, std::int64_t number) {
    const Var* plain = value.plain();
    return plain && plain->kind() == Var::Kind::Value && plain->value().kind() == tensor::ValueKind::Int && plain->value().toInt() == number;
}

/// Argument `index` is the number, or it is left out and that is its default.
bool isOrOmitted(const std::vector<ScriptValue>& arguments, std::size_t index, std::int64_t number) {
    return index >= arguments.size() || arguments[index].isNone() || isNumber(arguments[index], number);
}

bool allDense(const std::vector<ScriptValue>& arguments) {
    return std::ranges::all_of(arguments, [](const ScriptValue& argument) {
        if (argument.cell()) return isDense(argument);
        return argument.list() ? allDense(argument.list()->items) : !argument.isProxy() || argument.isNumber();
    });
}

}  // namespace

bool isDense(const ScriptValue& value) { return value.cell() && value.cell()->isDense; }

bool givesDense(const std::string& op, const std::vector<ScriptValue>& arguments) {
    static const Names fresh{"zeros", "ones", "full", "empty", "rand", "randn", "randint", "arange", "linspace", "eye", "tensor", "scalar_tensor",
                             "new_zeros", "new_ones", "new_full", "new_empty"};
    static const Names elementwise{"clone", "zeros_like", "ones_like", "full_like", "empty_like", "rand_like", "randn_like", "add", "sub", "rsub", "mul", "div",
                                   "pow", "neg", "abs", "exp", "log", "sqrt", "rsqrt", "square", "sin", "cos", "tanh", "sigmoid", "relu", "relu6", "gelu", "silu",
                                   "leaky_relu", "elu", "hardtanh", "hardswish", "hardsigmoid", "softplus", "clamp", "clamp_min", "clamp_max", "minimum",
                                   "maximum", "where", "masked_fill", "softmax", "log_softmax", "cat", "stack", "cumsum"};
    static const Names sameOrder{"view", "reshape", "flatten", "ravel", "unflatten", "view_as", "reshape_as", "squeeze", "unsqueeze", "detach", "alias",
                                 "positive", "lift_fresh"};
    if (fresh.contains(op)) return true;
    if (arguments.empty()) return false;
    // Memory formats other than the plain one have a number after the tensor.
    if (op == "contiguous") return isOrOmitted(arguments, 1, 0);
    if (op == "clone") return arguments.size() == 1 ? isDense(arguments[0]) : isNumber(arguments[1], 0) || (arguments[1].isNone() && isDense(arguments[0]));
    if (elementwise.contains(op)) return allDense(arguments);
    if (!isDense(arguments[0])) return false;
    if (sameOrder.contains(op)) return true;
    if (op == "select" || op == "unbind") return isOrOmitted(arguments, 1, 0);
    if (op == "slice") return isOrOmitted(arguments, 1, 0) && isOrOmitted(arguments, 4, 1);
    if (op == "narrow") return isOrOmitted(arguments, 1, 0);
    return (op == "chunk" || op == "split" || op == "split_with_sizes") && isOrOmitted(arguments, 2, 0);
}

}  // namespace sonde::io::script
