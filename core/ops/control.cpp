// If, Loop, Scan: operators that run body graphs.

#include <algorithm>
#include <limits>

#include "core/ops/kernels/move.h"
#include "core/ops/support/batched_scan.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

/// ONNX names its bodies in attributes; in domain prim they stand in order, then and else, or the loop's.
template <bool isScript>
base::Result<std::size_t> bodyOf(KernelContext& context, const char* name, std::size_t position) {
    if (isScript && context.bodies()) return position;
    const auto* value = context.attributes().find(name);
    if (!value || !std::holds_alternative<tensor::BodyRef>(*value) || !context.bodies())
        return opError(std::string("has no body '") + name + "'");
    return std::get<tensor::BodyRef>(*value).index;
}

template <bool isScript>
base::Result<void> ifElse(KernelContext& context) {
    const Value& condition = context.value({"cond", "condition"});
    const bool isOne = condition.isTensor() ? condition.tensor().numel() == 1 : isScript && condition.isNumber();
    if (!isOne) return opError("the condition " + condition.typeText() + " is not one bool");
    const bool holds = condition.isTensor() ? condition.tensor().toDouble(0) != 0 : condition.number() != 0;
    SONDE_ASSIGN(const std::size_t body,
                 bodyOf<isScript>(context, holds ? "then_branch" : "else_branch", holds ? 0 : 1));
    SONDE_ASSIGN(const std::vector<Value> results, context.bodies()->run(body, {}, 0));
    for (std::size_t i = 0; i < context.outputCount() && i < results.size(); ++i) context.setOutput(i, results[i]);
    return {};
}

/// Elements of all passes along a new axis.
base::Result<Value> stacked(KernelContext& context, const std::vector<Tensor>& parts, std::int64_t axis,
                            bool reversed) {
    if (parts.empty()) return Value(Tensor::zeros(DType::Float32, Shape{0}).value());
    SONDE_ASSIGN(const std::size_t at, axisOf(axis, parts[0].rank() + 1));
    std::vector<std::int64_t> dims = parts[0].shape().dims();
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::int64_t>(parts.size()));
    SONDE_ASSIGN(Tensor whole, Tensor::allocate(parts[0].dtype(), Shape(dims)));
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].shape() != parts[0].shape() || parts[i].dtype() != parts[0].dtype()) {
            return opError("pass " + std::to_string(i) + " gave " + parts[i].typeText() + " after " +
                           parts[0].typeText());
        }
        const auto place = static_cast<std::int64_t>(reversed ? parts.size() - 1 - i : i);
        kernels::copyInto(context.pool(), parts[i].unsqueezed(at), whole.sliced(at, place, 1));
    }
    return Value(std::move(whole));
}

bool toBool(const Value& value) {
    if (value.isNumber()) return value.number() != 0;
    return !value.isTensor() || value.tensor().numel() != 1 || value.tensor().toDouble(0) != 0;
}

/// Inputs: trip count, condition, carried values. The body takes (i, condition, carried…) and gives (condition,
/// carried…, scanned…); scanned values of all passes are stacked. In domain prim, i and the condition are plain values.
template <bool isScript>
base::Result<void> loop(KernelContext& context) {
    SONDE_ASSIGN(const std::size_t body, bodyOf<isScript>(context, "body", 0));
    std::int64_t trips = std::numeric_limits<std::int64_t>::max();
    if (context.has({"M", "max_trip_count"})) {
        SONDE_ASSIGN(trips, intOf(context.value({"M", "max_trip_count"})));
    }
    if (!context.has({"M", "max_trip_count"}) && !context.has({"cond", "condition"}))
        return opError("neither a trip count nor a condition would end the loop");
    bool goOn = !context.has({"cond", "condition"}) || toBool(context.value({"cond", "condition"}));
    std::vector<Value> carried;
    for (std::size_t i = 2; i < context.inputCount(); ++i) carried.push_back(context.value(i));
    const std::size_t scanned = context.outputCount() > carried.size() ? context.outputCount() - carried.size() : 0;
    std::vector<std::vector<Tensor>> scans(scanned);
    for (std::int64_t i = 0; i < trips && goOn; ++i) {
        if (context.cancelled()) return base::cancelled();
        std::vector<Value> inputs{Value::ofInt(i), Value::ofBool(goOn)};
        if (!isScript) inputs = {Value(Tensor::scalar<std::int64_t>(i)), Value(Tensor::scalar<bool>(goOn))};
        inputs.insert(inputs.end(), carried.begin(), carried.end());
        SONDE_ASSIGN(std::vector<Value> results, context.bodies()->run(body, inputs, i));
        if (results.size() < 1 + carried.size())
            return opError("the body returns " + std::to_string(results.size()) + " values, too few");
        goOn = toBool(results[0]);
        for (std::size_t c = 0; c < carried.size(); ++c) carried[c] = results[1 + c];
        for (std::size_t s = 0; s < scanned && 1 + carried.size() + s < results.size(); ++s) {
            const Value& value = results[1 + carried.size() + s];
            if (!value.isTensor()) return opError("a value to be stacked is " + value.typeText());
            scans[s].push_back(value.tensor());
        }
    }
    for (std::size_t c = 0; c < carried.size(); ++c) {
        if (context.wants(c)) context.setOutput(c, carried[c]);
    }
    for (std::size_t s = 0; s < scanned; ++s) {
        SONDE_ASSIGN(Value whole, stacked(context, scans[s], 0, false));
        context.setOutput(carried.size() + s, std::move(whole));
    }
    return {};
}

/// One pass over the scan inputs: the body takes (states…, elements…) and gives (states…, outputs…).
base::Result<std::vector<Value>> scanOnce(KernelContext& context, std::size_t body, std::vector<Value> states,
                                          const std::vector<Tensor>& inputs, std::size_t outputs,
                                          const std::vector<std::int64_t>& inputAxes,
                                          const std::vector<std::int64_t>& inputDirections,
                                          const std::vector<std::int64_t>& outputAxes,
                                          const std::vector<std::int64_t>& outputDirections, std::int64_t firstPass,
                                          std::int64_t limit) {
    const auto entry = [](const std::vector<std::int64_t>& list, std::size_t i) {
        return i < list.size() ? list[i] : 0;
    };
    std::vector<std::size_t> axes;
    std::int64_t length = limit;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        SONDE_ASSIGN(const std::size_t axis, axisOf(entry(inputAxes, i), inputs[i].rank()));
        axes.push_back(axis);
        if (length < 0) length = inputs[i].dim(axis);
        if (inputs[i].dim(axis) < length || (limit < 0 && inputs[i].dim(axis) != length))
            return opError("scan inputs differ in length");
    }
    std::vector<std::vector<Tensor>> scans(outputs);
    for (std::int64_t t = 0; t < length; ++t) {
        if (context.cancelled()) return base::cancelled();
        std::vector<Value> given = states;
        for (std::size_t i = 0; i < inputs.size(); ++i)
            given.emplace_back(inputs[i].selected(axes[i], entry(inputDirections, i) ? length - 1 - t : t));
        SONDE_ASSIGN(std::vector<Value> results, context.bodies()->run(body, given, firstPass + t));
        if (results.size() != states.size() + outputs)
            return opError("the body returns " + std::to_string(results.size()) + " values instead of " +
                           std::to_string(states.size() + outputs));
        for (std::size_t s = 0; s < states.size(); ++s) states[s] = results[s];
        for (std::size_t s = 0; s < outputs; ++s) {
            if (!results[states.size() + s].isTensor())
                return opError("a value to be stacked is " + results[states.size() + s].typeText());
            scans[s].push_back(results[states.size() + s].tensor());
        }
    }
    for (std::size_t s = 0; s < outputs; ++s) {
        SONDE_ASSIGN(Value whole, stacked(context, scans[s], entry(outputAxes, s), entry(outputDirections, s) != 0));
        states.push_back(std::move(whole));
    }
    return states;
}

base::Result<void> scan(KernelContext& context) {
    SONDE_ASSIGN(const std::size_t body, bodyOf<false>(context, "body", 0));
    const Attributes& attributes = context.attributes();
    const std::int64_t count = attributes.getInt("num_scan_inputs", 0);
    if (count < 1 || count > static_cast<std::int64_t>(context.inputCount()))
        return opError("num_scan_inputs " + std::to_string(count) + " is out of range");
    const std::size_t stateCount = context.inputCount() - static_cast<std::size_t>(count);
    std::vector<Value> states;
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < context.inputCount(); ++i) {
        if (i < stateCount) states.push_back(context.value(i));
        else inputs.push_back(context.in(i));
    }
    if (context.outputCount() < stateCount) return opError("has fewer outputs than states");
    SONDE_ASSIGN(std::vector<Value> results,
                 scanOnce(context, body, std::move(states), inputs, context.outputCount() - stateCount,
                          attributes.getInts("scan_input_axes"), attributes.getInts("scan_input_directions"),
                          attributes.getInts("scan_output_axes"), attributes.getInts("scan_output_directions"), 0, -1));
    for (std::size_t i = 0; i < results.size(); ++i) context.setOutput(i, std::move(results[i]));
    return {};
}

/// Opset 8: everything has a batch dimension in front, and sequence lengths may differ.
base::Result<void> batchedScan(KernelContext& context) {
    SONDE_ASSIGN(const std::size_t body, bodyOf<false>(context, "body", 0));
    const Attributes& attributes = context.attributes();
    const std::int64_t count = attributes.getInt("num_scan_inputs", 0);
    if (context.inputCount() < 2 || count < 1 || count > static_cast<std::int64_t>(context.inputCount()) - 1)
        return opError("num_scan_inputs is out of range");
    const std::size_t stateCount = context.inputCount() - 1 - static_cast<std::size_t>(count);
    const Tensor& first = context.in(context.inputCount() - 1);
    if (first.rank() < 2 || context.outputCount() < stateCount)
        return opError("scan inputs need batch and sequence dimensions");
    const std::int64_t batches = first.dim(0);
    std::vector<std::vector<Tensor>> all(context.outputCount());
    for (std::int64_t b = 0; b < batches; ++b) {
        std::vector<Value> states;
        std::vector<Tensor> inputs;
        for (std::size_t i = 1; i < context.inputCount(); ++i) {
            const Tensor& x = context.in(i);
            if (x.rank() < 1 || x.dim(0) != batches) return opError("the batch dimension differs");
            if (i <= stateCount) states.emplace_back(x.selected(0, b));
            else inputs.push_back(x.selected(0, b));
        }
        const std::int64_t limit = context.has("sequence_lens") && b < context.in("sequence_lens").numel()
                                       ? context.in("sequence_lens").toInt64(b)
                                       : -1;
        SONDE_ASSIGN(const std::vector<Value> results,
                     scanOnce(context, body, std::move(states), inputs, context.outputCount() - stateCount, {},
                              attributes.getInts("directions"), {}, {}, b * kScanBatchIterations, limit));
        for (std::size_t i = 0; i < results.size(); ++i) {
            if (!results[i].isTensor()) return opError("a state is " + results[i].typeText());
            all[i].push_back(results[i].tensor());
        }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        SONDE_ASSIGN(Value whole, stacked(context, all[i], 0, false));
        context.setOutput(i, std::move(whole));
    }
    return {};
}

/// Applies the body to every element of the first sequence (and what stands at the same place of the others).
base::Result<void> sequenceMap(KernelContext& context) {
    SONDE_ASSIGN(const std::size_t body, bodyOf<false>(context, "body", 0));
    if (context.value("input_sequence").kind() != ValueKind::Sequence)
        return opError("the first input must be a sequence, but is " + context.value("input_sequence").typeText());
    const std::size_t length = context.value("input_sequence").items().size();
    std::vector<tensor::ValueList> results(context.outputCount());
    for (std::size_t i = 0; i < length; ++i) {
        if (context.cancelled()) return base::cancelled();
        std::vector<Value> given;
        for (std::size_t k = 0; k < context.inputCount(); ++k) {
            const Value& input = context.value(k);
            if (input.kind() != ValueKind::Sequence) {
                given.push_back(input);
            } else if (i < input.items().size()) {
                given.push_back(input.items()[i]);
            } else {
                return opError("the sequences differ in length");
            }
        }
        SONDE_ASSIGN(const std::vector<Value> made, context.bodies()->run(body, given, static_cast<std::int64_t>(i)));
        for (std::size_t o = 0; o < results.size() && o < made.size(); ++o) results[o].push_back(made[o]);
    }
    for (std::size_t o = 0; o < results.size(); ++o) context.setOutput(o, Value::sequence(std::move(results[o])));
    return {};
}

}  // namespace

void define_control(Registry& registry) {
    registry.add(Row("If", 1, "one of two branches", Category::Control)
                     .anyIn("cond")
                     .out("outputs", Arity::Variadic)
                     .required("then_branch", AttributeKind::Body)
                     .required("else_branch", AttributeKind::Body)
                     .runs(ifElse<false>));
    registry.add(Row("Loop", 1, "runs its body while a condition holds", Category::Control)
                     .anyIn("M", Arity::Optional)
                     .anyIn("cond", Arity::Optional)
                     .anyIn("v_initial", Arity::Variadic)
                     .out("v_final_and_scan_outputs", Arity::Variadic)
                     .required("body", AttributeKind::Body)
                     .runs(loop<false>));
    registry.add(Row("If", 1, "one of two branches", Category::Control)
                     .domain("prim")
                     .strided()
                     .anyIn("condition")
                     .out("outputs", Arity::Variadic)
                     .runs(ifElse<true>));
    registry.add(Row("Loop", 1, "runs its body while a condition holds", Category::Control)
                     .domain("prim")
                     .strided()
                     .anyIn("max_trip_count", Arity::Optional)
                     .anyIn("condition", Arity::Optional)
                     .anyIn("carried", Arity::Variadic)
                     .out("outputs", Arity::Variadic)
                     .runs(loop<true>));
    registry.add(Row("Scan", 8, "runs its body over the elements of sequences, by batch", Category::Control)
                     .anyIn("sequence_lens", Arity::Optional)
                     .anyIn("initial_state_and_scan_inputs", Arity::Variadic)
                     .out("final_state_and_scan_outputs", Arity::Variadic)
                     .required("body", AttributeKind::Body)
                     .required("num_scan_inputs", AttributeKind::Int)
                     .attrInts("directions")
                     .runs(batchedScan));
    registry.add(Row("Scan", 9, "runs its body over the elements of sequences", Category::Control)
                     .anyIn("initial_state_and_scan_inputs", Arity::Variadic)
                     .out("final_state_and_scan_outputs", Arity::Variadic)
                     .required("body", AttributeKind::Body)
                     .required("num_scan_inputs", AttributeKind::Int)
                     .attrInts("scan_input_axes")
                     .attrInts("scan_input_directions")
                     .attrInts("scan_output_axes")
                     .attrInts("scan_output_directions")
                     .runs(scan));
    registry.add(Row("SequenceMap", 17, "runs its body on every element of a sequence", Category::Control)
                     .anyIn("input_sequence")
                     .anyIn("additional_inputs", Arity::Variadic)
                     .out("out_sequence", Arity::Variadic)
                     .required("body", AttributeKind::Body)
                     .runs(sequenceMap));
}

}  // namespace sonde::ops
