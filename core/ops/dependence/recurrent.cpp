// One step of RNN, GRU and LSTM. The state before it is not looked into: that is the next hop.

#include "core/ops/dependence/recurrent.h"

#include <algorithm>
#include <cmath>

#include "core/ops/dependence/region.h"

namespace sonde::ops::dependence {

std::string innerStateText(std::uint32_t state) {
    if (state == 0) return {};
    return std::string(state % 2 == 0 ? "c" : "h") + " of layer " + std::to_string((state - 1) / 2);
}

namespace {

/// Builds the sums of the gates.
class GateTerms {
  public:
    GateTerms(const RecurrentStep& step, Dependence& dependence) : m_step(step), m_dependence(dependence) {}

    /// "sum(w_i * x_i)"
    std::string ofInput(char gate) {
        return products(gate, "x", "w", m_step.x, m_step.inputWeights, {}, m_step.inputSteps);
    }
    /// "sum(r_i * h_i)"; `factor` of each state: "sum(r_h * reset * h_h)".
    std::string ofState(char gate, const std::string& factor = {}) {
        return products(gate, "h", "r", m_step.h, m_step.stateWeights, factor, m_step.stateSteps);
    }
    /// " + bw_i", or nothing.
    std::string bias(char gate, const GateWeights& bias, std::string_view name) {
        if (!bias.tensor) return {};
        const std::string part = std::string(name) + "_" + gate;
        const std::int64_t row = rowOf(gate);
        DependenceTerm term;
        term.part = m_dependence.part(part);
        term.input = bias.input, term.member = bias.member;
        term.element = bias.first + row;
        term.value = bias.tensor->toDouble(term.element);
        m_dependence.terms.push_back(term);
        return " + " + part;
    }
    /// All that a gate is a function of. `memory`: what its peephole looks at.
    std::string all(char gate, const std::string& memory = {}) {
        return limited(ofInput(gate) + " + " + ofState(gate) + bias(gate, m_step.inputBias, "bw") +
                       bias(gate, m_step.stateBias, "br") + peephole(gate, memory));
    }
    std::string limited(const std::string& sum) { return m_step.limit > 0 ? "clip(" + sum + ", -limit, limit)" : sum; }
    std::int64_t rowOf(char gate) const { return rowOf(gate, m_step.unit); }
    std::int64_t rowOf(char gate, std::int64_t unit) const {
        return static_cast<std::int64_t>(m_step.order.find(gate)) * m_step.hidden + unit;
    }

  private:
    /// " + p_i * c", or nothing.
    std::string peephole(char gate, const std::string& memory) {
        const std::size_t row = std::string_view("iof").find(gate);
        if (!m_step.peepholes.tensor || memory.empty() || row == std::string_view::npos) return {};
        const std::string part = std::string("p_") + gate;
        DependenceTerm term;
        term.part = m_dependence.part(part);
        term.input = m_step.peepholes.input;
        term.element = m_step.peepholes.first + static_cast<std::int64_t>(row) * m_step.hidden + m_step.unit;
        term.value = m_step.peepholes.tensor->toDouble(term.element);
        m_dependence.terms.push_back(term);
        return " + " + part + " * " + memory;
    }

    std::string products(char gate, const std::string& values, const std::string& weights,
                         const std::vector<DependenceTerm>& terms, const GateWeights& matrix, const std::string& factor,
                         const ByteSteps& steps) {
        const std::string part = values + "_" + gate, weight = weights + "_" + gate;
        const std::uint32_t at = m_dependence.listPart(part, weight);
        for (std::size_t k = 0; k < terms.size(); ++k) {
            DependenceTerm term = terms[k];
            const auto column = static_cast<std::int64_t>(k);
            term.part = at;
            term.weight = matrix.at(rowOf(gate), column);
            if (matrix.member == 0 && matrix.input != kNoOperand) {
                term.weightInput = matrix.input;
                term.weightElement = matrix.first + rowOf(gate) * matrix.width + column;
            }
            m_dependence.terms.push_back(term);
        }
        return "sum(" + weight + " * " + (factor.empty() ? "" : factor + " * ") + rounded(part, values, steps) + ")";
    }

    /// To the steps of x or h, where there are any.
    std::string rounded(const std::string& part, const std::string& of, const ByteSteps& steps) {
        if (!(steps.scale > 0)) return part;
        const std::string scale = of + "_scale", zero = of + "_zero";
        const auto isKnown = [&](const auto& number) { return number.first == scale; };
        if (std::ranges::none_of(m_dependence.numbers, isKnown))
            m_dependence.number(scale, steps.scale), m_dependence.number(zero, steps.zero);
        return scale + " * (clip(round(float32(" + part + " / " + scale + ")) + " + zero + ", 0, 255) - " + zero + ")";
    }

    const RecurrentStep& m_step;
    Dependence& m_dependence;
};

/// What a gate of a unit is a function of, as a number.
double gateSum(const RecurrentStep& step, std::int64_t row) {
    double sum = (step.inputBias.tensor ? step.inputBias.tensor->toDouble(step.inputBias.first + row) : 0) +
                 (step.stateBias.tensor ? step.stateBias.tensor->toDouble(step.stateBias.first + row) : 0);
    for (std::size_t k = 0; k < step.x.size(); ++k)
        sum += step.inputWeights.at(row, static_cast<std::int64_t>(k)) * step.x[k].value;
    for (std::size_t k = 0; k < step.h.size(); ++k)
        sum += step.stateWeights.at(row, static_cast<std::int64_t>(k)) * step.h[k].value;
    return sum;
}

/// GRU's reset gate of every unit, which its states are multiplied with: computed inside, no input has them.
std::string addResets(Dependence& dependence, const RecurrentStep& step, const GateTerms& gates) {
    DependenceTerm term;
    term.part = dependence.listPart("reset");
    term.isInside = true, term.weight = 0;  // they act through the states
    for (std::int64_t unit = 0; unit < step.hidden; ++unit) {
        double sum = gateSum(step, gates.rowOf('r', unit));
        if (step.limit > 0) sum = std::clamp(sum, -step.limit, step.limit);
        term.element = unit;
        term.value = step.gateValue ? step.gateValue(sum) : 1 / (1 + std::exp(-sum));
        dependence.terms.push_back(term);
    }
    return "reset";
}

/// An activation of a sum.
std::string activated(const std::string& activation, const std::string& sum) {
    constexpr std::string_view kSum = "{}";
    std::string text;
    std::size_t from = 0;
    for (std::size_t at = activation.find(kSum); at != std::string::npos; at = activation.find(kSum, from)) {
        text += activation.substr(from, at - from) + sum;
        from = at + kSum.size();
    }
    return text + activation.substr(from);
}

/// A row of the projection of what an LSTM without one gives: its units are inside of the layer, and made of x and h.
Dependence projectedUnits(const RecurrentStep& step) {
    const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
    const auto rowOf = [&](char gate, std::int64_t unit) {
        return static_cast<std::int64_t>(step.order.find(gate)) * step.hidden + unit;
    };
    Dependence dependence;
    dependence.formula = "sum(w * unit)";
    const std::uint32_t part = dependence.listPart("unit", "w");
    for (std::int64_t unit = 0; unit < step.hidden; ++unit) {
        const double memory = sigmoid(gateSum(step, rowOf('f', unit))) * step.memories[static_cast<std::size_t>(unit)] +
                              sigmoid(gateSum(step, rowOf('i', unit))) * std::tanh(gateSum(step, rowOf('g', unit)));
        DependenceTerm term;
        term.part = part;
        term.isInside = true, term.element = unit;
        term.value = sigmoid(gateSum(step, rowOf('o', unit))) * std::tanh(memory);
        term.weight = step.projection.at(step.unit, unit);
        dependence.terms.push_back(term);
    }
    for (const auto& [name, terms] : {std::pair("x", &step.x), std::pair("h", &step.h)}) {
        for (DependenceTerm term : *terms) {
            term.part = dependence.listPart(name);
            term.weight = 0;  // they act through the units
            dependence.terms.push_back(term);
        }
    }
    return dependence;
}

std::string addState(Dependence& dependence, const DependenceTerm& term, const std::string& name) {
    DependenceTerm copy = term;
    copy.part = dependence.part(name);
    dependence.terms.push_back(copy);
    return name;
}

}  // namespace

namespace {

base::Result<Dependence> stepTerms(const RecurrentStep& step) {
    SONDE_TRY(checkTerms(4 * static_cast<std::int64_t>(step.x.size() + step.h.size()) + step.hidden));
    if (step.projection.tensor && !step.isMemory) return projectedUnits(step);
    Dependence dependence;
    GateTerms gates(step, dependence);
    const auto gate = [&](char name, const std::string& memory = {}) {
        return activated(step.gate, gates.all(name, memory));
    };
    const auto candidate = [&](const std::string& of) { return activated(step.candidate, of); };
    if (step.limit > 0) dependence.number("limit", step.limit);
    if (step.cell == RecurrentStep::Cell::Plain) {
        dependence.formula = candidate(gates.all(step.order.front()));
    } else if (step.cell == RecurrentStep::Cell::Lstm) {
        const char cell = step.order.find('g') != std::string::npos ? 'g' : 'c';
        const std::string before = addState(dependence, step.memory, "c"), input = gate('i', before),
                          forget = step.couplesGates ? "(1 - " + input + ")" : gate('f', before);
        const std::string memory = forget + " * " + before + " + " + input + " * " + candidate(gates.all(cell));
        dependence.formula =
            step.isMemory ? memory : gate('o', "(" + memory + ")") + " * " + activated(step.output, memory);
    } else {
        const char fresh = step.order.back();
        const std::string state = addState(dependence, step.h[static_cast<std::size_t>(step.unit)], "h");
        const std::string update = gate('z');
        std::string inner;
        if (step.resetsProduct) {
            inner = gates.ofInput(fresh) + gates.bias(fresh, step.inputBias, "bw") + " + " + gate('r') + " * (" +
                    gates.ofState(fresh) + gates.bias(fresh, step.stateBias, "br") + ")";
        } else {
            const std::string reset = addResets(dependence, step, gates);
            inner = gates.ofInput(fresh) + " + " + gates.ofState(fresh, reset) +
                    gates.bias(fresh, step.inputBias, "bw") + gates.bias(fresh, step.stateBias, "br");
        }
        dependence.formula =
            "(1 - " + update + ") * " + candidate(gates.limited(inner)) + " + " + update + " * " + state;
    }
    return dependence;
}

}  // namespace

base::Result<Dependence> recurrentStep(const RecurrentStep& step) {
    SONDE_ASSIGN(Dependence dependence, stepTerms(step));
    dependence.begins = step.begins;
    return dependence;
}

}  // namespace sonde::ops::dependence
