// RNN, GRU and LSTM: X [T, B, I] (or [B, T, I] with layout 1), one or two directions.

#include "core/ops/dependence/recurrent.h"

#include <algorithm>
#include <cmath>

#include "core/ops/dependence/region.h"
#include "core/ops/kernels/matmul.h"
#include "core/ops/support/activation.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"

namespace sonde::ops {

namespace {

using tensor::Dim;

/// Everything about one call, in double.
struct Cell {
    std::int64_t gates;  ///< 1, 3 (z r h) or 4 (i o f c)
    std::int64_t steps, batches, inputs, hidden, directions;
    bool byBatch, linearBeforeReset, inputForget;
    bool quantized;  ///< what weights are multiplied with goes to 8 bits first
    double clip;
    std::vector<Activation> activations;  ///< per direction
    std::vector<std::int64_t> lengths;
    Tensor x, w, r, b, h, c, p;

    double clipped(double v) const { return clip > 0 ? std::clamp(v, -clip, clip) : v; }
};

base::Result<std::vector<Activation>> activationsOf(const Attributes& attributes, std::vector<std::string> fallback,
                                                    std::int64_t directions) {
    std::vector<std::string> names = attributes.getStrings("activations");
    while (names.empty() || names.size() < fallback.size() * static_cast<std::size_t>(directions)) {
        const std::vector<std::string>& more =
            names.size() == fallback.size() ? std::vector<std::string>(names) : fallback;
        names.insert(names.end(), more.begin(), more.end());
    }
    const std::vector<double> alphas = attributes.getFloats("activation_alpha"),
                              betas = attributes.getFloats("activation_beta");
    std::vector<Activation> activations;
    std::size_t alpha = 0, beta = 0;
    for (const std::string& name : names) {
        Activation activation;
        activation.name = name;
        SONDE_TRY(activation.resolve());
        // The lists have entries only for those functions that take parameters, in order.
        const bool takesAlpha = activation.alpha != 0,
                   takesBeta = name == "Affine" || name == "ScaledTanh" || name == "HardSigmoid";
        if (takesAlpha && alpha < alphas.size()) activation.alpha = alphas[alpha++];
        if (takesBeta && beta < betas.size()) activation.beta = betas[beta++];
        activations.push_back(activation);
    }
    return activations;
}

base::Result<Tensor> wideOr(KernelContext& context, Name input, const Shape& shape, bool byBatch = false) {
    if (!context.has(input)) return wideZeros(shape);
    SONDE_ASSIGN(Tensor tensor, wide(context.in(input)));
    if (byBatch && tensor.rank() == 3) {
        SONDE_ASSIGN(tensor, tensor.transposed(0, 1).contiguous());
    }
    if (tensor.shape() != shape)
        return opError("input " + std::to_string(context.position(input)) + " is " + context.in(input).typeText() +
                       ", but must be " + shape.text());
    return tensor;
}

/// 256 steps between the smallest and largest of numbers (0 among them), as DynamicQuantizeLinear has them.
dependence::ByteSteps stepsOf(const double* values, std::int64_t count) {
    float low = 0, high = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        low = std::min(low, static_cast<float>(values[i]));
        high = std::max(high, static_cast<float>(values[i]));
    }
    const float scale = (high - low) / 255.0F;
    if (!(scale > 0) || !std::isfinite(scale)) return {};
    return {static_cast<double>(scale), static_cast<double>(std::nearbyint(std::clamp(-low / scale, 0.0F, 255.0F)))};
}

/// Numbers as the nearest of their steps.
void toSteps(double* values, std::int64_t count) {
    const dependence::ByteSteps steps = stepsOf(values, count);
    if (steps.scale == 0) return;
    const auto scale = static_cast<float>(steps.scale), zero = static_cast<float>(steps.zero);
    for (std::int64_t i = 0; i < count; ++i) {
        const float step = std::clamp(std::nearbyint(static_cast<float>(values[i]) / scale) + zero, 0.0F, 255.0F);
        values[i] = static_cast<double>(step - zero) * static_cast<double>(scale);
    }
}

/// Weights [D, rows, 4H] of 8 bits as they are without quantisation, turned to [D, 4H, rows]. Scale and zero point: [D]
/// or [D, 4H].
base::Result<Tensor> dequantizedWeights(KernelContext& context, Name weights, Name scale, Name zeroPoint,
                                        std::int64_t directions) {
    const Tensor &w = context.in(weights), &factor = context.in(scale), &zero = context.in(zeroPoint);
    const std::int64_t columns = w.rank() == 3 ? w.dim(2) : 0;
    const auto fits = [&](const Tensor& x) {
        return x.numel() == directions || x.shape() == Shape{directions, columns};
    };
    if (w.rank() != 3 || w.dim(0) != directions || !fits(factor) || !fits(zero)) {
        return opError("weights " + w.typeText() + " with scale " + factor.typeText() + " and zero point " +
                       zero.typeText() + " do not match");
    }
    const std::int64_t rows = w.dim(1);
    SONDE_ASSIGN(Tensor made, wideZeros(Shape{directions, columns, rows}));
    double* to = made.mutableData<double>();
    for (std::int64_t i = 0; i < w.numel(); ++i) {
        const std::int64_t d = i / (rows * columns), row = i / columns % rows, column = i % columns;
        const auto at = [&](const Tensor& x) { return x.toDouble(x.numel() == directions ? d : d * columns + column); };
        to[(d * columns + column) * rows + row] = (w.toDouble(i) - at(zero)) * at(factor);
    }
    return made;
}

base::Result<Cell> cellOf(KernelContext& context, std::int64_t gates, std::vector<std::string> activations,
                          bool quantized) {
    const Attributes& attributes = context.attributes();
    Cell cell{};
    cell.gates = gates;
    cell.quantized = quantized;
    const std::string direction = attributes.getString("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
        return opError("direction '" + direction + "' is not supported");
    cell.directions = direction == "bidirectional" ? 2 : 1;
    cell.byBatch = attributes.getInt("layout", 0) != 0;
    cell.linearBeforeReset = attributes.getInt("linear_before_reset", 0) != 0;
    cell.inputForget = attributes.getInt("input_forget", 0) != 0;
    cell.clip = attributes.getFloat("clip", 0);
    SONDE_ASSIGN(cell.x, wide(context.in("X")));
    if (cell.x.rank() != 3) return opError("X must have 3 dimensions, but is " + context.in("X").typeText());
    if (cell.byBatch) {
        SONDE_ASSIGN(cell.x, cell.x.transposed(0, 1).contiguous());
    }
    cell.steps = cell.x.dim(0), cell.batches = cell.x.dim(1), cell.inputs = cell.x.dim(2);
    const Tensor& r = context.in("R");
    if (r.rank() != 3) return opError("R must have 3 dimensions, but is " + r.typeText());
    cell.hidden = r.dim(quantized ? 1 : 2);
    const std::int64_t d = cell.directions, h = cell.hidden;
    if (quantized) {
        SONDE_ASSIGN(cell.w, dequantizedWeights(context, "W", "W_scale", "W_zero_point", d));
        SONDE_ASSIGN(cell.r, dequantizedWeights(context, "R", "R_scale", "R_zero_point", d));
        if (cell.w.shape() != Shape{d, gates * h, cell.inputs} || cell.r.shape() != Shape{d, gates * h, h}) {
            return opError("weights " + context.in("W").typeText() + " and " + r.typeText() + " do not match X " +
                           context.in("X").typeText());
        }
        SONDE_ASSIGN(cell.x, cell.x.clone());
        toSteps(cell.x.mutableData<double>(), cell.x.numel());
    } else {
        SONDE_ASSIGN(cell.w, wideOr(context, "W", Shape{d, gates * h, cell.inputs}));
        SONDE_ASSIGN(cell.r, wideOr(context, "R", Shape{d, gates * h, h}));
    }
    SONDE_ASSIGN(cell.b, wideOr(context, "B", Shape{d, 2 * gates * h}));
    SONDE_ASSIGN(cell.h, wideOr(context, "initial_h", Shape{d, cell.batches, h}, cell.byBatch));
    SONDE_ASSIGN(cell.h, cell.h.clone());
    if (gates == 4) {
        SONDE_ASSIGN(cell.c, wideOr(context, "initial_c", Shape{d, cell.batches, h}, cell.byBatch));
        SONDE_ASSIGN(cell.c, cell.c.clone());
        SONDE_ASSIGN(cell.p, wideOr(context, "P", Shape{d, 3 * h}));
    }
    cell.lengths.assign(static_cast<std::size_t>(cell.batches), cell.steps);
    if (context.has("sequence_lens")) {
        SONDE_ASSIGN(cell.lengths, intsOf(context.value("sequence_lens")));
        bool fits = static_cast<std::int64_t>(cell.lengths.size()) == cell.batches;
        for (std::int64_t length : cell.lengths) fits = fits && length >= 0 && length <= cell.steps;
        if (!fits) return opError("sequence_lens does not match X " + context.in("X").typeText());
    }
    SONDE_ASSIGN(cell.activations, activationsOf(attributes, std::move(activations), d));
    return cell;
}

/// One step of one batch element: `gates` [gates·hidden] holds W·x + Wb on entry, `h` (and `c`) the state to update,
/// `seen` what R is multiplied with: h, or what is left of it in 8 bits.
void step(base::ThreadPool& pool, const Cell& cell, std::int64_t direction, const double* gates, const double* seen,
          double* h, double* c, std::vector<double>& recurrent, std::vector<double>& next) {
    const std::int64_t n = cell.hidden, all = cell.gates * n;
    const double* r = cell.r.data<double>() + direction * all * n;
    const double* rb = cell.b.data<double>() + direction * 2 * all + all;
    // recurrent[i] = R·state + Rb for `count` rows of R from `first` on.
    const auto multiply = [&](std::int64_t first, std::int64_t count, const double* state) {
        kernels::GemmCall<double> call;
        call.m = 1, call.n = count, call.k = n;
        call.left = {state, n, 1};
        call.right = {r + first * n, 1, n};
        call.columnBias = rb + first;
        call.c = recurrent.data() + first;
        call.ldc = count;
        kernels::gemm(call, pool);
    };
    const std::size_t perDirection = cell.gates == 1 ? 1 : cell.gates == 3 ? 2 : 3;
    const Activation* f = cell.activations.data() + static_cast<std::size_t>(direction) * perDirection;
    const bool resetFirst = cell.gates == 3 && !cell.linearBeforeReset;
    multiply(0, resetFirst ? 2 * n : all, seen);
    if (cell.gates == 1) {
        for (std::int64_t i = 0; i < n; ++i)
            next[static_cast<std::size_t>(i)] = f[0](cell.clipped(gates[i] + recurrent[static_cast<std::size_t>(i)]));
    } else if (cell.gates == 3) {
        for (std::int64_t i = 0; i < 2 * n; ++i)
            recurrent[static_cast<std::size_t>(i)] =
                f[0](cell.clipped(gates[i] + recurrent[static_cast<std::size_t>(i)]));
        if (resetFirst) {
            std::vector<double> reset(static_cast<std::size_t>(n));
            for (std::int64_t i = 0; i < n; ++i)
                reset[static_cast<std::size_t>(i)] = recurrent[static_cast<std::size_t>(n + i)] * h[i];
            multiply(2 * n, n, reset.data());
        }
        for (std::int64_t i = 0; i < n; ++i) {
            const double inner = (resetFirst ? 1 : recurrent[static_cast<std::size_t>(n + i)]) *
                                 recurrent[static_cast<std::size_t>(2 * n + i)];
            const double candidate = f[1](cell.clipped(gates[2 * n + i] + inner));
            const double z = recurrent[static_cast<std::size_t>(i)];
            next[static_cast<std::size_t>(i)] = (1 - z) * candidate + z * h[i];
        }
    } else {
        const double* p = cell.p.data<double>() + direction * 3 * n;  // peepholes: i, o, f
        for (std::int64_t i = 0; i < all; ++i) recurrent[static_cast<std::size_t>(i)] += gates[i];
        for (std::int64_t i = 0; i < n; ++i) {
            const auto gate = [&](std::int64_t k) { return recurrent[static_cast<std::size_t>(k * n + i)]; };
            const double in = f[0](cell.clipped(gate(0) + p[i] * c[i]));
            const double forget = cell.inputForget ? 1 - in : f[0](cell.clipped(gate(2) + p[2 * n + i] * c[i]));
            const double state = forget * c[i] + in * f[1](cell.clipped(gate(3)));
            const double out = f[0](cell.clipped(gate(1) + p[n + i] * state));
            c[i] = state;
            next[static_cast<std::size_t>(i)] = out * f[2](state);
        }
    }
    std::copy(next.begin(), next.begin() + n, h);
}

/// One direction of a cell, whose states go on in it step by step.
class UnrolledDirection {
  public:
    static base::Result<UnrolledDirection> of(KernelContext& context, Cell& cell, std::int64_t direction,
                                              bool isBackward) {
        const std::int64_t all = cell.gates * cell.hidden;
        UnrolledDirection made(context, cell, direction, isBackward);
        // W·x of all steps at once.
        SONDE_ASSIGN(made.m_gates, wideZeros(Shape{cell.steps * cell.batches, all}));
        kernels::GemmCall<double> call;
        call.m = cell.steps * cell.batches, call.n = all, call.k = cell.inputs;
        call.left = {cell.x.data<double>(), cell.inputs, 1};
        call.right = {cell.w.data<double>() + direction * all * cell.inputs, 1, cell.inputs};
        call.c = made.m_gates.mutableData<double>();
        call.ldc = all;
        call.columnBias = cell.b.data<double>() + direction * 2 * all;
        call.stop = &context.environment().stop;
        kernels::gemm(call, context.pool());
        return made;
    }

    /// The state h of all sequences [B, H].
    double* states() { return m_cell.h.mutableData<double>() + m_direction * m_cell.batches * m_cell.hidden; }

    /// Step `i` of those sequences that are so long: visit(t, b, h) where t is the step's place in time.
    template <typename Visit>
    void step(std::int64_t i, Visit visit) {
        const std::int64_t n = m_cell.hidden, all = m_cell.gates * n, batches = m_cell.batches;
        if (m_cell.quantized) {
            m_seen.assign(states(), states() + batches * n);
            toSteps(m_seen.data(), batches * n);
        }
        for (std::int64_t b = 0; b < batches; ++b) {
            const std::int64_t length = m_cell.lengths[static_cast<std::size_t>(b)];
            if (i >= length) continue;
            double* h = states() + b * n;
            double* c = m_cell.gates == 4 ? m_cell.c.mutableData<double>() + (m_direction * batches + b) * n : nullptr;
            const std::int64_t t = m_isBackward ? length - 1 - i : i;
            ops::step(m_context.pool(), m_cell, m_direction, m_gates.data<double>() + (t * batches + b) * all,
                      m_cell.quantized ? m_seen.data() + b * n : h, h, c, m_recurrent, m_next);
            visit(t, b, h);
        }
    }

  private:
    UnrolledDirection(KernelContext& context, Cell& cell, std::int64_t direction, bool isBackward)
        : m_context(context), m_cell(cell), m_direction(direction), m_isBackward(isBackward),
          m_recurrent(static_cast<std::size_t>(cell.gates * cell.hidden)),
          m_next(static_cast<std::size_t>(cell.hidden)) {}

    KernelContext& m_context;
    Cell& m_cell;
    std::int64_t m_direction;
    bool m_isBackward;
    Tensor m_gates;  ///< W·x + Wb of all steps: [T·B, gates·H]
    std::vector<double> m_recurrent, m_next, m_seen;
};

/// Y [T, D, B, H], final states [D, B, H].
base::Result<void> unroll(KernelContext& context, Cell cell, bool reverseOnly) {
    const std::int64_t n = cell.hidden;
    SONDE_ASSIGN(Tensor y, wideZeros(Shape{cell.steps, cell.directions, cell.batches, n}));
    for (std::int64_t d = 0; d < cell.directions; ++d) {
        SONDE_ASSIGN(UnrolledDirection direction, UnrolledDirection::of(context, cell, d, reverseOnly || d == 1));
        for (std::int64_t i = 0; i < cell.steps; ++i) {
            if (context.cancelled()) return base::cancelled();
            direction.step(i, [&](std::int64_t t, std::int64_t b, const double* h) {
                std::copy(h, h + n, y.mutableData<double>() + ((t * cell.directions + d) * cell.batches + b) * n);
            });
        }
    }
    Tensor finals[2] = {cell.h, cell.c};
    if (cell.byBatch) {
        const std::size_t order[] = {2, 0, 1, 3};
        y = y.permuted(order);
        for (Tensor& state : finals) {
            if (state.defined()) state = state.transposed(0, 1);
        }
    }
    const DType dtype = context.in("X").dtype();
    SONDE_TRY(setNarrow(context, 0, y, dtype));
    SONDE_TRY(setNarrow(context, "Y_h", finals[0], dtype));
    return finals[1].defined() ? setNarrow(context, 2, finals[1], dtype) : base::Result<void>();
}

base::Result<void> run(KernelContext& context, std::int64_t gates, bool quantized = false) {
    const std::vector<std::string> names = gates == 1   ? std::vector<std::string>{"Tanh"}
                                           : gates == 3 ? std::vector<std::string>{"Sigmoid", "Tanh"}
                                                        : std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"};
    SONDE_ASSIGN(Cell cell, cellOf(context, gates, names, quantized));
    return unroll(context, std::move(cell), context.attributes().getString("direction", "forward") == "reverse");
}

base::Result<void> inferRecurrent(InferContext& context) {
    const auto &x = context.in("X").shape, &r = context.in("R").shape;
    const std::size_t inner = context.in("R").dtype == DType::UInt8 || context.in("R").dtype == DType::Int8
                                  ? 1
                                  : 2;  // R is turned when quantised
    const bool byBatch = context.attributes().getInt("layout", 0) != 0;
    const Dim directions = Dim::of(context.attributes().getString("direction", "forward") == "bidirectional" ? 2 : 1);
    if (!x || !r || x->size() != 3 || r->size() != 3) {
        for (std::size_t i = 0; i < context.outputCount(); ++i) setLike(context, "X", unknownDims(i == 0 ? 4 : 3), i);
        return {};
    }
    const Dim &hidden = (*r)[inner], &batch = (*x)[byBatch ? 0 : 1], &steps = (*x)[byBatch ? 1 : 0];
    setLike(context, "X", byBatch ? Dims{batch, steps, directions, hidden} : Dims{steps, directions, batch, hidden});
    for (std::size_t i = 1; i < context.outputCount(); ++i)
        setLike(context, "X", byBatch ? Dims{batch, directions, hidden} : Dims{directions, batch, hidden}, i);
    return {};
}

/// Which step of which sequence an element of Y, Y_h or Y_c is of.
struct StepPlace {
    std::int64_t direction = 0, batch = 0, step = 0, unit = 0;
    std::int64_t before = 0;  ///< steps that were done before it
    bool isBackward = false;
};

/// What one sequence has between two steps; `steps`: to which states are rounded in the next one.
struct SequenceState {
    std::vector<double> h, c;
    dependence::ByteSteps steps = {};
};

/// What one sequence has after `before` steps: Y_h and Y_c of the operator on those steps alone.
base::Result<SequenceState> stateBefore(const ElementCall& call, const Cell& cell, const StepPlace& place) {
    const KernelContext& context = call.context;
    const bool byBatch = context.attributes().getInt("layout", 0) != 0;
    const auto sequence = [&](const Tensor& x) { return x.sliced(byBatch ? 0 : 1, place.batch, 1); };
    Tensor x = sequence(context.in("X"));
    x = x.sliced(byBatch ? 1 : 0, place.isBackward ? place.step + 1 : 0, place.before);
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < context.inputCount(); ++i) {
        const bool isState = call.op.inputs[i].name.starts_with("initial_");
        Value value = isState && context.has(i) ? Value(sequence(context.in(i))) : context.value(i);
        if (call.op.inputs[i].name == "sequence_lens") value = Value();
        if (i == context.position("X")) value = Value(x);
        inputs.push_back(std::move(value));
    }
    SONDE_ASSIGN(const std::vector<Value> results,
                 ops::call(call.op, inputs, context.attributes(), call.op.outputs.size(), call.context.environment(),
                           context.version()));
    SequenceState state;
    for (std::int64_t j = 0; j < cell.hidden; ++j) {
        const std::int64_t element = place.direction * cell.hidden + j;
        state.h.push_back(results[1].tensor().toDouble(element));
        if (cell.gates == 4) state.c.push_back(results[2].tensor().toDouble(element));
    }
    return state;
}

/// The same where the steps to which states are rounded are those of all sequences together.
base::Result<SequenceState> quantizedStateBefore(const ElementCall& call, Cell& cell, const StepPlace& place) {
    SONDE_ASSIGN(UnrolledDirection direction,
                 UnrolledDirection::of(call.context, cell, place.direction, place.isBackward));
    for (std::int64_t i = 0; i < place.before; ++i) direction.step(i, [](auto...) {});
    SequenceState state;
    const std::int64_t n = cell.hidden;
    const double* const h = direction.states() + place.batch * n;
    const double* const c = cell.c.data<double>() + (place.direction * cell.batches + place.batch) * n;
    state.h.assign(h, h + n), state.c.assign(c, c + n);
    state.steps = stepsOf(direction.states(), cell.batches * n);
    return state;
}

StepPlace stepPlace(const ElementCall& call, const Cell& cell) {
    const std::vector<std::int64_t>& at = call.at;
    StepPlace place;
    if (call.output == 0) {
        place.step = cell.byBatch ? at[1] : at[0];
        place.direction = cell.byBatch ? at[2] : at[1];
        place.batch = cell.byBatch ? at[0] : at[2];
    } else {
        place.direction = cell.byBatch ? at[1] : at[0];
        place.batch = cell.byBatch ? at[0] : at[1];
    }
    place.unit = at.back();
    place.isBackward = place.direction == 1 || call.context.attributes().getString("direction", "forward") == "reverse";
    const std::int64_t length = cell.lengths[static_cast<std::size_t>(place.batch)];
    if (call.output != 0) place.step = place.isBackward ? 0 : length - 1;
    place.before = place.isBackward ? length - 1 - place.step : place.step;
    return place;
}

/// The elements of x that are read at the step, and those of the state before it.
base::Result<void> addSources(const ElementCall& call, Cell& cell, const StepPlace& place,
                              dependence::RecurrentStep& step) {
    const KernelContext& context = call.context;
    const auto add = [](std::vector<DependenceTerm>& terms, std::uint32_t input, std::int64_t element, double value,
                        bool isOutput = false, std::uint32_t member = 0) {
        DependenceTerm term;
        term.input = input, term.element = element, term.value = value, term.isOutput = isOutput;
        term.member = member;
        terms.push_back(term);
    };
    const std::int64_t row =
        cell.byBatch ? place.batch * cell.steps + place.step : place.step * cell.batches + place.batch;
    for (std::int64_t i = 0; i < cell.inputs; ++i)
        add(step.x, static_cast<std::uint32_t>(context.position("X")), row * cell.inputs + i,
            context.in("X").toDouble(row * cell.inputs + i));
    std::vector<DependenceTerm> memories;
    if (place.before == 0) {
        if (cell.quantized)
            step.stateSteps = stepsOf(cell.h.data<double>() + place.direction * cell.batches * cell.hidden,
                                      cell.batches * cell.hidden);
        for (const auto& [name, terms] : {std::pair("initial_h", &step.h), std::pair("initial_c", &memories)}) {
            const bool isGiven = context.has(name);
            for (std::int64_t j = 0; j < cell.hidden; ++j) {
                const std::int64_t element = (cell.byBatch ? place.batch * cell.directions + place.direction
                                                           : place.direction * cell.batches + place.batch) *
                                                 cell.hidden +
                                             j;
                add(*terms, isGiven ? static_cast<std::uint32_t>(context.position(name)) : kNoOperand, element,
                    isGiven ? context.in(name).toDouble(element) : 0);
                if (!isGiven) terms->back().isInside = true, terms->back().element = j;
            }
        }
    } else {
        SONDE_ASSIGN(const SequenceState before,
                     cell.quantized ? quantizedStateBefore(call, cell, place) : stateBefore(call, cell, place));
        step.stateSteps = before.steps;
        const std::int64_t at = place.isBackward ? place.step + 1 : place.step - 1;
        const auto elementAt = [&](std::int64_t when, std::int64_t unit) {
            return ((cell.byBatch ? (place.batch * cell.steps + when) * cell.directions + place.direction
                                  : (when * cell.directions + place.direction) * cell.batches + place.batch)) *
                       cell.hidden +
                   unit;
        };
        const std::int64_t begin = place.isBackward ? cell.lengths[static_cast<std::size_t>(place.batch)] - 1 : 0;
        for (const std::int64_t unit : {std::int64_t{0}, cell.hidden - 1})
            for (const std::uint32_t member : {std::uint32_t{0}, dependence::innerState(0, true)})
                if (member == 0 || cell.gates == 4) add(step.begins, 0, elementAt(begin, unit), 0, true, member);
        for (std::int64_t j = 0; j < cell.hidden; ++j) {
            const std::int64_t element = elementAt(at, j);
            const auto unit = static_cast<std::size_t>(j);
            add(step.h, 0, element, before.h[unit], true);
            if (cell.gates == 4) add(memories, 0, element, before.c[unit], true, dependence::innerState(0, true));
        }
    }
    if (cell.gates == 4) step.memory = memories[static_cast<std::size_t>(place.unit)];
    return {};
}

base::Result<Dependence> recurrentTerms(const ElementCall& call, std::int64_t gates, bool isQuantized) {
    const std::vector<std::string> usual = gates == 1   ? std::vector<std::string>{"Tanh"}
                                           : gates == 3 ? std::vector<std::string>{"Sigmoid", "Tanh"}
                                                        : std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"};
    SONDE_ASSIGN(Cell cell, cellOf(call.context, gates, usual, isQuantized));
    const StepPlace place = stepPlace(call, cell);
    const std::int64_t length = cell.lengths[static_cast<std::size_t>(place.batch)];
    if (place.before < 0 || place.step >= length)
        return dependence::constantElement(0);  // beyond the end of the sequence
    using dependence::RecurrentStep;
    RecurrentStep step;
    step.cell = gates == 1   ? RecurrentStep::Cell::Plain
                : gates == 3 ? RecurrentStep::Cell::Gru
                             : RecurrentStep::Cell::Lstm;
    step.order = gates == 1 ? "h" : gates == 3 ? "zrh" : "iofc";
    step.hidden = cell.hidden, step.unit = place.unit;
    step.isMemory = call.output == 2 || (call.output == 0 && call.member == dependence::innerState(0, true));
    step.resetsProduct = cell.linearBeforeReset;
    step.limit = cell.clip, step.couplesGates = gates == 4 && cell.inputForget;
    const std::size_t each = usual.size(), first = static_cast<std::size_t>(place.direction) * each;
    step.gate = cell.activations[first].formula();
    step.gateValue = cell.activations[first];
    step.candidate = cell.activations[first + (gates == 1 ? 0 : 1)].formula();
    if (gates == 4) step.output = cell.activations[first + 2].formula();
    const auto weights = [&](const char* name, std::int64_t width, std::int64_t offset, std::int64_t rows) {
        dependence::GateWeights found;
        if (!call.context.has(name)) return found;
        found.input = static_cast<std::uint32_t>(call.context.position(name));
        found.tensor = &call.context.in(name);
        found.first = place.direction * rows * width + offset;
        found.width = width;
        return found;
    };
    const std::int64_t all = gates * cell.hidden;
    if (isQuantized) {  // their real values: turned, and no elements of inputs
        step.inputWeights = {kNoOperand, 0, &cell.w, place.direction * all * cell.inputs, cell.inputs};
        step.stateWeights = {kNoOperand, 0, &cell.r, place.direction * all * cell.hidden, cell.hidden};
        SONDE_ASSIGN(const Tensor x, wide(call.context.in("X")));
        step.inputSteps = stepsOf(x.data<double>(), x.numel());
    } else {
        step.inputWeights = weights("W", cell.inputs, 0, all);
        step.stateWeights = weights("R", cell.hidden, 0, all);
    }
    step.inputBias = weights("B", 1, 0, 2 * all);
    step.stateBias = weights("B", 1, all, 2 * all);
    if (gates == 4) step.peepholes = weights("P", 1, 0, 3 * cell.hidden);
    SONDE_TRY(addSources(call, cell, place, step));
    return dependence::recurrentStep(step);
}

template <std::int64_t gates, bool isQuantized = false>
base::Result<Dependence> recurrentTermsOf(const ElementCall& call) {
    return recurrentTerms(call, gates, isQuantized);
}

}  // namespace

void define_recurrent(Registry& registry) {
    const struct {
        std::string_view name, summary;
        std::int64_t gates;
    } rows[] = {{"RNN", "recurrent layer: h = f(W·x + R·h + b)", 1},
                {"GRU", "gated recurrent unit", 3},
                {"LSTM", "long short-term memory", 4}};
    for (const auto& row : rows) {
        for (int since : {1, 7}) {
            Row built(row.name, since, row.summary, Category::Layer);
            built.in("X", kFloats, "T")
                .in("W", kFloats, "T")
                .in("R", kFloats, "T")
                .optionalIn("B", kFloats, "T")
                .optionalIn("sequence_lens", kIndex)
                .optionalIn("initial_h", kFloats, "T");
            if (row.gates == 4) built.optionalIn("initial_c", kFloats, "T").optionalIn("P", kFloats, "T");
            built.out("Y", Arity::Optional).out("Y_h", Arity::Optional);
            if (row.gates == 4) built.out("Y_c", Arity::Optional);
            registry.add(
                built.attr("activation_alpha", AttributeKind::Floats)
                    .attr("activation_beta", AttributeKind::Floats)
                    .attr("activations", AttributeKind::Strings)
                    .attr("clip", AttributeKind::Float)
                    .attrString("direction", "forward")
                    .attr("hidden_size", AttributeKind::Int)
                    .attrInt("layout", 0)
                    .attrInt("input_forget", 0)
                    .attrInt("linear_before_reset", 0)
                    .attrInt("output_sequence", 0)
                    .runs([gates = row.gates](KernelContext& context) { return run(context, gates); }, inferRecurrent));
        }
    }
    Row row("DynamicQuantizeLSTM", 1, "LSTM with weights of 8 bits, activations quantised dynamically",
            Category::Layer);
    const DTypeSet bytes = bit(DType::UInt8) | bit(DType::Int8);
    // clang-format off
    row.domain("com.microsoft").in("X", kFloat32, "T").in("W", bytes, "T2").in("R", bytes, "T2").optionalIn("B", kFloat32, "T").optionalIn("sequence_lens", bit(DType::Int32))
        .optionalIn("initial_h", kFloat32, "T").optionalIn("initial_c", kFloat32, "T").optionalIn("P", kFloat32, "T").in("W_scale", kFloat32, "T").in("W_zero_point", bytes, "T2")
        .in("R_scale", kFloat32, "T").in("R_zero_point", bytes, "T2").out("Y", Arity::Optional).out("Y_h", Arity::Optional).out("Y_c", Arity::Optional);
    registry.add(row.attr("activation_alpha", AttributeKind::Floats).attr("activation_beta", AttributeKind::Floats).attr("activations", AttributeKind::Strings)
                     .attr("clip", AttributeKind::Float).attrString("direction", "forward").attr("hidden_size", AttributeKind::Int).attrInt("input_forget", 0)
                     .runs([](KernelContext& context) { return run(context, 4, true); }, inferRecurrent));
    // clang-format on
    explain("", "RNN", recurrentTermsOf<1>);
    explain("", "GRU", recurrentTermsOf<3>);
    explain("", "LSTM", recurrentTermsOf<4>);
    explain("com.microsoft", "DynamicQuantizeLSTM", recurrentTermsOf<4, true>);
}

}  // namespace sonde::ops
