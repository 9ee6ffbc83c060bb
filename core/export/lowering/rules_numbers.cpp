// Numbers that depend on the data: tensors of one element, integers as int64, others as float64.

#include "core/export/lowering/lowering.h"

namespace sonde::exporting {

namespace {

using C = LoweredCall;

/// The one element of a tensor, or a number as another kind.
std::vector<Argument> element(C& c) { return one(c.cast(c.reshaped(c.tensor(0), Shape{}), c.result().dtype())); }

/// start + index * step
std::vector<Argument> derivedIndex(C& c) { return one(c.make("Add", {c.in(1), c.make("Mul", {c.in(0), c.in(2)})})); }

/// The count of range(lo, hi, step): max(0, (|span| + |step| - 1) / |step|), where the span is counted in the step's
/// direction. ONNX's division of integers drops the rest, which is right for what is not negative; the rest is 0
/// anyway.
std::vector<Argument> rangeLength(C& c) {
    const NodeId sign = c.make("Sign", {c.in(2)});
    const NodeId span = c.make("Mul", {c.make("Sub", {c.in(1), c.in(0)}), sign});
    const NodeId stride = c.make("Mul", {c.in(2), sign});
    const NodeId count = c.make("Div", {c.make("Add", {span, c.make("Sub", {stride, c.like(1)})}), stride});
    return one(c.make("Max", {count, c.like(0)}));
}

}  // namespace

void addNumberRules(LoweringRules& rules) {
    const auto put = [&rules](std::string_view name, LoweringRule rule) { rules.insert_or_assign(name, rule); };
    for (std::string_view name : {"Bool", "Int", "Float", "FloatImplicit", "IntImplicit", "ScalarImplicit", "item",
                                  "_local_scalar_dense", "is_nonzero"})
        put(name, element);
    for (std::string_view name : {"NumToTensor", "scalar_tensor", "as_tensor", "tensor"})
        put(name, [](C& c) { return one(c.in(0)); });
    put("not_", [](C& c) { return one(c.make("Not", {c.cast(c.tensor(0), DType::Bool)})); });
    put("truncdiv", [](C& c) { return one(c.make("Div", {c.in(0), c.in(1)})); });
    put("__derive_index", derivedIndex);
    put("__range_length", rangeLength);
    put("full", [](C& c) { return one(c.make("Expand", {c.in(1), c.integersNode(c.result().shape().dims())})); });
    put("full_like", [](C& c) { return one(c.make("Expand", {c.in(1), c.integersNode(c.result().shape().dims())})); });
    put("new_full", [](C& c) { return one(c.make("Expand", {c.in(2), c.integersNode(c.result().shape().dims())})); });
}

}  // namespace sonde::exporting
