// Rows that follow from others: other names that PyTorch has for the same operator, and in-place forms.

#include "core/ops/registry/derived.h"

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ops/registry/registry.h"

namespace sonde::ops {

namespace {

/// torch/_refs and native_functions.yaml: "alias of".
constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"absolute", "abs"}, {"negative", "neg"}, {"multiply", "mul"}, {"subtract", "sub"}, {"divide", "div"}, {"greater", "gt"}, {"greater_equal", "ge"},
    {"less", "lt"}, {"less_equal", "le"}, {"not_equal", "ne"}, {"arccos", "acos"}, {"arccosh", "acosh"}, {"arcsin", "asin"}, {"arcsinh", "asinh"},
    {"arctan", "atan"}, {"arctanh", "atanh"}, {"arctan2", "atan2"}, {"clip", "clamp"}, {"fix", "trunc"}, {"concat", "cat"}, {"concatenate", "cat"},
    {"moveaxis", "movedim"}, {"ger", "outer"}, {"row_stack", "vstack"},
    {"special_expit", "sigmoid"}, {"special_erf", "erf"}, {"special_erfc", "erfc"}, {"special_erfinv", "erfinv"}, {"special_expm1", "expm1"}, {"special_exp2", "exp2"},
    {"special_log1p", "log1p"}, {"special_logit", "logit"}, {"special_logsumexp", "logsumexp"},
    {"special_round", "round"}, {"special_sinc", "sinc"}, {"special_xlogy", "xlogy"}, {"special_gammaln", "lgamma"}, {"special_digamma", "digamma"}, {"special_psi", "digamma"},
    {"special_i0", "i0"}, {"linalg_matmul", "matmul"}, {"unsafe_chunk", "chunk"}, {"unsafe_split", "split"}, {"unsafe_split_with_sizes", "split_with_sizes"},
    {"reshape_as", "view_as"}, {"true_divide", "div"}, {"_prelu_kernel", "prelu"}, {"detach_copy", "detach"},
    {"view_copy", "view"}, {"expand_copy", "expand"}, {"permute_copy", "permute"}, {"select_copy", "select"}, {"slice_copy", "slice"}, {"squeeze_copy", "squeeze"},
    {"unsqueeze_copy", "unsqueeze"}, {"transpose_copy", "transpose"}, {"t_copy", "t"}, {"narrow_copy", "narrow"}, {"alias_copy", "alias"}, {"unbind_copy", "unbind"},
    {"split_copy", "split"}, {"unfold_copy", "unfold"}, {"_conj_copy", "_conj"}, {"as_strided_copy", "as_strided"}, {"diagonal_copy", "diagonal"},

};

/// Names whose overload is called otherwise than that of the operator that they mean.
constexpr std::pair<std::string_view, std::string_view> kExact[] = {
    {"swapaxes", "transpose.int"}, {"swapdims", "transpose.int"}, {"transpose_", "transpose.int"}, {"swapaxes_", "transpose.int"}, {"swapdims_", "transpose.int"},
    {"special_softmax", "softmax.int"}, {"special_log_softmax", "log_softmax.int"}, {"pow_.Scalar", "pow.Tensor_Scalar"}, {"pow_.Tensor", "pow.Tensor_Tensor"},
    {"float_power_.Scalar", "float_power.Tensor_Scalar"}, {"float_power_.Tensor", "float_power.Tensor_Tensor"},
};

/// Operators with an in-place form `name_` (native_functions.yaml).
constexpr std::string_view kInPlace[] = {
    "abs", "absolute", "acos", "acosh", "add", "addbmm", "addcdiv", "addcmul", "addmm", "addmv", "addr", "alpha_dropout", "arccos", "arccosh", "arcsin", "arcsinh", "arctan",
    "arctan2", "arctanh", "as_strided", "asin", "asinh", "atan", "atan2", "atanh", "baddbmm", "bernoulli", "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "ceil", "celu", "clamp", "clamp_max", "clamp_min", "clip", "conj_physical", "copy", "copysign", "cos", "cosh", "cumprod", "cumsum",
    "deg2rad", "digamma", "div", "divide", "dropout", "elu", "eq", "erf", "erfc", "erfinv", "exp", "exp2", "expm1", "feature_dropout", "fill", "fill_diagonal", "fix",
    "float_power", "floor", "floor_divide", "fmod", "frac", "ge", "gelu", "greater", "greater_equal", "gt", "hardsigmoid", "hardswish", "hardtanh", "heaviside", "hypot", "i0",
    "index_add", "index_copy", "index_fill", "index_put", "le", "leaky_relu", "lerp", "less", "less_equal", "lgamma", "log", "log10", "log1p", "log2", "logical_and",
    "logical_not", "logical_or", "logical_xor", "logit", "lt", "masked_fill", "masked_scatter", "mish", "mul", "multiply", "nan_to_num", "ne", "neg", "negative", "nextafter",
    "not_equal", "pow", "put", "rad2deg", "reciprocal", "relu", "relu6", "remainder", "renorm", "round", "rrelu", "rsqrt", "scatter", "scatter_add", "scatter_reduce", "selu",
    "sgn", "sigmoid", "sign", "silu", "sin", "sinc", "sinh", "sqrt", "square", "squeeze", "sub", "subtract", "t", "tan", "tanh", "threshold",
    "tril", "triu", "true_divide", "trunc", "uniform", "unsqueeze", "xlogy", "zero", "detach", "__and__", "__or__", "__xor__", "__lshift__", "__rshift__",
};

/// Names live as long as the program: rows hold views of them.
std::string_view kept(std::string text) {
    static std::deque<std::string> names;
    return names.emplace_back(std::move(text));
}

std::string_view baseOf(std::string_view name) { return name.substr(0, name.find('.')); }

/// The rows of ATen by what stands before their overload's name.
class RowsByBase {
  public:
    explicit RowsByBase(Registry& registry) : m_registry(registry) {
        for (const OpDef* row : registry.rows()) {
            if (row->domain == "aten") m_rows[baseOf(row->name)].push_back(row);
        }
    }
    /// A copy: rows may be added while one walks through.
    std::vector<const OpDef*> of(std::string_view base) const {
        const auto found = m_rows.find(base);
        return found == m_rows.end() ? std::vector<const OpDef*>() : found->second;
    }
    void add(OpDef row) {
        const std::string_view name = row.name;
        m_registry.add(std::move(row));
        m_rows[baseOf(name)].push_back(m_registry.find("aten", name, 0));
    }

  private:
    Registry& m_registry;
    std::unordered_map<std::string_view, std::vector<const OpDef*>> m_rows;
};

std::string renamed(const OpDef& row, const std::string& base) { return base + std::string(row.name.substr(baseOf(row.name).size())); }

/// In place they give a tensor another shape.
bool reforms(std::string_view base) {
    return base == "as_strided" || base == "squeeze" || base == "unsqueeze" || base == "t" || base == "transpose" || base == "swapaxes" || base == "swapdims";
}

/// They put values of any type into a tensor; arithmetic must not turn floats into integers.
bool takesAnyType(std::string_view base) {
    return base == "copy" || base == "fill" || base == "fill_diagonal" || base == "masked_fill" || base == "masked_scatter" || base == "put" || base == "bernoulli" ||
           base == "uniform" || base.starts_with("index_") || base.starts_with("scatter");
}

/// What is written back has the dtype of what it is written to, and its shape: nothing is broadcast there.
std::function<base::Result<void>(KernelContext&)> writingBack(std::function<base::Result<void>(KernelContext&)> kernel, std::string_view base) {
    return [kernel = std::move(kernel), keepsShape = !reforms(base), isArithmetic = !takesAnyType(base)](KernelContext& context) -> base::Result<void> {
        const DType dtype = context.value(0).isTensor() ? context.in(0).dtype() : DType::Undefined;
        const tensor::Shape shape = context.value(0).isTensor() ? context.in(0).shape() : tensor::Shape{};
        SONDE_TRY(kernel(context));
        std::vector<Value> outputs = context.takeOutputs();
        const bool isTensor = dtype != DType::Undefined && !outputs.empty() && outputs.front().isTensor();
        if (keepsShape && isTensor && outputs.front().tensor().shape() != shape) {
            return base::runError("output with shape " + shape.text() + " doesn't match the broadcast shape " + outputs.front().tensor().shape().text());
        }
        if (isArithmetic && isTensor && tensor::isFloating(outputs.front().tensor().dtype()) && !tensor::isFloating(dtype)) {
            return base::runError("result type " + std::string(tensor::name(outputs.front().tensor().dtype())) + " can't be cast to the desired output type " +
                           std::string(tensor::name(dtype)));
        }
        if (!outputs.empty() && outputs.front().isTensor() && dtype != DType::Undefined && outputs.front().tensor().dtype() != dtype) {
            SONDE_ASSIGN(Tensor narrowed, outputs.front().tensor().cast(dtype));
            outputs.front() = Value(std::move(narrowed));
        }
        context.setOutputs(std::move(outputs));
        return {};
    };
}

std::function<base::Result<void>(InferContext&)> inferringBack(std::function<base::Result<void>(InferContext&)> infer) {
    if (!infer) return {};
    return [infer = std::move(infer)](InferContext& context) -> base::Result<void> {
        SONDE_TRY(infer(context));
        if (context.outputs().empty() || context.in(0).dtype == DType::Undefined) return {};
        TypeInfo type = context.outputs().front();
        type.dtype = context.in(0).dtype;
        context.set(0, std::move(type));
        return {};
    };
}

}  // namespace

std::string_view originalName(std::string_view name) {
    for (const auto& [alias, base] : kAliases) {
        if (alias == name) return base;
    }
    for (const auto& [alias, exact] : kExact) {
        if (baseOf(alias) == name) return baseOf(exact);
    }
    return name;
}

void defineDerived(Registry& registry) {
    RowsByBase rows(registry);
    for (const auto& [alias, base] : kAliases) {
        for (const OpDef* row : rows.of(base)) {
            const std::string name = renamed(*row, std::string(alias));
            if (registry.knows("aten", name)) continue;
            OpDef copy = *row;
            copy.name = kept(name);
            rows.add(std::move(copy));
        }
    }
    for (const auto& [alias, name] : kExact) {
        const OpDef* row = registry.find("aten", name, 0);
        if (!row) continue;
        OpDef copy = *row;
        copy.name = alias;
        if (baseOf(alias).ends_with('_')) {
            // transpose_ and the like are another shape of the same elements.
            copy.kernel = writingBack(row->kernel, baseOf(alias).substr(0, baseOf(alias).size() - 1));
            copy.infer = inferringBack(row->infer);
        }
        rows.add(std::move(copy));
    }
    for (std::string_view base : kInPlace) {
        for (const OpDef* row : rows.of(base)) {
            const std::string name = renamed(*row, base.ends_with("__") ? "__i" + std::string(base.substr(2)) : std::string(base) + "_");
            if (registry.knows("aten", name) || row->parameters.empty() || row->parameters.front().type != "Tensor") continue;
            OpDef copy = *row;
            copy.name = kept(name);
            copy.kernel = writingBack(row->kernel, base);
            copy.infer = inferringBack(row->infer);
            rows.add(std::move(copy));
        }
    }
}

}  // namespace sonde::ops
