// Special cases in which PyTorch returns what it was given. Sources: aten/src/ATen/native of PyTorch 1.13 and 2.x
// (TensorShape.cpp, TensorConversions.cpp, TensorTransformations.cpp, UnaryOps.cpp, Linear.cpp, LinearAlgebra.cpp,
// Dropout.cpp, Itertools.cpp) and ATen/ExpandUtils.h. Not among them, although one might think so: view, reshape,
// ravel, expand, squeeze, permute, transpose, chunk and split always make another tensor that shows the memory.

#include "core/operators/same_tensor.h"

#include <algorithm>

#include "core/operators/tables.h"

namespace sonde::operators {

bool mayReturnItsArgument(std::string_view domain, std::string_view operatorName) {
    const Traits& traits = traitsOf(domain, operatorName);
    return traits.form == ViewForm::Contiguous || traits.form == ViewForm::Converted ||
           traits.opClass == OpClass::Dropout || isSpecial(domain, operatorName, Special::ReturnsArgument);
}

bool returnsItsOnlyTensor(std::string_view domain, std::string_view operatorName) {
    return isSpecial(domain, operatorName, Special::ReturnsOnlyTensor);
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
    return isSpecial(domain, operatorName, Special::ReadsWholeStorage);
}

}  // namespace sonde::operators
