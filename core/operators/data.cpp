// Reductions, joins, and what picks, moves or puts elements.

#include "core/operators/tables.h"

namespace sonde::operators {

namespace {

using enum Trait;

constexpr Traits kReduced{.opClass = OpClass::Reduce};
constexpr Traits kJoin{.density = Density::LikeArguments, .bits = MovesData | StaysSmall};
constexpr Traits kPicked{.density = Density::LikeArguments, .bits = static_cast<std::uint32_t>(MovesData)};
/// A copy of the first argument with some elements replaced.
constexpr Traits kReplaced{.density = Density::LikeArguments, .bits = KeepsShape | KeepsDType | KeepsRank | MovesData};
constexpr Traits kPut{.bits = KeepsShape | KeepsDType | KeepsRank | HasInPlaceForm | ConvertsValues};
constexpr Traits kMoved{.density = Density::LikeArguments, .bits = KeepsShape | KeepsDType | KeepsRank | MovesData};

constexpr Row kRows[] = {
    {"sum", kReduced.as(OpClass::Sum).of(Density::LikeArguments)},
    {"mean", kReduced.as(OpClass::Mean).of(Density::LikeArguments)},
    {"amax amin prod", kReduced},
    {"logsumexp var std", kReduced, CostRule::FourPerInput},
    {"argmax argmin all any", Traits{}, CostRule::PerInput},
    {"max min", Traits{}, CostRule::Extremum},
    {"cdist _cdist_forward", Traits{}, CostRule::Distances},
    {"nonzero argwhere masked_select _unique _unique2 unique_consecutive unique_dim unique_dim_consecutive", Traits{},
     CostRule::Unknown, true},

    {"cat", kJoin.as(OpClass::Concat).with(KeepsRank)},
    {"stack", kJoin.as(OpClass::Stack)},
    {"hstack vstack dstack column_stack", Traits{.bits = static_cast<std::uint32_t>(MovesData)}},

    {"gather", kPicked},
    special({"index_select", kPicked.takes("E ")}, Special::RefusesAnyOverlap),
    {"repeat", kPicked.takes("T ")},
    {"dequantize", Traits{.inputs = "T "}},
    {"flip roll", kMoved},
    {"channel_shuffle", kMoved.of(Density::Unknown)},
    {"repeat_interleave pixel_shuffle pixel_unshuffle", Traits{.bits = KeepsRank | MovesData}},

    special({"cartesian_prod", Traits{}}, Special::ReturnsArgument | Special::ReturnsOnlyTensor),

    {"slice_scatter select_scatter diagonal_scatter", kReplaced},
    special({"index_put put index_copy index_fill scatter masked_scatter", kPut, CostRule::Nothing},
            Special::RefusesAnyOverlap),
    special({"index_add scatter_add scatter_reduce", kPut}, Special::RefusesAnyOverlap),
};

}  // namespace

std::span<const Row> dataRows() { return kRows; }

}  // namespace sonde::operators
