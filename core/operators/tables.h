#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/operators/traits.h"

namespace sonde::operators {

/// How the cost of a call follows from its shapes (cost.h), where the class does not tell it.
enum class CostRule : std::uint8_t {
    ByClass,  ///< as the class and the other traits say: a convolution, one for each element, nothing for a copy
    Nothing,  ///< moves elements, or fills
    ThreePerElement,  ///< of the result
    FivePerElement,
    EachInput,     ///< of the result, for each tensor but the first one: a sum of many
    MeanOfInputs,  ///< the same and a quotient
    PerInput,      ///< for each element of the first input
    TwoPerInput,
    FourPerInput,
    Norm,     ///< mean and variance, and a weight and a bias if they are there
    RmsNorm,  ///< neither mean nor bias
    Pool,
    Unknown,        ///< no formula, whatever the class
    Convolution,    ///< by the weight that the roles of the inputs name
    Product,        ///< sums over the last dimension of the first factor
    PackedProduct,  ///< over the attribute K
    Outer,          ///< over none
    Einsum,
    Bilinear,
    Distances,  ///< between all rows of two inputs
    Extremum,   ///< of two tensors for each element of the result, else for each of the input
    Attention,
    Fused,      ///< several in one, by its name: core/operators/cost_fused.cpp
    Linear,     ///< interpolation between two neighbours along each spatial dimension
    Cubic,      ///< between four
    LocalNorm,  ///< by a sum of squares of neighbouring channels
};

/// What few operators do with the tensors that they are given, and few ask for: see same_tensor.h, overlap.h
/// and moved_elements.h.
enum class Special : std::uint8_t {
    None = 0,
    ReturnsArgument = 1u << 0,    ///< mayReturnItsArgument(); not of the in-place form, which always does
    ReturnsOnlyTensor = 1u << 1,  ///< returnsItsOnlyTensor(); neither
    ReadsWholeStorage = 1u << 2,
    RefusesAnyOverlap = 1u << 3,
    ReadsNumberFirst = 1u << 4,
    OnlyMovesElements = 1u << 5,  ///< onlyMovesElements(); the roles of the inputs say whose elements
};
constexpr Special operator|(Special a, Special b) {
    return static_cast<Special>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr Special operator&(Special a, Special b) {
    return static_cast<Special>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}

/// Whether `name` is one of those that spaces separate.
constexpr bool hasName(std::string_view names, std::string_view name) {
    while (!names.empty()) {
        const std::string_view first = names.substr(0, names.find(' '));
        if (first == name) return true;
        names.remove_prefix(first.size() < names.size() ? first.size() + 1 : names.size());
    }
    return false;
}

/// Operators that have the same traits. Each name stands in one row of its domain only (tst_traits).
struct Row {
    std::string_view names;  ///< separated by spaces, without overloads
    Traits traits;
    CostRule cost = CostRule::ByClass;
    bool countsElements = false;  ///< see countsElements()
    Special special = Special::None;
};
constexpr Row special(Row row, Special what) {
    row.special = what;
    return row;
}

/// The rule of an operator's row, found as traitsOf() finds its traits.
CostRule costRuleOf(std::string_view domain, std::string_view operatorName);
bool isSpecial(std::string_view domain, std::string_view operatorName, Special what);

// Families of operators, one file each.
std::span<const Row> elementwiseRows();      ///< aten
std::span<const Row> layerRows();            ///< aten
std::span<const Row> viewRows();             ///< aten
std::span<const Row> creationRows();         ///< aten: new tensors, random numbers, writes, checks
std::span<const Row> dataRows();             ///< aten: reductions, joins, gathers, scatters
std::span<const Row> pythonRows();           ///< prim
std::span<const Row> onnxRows();             ///< ai.onnx
std::span<const Row> previewRows();          ///< ai.onnx.preview
std::span<const Row> previewTrainingRows();  ///< ai.onnx.preview.training
std::span<const Row> contribRows();          ///< com.microsoft
std::span<const Row> visionRows();           ///< torchvision
std::span<const Row> ownRows();              ///< sonde

}  // namespace sonde::operators
