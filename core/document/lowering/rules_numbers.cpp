// Numbers that depend on the data: tensors of one element, whole numbers as int64, others as float64.

#include "core/document/lowering/lowering.h"

namespace sonde::document {

namespace {

using C = LoweredCall;

/// The one element of a tensor, or a number as another kind.
std::vector<Argument> element(C& c) { return one(c.cast(c.reshaped(c.tensor(0), Shape{}), c.result().dtype())); }

}  // namespace

void addNumberRules(LoweringRules& rules) {
    const auto put = [&rules](std::string_view name, LoweringRule rule) { rules.insert_or_assign(name, rule); };
    for (std::string_view name : {"Bool", "Int", "Float", "FloatImplicit", "IntImplicit", "ScalarImplicit", "item", "_local_scalar_dense", "is_nonzero"}) put(name, element);
    for (std::string_view name : {"NumToTensor", "scalar_tensor", "as_tensor", "tensor"}) put(name, [](C& c) { return one(c.in(0)); });
    put("not_", [](C& c) { return one(c.make("Not", {c.cast(c.tensor(0), DType::Bool)})); });
    put("truncdiv", [](C& c) { return one(c.make("Div", {c.in(0), c.in(1)})); });
    put("full", [](C& c) { return one(c.make("Expand", {c.in(1), c.integersNode(c.result().shape().dims())})); });
    put("full_like", [](C& c) { return one(c.make("Expand", {c.in(1), c.integersNode(c.result().shape().dims())})); });
    put("new_full", [](C& c) { return one(c.make("Expand", {c.in(2), c.integersNode(c.result().shape().dims())})); });
}

}  // namespace sonde::document
