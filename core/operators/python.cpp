// Operators of Python as tracers and TorchScript record them (prim), and Sonde's own.

#include "core/operators/tables.h"

namespace sonde::operators {

namespace {

using enum Trait;

constexpr Traits kBinary{.density = Density::LikeArguments, .bits = ElementWise | Broadcasts | StaysSmall};
constexpr Traits kIntBinary = kBinary.with(KeepsInts);
constexpr Traits kUnary{.density = Density::LikeArguments, .bits = ElementWise | KeepsShape | KeepsRank | StaysSmall};
constexpr Traits kHolds{.memory = {Sharing::Holds}};
constexpr Traits kWritten{.opClass = OpClass::SetItem,
                          .memory = {Sharing::Written, false, true},
                          .density = Density::LikeArguments,
                          .bits = KeepsShape | KeepsDType | KeepsRank | InPlace};
constexpr Traits kAssertion{.opClass = OpClass::Assertion, .bits = static_cast<std::uint32_t>(Effect)};

constexpr Traits kShown{.form = ViewForm::Same, .memory = {Sharing::View}};

constexpr Row kPython[] = {
    {"add", kIntBinary.as(OpClass::Add)},
    {"sub", kIntBinary.as(OpClass::Sub)},
    {"mul", kIntBinary.as(OpClass::Mul)},
    {"truediv", kBinary.as(OpClass::Div)},
    {"pow", kBinary.as(OpClass::Pow)},
    {"neg", kUnary.as(OpClass::Neg).with(KeepsInts)},
    {"floordiv mod", kIntBinary.as(OpClass::Arithmetic)},
    {"truncdiv le ge lt gt", kBinary.as(OpClass::Arithmetic)},
    {"eq", kBinary.as(OpClass::Equal)},
    {"ne", kBinary.as(OpClass::NotEqual)},
    {"not_", Traits{.opClass = OpClass::Not}},
    {"and_", Traits{.opClass = OpClass::And}},
    {"or_", Traits{.opClass = OpClass::Or}},
    {"item", Traits{.opClass = OpClass::Arithmetic}},
    {"len", Traits{.query = ShapeQuery::Length}},

    {"getitem", Traits{.opClass = OpClass::Index, .form = ViewForm::Index, .memory = {Sharing::MaybeView}}},
    {"setitem setitem_with_transformation", kWritten},
    {"write_out", Traits{.density = Density::LikeArguments}},
    {"getattr", Traits{.opClass = OpClass::GetAttr}},
    {"data", kShown},
    special({"unchecked_cast", kShown}, Special::ReturnsArgument),
    {"ListConstruct", kHolds.as(OpClass::Construct)},
    {"TupleConstruct", kHolds.as(OpClass::ConstructTuple)},
    {"DictConstruct", kHolds.as(OpClass::ConstructDict)},
    {"ListUnpack TupleUnpack", kHolds.as(OpClass::Unpack)},
    {"TupleIndex", kHolds},
    {"append", Traits{.opClass = OpClass::Append}},

    {"If", Traits{.opClass = OpClass::If}},
    {"cond", Traits{.opClass = OpClass::Conditional}},
    {"Loop", Traits{.opClass = OpClass::Loop}},

    {"_assert", kAssertion.with(ChecksFirst)},
    {"_assert_is_none RaiseException guard", kAssertion},
    {"_set_grad_enabled _log_api_usage_once _enter_autocast _exit_autocast", Traits{.opClass = OpClass::Marker}},
};

constexpr Row kOwn[] = {
    {"guard overlap_guard", kAssertion},
    {"AssertEqual", kAssertion.with(ReturnsError)},
};

}  // namespace

std::span<const Row> pythonRows() { return kPython; }
std::span<const Row> ownRows() { return kOwn; }

}  // namespace sonde::operators
