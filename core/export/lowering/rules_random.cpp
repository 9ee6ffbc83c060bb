// Random numbers: drawn anew in each run of the file, as in the model.

#include "core/export/lowering/lowering.h"

namespace sonde::exporting {

namespace {

using C = LoweredCall;

/// RandomUniform or RandomNormal in the shape of the call's result; `first` and `second` are bounds, or mean and
/// deviation.
NodeId drawnAs(C& c, bool isNormal, double first, double second, DType dtype) {
    tensor::Attributes attributes{{"shape", c.result().shape().dims()}, {"dtype", static_cast<std::int64_t>(dtype)}};
    attributes.set(isNormal ? "mean" : "low", first);
    attributes.set(isNormal ? "scale" : "high", second);
    return c.opOf(isNormal ? "RandomNormal" : "RandomUniform", {}, std::move(attributes), dtype, c.result().shape());
}
/// ONNX draws float16, float32 and float64.
std::vector<Argument> drawn(C& c, bool isNormal, double first, double second) {
    const DType wanted = c.result().dtype();
    const bool isOwn = wanted == DType::Float16 || wanted == DType::Float32 || wanted == DType::Float64;
    return one(c.cast(drawnAs(c, isNormal, first, second, isOwn ? wanted : DType::Float32), wanted));
}
/// Integers from low to high - 1; the last uniform number may round up to high.
std::vector<Argument> drawnIntegers(C& c, double low, double high) {
    const NodeId whole = c.make("Floor", {drawnAs(c, false, low, high, DType::Float64)});
    return one(c.cast(c.make("Min", {whole, c.scalar(high - 1, DType::Float64)}), c.result().dtype()));
}
/// The places of random numbers in their order.
std::vector<Argument> drawnOrder(C& c) {
    const std::int64_t count = c.integer(0);
    if (count == 0) C::fail("an empty order");
    const NodeId keys = drawnAs(c, false, 0, 1, DType::Float32);
    const NodeId order = c.makeAll("TopK", {keys, c.integersNode({count})}, {{"axis", std::int64_t{0}}}, 2).at(1);
    return one(c.cast(order, c.result().dtype()));
}
std::vector<Argument> drawnTruth(C& c) {
    const DType dtype = c.result().dtype();
    if (!c.expr().op.name.ends_with(".p"))
        return one(c.op("Bernoulli", {c.tensor(0)}, {{"dtype", static_cast<std::int64_t>(dtype)}}));
    const NodeId keys = drawnAs(c, false, 0, 1, DType::Float32);
    return one(c.cast(c.make("Less", {keys, c.scalar(c.number(1), DType::Float32)}), dtype));
}
std::vector<Argument> drawnAround(C& c) {
    const std::string& name = c.expr().op.name;
    if (name.ends_with(".float_float")) return drawn(c, true, c.number(0), c.number(1));
    if (!name.starts_with("normal.")) return drawn(c, true, c.number(1, 0), c.number(2, 1));
    const auto operand = [&](std::size_t i) {
        return name.ends_with(i == 0 ? ".float_Tensor" : ".Tensor_float") ? c.scalar(c.number(i, 1), c.result().dtype())
                                                                          : c.in(i);
    };
    const NodeId deviation = c.make("Mul", {operand(1), drawn(c, true, 0, 1).front().node});
    return one(c.make("Add", {operand(0), deviation}));
}
/// -ln(1 - u) / rate
std::vector<Argument> drawnTimes(C& c) {
    const DType dtype = c.result().dtype();
    const NodeId kept = c.make("Sub", {c.scalar(1, dtype), drawn(c, false, 0, 1).front().node});
    return one(c.make("Div", {c.make("Log", {kept}), c.scalar(-c.number(1, 1), dtype)}));
}
/// In the shape of a tensor, which may depend on the data.
std::vector<Argument> drawnLike(C& c, const char* name) {
    return one(c.op(name, {c.tensor(0)}, {{"dtype", static_cast<std::int64_t>(c.result().dtype())}}));
}

}  // namespace

void addRandomRules(LoweringRules& rules) {
    const auto put = [&rules](std::string_view name, LoweringRule rule) { rules.insert_or_assign(name, rule); };
    put("rand", [](C& c) { return drawn(c, false, 0, 1); });
    put("randn", [](C& c) { return drawn(c, true, 0, 1); });
    put("rand_like", [](C& c) { return drawnLike(c, "RandomUniformLike"); });
    put("randn_like", [](C& c) { return drawnLike(c, "RandomNormalLike"); });
    put("uniform", [](C& c) { return drawn(c, false, c.number(1, 0), c.number(2, 1)); });
    put("normal", drawnAround);
    put("randint", [](C& c) {
        const bool hasLow = c.expr().op.name.ends_with(".low");
        return drawnIntegers(c, hasLow ? c.number(0) : 0, c.number(hasLow ? 1 : 0));
    });
    put("log_normal",
        [](C& c) { return one(c.make("Exp", {drawn(c, true, c.number(1, 1), c.number(2, 2)).front().node})); });
    put("exponential", drawnTimes);
    put("random", [](C& c) {
        const bool hasLow = c.expr().op.name.ends_with(".from");
        return drawnIntegers(c, hasLow ? c.number(1) : 0, c.number(hasLow ? 2 : 1));
    });
    put("randint_like", [](C& c) { return drawnIntegers(c, 0, c.number(1)); });
    put("randperm", drawnOrder);
    put("bernoulli", drawnTruth);
}

}  // namespace sonde::exporting
