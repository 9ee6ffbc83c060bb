// Control flow: operators that run body graphs. https://onnx.ai/onnx/operators/ (If, Loop, Scan, SequenceMap).

#include <algorithm>

#include "core/ops/kernels/move.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

base::Result<std::size_t> bodyOf(const KernelContext& context, std::string_view attribute) {
    const tensor::AttributeValue* value = context.attributes().find(attribute);
    const auto* body = value ? std::get_if<tensor::BodyRef>(value) : nullptr;
    if (!body) return opError("has no body '" + std::string(attribute) + "'");
    return body->index;
}

base::Result<std::vector<Value>> runBody(KernelContext& context, std::size_t body, std::span<const Value> inputs,
                                         std::int64_t iteration) {
    if (!context.bodies()) return opError("has no bodies to run");
    if (context.cancelled()) return base::cancelled("in a body");
    return context.bodies()->run(body, inputs, iteration);
}

base::Result<bool> truth(const Value& value) {
    if (!value.isTensor() || value.tensor().dtype() != DType::Bool || value.tensor().numel() != 1) {
        return opError("the condition is " + value.typeText() + ", not one bool");
    }
    return value.tensor().toDouble(0) != 0;
}

base::Result<void> setOutputs(KernelContext& context, std::vector<Value> values) {
    if (values.size() < context.outputCount()) return opError("the body gives " + std::to_string(values.size()) + " values");
    for (std::size_t i = 0; i < context.outputCount(); ++i) context.setOutput(i, std::move(values[i]));
    return {};
}

base::Result<void> branch(KernelContext& context) {
    SONDE_ASSIGN(const bool condition, truth(context.value(0)));
    SONDE_ASSIGN(const std::size_t body, bodyOf(context, condition ? "then_branch" : "else_branch"));
    SONDE_ASSIGN(std::vector<Value> values, runBody(context, body, {}, 0));
    return setOutputs(context, std::move(values));
}

/// Values of all passes side by side along a new axis.
base::Result<void> stack(KernelContext& context, std::size_t output, const std::vector<Value>& slices, std::int64_t axis,
                         bool reversed) {
    if (slices.empty()) {
        SONDE_TRY(context.output(output, DType::Float32, Shape{0}));
        return {};
    }
    for (const Value& slice : slices) {
        if (!slice.isTensor()) return opError("a scanned output is " + slice.typeText() + ", not a tensor");
        const Tensor& first = slices.front().tensor();
        if (slice.tensor().shape() != first.shape() || slice.tensor().dtype() != first.dtype()) {
            return opError("a scanned output changes from " + first.typeText() + " to " + slice.tensor().typeText());
        }
    }
    const Tensor& first = slices.front().tensor();
    SONDE_ASSIGN(const std::size_t at, axisOf(axis, first.rank() + 1));
    std::vector<std::int64_t> dims = first.shape().dims();
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::int64_t>(slices.size()));
    if (first.dtype() == DType::String) {
        if (at != 0) return opError("cannot stack text along axis " + std::to_string(at));
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < slices.size(); ++i) {
            const auto part = slices[reversed ? slices.size() - 1 - i : i].tensor().strings();
            texts.insert(texts.end(), part.begin(), part.end());
        }
        context.setOutput(output, Value(Tensor::ofStrings(Shape(dims), std::move(texts))));
        return {};
    }
    SONDE_ASSIGN(Tensor whole, context.output(output, first.dtype(), Shape(dims)));
    for (std::size_t i = 0; i < slices.size(); ++i) {
        const auto place = static_cast<std::int64_t>(reversed ? slices.size() - 1 - i : i);
        kernels::copyInto(context.pool(), slices[i].tensor(), whole.selected(at, place));
    }
    return {};
}

/// Loop: inputs M, condition, carried values …; body (iteration, condition, carried …) → (condition, carried …, scanned …).
base::Result<void> loop(KernelContext& context) {
    SONDE_ASSIGN(const std::size_t body, bodyOf(context, "body"));
    std::int64_t most = -1;
    if (context.has(0)) {
        SONDE_ASSIGN(most, intOf(context.value(0)));
        most = std::max<std::int64_t>(most, 0);
    }
    bool goesOn = true;
    if (context.has(1)) { SONDE_ASSIGN(goesOn, truth(context.value(1))); }
    std::vector<Value> carried;
    for (std::size_t i = 2; i < context.inputCount(); ++i) carried.push_back(context.value(i));
    const std::size_t scannedCount = context.outputCount() > carried.size() ? context.outputCount() - carried.size() : 0;
    std::vector<std::vector<Value>> scanned(scannedCount);

    for (std::int64_t pass = 0; goesOn && (most < 0 || pass < most); ++pass) {
        std::vector<Value> inputs{Value(Tensor::scalar<std::int64_t>(pass)), Value(Tensor::scalar<bool>(goesOn))};
        inputs.insert(inputs.end(), carried.begin(), carried.end());
        SONDE_ASSIGN(std::vector<Value> results, runBody(context, body, inputs, pass));
        if (results.size() < 1 + carried.size() + scannedCount) {
            return opError("the body gives " + std::to_string(results.size()) + " values");
        }
        SONDE_ASSIGN(goesOn, truth(results[0]));
        for (std::size_t i = 0; i < carried.size(); ++i) carried[i] = results[1 + i];
        for (std::size_t i = 0; i < scannedCount; ++i) scanned[i].push_back(results[1 + carried.size() + i]);
    }
    for (std::size_t i = 0; i < carried.size() && i < context.outputCount(); ++i) context.setOutput(i, carried[i]);
    for (std::size_t i = 0; i < scannedCount; ++i) SONDE_TRY(stack(context, carried.size() + i, scanned[i], 0, false));
    return {};
}

std::int64_t listed(const std::vector<std::int64_t>& list, std::size_t index) { return index < list.size() ? list[index] : 0; }

/// What one scan goes over: `states` that are carried and `sequences` that are cut along their axes.
struct ScanParts {
    std::size_t body;
    std::vector<Value> states;
    std::vector<Tensor> sequences;
    std::vector<std::size_t> axes;
    std::vector<bool> backwards;
};

base::Result<std::vector<std::vector<Value>>> scanOver(KernelContext& context, ScanParts& parts, std::size_t scannedCount) {
    std::vector<std::vector<Value>> scanned(scannedCount);
    const std::int64_t length = parts.sequences.empty() ? 0 : parts.sequences.front().dim(parts.axes.front());
    for (std::int64_t pass = 0; pass < length; ++pass) {
        std::vector<Value> inputs = parts.states;
        for (std::size_t i = 0; i < parts.sequences.size(); ++i) {
            const Tensor& sequence = parts.sequences[i];
            if (sequence.dim(parts.axes[i]) != length) return opError("the scanned inputs differ in length");
            SONDE_ASSIGN(Tensor slice, sequence.selected(parts.axes[i], parts.backwards[i] ? length - 1 - pass : pass).contiguous());
            inputs.emplace_back(std::move(slice));
        }
        SONDE_ASSIGN(std::vector<Value> results, runBody(context, parts.body, inputs, pass));
        if (results.size() < parts.states.size() + scannedCount) return opError("the body gives too few values");
        for (std::size_t i = 0; i < parts.states.size(); ++i) parts.states[i] = results[i];
        for (std::size_t i = 0; i < scannedCount; ++i) scanned[i].push_back(results[parts.states.size() + i]);
    }
    return scanned;
}

/// Scan since version 9: states first, then num_scan_inputs sequences with axes and directions of their own.
base::Result<void> scan(KernelContext& context) {
    const Attributes& attributes = context.attributes();
    ScanParts parts;
    SONDE_ASSIGN(parts.body, bodyOf(context, "body"));
    const std::int64_t count = attributes.getInt("num_scan_inputs", 0);
    if (count < 1 || count > static_cast<std::int64_t>(context.inputCount())) {
        return opError("cannot scan " + std::to_string(count) + " of " + std::to_string(context.inputCount()) + " inputs");
    }
    const std::size_t states = context.inputCount() - static_cast<std::size_t>(count);
    const auto axes = attributes.getInts("scan_input_axes");
    const auto directions = attributes.getInts("scan_input_directions");
    for (std::size_t i = 0; i < states; ++i) parts.states.push_back(context.value(i));
    for (std::size_t i = states; i < context.inputCount(); ++i) {
        if (!context.value(i).isTensor()) return opError("a scanned input is " + context.value(i).typeText());
        parts.sequences.push_back(context.in(i));
        SONDE_ASSIGN(const std::size_t axis, axisOf(listed(axes, i - states), context.in(i).rank()));
        parts.axes.push_back(axis);
        parts.backwards.push_back(listed(directions, i - states) != 0);
    }
    const std::size_t scannedCount = context.outputCount() > states ? context.outputCount() - states : 0;
    SONDE_ASSIGN(const auto scanned, scanOver(context, parts, scannedCount));
    const auto outputAxes = attributes.getInts("scan_output_axes");
    const auto outputDirections = attributes.getInts("scan_output_directions");
    for (std::size_t i = 0; i < states && i < context.outputCount(); ++i) context.setOutput(i, parts.states[i]);
    for (std::size_t i = 0; i < scannedCount; ++i) {
        SONDE_TRY(stack(context, states + i, scanned[i], listed(outputAxes, i), listed(outputDirections, i) != 0));
    }
    return {};
}

/// Scan of version 8: optional sequence lengths, then states and sequences that all have a batch dimension in front.
base::Result<void> scanWithBatch(KernelContext& context) {
    SONDE_ASSIGN(const std::size_t body, bodyOf(context, "body"));
    const std::int64_t count = context.attributes().getInt("num_scan_inputs", 0);
    const auto directions = context.attributes().getInts("directions");
    if (count < 1 || count + 1 > static_cast<std::int64_t>(context.inputCount())) return opError("has no inputs to scan");
    const std::size_t states = context.inputCount() - 1 - static_cast<std::size_t>(count);
    const std::size_t scannedCount = context.outputCount() > states ? context.outputCount() - states : 0;
    for (std::size_t i = 1; i < context.inputCount(); ++i) {
        if (!context.value(i).isTensor() || context.in(i).rank() < (i > states ? 2U : 1U)) {
            return opError("input " + std::to_string(i) + " has no batch or sequence dimension");
        }
    }
    const std::int64_t batch = context.in(1).dim(0);
    std::vector<std::vector<Value>> perOutput(context.outputCount());
    for (std::int64_t b = 0; b < batch; ++b) {
        ScanParts parts;
        parts.body = body;
        for (std::size_t i = 1; i < context.inputCount(); ++i) {
            if (context.in(i).dim(0) != batch) return opError("the inputs differ in their batch");
            SONDE_ASSIGN(Tensor sample, context.in(i).selected(0, b).contiguous());
            if (i <= states) {
                parts.states.emplace_back(std::move(sample));
                continue;
            }
            if (context.has(0)) {
                const std::int64_t length = b < context.in(0).numel() ? context.in(0).toInt64(b) : -1;
                if (length < 0 || length > sample.dim(0)) return opError("sequence length " + std::to_string(length) + " cannot be");
                SONDE_ASSIGN(sample, sample.sliced(0, 0, length).contiguous());
            }
            parts.backwards.push_back(listed(directions, parts.sequences.size()) != 0);
            parts.sequences.push_back(std::move(sample));
            parts.axes.push_back(0);
        }
        SONDE_ASSIGN(auto scanned, scanOver(context, parts, scannedCount));
        for (std::size_t i = 0; i < states && i < perOutput.size(); ++i) perOutput[i].push_back(parts.states[i]);
        for (std::size_t i = 0; i < scannedCount; ++i) {
            SONDE_TRY(stack(context, states + i, scanned[i], 0, false));
            std::vector<Value> outputs = context.takeOutputs();
            perOutput[states + i].push_back(outputs[states + i]);
            for (std::size_t j = 0; j < outputs.size(); ++j) context.setOutput(j, outputs[j]);
        }
    }
    for (std::size_t i = 0; i < perOutput.size(); ++i) SONDE_TRY(stack(context, i, perOutput[i], 0, false));
    return {};
}

/// SequenceMap: the body runs for every element of the first sequence, with the same element of further sequences and
/// with plain tensors as they are.
base::Result<void> sequenceMap(KernelContext& context) {
    SONDE_ASSIGN(const std::size_t body, bodyOf(context, "body"));
    if (context.value(0).kind() != ValueKind::Sequence) return opError("maps " + context.value(0).typeText() + ", not a sequence");
    const std::size_t length = context.value(0).items().size();
    std::vector<tensor::ValueList> results(context.outputCount());
    for (std::size_t pass = 0; pass < length; ++pass) {
        std::vector<Value> inputs;
        for (std::size_t i = 0; i < context.inputCount(); ++i) {
            const Value& value = context.value(i);
            if (value.kind() != ValueKind::Sequence) {
                inputs.push_back(value);
            } else if (pass < value.items().size()) {
                inputs.push_back(value.items()[pass]);
            } else {
                return opError("a sequence of " + std::to_string(value.items().size()) + " goes with one of " + std::to_string(length));
            }
        }
        SONDE_ASSIGN(std::vector<Value> values, runBody(context, body, inputs, static_cast<std::int64_t>(pass)));
        if (values.size() < results.size()) return opError("the body gives too few values");
        for (std::size_t i = 0; i < results.size(); ++i) results[i].push_back(values[i]);
    }
    for (std::size_t i = 0; i < results.size(); ++i) context.setOutput(i, Value::sequence(std::move(results[i])));
    return {};
}

}  // namespace

void define_control(Registry& registry) {
    for (int since : {1, 11, 13, 16, 19, 21, 23, 24, 25}) {
        registry.add(Row("If", since, "Runs one of two graphs, by a condition", Category::Control)
                         .in("cond", kBool).out("outputs", Arity::Variadic)
                         .required("then_branch", AttributeKind::Body).required("else_branch", AttributeKind::Body).runs(branch));
        registry.add(Row("Loop", since, "Runs a graph again and again, with values carried from pass to pass", Category::Control)
                         .optionalIn("M", kInt64).optionalIn("cond", kBool).anyIn("v_initial", Arity::Variadic)
                         .out("v_final_and_scan_outputs", Arity::Variadic).required("body", AttributeKind::Body).runs(loop));
    }
    registry.add(Row("Scan", 8, "Runs a graph over the slices of sequences, for each sample of a batch", Category::Control)
                     .optionalIn("sequence_lens", kInt64).anyIn("initial_state_and_scan_inputs", Arity::Variadic)
                     .out("final_state_and_scan_outputs", Arity::Variadic).required("body", AttributeKind::Body)
                     .attrInts("directions").required("num_scan_inputs", AttributeKind::Int).runs(scanWithBatch));
    for (int since : {9, 11, 16, 19, 21, 23, 24, 25}) {
        registry.add(Row("Scan", since, "Runs a graph over the slices of sequences", Category::Control)
                         .anyIn("initial_state_and_scan_inputs", Arity::Variadic)
                         .out("final_state_and_scan_outputs", Arity::Variadic).required("body", AttributeKind::Body)
                         .required("num_scan_inputs", AttributeKind::Int).attrInts("scan_input_axes")
                         .attrInts("scan_input_directions").attrInts("scan_output_axes").attrInts("scan_output_directions").runs(scan));
    }
    registry.add(Row("SequenceMap", 17, "Runs a graph for every element of a sequence", Category::Control)
                     .anyIn("input_sequence").anyIn("additional_inputs", Arity::Variadic)
                     .out("out_sequence", Arity::Variadic).required("body", AttributeKind::Body).runs(sequenceMap));
}

}  // namespace sonde::ops
