// Models as a user writes them, for tst_plugin: some that work, and two that throw.

#include <stdexcept>

#include "core/nn/activation.h"
#include "core/nn/functional.h"
#include "core/nn/linear.h"
#include "core/nn/plugin.h"

namespace own {

using namespace sonde;
using nn::Var;

/// y = factor * relu(W x + b), W = [[1, 2], [3, -4]], b = [0.5, -1], factor = [2, 10]
class Scaled : public nn::Module {
  public:
    Scaled()
        : m_linear(add("linear", std::make_shared<nn::Linear>(2, 2))),
          m_relu(add("relu", std::make_shared<nn::ReLU>())) {
        nn::Attribute(m_linear->weight()).setValue(tensor::Tensor::of<float>({2, 2}, {1, 2, 3, -4}));
        nn::Attribute(m_linear->bias()).setValue(tensor::Tensor::of<float>({2}, {0.5F, -1}));
        m_factor = addParameter("factor", tensor::Tensor::of<float>({2}, {2, 10}));
    }
    std::string className() const override { return "Scaled"; }
    std::vector<nn::ForwardParameter> signature() const override { return {{"x", std::nullopt, false}}; }
    Var forward(std::span<const Var> in) override {
        const Var factor = m_factor;
        return factor * (*m_relu)((*m_linear)(in[0]));
    }

  private:
    std::shared_ptr<nn::Linear> m_linear;
    std::shared_ptr<nn::ReLU> m_relu;
    nn::Attribute m_factor;
};

/// Which way it goes depends on the data: 2 x if sum(x) > 0, else -x.
class Branching : public nn::Module {
  public:
    std::string className() const override { return "Branching"; }
    std::vector<nn::ForwardParameter> signature() const override { return {{"x", std::nullopt, false}}; }
    Var forward(std::span<const Var> in) override { return nn::sum(in[0]) > 0 ? 2 * in[0] : -in[0]; }
};

class ThrowsWhenMade : public nn::Module {
  public:
    ThrowsWhenMade() { throw std::runtime_error("no weights for you"); }
    std::string className() const override { return "ThrowsWhenMade"; }
};

class ThrowsWhenCalled : public nn::Module {
  public:
    std::string className() const override { return "ThrowsWhenCalled"; }
    Var forward(std::span<const Var>) override { throw std::logic_error("not today"); }
};

/// Says nothing of its one parameter: 3 x.
class Unnamed : public nn::Module {
  public:
    std::string className() const override { return "Unnamed"; }
    Var forward(std::span<const Var> in) override { return 3 * in[0]; }
};

/// x + y, declared under another name.
class Misnamed : public nn::Module {
  public:
    std::string className() const override { return "Misnamed"; }
    std::vector<nn::ForwardParameter> signature() const override {
        return {{"x", std::nullopt, false}, {"y", std::nullopt, false}};
    }
    Var forward(std::span<const Var> in) override { return in[0] + in[1]; }
};

SONDE_MODEL(Scaled, "scaled", nn::input("x", {3, 2}));
SONDE_MODEL(Branching, "branching", nn::input("x", {tensor::Dim::named("N")}));
SONDE_MODEL(ThrowsWhenMade, "throws_when_made");
SONDE_MODEL(ThrowsWhenCalled, "throws_when_called");
SONDE_MODEL(Unnamed, "unnamed", nn::input("x", {4}));
SONDE_MODEL(Misnamed, "misnamed", nn::input("x", {4}), nn::input("z", {4}));

}  // namespace own
