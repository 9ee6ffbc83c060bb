#pragma once

#include "core/nn/module.h"

namespace sonde::nn {

/// In the order of torch's arguments after input_size and hidden_size.
struct RecurrentOptions {
    std::int64_t layers = 1;            ///< num_layers: each reads what the one below writes
    std::string nonlinearity = "tanh";  ///< of RNN alone: "tanh" or "relu"
    bool bias = true;
    bool batchFirst = false;
    double dropout = 0;  ///< between layers, while training
    bool bidirectional = false;
    std::int64_t projection = 0;  ///< proj_size of LSTM: h is W_hr h', of that many numbers; 0: none
};

/// Layers that read a sequence step by step. With D = 2 if bidirectional, else 1, S = hidden (projection, if there is
/// one):
///   x [T,N,I], or [N,T,I] if batchFirst, or [T,I] for one sequence; initial state [layers D,N,S] (without N for one
///   sequence), zeros if None.
///   Result: (y [T,N,D S], last state). y holds the last layer's state at each step, forward before backward.
/// Parameters of layer k, "_reverse" after the name for the second direction, G = gates:
///   weight_ih_lk [G H,I or D S], weight_hh_lk [G H,S], bias_ih_lk and bias_hh_lk [G H], weight_hr_lk [projection,H].
class Recurrent : public Layer {
  public:
    std::vector<ForwardParameter> signature() const override;
    bool makesTensor() const override { return false; }
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override;

  protected:
    Recurrent(std::string className, std::string_view op, std::int64_t gates, std::int64_t inputSize,
              std::int64_t hiddenSize, RecurrentOptions options);

  private:
    void addWeights(std::int64_t gates, std::int64_t inputSize, const std::string& suffix);
    Var zeroState(const Var& x, std::int64_t size) const;

    std::string_view m_op;
    std::int64_t m_inputSize;
    std::int64_t m_hiddenSize;
    RecurrentOptions m_options;
    std::vector<Attribute> m_weights;
};

/// h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or max(0, ·) (Elman 1990).
struct RNN : Recurrent {
    RNN(std::int64_t inputSize, std::int64_t hiddenSize, const RecurrentOptions& options = {});
};

/// Long short-term memory (Hochreiter, Schmidhuber 1997). State: the pair (h, c); gates i, f, g, o in this order:
///   c' = sigmoid(f) c + sigmoid(i) tanh(g),  h' = sigmoid(o) tanh(c').
struct LSTM : Recurrent {
    LSTM(std::int64_t inputSize, std::int64_t hiddenSize, const RecurrentOptions& options = {});
};

/// Gated recurrent unit (Cho et al. 2014, arXiv:1406.1078). Gates r, z, n in this order; x_g and h_g are the parts of a
/// gate:
///   n' = tanh(x_n + sigmoid(r) h_n),  h' = (1 - sigmoid(z)) n' + sigmoid(z) h.
struct GRU : Recurrent {
    GRU(std::int64_t inputSize, std::int64_t hiddenSize, const RecurrentOptions& options = {});
};

/// One step of one layer: x [N,I] or [I], state [N,H] or [H], zeros if None -> the new state.
/// Parameters weight_ih [G H,I], weight_hh [G H,H], bias_ih, bias_hh [G H].
class RecurrentCell : public Layer {
  public:
    std::vector<ForwardParameter> signature() const override;

  protected:
    RecurrentCell(std::string className, std::int64_t gates, std::int64_t inputSize, std::int64_t hiddenSize,
                  bool bias);
    Var zeroState(const Var& x) const;
    Var fromInput(const Var& x) const;      ///< W_ih x + b_ih
    Var fromState(const Var& state) const;  ///< W_hh h + b_hh

  private:
    std::int64_t m_hiddenSize;
    Attribute m_inputWeight;
    Attribute m_stateWeight;
    Attribute m_inputBias;
    Attribute m_stateBias;
};

/// The step of RNN; nonlinearity "tanh" or "relu".
class RNNCell : public RecurrentCell {
  public:
    RNNCell(std::int64_t inputSize, std::int64_t hiddenSize, bool bias = true, std::string nonlinearity = "tanh");
    Var forward(std::span<const Var> in) override;

  private:
    std::string m_nonlinearity;
};

/// The step of LSTM: state and result are the pair (h, c).
class LSTMCell : public RecurrentCell {
  public:
    LSTMCell(std::int64_t inputSize, std::int64_t hiddenSize, bool bias = true)
        : RecurrentCell("LSTMCell", 4, inputSize, hiddenSize, bias) {}
    bool makesTensor() const override { return false; }
    Var forward(std::span<const Var> in) override;
};

/// The step of GRU.
class GRUCell : public RecurrentCell {
  public:
    GRUCell(std::int64_t inputSize, std::int64_t hiddenSize, bool bias = true)
        : RecurrentCell("GRUCell", 3, inputSize, hiddenSize, bias) {}
    Var forward(std::span<const Var> in) override;
};

}  // namespace sonde::nn
