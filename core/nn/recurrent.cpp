#include "core/nn/recurrent.h"

#include "core/nn/functional.h"

namespace sonde::nn {

using trace::callFunction;
using trace::Function;

Recurrent::Recurrent(std::string className, std::string_view op, std::int64_t gates, std::int64_t inputSize,
                     std::int64_t hiddenSize, RecurrentOptions options)
    : Layer(std::move(className)), m_op(op), m_inputSize(inputSize), m_hiddenSize(hiddenSize),
      m_options(std::move(options)) {
    const std::int64_t stateSize = m_options.projection > 0 ? m_options.projection : m_hiddenSize;
    for (std::int64_t layer = 0; layer < m_options.layers; ++layer) {
        const std::int64_t size = layer == 0 ? inputSize : stateSize * (m_options.bidirectional ? 2 : 1);
        const std::string suffix = "_l" + std::to_string(layer);
        addWeights(gates, size, suffix);
        if (m_options.bidirectional) addWeights(gates, size, suffix + "_reverse");
    }
}

void Recurrent::addWeights(std::int64_t gates, std::int64_t inputSize, const std::string& suffix) {
    const std::int64_t rows = gates * m_hiddenSize;
    const std::int64_t stateSize = m_options.projection > 0 ? m_options.projection : m_hiddenSize;
    m_weights.push_back(addParameter("weight_ih" + suffix, zeros({rows, inputSize})));
    m_weights.push_back(addParameter("weight_hh" + suffix, zeros({rows, stateSize})));
    if (m_options.bias) {
        m_weights.push_back(addParameter("bias_ih" + suffix, zeros({rows})));
        m_weights.push_back(addParameter("bias_hh" + suffix, zeros({rows})));
    }
    if (m_options.projection > 0)
        m_weights.push_back(addParameter("weight_hr" + suffix, zeros({m_options.projection, m_hiddenSize})));
}

std::vector<ForwardParameter> Recurrent::signature() const {
    return {{"input", {}, false, true}, {"hx", tensor::Value(), false}};
}

Var Recurrent::zeroState(const Var& x, std::int64_t stateSize) const {
    // What stands between the sequence's axes is the batch, or nothing.
    const Var batch = size(x)[m_options.batchFirst ? Var::slice(Var(), -2) : Var::slice(1, -1)];
    const std::int64_t rows = m_options.layers * (m_options.bidirectional ? 2 : 1);
    return newZeros(x, Var::list({rows}) + batch + Var::list({stateSize}));
}

Var Recurrent::forward(std::span<const Var> in) {
    const Var& x = in[0];
    const bool pair = m_op.starts_with("lstm");
    Var state = in[1];
    if (state.isNone()) {
        state = zeroState(x, m_options.projection > 0 ? m_options.projection : m_hiddenSize);
        if (pair) state = Var::list({state, m_options.projection > 0 ? zeroState(x, m_hiddenSize) : state});
    } else if (pair) {
        state = Var::list(state.unpack(2));
    }
    std::vector<Var> weights;
    for (const Attribute& weight : m_weights) weights.push_back(weight.read());
    const std::string_view name = m_op.substr(0, m_op.find('.'));
    const Var result = callFunction(Function{m_op, name, name, true, "aten", pair ? 3U : 2U},
                                    {x, state, Var::list(std::move(weights)), m_options.bias, m_options.layers,
                                     m_options.dropout, isTraining(), m_options.bidirectional, m_options.batchFirst});
    if (!pair) return Var::tuple({result[0], result[1]});
    return Var::tuple({result[0], Var::tuple({result[1], result[2]})});
}

std::string Recurrent::extraText() const {
    std::string text = std::to_string(m_inputSize) + ", " + std::to_string(m_hiddenSize);
    if (m_options.projection > 0) text += ", proj_size=" + std::to_string(m_options.projection);
    if (m_options.layers != 1) text += ", num_layers=" + std::to_string(m_options.layers);
    if (!m_options.bias) text += ", bias=False";
    if (m_options.batchFirst) text += ", batch_first=True";
    if (m_options.bidirectional) text += ", bidirectional=True";
    return text;
}

namespace {

/// Throws for a function that a recurrent layer does not have.
bool isRelu(const std::string& nonlinearity) {
    if (nonlinearity != "tanh" && nonlinearity != "relu") {
        throw trace::TraceError(trace::TraceErrorKind::Value, "Unknown nonlinearity '" + nonlinearity + "'");
    }
    return nonlinearity == "relu";
}

}  // namespace

RNN::RNN(std::int64_t inputSize, std::int64_t hiddenSize, const RecurrentOptions& options)
    : Recurrent("RNN", isRelu(options.nonlinearity) ? "rnn_relu.input" : "rnn_tanh.input", 1, inputSize, hiddenSize,
                options) {}

LSTM::LSTM(std::int64_t inputSize, std::int64_t hiddenSize, const RecurrentOptions& options)
    : Recurrent("LSTM", "lstm.input", 4, inputSize, hiddenSize, options) {}

GRU::GRU(std::int64_t inputSize, std::int64_t hiddenSize, const RecurrentOptions& options)
    : Recurrent("GRU", "gru.input", 3, inputSize, hiddenSize, options) {}

RecurrentCell::RecurrentCell(std::string className, std::int64_t gates, std::int64_t inputSize, std::int64_t hiddenSize,
                             bool bias)
    : Layer(std::move(className)), m_hiddenSize(hiddenSize),
      m_inputWeight(addParameter("weight_ih", zeros({gates * hiddenSize, inputSize}))),
      m_stateWeight(addParameter("weight_hh", zeros({gates * hiddenSize, hiddenSize}))) {
    if (!bias) return;
    m_inputBias = addParameter("bias_ih", zeros({gates * hiddenSize}));
    m_stateBias = addParameter("bias_hh", zeros({gates * hiddenSize}));
}

std::vector<ForwardParameter> RecurrentCell::signature() const {
    return {{"input", {}, false, true}, {"hx", tensor::Value(), false}};
}

Var RecurrentCell::zeroState(const Var& x) const {
    return newZeros(x, size(x)[Var::slice(Var(), -1)] + Var::list({m_hiddenSize}));
}
Var RecurrentCell::fromInput(const Var& x) const { return linear(x, m_inputWeight.read(), m_inputBias.read()); }
Var RecurrentCell::fromState(const Var& state) const { return linear(state, m_stateWeight.read(), m_stateBias.read()); }

RNNCell::RNNCell(std::int64_t inputSize, std::int64_t hiddenSize, bool bias, std::string nonlinearity)
    : RecurrentCell("RNNCell", 1, inputSize, hiddenSize, bias), m_nonlinearity(std::move(nonlinearity)) {
    (void)isRelu(m_nonlinearity);
}

Var RNNCell::forward(std::span<const Var> in) {
    const Var state = in[1].isNone() ? zeroState(in[0]) : in[1];
    const Var sum = fromInput(in[0]) + fromState(state);
    return isRelu(m_nonlinearity) ? relu(sum) : tanh(sum);
}

Var LSTMCell::forward(std::span<const Var> in) {
    Var h;
    Var c;
    if (in[1].isNone()) {
        h = c = zeroState(in[0]);
    } else {
        const std::vector<Var> pair = in[1].unpack(2);
        h = pair[0];
        c = pair[1];
    }
    const std::vector<Var> gates = chunk(fromInput(in[0]) + fromState(h), 4, -1).unpack(4);
    const Var memory = sigmoid(gates[1]) * c + sigmoid(gates[0]) * tanh(gates[2]);
    return Var::tuple({sigmoid(gates[3]) * tanh(memory), memory});
}

Var GRUCell::forward(std::span<const Var> in) {
    const Var state = in[1].isNone() ? zeroState(in[0]) : in[1];
    const std::vector<Var> x = chunk(fromInput(in[0]), 3, -1).unpack(3);
    const std::vector<Var> h = chunk(fromState(state), 3, -1).unpack(3);
    const Var update = sigmoid(x[1] + h[1]);
    const Var fresh = tanh(x[2] + sigmoid(x[0] + h[0]) * h[2]);
    return (1 - update) * fresh + update * state;
}

}  // namespace sonde::nn
