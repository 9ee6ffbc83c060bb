#pragma once

#include <functional>
#include <string>

#include "core/ops/dependence/dependence.h"

namespace sonde::ops::dependence {

/// A matrix of weights of a recurrent layer, rows [gates * hidden]: where it is in the call.
struct GateWeights {
    std::uint32_t input = kNoOperand, member = 0;
    const Tensor* tensor = nullptr;  ///< null: there is none
    std::int64_t first = 0;          ///< element of its first row
    std::int64_t width = 1;          ///< elements of a row

    double at(std::int64_t row, std::int64_t column) const { return tensor->toDouble(first + row * width + column); }
};

/// States inside of the operator, which no output has: `member` of a term that is an output's element, and of a
/// question of the first output. Their elements are those of the first output. 0: the output itself.
inline constexpr std::uint32_t innerState(std::int64_t layer, bool isMemory) {
    return static_cast<std::uint32_t>(1 + 2 * layer + (isMemory ? 1 : 0));
}

/// "h of layer 0", counted as PyTorch counts the layers of its weights; of what innerState() gives.
std::string innerStateText(std::uint32_t state);

/// Numbers that are rounded to 256 steps of `scale` before they are multiplied, from -zero of them on.
struct ByteSteps {
    double scale = 0;  ///< 0: they are taken as they are
    double zero = 0;
};

/// One step of a recurrent cell, for one sequence: what both vocabularies' layers come down to.
struct RecurrentStep {
    enum class Cell : std::uint8_t { Plain, Gru, Lstm };
    Cell cell = Cell::Plain;
    std::int64_t hidden = 0, unit = 0;        ///< units, and the one that is asked for
    std::vector<DependenceTerm> x, h;         ///< of this step, and the state of the one before; without weights
    DependenceTerm memory;                    ///< c of the step before
    std::vector<DependenceTerm> begins = {};  ///< the first and the last unit of the direction's first step
    GateWeights inputWeights, stateWeights, inputBias, stateBias;
    GateWeights peepholes;      ///< of LSTM: rows i, o and f
    std::string order;          ///< of the gates in the rows: "iofc", "zrh", "ifgo", "rzn", "h"
    double limit = 0;           ///< what gates and candidates are functions of is between -limit and it; 0: anything
    bool couplesGates = false;  ///< LSTM: f is 1 - i
    bool isMemory = false;      ///< c is asked for, not h
    bool resetsProduct = true;  ///< GRU: r times what R gives, not R times (r times h)
    /// Activations, with {} where what they are functions of stands.
    std::string gate = "sigmoid({})", candidate = "tanh({})", output = "tanh({})";
    std::function<double(double)> gateValue;  ///< what `gate` is; empty: the sigmoid
    /// LSTM: what makes fewer numbers of the hidden units' h: rows [states, hidden]; and c of the step before, of all.
    GateWeights projection;
    std::vector<double> memories = {};
    ByteSteps inputSteps = {}, stateSteps = {};
};

/// The formula of one step, with terms of x and of the state before.
base::Result<Dependence> recurrentStep(const RecurrentStep& step);

}  // namespace sonde::ops::dependence
