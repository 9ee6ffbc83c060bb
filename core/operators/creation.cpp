// New tensors, random numbers, writes, checks and marks. Random: what native_functions.yaml tags
// `nondeterministic_seeded`.

#include "core/operators/tables.h"

namespace sonde::operators {

namespace {

using enum Trait;

constexpr Traits kNew{.opClass = OpClass::Create, .density = Density::Always};
constexpr Traits kLike{.opClass = OpClass::Create, .density = Density::LikeArguments, .bits = KeepsShape | KeepsRank};
constexpr Traits kRandom{
    .opClass = OpClass::Random, .density = Density::Always, .bits = static_cast<std::uint32_t>(Random)};
constexpr Traits kRandomLike{
    .opClass = OpClass::Random, .density = Density::LikeArguments, .bits = KeepsShape | KeepsRank | Random};
constexpr Traits kDraws = kRandom.of(Density::Unknown);
constexpr Traits kDrawsInto{.opClass = OpClass::Random,
                            .memory = {Sharing::Written, false, true},
                            .bits = KeepsShape | KeepsRank | Random | InPlace};
constexpr Traits kWrites{.bits = KeepsShape | KeepsDType | KeepsRank | HasInPlaceForm};
constexpr Traits kMarker{.opClass = OpClass::Marker};

constexpr Row kRows[] = {
    {"zeros ones full empty new_zeros new_ones new_full new_empty", kNew},
    {"zeros_like ones_like full_like empty_like", kLike},
    {"arange linspace eye scalar_tensor", kNew.as(OpClass::Range)},
    {"tensor", kNew.as(OpClass::Range).with(StaysSmall)},
    {"clone", Traits{.opClass = OpClass::Clone,
                     .density = Density::LikeArguments,
                     .bits = KeepsShape | KeepsDType | KeepsRank | MovesData,
                     .inputs = "T "}},
    {"lift_fresh_copy", Traits{.opClass = OpClass::Clone, .bits = static_cast<std::uint32_t>(MovesData)}},

    {"rand randn randint", kRandom},
    {"rand_like randn_like randint_like", kRandomLike},
    {"randperm multinomial normal normal_functional poisson binomial _standard_gamma _sample_dirichlet", kDraws},
    {"bernoulli uniform", kDraws.with(HasInPlaceForm).with(ConvertsValues)},
    {"normal_ random_ cauchy_ exponential_ geometric_ log_normal_", kDrawsInto},

    {"copy", kWrites.as(OpClass::Copy).with(ConvertsValues)},
    special({"fill", kWrites.as(OpClass::Fill).with(ConvertsValues)}, Special::ReadsNumberFirst),
    {"zero", kWrites.as(OpClass::Zero)},
    {"fill_diagonal", kWrites.with(ConvertsValues)},

    {"item", Traits{.opClass = OpClass::Arithmetic, .bits = static_cast<std::uint32_t>(StaysSmall)}},
    {"Int ScalarImplicit", Traits{.bits = static_cast<std::uint32_t>(StaysSmall)}},
    {"_assert_async", Traits{.opClass = OpClass::Assertion, .bits = Effect | ChecksFirst}},
    {"_assert_scalar _assert_tensor_metadata _set_grad_enabled _log_api_usage_once _enter_autocast _exit_autocast",
     kMarker},
};

}  // namespace

std::span<const Row> creationRows() { return kRows; }

}  // namespace sonde::operators
