// One step of RNN, GRU and LSTM. The state before it is not looked into: that is the next hop.

#include "core/ops/dependence/recurrent.h"

#include <cmath>

#include "core/ops/dependence/region.h"

namespace sonde::ops::dependence {

namespace {

/// Builds the sums of the gates.
class GateTerms {
  public:
    GateTerms(const RecurrentStep& step, Dependence& dependence) : m_step(step), m_dependence(dependence) {}

    /// "sum(w_i * x_i)"
    std::string ofInput(char gate) { return products(gate, "x", "w", m_step.x, m_step.inputWeights, nullptr); }
    /// "sum(r_i * h_i)"; `factors`: of each state, what it is multiplied with before.
    std::string ofState(char gate, const std::vector<double>* factors = nullptr) {
        return products(gate, "h", "r", m_step.h, m_step.stateWeights, factors);
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
    /// All that a gate is a function of.
    std::string all(char gate) {
        return ofInput(gate) + " + " + ofState(gate) + bias(gate, m_step.inputBias, "bw") +
               bias(gate, m_step.stateBias, "br");
    }
    std::int64_t rowOf(char gate) const { return rowOf(gate, m_step.unit); }
    std::int64_t rowOf(char gate, std::int64_t unit) const {
        return static_cast<std::int64_t>(m_step.order.find(gate)) * m_step.hidden + unit;
    }

  private:
    std::string products(char gate, const std::string& values, const std::string& weights,
                         const std::vector<DependenceTerm>& terms, const GateWeights& matrix,
                         const std::vector<double>* factors) {
        const std::string part = values + "_" + gate, weight = weights + "_" + gate;
        const std::uint32_t at = m_dependence.listPart(part, weight);
        for (std::size_t k = 0; k < terms.size(); ++k) {
            DependenceTerm term = terms[k];
            const auto column = static_cast<std::int64_t>(k);
            term.part = at;
            term.weight = matrix.at(rowOf(gate), column) * (factors ? (*factors)[k] : 1);
            if (matrix.member == 0) {
                term.weightInput = matrix.input;
                term.weightElement = matrix.first + rowOf(gate) * matrix.width + column;
            }
            m_dependence.terms.push_back(term);
        }
        return "sum(" + weight + " * " + part + ")";
    }

    const RecurrentStep& m_step;
    Dependence& m_dependence;
};

/// GRU's reset gate of every unit, which its states are multiplied with.
std::vector<double> resets(const RecurrentStep& step, const GateTerms& gates) {
    std::vector<double> values;
    for (std::int64_t unit = 0; unit < step.hidden; ++unit) {
        const std::int64_t row = gates.rowOf('r', unit);
        double sum = (step.inputBias.tensor ? step.inputBias.tensor->toDouble(step.inputBias.first + row) : 0) +
                     (step.stateBias.tensor ? step.stateBias.tensor->toDouble(step.stateBias.first + row) : 0);
        for (std::size_t k = 0; k < step.x.size(); ++k)
            sum += step.inputWeights.at(row, static_cast<std::int64_t>(k)) * step.x[k].value;
        for (std::size_t k = 0; k < step.h.size(); ++k)
            sum += step.stateWeights.at(row, static_cast<std::int64_t>(k)) * step.h[k].value;
        values.push_back(1 / (1 + std::exp(-sum)));
    }
    return values;
}

std::string addState(Dependence& dependence, const DependenceTerm& term, const std::string& name) {
    DependenceTerm copy = term;
    copy.part = dependence.part(name);
    dependence.terms.push_back(copy);
    return name;
}

}  // namespace

base::Result<Dependence> recurrentStep(const RecurrentStep& step) {
    SONDE_TRY(checkTerms(4 * static_cast<std::int64_t>(step.x.size() + step.h.size())));
    Dependence dependence;
    GateTerms gates(step, dependence);
    const auto gate = [&](char name) { return step.gate + gates.all(name) + step.gateEnd; };
    const auto candidate = [&](const std::string& of) { return step.candidate + of + step.candidateEnd; };
    if (step.cell == RecurrentStep::Cell::Plain) {
        dependence.formula = candidate(gates.all(step.order.front()));
    } else if (step.cell == RecurrentStep::Cell::Lstm) {
        const char cell = step.order.find('g') != std::string::npos ? 'g' : 'c';
        const std::string memory = gate('f') + " * " + addState(dependence, step.memory, "c") + " + " + gate('i') +
                                   " * " + candidate(gates.all(cell));
        dependence.formula = step.isMemory ? memory : gate('o') + " * " + step.output + memory + step.outputEnd;
    } else {
        const char fresh = step.order.back();
        const std::string state = addState(dependence, step.h[static_cast<std::size_t>(step.unit)], "h");
        const std::string update = gate('z');
        std::string inner;
        if (step.resetsProduct) {
            inner = gates.ofInput(fresh) + gates.bias(fresh, step.inputBias, "bw") + " + " + gate('r') + " * (" +
                    gates.ofState(fresh) + gates.bias(fresh, step.stateBias, "br") + ")";
        } else {
            const std::vector<double> factors = resets(step, gates);
            inner = gates.ofInput(fresh) + " + " + gates.ofState(fresh, &factors) +
                    gates.bias(fresh, step.inputBias, "bw") + gates.bias(fresh, step.stateBias, "br");
        }
        dependence.formula = "(1 - " + update + ") * " + candidate(inner) + " + " + update + " * " + state;
    }
    return dependence;
}

}  // namespace sonde::ops::dependence
