// ATen's recurrent layers: several layers, both directions. The input's part of the gates is one matrix product for all
// steps; each step adds the state's part.

#include <cmath>

#include "core/ops/dependence/recurrent.h"
#include "core/ops/support/invoke.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

enum class Cell : std::uint8_t { Lstm, Gru, Tanh, Relu };

struct Layout {
    Cell cell = Cell::Lstm;
    std::int64_t steps = 0, batch = 0, hidden = 0;
    std::int64_t state = 0;  ///< dimension of h: hidden, or what the projection makes of it
    std::int64_t gates() const { return cell == Cell::Lstm ? 4 : cell == Cell::Gru ? 3 : 1; }
};

float sigmoid(float x) { return 1.0F / (1.0F + std::exp(-x)); }

/// One step of one sequence. `x` and `h` hold the gates' parts from the input and from the state.
///  LSTM (gates i, f, g, o): c' = sigmoid(f) c + sigmoid(i) tanh(g), h' = sigmoid(o) tanh(c')
///  GRU (r, z, n): n' = tanh(x_n + sigmoid(r) h_n), h' = (1 - sigmoid(z)) n' + sigmoid(z) h
void step(Cell cell, std::int64_t hidden, const float* x, const float* h, float* state, float* memory) {
    for (std::int64_t i = 0; i < hidden; ++i) {
        const auto gate = [&](std::int64_t k) { return x[k * hidden + i] + h[k * hidden + i]; };
        switch (cell) {
            case Cell::Lstm:
                memory[i] = sigmoid(gate(1)) * memory[i] + sigmoid(gate(0)) * std::tanh(gate(2));
                state[i] = sigmoid(gate(3)) * std::tanh(memory[i]);
                break;
            case Cell::Gru: {
                const float update = sigmoid(gate(1));
                const float fresh = std::tanh(x[2 * hidden + i] + sigmoid(gate(0)) * h[2 * hidden + i]);
                state[i] = (1 - update) * fresh + update * state[i];
                break;
            }
            case Cell::Tanh: state[i] = std::tanh(gate(0)); break;
            case Cell::Relu: state[i] = std::max(gate(0), 0.0F); break;
        }
    }
}

struct Direction {
    Value inputWeight, stateWeight, inputBias, stateBias, projection;
};

/// x [T,N,I] -> y [T,N,S], written at `column` of rows of `width`. `state` [N,S] and `memory` [N,H] are changed.
base::Result<void> runDirection(KernelContext& context, const Layout& layout, const Tensor& x, const Direction& weights,
                                bool backward, Tensor& state, Tensor& memory, float* y, std::int64_t width) {
    SONDE_ASSIGN(const Tensor fromInput,
                 invokeAten(context, "linear", {Value(x), weights.inputWeight, weights.inputBias}));
    const std::int64_t gateRow = layout.gates() * layout.hidden;
    if (fromInput.dim(2) != gateRow) return opError("the weights of a recurrent layer are incompatible");
    for (std::int64_t t = 0; t < layout.steps; ++t) {
        if (context.cancelled()) return opError("cancelled");
        const std::int64_t at = backward ? layout.steps - 1 - t : t;
        SONDE_ASSIGN(const Tensor fromState,
                     invokeAten(context, "linear", {Value(state), weights.stateWeight, weights.stateBias}));
        if (fromState.dim(1) != gateRow) return opError("the weights of a recurrent layer are incompatible");
        if (weights.projection.isNone()) {
            SONDE_ASSIGN(state, state.clone());
        } else {
            SONDE_ASSIGN(state, Tensor::allocate(DType::Float32, {layout.batch, layout.hidden}));
        }
        for (std::int64_t n = 0; n < layout.batch; ++n) {
            step(layout.cell, layout.hidden, fromInput.data<float>() + (at * layout.batch + n) * gateRow,
                 fromState.data<float>() + n * gateRow, state.mutableData<float>() + n * layout.hidden,
                 layout.cell == Cell::Lstm ? memory.mutableData<float>() + n * layout.hidden : nullptr);
        }
        if (!weights.projection.isNone()) {
            SONDE_ASSIGN(state, invokeAten(context, "linear", {Value(state), weights.projection, Value()}));
            if (state.dim(1) != layout.state)
                return opError("the projection of a recurrent layer does not match its state");
        }
        for (std::int64_t n = 0; n < layout.batch; ++n) {
            std::copy_n(state.data<float>() + n * layout.state, layout.state, y + (at * layout.batch + n) * width);
        }
    }
    return {};
}

/// (input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first). A single sequence [T,I] has
/// states without the batch's axis.
base::Result<void> runRecurrent(KernelContext& context, Cell cell) {
    if (!context.value("input").isTensor() || !context.value("params").isListLike())
        return opError("a recurrent layer expects a tensor and a list of weights");
    Tensor x = context.in("input");
    tensor::ValueList states =
        context.value("hx").isListLike() ? context.value("hx").items() : tensor::ValueList{context.value("hx")};
    if ((x.rank() != 3 && x.rank() != 2) || x.dtype() != DType::Float32)
        return opError("a recurrent layer expects float32[T,N,I], not " + x.typeText());
    const tensor::ValueList& parameters = context.value("params").items();
    SONDE_ASSIGN(const double hasBiases, numberOf(context.value("has_biases")));
    SONDE_ASSIGN(const std::int64_t layers, intOf(context.value("num_layers")));
    SONDE_ASSIGN(const double dropout, numberOf(context.value("dropout")));
    SONDE_ASSIGN(const double training, numberOf(context.value("train")));
    SONDE_ASSIGN(const double bidirectional, numberOf(context.value("bidirectional")));
    SONDE_ASSIGN(double batchFirst, numberOf(context.value("batch_first")));
    const std::size_t directions = bidirectional != 0 ? 2 : 1;
    const std::size_t wantedStates = cell == Cell::Lstm ? 2 : 1;
    if (layers < 1 || layers > 1000 || states.size() < wantedStates)
        return opError("the weights or states of a recurrent layer are incompatible");
    const std::size_t biases = hasBiases != 0 ? 4 : 2;
    const std::size_t count = static_cast<std::size_t>(layers) * directions;
    const bool projects = cell == Cell::Lstm && parameters.size() == count * (biases + 1);
    const std::size_t perDirection = biases + (projects ? 1 : 0);
    const bool single = x.rank() == 2;
    bool good = parameters.size() == count * perDirection;
    for (const Value& value : parameters) good = good && value.isTensor();
    for (const Value& value : states) {
        good = good && value.isTensor() && value.tensor().rank() == (single ? 2U : 3U) &&
               value.tensor().dtype() == DType::Float32;
    }
    if (!good) return opError("the weights or states of a recurrent layer are incompatible");
    if (single) {
        x = x.unsqueezed(1);
        for (Value& state : states) state = Value(state.tensor().unsqueezed(1));
        batchFirst = 0;
    }
    if (batchFirst != 0) {
        SONDE_ASSIGN(x, x.transposed(0, 1).contiguous());
    }
    const Layout layout{cell, x.dim(0), x.dim(1), states[wantedStates - 1].tensor().dim(2), states[0].tensor().dim(2)};
    for (std::size_t i = 0; i < wantedStates; ++i) {
        const tensor::Shape wanted{static_cast<std::int64_t>(count), layout.batch,
                                   i == 0 && projects ? layout.state : layout.hidden};
        if (states[i].tensor().shape() != wanted)
            return opError("the state of a recurrent layer is " + states[i].typeText() + " instead of " +
                           wanted.text());
    }
    std::vector<Value> lastStates, lastMemories;
    const std::int64_t width = layout.state * static_cast<std::int64_t>(directions);
    for (std::size_t layer = 0; layer < static_cast<std::size_t>(layers); ++layer) {
        SONDE_ASSIGN(Tensor y, Tensor::allocate(DType::Float32, {layout.steps, layout.batch, width}));
        for (std::size_t d = 0; d < directions; ++d) {
            const std::size_t index = layer * directions + d;
            const Value* at = &parameters[index * perDirection];
            const Direction weights{at[0], at[1], hasBiases != 0 ? at[2] : Value(), hasBiases != 0 ? at[3] : Value(),
                                    projects ? at[biases] : Value()};
            SONDE_ASSIGN(Tensor state, states[0].tensor().selected(0, static_cast<std::int64_t>(index)).clone());
            Tensor memory;
            if (cell == Cell::Lstm) {
                SONDE_ASSIGN(memory, states[1].tensor().selected(0, static_cast<std::int64_t>(index)).clone());
            }
            SONDE_TRY(runDirection(context, layout, x, weights, d == 1, state, memory,
                                   y.mutableData<float>() + static_cast<std::int64_t>(d) * layout.state, width));
            lastStates.emplace_back(std::move(state));
            if (cell == Cell::Lstm) lastMemories.emplace_back(std::move(memory));
        }
        x = std::move(y);
        if (training != 0 && dropout > 0 && layer + 1 < static_cast<std::size_t>(layers)) {
            SONDE_ASSIGN(x, invokeAten(context, "dropout", {Value(x), Value::ofFloat(dropout), Value::ofBool(true)}));
        }
    }
    if (batchFirst != 0) {
        SONDE_ASSIGN(x, x.transposed(0, 1).contiguous());
    }
    const auto withoutBatch = [&](const Tensor& tensor) { return single ? tensor.selected(1, 0) : tensor; };
    context.setOutput(Value(withoutBatch(x)));
    SONDE_ASSIGN(const Tensor h, invokeAten(context, "stack", {Value::list(std::move(lastStates))}));
    if (context.wants(1)) context.setOutput(1, Value(withoutBatch(h)));
    if (cell == Cell::Lstm && context.wants(2)) {
        SONDE_ASSIGN(const Tensor c, invokeAten(context, "stack", {Value::list(std::move(lastMemories))}));
        context.setOutput(2, Value(withoutBatch(c)));
    }
    return {};
}

/// The layer, direction, sequence and step that an element is of.
struct StepAsked {
    std::int64_t layer = 0, direction = 0, batch = 0, step = 0, unit = 0;
    std::int64_t steps = 0, batches = 0, directions = 1;
    bool isBatchFirst = false, isSingle = false;
    bool isMemory = false;  ///< c is asked for, not h
};

/// The arguments of a recurrent layer of ATen with other sequences, layers and states.
base::Result<std::vector<Value>> runLayers(const ElementCall& call, const Tensor& x, const tensor::ValueList& states,
                                           tensor::ValueList parameters, std::int64_t layers) {
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < call.context.inputCount(); ++i) inputs.push_back(call.context.value(i));
    inputs[call.context.position("input")] = Value(x);
    inputs[call.context.position("hx")] = call.context.value("hx").isListLike() ? Value::list(states) : states.front();
    inputs[call.context.position("params")] = Value::list(std::move(parameters));
    inputs[call.context.position("num_layers")] = Value::ofInt(layers);
    inputs[call.context.position("batch_first")] = Value::ofBool(false);
    return ops::call(call.op, inputs, call.context.attributes(), call.op.outputs.size(), call.context.environment());
}

StepAsked stepAsked(const ElementCall& call, std::int64_t layers, std::int64_t stateSize) {
    const Tensor& x = call.context.in("input");
    StepAsked asked;
    asked.isSingle = x.rank() == 2;
    asked.isBatchFirst = !asked.isSingle && call.context.value("batch_first").number() != 0;
    asked.directions = call.context.value("bidirectional").number() != 0 ? 2 : 1;
    asked.steps = x.dim(asked.isBatchFirst ? 1 : 0);
    asked.batches = asked.isSingle ? 1 : x.dim(asked.isBatchFirst ? 0 : 1);
    std::vector<std::int64_t> at = call.at;
    if (asked.isSingle) at.insert(at.begin() + 1, 0);
    if (call.output == 0) {
        asked.layer = call.member == 0 ? layers - 1 : (static_cast<std::int64_t>(call.member) - 1) / 2;
        asked.isMemory = call.member > 0 && call.member % 2 == 0;
        asked.step = at[asked.isBatchFirst ? 1 : 0], asked.batch = at[asked.isBatchFirst ? 0 : 1];
        asked.direction = at[2] / stateSize, asked.unit = at[2] % stateSize;
    } else {
        asked.layer = at[0] / asked.directions, asked.direction = at[0] % asked.directions;
        asked.batch = at[1], asked.unit = at[2];
        asked.step = asked.direction == 1 ? 0 : asked.steps - 1;
        asked.isMemory = call.output == 2;
    }
    return asked;
}

/// x [T, N, …] of one sequence, from `first` on.
Tensor ofSequence(const Tensor& x, std::int64_t batch, std::int64_t first, std::int64_t count) {
    return x.sliced(1, batch, 1).sliced(0, first, count);
}

DependenceTerm stateTerm(std::uint32_t input, std::uint32_t member, std::int64_t element, double value, bool isOutput) {
    DependenceTerm term;
    term.input = input, term.member = member, term.element = element, term.value = value, term.isOutput = isOutput;
    return term;
}

/// Units of a state [layers, N, units], or without N.
std::int64_t stateWidth(const Value& state) { return state.tensor().dim(state.tensor().rank() - 1); }

/// h and c before the step: arguments at the first one, else what the layer gives for the steps before.
base::Result<void> addStates(const ElementCall& call, const StepAsked& asked, const Tensor& x,
                             const tensor::ValueList& states, const tensor::ValueList& parameters, bool isLast,
                             dependence::RecurrentStep& step) {
    const bool isBackward = asked.direction == 1, isList = call.context.value("hx").isListLike();
    const std::int64_t before = isBackward ? asked.steps - 1 - asked.step : asked.step,
                       row = asked.layer * asked.directions + asked.direction;
    const auto hx = static_cast<std::uint32_t>(call.context.position("hx"));
    std::vector<DependenceTerm> memories;
    if (before == 0) {
        for (std::size_t s = 0; s < states.size() && s < 2; ++s) {
            const std::int64_t width = stateWidth(states[s]);
            for (std::int64_t j = 0; j < width; ++j) {
                const std::int64_t element = (row * asked.batches + asked.batch) * width + j;
                (s == 0 ? step.h : memories)
                    .push_back(stateTerm(hx, isList ? static_cast<std::uint32_t>(s) : 0, element,
                                         states[s].tensor().toDouble(element), false));
            }
        }
    } else {
        tensor::ValueList own;
        for (const Value& state : states) {
            const Tensor tensor = asked.isSingle ? state.tensor().unsqueezed(1) : state.tensor();
            own.emplace_back(
                tensor.sliced(0, asked.layer * asked.directions, asked.directions).sliced(1, asked.batch, 1));
        }
        SONDE_ASSIGN(
            const std::vector<Value> results,
            runLayers(call, ofSequence(x, asked.batch, isBackward ? asked.step + 1 : 0, before), own, parameters, 1));
        const std::int64_t width = stateWidth(states.front());
        const auto firstAt = [&](std::int64_t when) {
            const std::int64_t line =
                asked.isBatchFirst ? asked.batch * asked.steps + when : when * asked.batches + asked.batch;
            return (line * asked.directions + asked.direction) * width;
        };
        const std::int64_t first = firstAt(isBackward ? asked.step + 1 : asked.step - 1);
        const std::uint32_t member = isLast ? 0 : dependence::innerState(asked.layer, false);
        for (std::int64_t j = 0; j < width; ++j)
            step.h.push_back(
                stateTerm(0, member, first + j, results[1].tensor().toDouble(asked.direction * width + j), true));
        const bool isProjected = step.projection.tensor != nullptr;
        for (const std::int64_t unit : {std::int64_t{0}, width - 1}) {
            const std::int64_t element = firstAt(isBackward ? asked.steps - 1 : 0) + unit;
            step.begins.push_back(stateTerm(0, member, element, 0, true));
            if (step.cell == dependence::RecurrentStep::Cell::Lstm && !isProjected)
                step.begins.push_back(stateTerm(0, dependence::innerState(asked.layer, true), element, 0, true));
        }
        for (std::int64_t j = 0; step.cell == dependence::RecurrentStep::Cell::Lstm && j < step.hidden; ++j) {
            const double value = results[2].tensor().toDouble(asked.direction * step.hidden + j);
            memories.push_back(stateTerm(0, dependence::innerState(asked.layer, true), first + j, value, true));
            if (!isProjected) continue;
            // The result has no element for each unit.
            memories.back() = DependenceTerm();
            memories.back().isInside = true, memories.back().element = j, memories.back().value = value;
        }
    }
    for (const DependenceTerm& memory : memories) step.memories.push_back(memory.value);
    if (!memories.empty()) step.memory = memories[static_cast<std::size_t>(asked.unit)];
    return {};
}

/// What the layer reads: the input, or what the layers below give, which are inside of the operator.
base::Result<Tensor> layerInput(const ElementCall& call, const StepAsked& asked, const tensor::ValueList& states,
                                const tensor::ValueList& parameters, std::int64_t perLayer) {
    Tensor x = call.context.in("input");
    if (asked.isSingle) x = x.unsqueezed(1);
    if (asked.isBatchFirst) {
        SONDE_ASSIGN(x, x.transposed(0, 1).contiguous());
    }
    if (asked.layer == 0) return x;
    tensor::ValueList below;
    for (const Value& state : states) {
        const Tensor tensor = asked.isSingle ? state.tensor().unsqueezed(1) : state.tensor();
        below.emplace_back(tensor.sliced(0, 0, asked.layer * asked.directions));
    }
    SONDE_ASSIGN(
        const std::vector<Value> results,
        runLayers(call, x, below, {parameters.begin(), parameters.begin() + asked.layer * perLayer}, asked.layer));
    return results[0].tensor();
}

base::Result<Dependence> layerTerms(const ElementCall& call, Cell cell) {
    const KernelContext& context = call.context;
    const tensor::ValueList states =
        context.value("hx").isListLike() ? context.value("hx").items() : tensor::ValueList{context.value("hx")};
    const tensor::ValueList& parameters = context.value("params").items();
    SONDE_ASSIGN(const std::int64_t layers, intOf(context.value("num_layers")));
    if (context.value("train").number() != 0 && context.value("dropout").number() > 0)
        return opError("there is no formula for layers that drop elements by chance");
    const bool hasBiases = context.value("has_biases").number() != 0;
    const std::int64_t hidden = stateWidth(states.back()), biases = hasBiases ? 4 : 2;
    const StepAsked asked = stepAsked(call, layers, call.output == 2 ? hidden : stateWidth(states.front()));
    const std::int64_t perLayer = static_cast<std::int64_t>(parameters.size()) / std::max<std::int64_t>(layers, 1),
                       perDirection = perLayer / asked.directions;
    if (asked.layer >= layers) return opError("the operator has no such layer");
    if (perDirection != biases && perDirection != biases + 1) return opError("the weights do not match the layers");
    using dependence::RecurrentStep;
    RecurrentStep step;
    step.cell = cell == Cell::Lstm  ? RecurrentStep::Cell::Lstm
                : cell == Cell::Gru ? RecurrentStep::Cell::Gru
                                    : RecurrentStep::Cell::Plain;
    step.order = cell == Cell::Lstm ? "ifgo" : cell == Cell::Gru ? "rzn" : "h";
    step.hidden = hidden, step.unit = asked.unit, step.isMemory = asked.isMemory;
    if (cell == Cell::Relu) step.candidate = "maximum({}, 0)";
    const std::int64_t firstWeight = asked.layer * perLayer + asked.direction * perDirection;
    const auto weights = [&](std::int64_t offset) {
        const Tensor& tensor = parameters[static_cast<std::size_t>(firstWeight + offset)].tensor();
        dependence::GateWeights found;
        found.input = static_cast<std::uint32_t>(context.position("params"));
        found.member = static_cast<std::uint32_t>(firstWeight + offset);
        found.tensor = &tensor;
        found.width = tensor.rank() > 1 ? tensor.dim(1) : 1;
        return found;
    };
    step.inputWeights = weights(0), step.stateWeights = weights(1);
    if (hasBiases) step.inputBias = weights(2), step.stateBias = weights(3);
    if (perDirection > biases) step.projection = weights(biases);
    SONDE_ASSIGN(const Tensor x, layerInput(call, asked, states, parameters, perLayer));
    const std::int64_t width = x.dim(2), line = asked.step * asked.batches + asked.batch,
                       own = asked.isBatchFirst ? asked.batch * asked.steps + asked.step : line;
    for (std::int64_t i = 0; i < width; ++i) {
        const bool isInput = asked.layer == 0;
        step.x.push_back(stateTerm(0, isInput ? 0 : dependence::innerState(asked.layer - 1, false), own * width + i,
                                   x.toDouble(line * width + i), !isInput));
    }
    const tensor::ValueList layer(parameters.begin() + asked.layer * perLayer,
                                  parameters.begin() + (asked.layer + 1) * perLayer);
    SONDE_TRY(addStates(call, asked, x, states, layer, asked.layer == layers - 1, step));
    return dependence::recurrentStep(step);
}

template <Cell cell>
base::Result<Dependence> layerTermsOf(const ElementCall& call) {
    return layerTerms(call, cell);
}

/// One step, whose state before is an argument.
template <Cell cell>
base::Result<Dependence> cellTermsOf(const ElementCall& call) {
    using dependence::RecurrentStep;
    const KernelContext& context = call.context;
    const Tensor& x = context.in("input");
    const auto weights = [&](std::string_view name) {
        dependence::GateWeights found;
        if (!context.has(Name(name))) return found;
        found.input = static_cast<std::uint32_t>(context.position(Name(name)));
        found.tensor = &context.in(Name(name));
        found.width = found.tensor->rank() > 1 ? found.tensor->dim(1) : 1;
        return found;
    };
    RecurrentStep step;
    step.cell = cell == Cell::Lstm  ? RecurrentStep::Cell::Lstm
                : cell == Cell::Gru ? RecurrentStep::Cell::Gru
                                    : RecurrentStep::Cell::Plain;
    step.order = cell == Cell::Lstm ? "ifgo" : cell == Cell::Gru ? "rzn" : "h";
    if (cell == Cell::Relu) step.candidate = "maximum({}, 0)";
    step.inputWeights = weights("w_ih"), step.stateWeights = weights("w_hh");
    step.inputBias = weights("b_ih"), step.stateBias = weights("b_hh");
    if (!step.inputWeights.tensor || !step.stateWeights.tensor || call.at.empty())
        return opError("weights are missing");
    step.hidden = step.stateWeights.width, step.unit = call.at.back(), step.isMemory = call.output == 1;
    const std::int64_t batch = call.at.size() > 1 ? call.at[0] : 0, width = x.dim(x.rank() - 1);
    const auto own = static_cast<std::uint32_t>(context.position("input")),
               hx = static_cast<std::uint32_t>(context.position("hx"));
    for (std::int64_t i = 0; i < width; ++i)
        step.x.push_back(stateTerm(own, 0, batch * width + i, x.toDouble(batch * width + i), false));
    const bool isList = context.value("hx").isListLike();
    const auto addState = [&](std::vector<DependenceTerm>& terms, std::uint32_t member) -> base::Result<void> {
        const Value& state = isList ? context.value("hx").items()[member] : context.value("hx");
        SONDE_ASSIGN(const Tensor packed, state.tensor().contiguous());
        if (packed.numel() < (batch + 1) * step.hidden) return opError("the state does not match the weights");
        for (std::int64_t j = 0; j < step.hidden; ++j)
            terms.push_back(
                stateTerm(hx, member, batch * step.hidden + j, packed.toDouble(batch * step.hidden + j), false));
        return {};
    };
    SONDE_TRY(addState(step.h, 0));
    if (cell == Cell::Lstm) {
        std::vector<DependenceTerm> memories;
        if (context.value("hx").items().size() < 2) return opError("the cell's memory is missing");
        SONDE_TRY(addState(memories, 1));
        step.memory = memories[static_cast<std::size_t>(step.unit)];
    }
    return dependence::recurrentStep(step);
}

void add(Registry& registry, std::string_view schema, std::string_view summary, Cell cell) {
    OpDef def = atenRow(schema, summary, Category::Layer,
                        [cell](KernelContext& context) { return runRecurrent(context, cell); });
    for (Formal& input : def.inputs) input.tensorOnly = false;
    registry.add(std::move(def));
}

}  // namespace

void define_aten_recurrent(Registry& registry) {
    add(registry,
        "lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)",
        "long short-term memory (Hochreiter, Schmidhuber 1997)", Cell::Lstm);
    add(registry,
        "gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
        "gated recurrent unit (Cho et al. 2014)", Cell::Gru);
    add(registry,
        "rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
        "recurrent layer with tanh", Cell::Tanh);
    add(registry,
        "rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
        "recurrent layer with max(x, 0)", Cell::Relu);
    explain("aten", "lstm.input", layerTermsOf<Cell::Lstm>);
    explain("aten", "gru.input", layerTermsOf<Cell::Gru>);
    explain("aten", "rnn_tanh.input", layerTermsOf<Cell::Tanh>);
    explain("aten", "rnn_relu.input", layerTermsOf<Cell::Relu>);
    explain("aten", "lstm_cell", cellTermsOf<Cell::Lstm>);
    explain("aten", "gru_cell", cellTermsOf<Cell::Gru>);
    explain("aten", "rnn_tanh_cell", cellTermsOf<Cell::Tanh>);
    explain("aten", "rnn_relu_cell", cellTermsOf<Cell::Relu>);
}

}  // namespace sonde::ops
