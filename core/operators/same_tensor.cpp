// Special cases in which PyTorch returns what it was given. Sources: aten/src/ATen/native of PyTorch 1.13 and 2.x
// (TensorShape.cpp, TensorConversions.cpp, TensorTransformations.cpp, UnaryOps.cpp, Linear.cpp, LinearAlgebra.cpp,
// Dropout.cpp, Itertools.cpp) and ATen/ExpandUtils.h. Not among them, although one might think so: view, reshape,
// ravel, expand, squeeze, permute, transpose, chunk and split always make another tensor that shows the memory.

#include "core/operators/same_tensor.h"

#include <algorithm>
#include <span>

#include "core/operators/names.h"

namespace sonde::operators {

namespace {

// clang-format off
constexpr std::string_view kReturnTheirArgument[] = {
    "as_tensor", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_tensors", "chain_matmul", "cartesian_prod", "conj", "conj_physical",
    "flatten", "lift", "lift_fresh", "positive", "real", "requires_grad_", "resolve_conj", "resolve_neg", "unchecked_cast"};
constexpr std::string_view kReturnTheirOnlyTensor[] = {"cartesian_prod", "chain_matmul", "einsum"};
// clang-format on

bool isOneOf(std::span<const std::string_view> names, std::string_view operatorName) {
    return std::ranges::find(names, withoutOverload(operatorName)) != names.end();
}

}  // namespace

bool mayReturnItsArgument(std::string_view domain, std::string_view operatorName) {
    const Traits& traits = traitsOf(domain, operatorName);
    return traits.form == ViewForm::Contiguous || traits.form == ViewForm::Converted ||
           traits.opClass == OpClass::Dropout || isOneOf(kReturnTheirArgument, operatorName);
}

bool returnsItsOnlyTensor(std::string_view domain, std::string_view operatorName) {
    return domain == "aten" && isOneOf(kReturnTheirOnlyTensor, operatorName);
}

bool sumsLetters(std::string_view equation) {
    const std::size_t arrow = equation.find("->");
    const auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const std::string_view operand = equation.substr(0, arrow);
    return std::ranges::any_of(operand, [&](char c) {
        if (!isLetter(c)) return false;
        // Without an arrow letters that occur once are those of the result.
        if (arrow == std::string_view::npos) return std::ranges::count(operand, c) > 1;
        return equation.find(c, arrow) == std::string_view::npos;
    });
}

Sharing sharingOfDropout(std::optional<double> p, std::optional<bool> trains) {
    if ((trains && !*trains) || (p && *p == 0)) return Sharing::View;
    return trains && p ? Sharing::Fresh : Sharing::MaybeView;
}

bool readsWholeStorage(std::string_view domain, std::string_view operatorName) {
    const std::string_view name = withoutOverload(operatorName);
    return domain == "aten" && (name == "as_strided" || name == "as_strided_");
}

}  // namespace sonde::operators
