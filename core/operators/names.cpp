// Sources: torch/_refs and native_functions.yaml of PyTorch 1.13 ("alias of", "autogen").

#include "core/operators/names.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace sonde::operators {

namespace {

constexpr Alias both(std::string_view name, std::string_view original) { return {name, original, true, false}; }
constexpr Alias copying(std::string_view name, std::string_view original) { return {name, original, false, true}; }

// clang-format off
constexpr Alias kAliases[] = {
    both("absolute", "abs"), both("negative", "neg"), both("multiply", "mul"), both("subtract", "sub"), both("divide", "div"),
    both("true_divide", "div"), both("greater", "gt"), both("greater_equal", "ge"), both("less", "lt"), both("less_equal", "le"),
    both("not_equal", "ne"), both("arccos", "acos"), both("arccosh", "acosh"), both("arcsin", "asin"), both("arcsinh", "asinh"),
    both("arctan", "atan"), both("arctanh", "atanh"), both("arctan2", "atan2"), both("clip", "clamp"), both("fix", "trunc"),
    {"concat", "cat"}, {"concatenate", "cat"}, {"moveaxis", "movedim"}, {"ger", "outer"}, {"row_stack", "vstack"},
    {"special_expit", "sigmoid"}, {"special_erf", "erf"}, {"special_erfc", "erfc"}, {"special_erfinv", "erfinv"}, {"special_expm1", "expm1"},
    {"special_exp2", "exp2"}, {"special_log1p", "log1p"}, {"special_logit", "logit"}, {"special_logsumexp", "logsumexp"},
    {"special_round", "round"}, {"special_sinc", "sinc"}, {"special_xlogy", "xlogy"}, {"special_gammaln", "lgamma"},
    {"special_digamma", "digamma"}, {"special_psi", "digamma"}, {"special_i0", "i0"}, {"linalg_matmul", "matmul"},
    {"unsafe_chunk", "chunk"}, {"unsafe_split", "split"}, {"unsafe_split_with_sizes", "split_with_sizes"}, {"reshape_as", "view_as"},
    {"_prelu_kernel", "prelu"},
    copying("detach_copy", "detach"), copying("view_copy", "view"), copying("expand_copy", "expand"), copying("permute_copy", "permute"),
    copying("select_copy", "select"), copying("slice_copy", "slice"), copying("squeeze_copy", "squeeze"), copying("unsqueeze_copy", "unsqueeze"),
    copying("transpose_copy", "transpose"), copying("t_copy", "t"), copying("narrow_copy", "narrow"), copying("alias_copy", "alias"),
    copying("unbind_copy", "unbind"), copying("split_copy", "split"), copying("unfold_copy", "unfold"), copying("_conj_copy", "_conj"),
    copying("as_strided_copy", "as_strided"), copying("diagonal_copy", "diagonal"),
};
// clang-format on

constexpr Alias kExactAliases[] = {
    {"swapaxes", "transpose.int"},
    {"swapdims", "transpose.int"},
    {"transpose_", "transpose.int"},
    {"swapaxes_", "transpose.int"},
    {"swapdims_", "transpose.int"},
    {"special_softmax", "softmax.int"},
    {"special_log_softmax", "log_softmax.int"},
    {"pow_.Scalar", "pow.Tensor_Scalar"},
    {"pow_.Tensor", "pow.Tensor_Tensor"},
    {"float_power_.Scalar", "float_power.Tensor_Scalar"},
    {"float_power_.Tensor", "float_power.Tensor_Tensor"},
};

/// Methods of Python that write.
constexpr std::array<std::string_view, 14> kWritingMethods{
    "__iadd__", "__isub__", "__imul__", "__itruediv__", "__idiv__",    "__ifloordiv__", "__imod__",
    "__ipow__", "__iand__", "__ior__",  "__ixor__",     "__ilshift__", "__irshift__",   "__setitem__"};

bool isDunder(std::string_view name) { return name.size() > 4 && name.starts_with("__") && name.ends_with("__"); }

}  // namespace

bool isInPlaceName(std::string_view operatorName) {
    const std::string_view name = withoutOverload(operatorName);
    if (isDunder(name)) return std::ranges::find(kWritingMethods, name) != kWritingMethods.end();
    // The one method with an underscore that changes no element.
    return name.size() > 1 && name.ends_with('_') && name != "requires_grad_";
}

std::string inPlaceName(std::string_view base) {
    if (isDunder(base)) return "__i" + std::string(base.substr(2));
    return std::string(base) + '_';
}

std::string outOfPlaceName(std::string_view name) {
    const auto exact = std::ranges::find(kExactAliases, name, &Alias::name);
    if (exact != std::end(kExactAliases)) return std::string(exact->original);
    if (!isInPlaceName(name)) return std::string(name);
    const std::string_view base = withoutOverload(name);
    const std::string overload(name.substr(base.size()));
    if (isDunder(base)) return "__" + std::string(base.substr(3)) + overload;
    return std::string(base.substr(0, base.size() - 1)) + overload;
}

std::string_view operatorOfAttribute(std::string_view attribute) {
    static constexpr std::pair<std::string_view, std::string_view> kOperators[] = {
        {"T", "numpy_T"}, {"H", "matrix_H"}, {"mT", "mT"},    {"mH", "mH"},
        {"data", "data"}, {"real", "real"},  {"imag", "imag"}};
    const auto found = std::ranges::find(kOperators, attribute, [](const auto& row) { return row.first; });
    return found == std::end(kOperators) ? std::string_view() : found->second;
}

std::span<const Alias> aliases() { return kAliases; }
std::span<const Alias> exactAliases() { return kExactAliases; }

std::string_view originalName(std::string_view name) {
    static const std::unordered_map<std::string_view, std::string_view> originals = [] {
        std::unordered_map<std::string_view, std::string_view> made;
        for (const Alias& alias : kAliases) made.emplace(alias.name, alias.original);
        for (const Alias& alias : kExactAliases)
            made.emplace(withoutOverload(alias.name), withoutOverload(alias.original));
        return made;
    }();
    const auto found = originals.find(name);
    return found == originals.end() ? name : found->second;
}

}  // namespace sonde::operators
