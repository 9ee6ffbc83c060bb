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

/// A dim size as a number, where it is known as that.
Argument sizeAt(C& c, NodeId x, std::size_t axis) {
    if (!c.isOpen(x, axis)) return Argument::of(Value::ofInt(c.shapeOf(x)[axis]));
    return Argument::of(c.reshaped(c.sizeOf(x, axis), Shape{}));
}
std::vector<Argument> sizes(C& c) {
    const NodeId x = c.tensor(0);
    const std::size_t rank = c.shapeOf(x).rank();
    if (c.has(1)) return {sizeAt(c, x, static_cast<std::size_t>(c.axis(1, rank)))};
    std::vector<Argument> all;
    for (std::size_t axis = 0; axis < rank; ++axis) all.push_back(sizeAt(c, x, axis));
    return {Argument::container(Argument::Kind::List, std::move(all))};
}

/// A tensor of one number, the dim sizes as a list in argument `at`; of the call's result if nothing in them depends on
/// the data.
std::vector<Argument> filled(C& c, NodeId number, std::size_t at) {
    return one(c.opOf("Expand", {c.cast(number, c.result().dtype()), c.integersOf(at)}, {}, c.result().dtype(),
                      c.result().shape()));
}
std::vector<Argument> filledLike(C& c, NodeId number) {
    return one(c.opOf("Expand", {c.cast(number, c.result().dtype()), c.sizesOf(c.tensor(0))}, {}, c.result().dtype(),
                      c.result().shape()));
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
    for (std::string_view name : {"size", "shape", "sym_size"}) put(name, sizes);
    put("numel", [](C& c) { return one(c.opOf("Size", {c.tensor(0)}, {}, DType::Int64, Shape{})); });
    put("len", [](C& c) -> std::vector<Argument> { return {sizeAt(c, c.tensor(0), 0)}; });
    put("full", [](C& c) { return filled(c, c.in(1), 0); });
    put("new_full", [](C& c) { return filled(c, c.in(2), 1); });
    put("full_like", [](C& c) { return filledLike(c, c.in(1)); });
    for (std::string_view name : {"zeros", "empty"}) put(name, [](C& c) { return filled(c, c.like(0), 0); });
    put("ones", [](C& c) { return filled(c, c.like(1), 0); });
    for (std::string_view name : {"new_zeros", "new_empty"}) put(name, [](C& c) { return filled(c, c.like(0), 1); });
    put("new_ones", [](C& c) { return filled(c, c.like(1), 1); });
    for (std::string_view name : {"zeros_like", "empty_like", "zero"})
        put(name, [](C& c) { return filledLike(c, c.like(0)); });
    put("ones_like", [](C& c) { return filledLike(c, c.like(1)); });
}

}  // namespace sonde::exporting
