// Derivatives of LSTM, GRU and RNN: the steps are written out, and these differentiated.

#include <algorithm>
#include <optional>

#include "core/passes/gradient_rules.h"

namespace sonde::passes {

namespace {

using graph::Expr;
using graph::NodeId;
using Dims = std::vector<std::int64_t>;

/// One direction of a cell: X [T,B,I] in steps, W [G·H,I], R [G·H,H], biases [G·H].
struct RecurrentCell {
    GradientBuilder& b;
    NodeId w, r, wb, rb;
    NodeId peephole = {};                     ///< [3H] of LSTM; invalid: none
    std::vector<std::string> functions = {};  ///< f, g, h
    bool isLinearBefore = false;              ///< of GRU
    bool isCoupled = false;                   ///< of LSTM: f = 1 − i
    double clip = 0;                          ///< what gates are functions of is within ±clip; 0: anything

    NodeId project(NodeId x, NodeId weights, NodeId bias) const {
        return b.op("Gemm", {x, weights, bias}, {{"transB", std::int64_t{1}}});
    }
    NodeId apply(std::size_t function, NodeId x) const { return b.op(functions[function], {x}); }
    NodeId gate(std::size_t function, NodeId x) const {
        return apply(function, clip > 0 ? b.op("Clip", {x, b.number(-clip, x), b.number(clip, x)}) : x);
    }
    std::vector<NodeId> gates(NodeId x, std::int64_t count, std::int64_t size, std::int64_t axis = 1) const {
        return b.ops("Split", {x, b.integers(Dims(static_cast<std::size_t>(count), size))}, {{"axis", axis}},
                     static_cast<std::size_t>(count));
    }
};

struct CellState {
    NodeId h, c;
};

/// Gates i o f c: c' = f·c + i·g(c̃), h' = o·h(c').
CellState lstmStep(const RecurrentCell& cell, NodeId x, const CellState& last, std::int64_t hidden) {
    GradientBuilder& b = cell.b;
    const NodeId sum = b.add(cell.project(x, cell.w, cell.wb), cell.project(last.h, cell.r, cell.rb));
    std::vector<NodeId> gates = cell.gates(sum, 4, hidden);
    std::vector<NodeId> peep;
    if (cell.peephole.valid()) peep = cell.gates(cell.peephole, 3, hidden, 0);
    const auto seen = [&](NodeId gate, std::size_t which, NodeId state) {
        return peep.empty() ? gate : b.add(gate, b.mul(peep[which], state));
    };
    const NodeId i = cell.gate(0, seen(gates[0], 0, last.c)),
                 f = cell.isCoupled ? b.sub(b.number(1, i), i) : cell.gate(0, seen(gates[2], 2, last.c));
    const NodeId c = b.add(b.mul(f, last.c), b.mul(i, cell.gate(1, gates[3])));
    const NodeId o = cell.gate(0, seen(gates[1], 1, c));
    return {b.mul(o, cell.apply(2, c)), c};
}

/// Gates z r h: h' = (1 − z)·h̃ + z·h.
CellState gruStep(const RecurrentCell& cell, NodeId x, const CellState& last, std::int64_t hidden) {
    GradientBuilder& b = cell.b;
    const std::vector<NodeId> given = cell.gates(cell.project(x, cell.w, cell.wb), 3, hidden);
    NodeId z, r, candidate;
    if (cell.isLinearBefore) {
        const std::vector<NodeId> state = cell.gates(cell.project(last.h, cell.r, cell.rb), 3, hidden);
        z = cell.gate(0, b.add(given[0], state[0])), r = cell.gate(0, b.add(given[1], state[1]));
        candidate = cell.gate(1, b.add(given[2], b.mul(r, state[2])));
    } else {
        const std::vector<NodeId> rows = cell.gates(cell.r, 3, hidden, 0), shifts = cell.gates(cell.rb, 3, hidden, 0);
        z = cell.gate(0, b.add(given[0], cell.project(last.h, rows[0], shifts[0])));
        r = cell.gate(0, b.add(given[1], cell.project(last.h, rows[1], shifts[1])));
        candidate = cell.gate(1, b.add(given[2], cell.project(b.mul(r, last.h), rows[2], shifts[2])));
    }
    return {b.add(candidate, b.mul(z, b.sub(last.h, candidate))), {}};
}

CellState rnnStep(const RecurrentCell& cell, NodeId x, const CellState& last, std::int64_t) {
    GradientBuilder& b = cell.b;
    return {cell.gate(0, b.add(cell.project(x, cell.w, cell.wb), cell.project(last.h, cell.r, cell.rb))), {}};
}

struct CellKind {
    std::int64_t gates;
    std::vector<std::string> functions;
    CellState (*step)(const RecurrentCell&, NodeId, const CellState&, std::int64_t);
};

/// Why the rule cannot do a call; empty if it can.
std::string cellRefusal(const GradientBuilder& b, const Expr& e, const CellKind& kind) {
    if (b.version() < 13) return "it needs version 13";
    const auto given = e.attributes.getStrings("activations");
    const std::vector<std::string> known{"Sigmoid", "Tanh", "Relu"};
    if (given.size() % kind.functions.size() != 0) return "the number of activations is wrong";
    for (const std::string& name : given)
        if (std::ranges::find(known, name) == known.end()) return "activation " + name + " is not supported";
    return {};
}

class UnrolledCell {
  public:
    UnrolledCell(GradientBuilder& b, const Expr& e, const CellKind& kind, const Dims& x, const Dims& r)
        : m_b(b), m_e(e), m_kind(kind), m_isByBatch(e.attributes.getInt("layout", 0) != 0),
          m_steps(x[m_isByBatch ? 1 : 0]), m_batch(x[m_isByBatch ? 0 : 1]), m_features(x[2]), m_directions(r[0]),
          m_hidden(r[2]), m_lengths(constantNumbers(b, inputOf(e, 4))) {
        if (inputOf(e, 4).valid() && static_cast<std::int64_t>(m_lengths.size()) != m_batch)
            b.fail("the derivative of " + e.op.name + ": its sequence_lens are not known");
    }

    /// Y [T,D,B,H], Y_h [D,B,H] and, of LSTM, Y_c; with batches first in layout 1.
    std::vector<NodeId> write() {
        const std::vector<NodeId> parts = m_b.ops(
            "Split", {turned(inputOf(m_e, 0), {1, 0, 2}), m_b.integers(Dims(static_cast<std::size_t>(m_steps), 1))},
            {{"axis", std::int64_t{0}}}, static_cast<std::size_t>(m_steps));
        std::vector<NodeId> steps;
        for (const NodeId part : parts) steps.push_back(m_b.op("Reshape", {part, m_b.integers({m_batch, m_features})}));
        std::vector<std::vector<NodeId>> all(static_cast<std::size_t>(m_steps));
        std::vector<NodeId> lastH, lastC;
        const std::string direction = m_e.attributes.getString("direction", "forward");
        for (std::int64_t d = 0; d < m_directions; ++d) {
            const bool isBackward = direction == "reverse" || d == 1;
            const RecurrentCell cell = cellOf(d);
            CellState state{initial(5, d), initial(6, d)};
            for (std::int64_t t = 0; t < m_steps; ++t) {
                const auto at = static_cast<std::size_t>(isBackward ? m_steps - 1 - t : t);
                const CellState next = m_kind.step(cell, steps[at], state, m_hidden);
                all[at].push_back(shaped(within(at, next.h, {}), {1, 1, m_batch, m_hidden}));
                state.h = within(at, next.h, state.h);
                if (next.c.valid()) state.c = within(at, next.c, state.c);
            }
            lastH.push_back(shaped(state.h, {1, m_batch, m_hidden}));
            if (m_kind.gates == 4) lastC.push_back(shaped(state.c, {1, m_batch, m_hidden}));
        }
        std::vector<NodeId> rows;
        for (const std::vector<NodeId>& row : all)
            rows.push_back(m_b.sized(joined(row, 1), {1, m_directions, m_batch, m_hidden}));
        std::vector<NodeId> outputs{turned(joined(rows, 0), {2, 0, 1, 3}), turned(joined(lastH, 0), {1, 0, 2})};
        if (!lastC.empty()) outputs.push_back(turned(joined(lastC, 0), {1, 0, 2}));
        return outputs;
    }

  private:
    /// Where batches come first in the layer's inputs and results.
    NodeId turned(NodeId x, const Dims& order) { return m_isByBatch ? m_b.op("Transpose", {x}, {{"perm", order}}) : x; }
    /// What a sequence has at a step, and behind its end `otherwise` (invalid: 0).
    NodeId within(std::size_t step, NodeId now, NodeId otherwise) {
        const auto isInside = [&](double length) { return static_cast<double>(step) < length; };
        if (std::ranges::all_of(m_lengths, isInside)) return now;
        std::vector<double> inside;
        for (const double length : m_lengths) inside.push_back(isInside(length) ? 1 : 0);
        const auto mask = tensor::Tensor::of<double>({m_batch, 1}, inside).cast(tensor::DType::Bool);
        return m_b.op("Where", {m_b.constant(mask.value()), now, otherwise.valid() ? otherwise : m_b.number(0, now)});
    }
    NodeId shaped(NodeId x, const Dims& dims) { return m_b.sized(m_b.op("Reshape", {x, m_b.integers(dims)}), dims); }
    NodeId joined(const std::vector<NodeId>& parts, std::int64_t axis) {
        return m_b.op("Concat", parts, {{"axis", axis}});
    }
    /// Of one direction, without that dimension.
    NodeId ofDirection(NodeId x, std::int64_t d) {
        return m_b.op("Gather", {x, m_b.constant(tensor::Tensor::scalar<std::int64_t>(d))},
                      {{"axis", std::int64_t{0}}});
    }
    NodeId zeros(const Dims& dims) {
        const auto dtype = m_b.graph().node(inputOf(m_e, 0)).type.dtype;
        return m_b.constant(tensor::Tensor::zeros(dtype, tensor::Shape(dims)).value());
    }
    NodeId initial(std::size_t input, std::int64_t d) {
        const NodeId given = inputOf(m_e, input);
        if (!given.valid()) return zeros({m_batch, m_hidden});
        return ofDirection(turned(given, {1, 0, 2}), d);
    }
    RecurrentCell cellOf(std::int64_t d) {
        RecurrentCell cell{m_b, ofDirection(inputOf(m_e, 1), d), ofDirection(inputOf(m_e, 2), d), {}, {}};
        const std::int64_t rows = m_kind.gates * m_hidden;
        if (inputOf(m_e, 3).valid()) {
            const auto biases = cell.gates(ofDirection(inputOf(m_e, 3), d), 2, rows, 0);
            cell.wb = biases[0], cell.rb = biases[1];
        } else {
            cell.wb = cell.rb = zeros({rows});
        }
        if (m_kind.gates == 4 && inputOf(m_e, 7).valid()) cell.peephole = ofDirection(inputOf(m_e, 7), d);
        const auto given = m_e.attributes.getStrings("activations");
        const std::size_t count = m_kind.functions.size(), first = static_cast<std::size_t>(d) * count;
        for (std::size_t i = 0; i < count; ++i)
            cell.functions.push_back(first + i < given.size() ? given[first + i] : m_kind.functions[i]);
        cell.isLinearBefore = m_e.attributes.getInt("linear_before_reset", 0) != 0;
        cell.isCoupled = m_e.attributes.getInt("input_forget", 0) != 0;
        cell.clip = m_e.attributes.getFloat("clip", 0);
        return cell;
    }

    GradientBuilder& m_b;
    const Expr& m_e;
    const CellKind& m_kind;
    bool m_isByBatch;  ///< layout 1
    std::int64_t m_steps, m_batch, m_features, m_directions, m_hidden;
    std::vector<double> m_lengths;  ///< none: all steps
};

void recurrentRule(GradientBuilder& b, const Expr& e, const CellKind& kind) {
    const auto x = b.dimSizesOf(inputOf(e, 0)), r = b.dimSizesOf(inputOf(e, 2));
    std::string why = cellRefusal(b, e, kind);
    if (why.empty() && (!x || !r || x->size() != 3 || r->size() != 3)) why = "its dimensions are unknown";
    if (!why.empty()) return b.fail("the derivative of " + e.op.name + ": " + why);
    b.through(e, [&] { return UnrolledCell(b, e, kind, *x, *r).write(); });
}
void lstmRule(GradientBuilder& b, const Expr& e) { recurrentRule(b, e, {4, {"Sigmoid", "Tanh", "Tanh"}, lstmStep}); }
void gruRule(GradientBuilder& b, const Expr& e) { recurrentRule(b, e, {3, {"Sigmoid", "Tanh"}, gruStep}); }
void rnnRule(GradientBuilder& b, const Expr& e) { recurrentRule(b, e, {1, {"Tanh"}, rnnStep}); }

}  // namespace

void addRecurrentGradients(GradientRules& rules) {
    rules.insert({{"GRU", gruRule}, {"LSTM", lstmRule}, {"RNN", rnnRule}});
}

}  // namespace sonde::passes
