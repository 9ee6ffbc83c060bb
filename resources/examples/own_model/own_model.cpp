// A small model of one's own: two layers that come with Sonde, and a module that is written here. Its weights are set
// by hand, so that every number can be followed on paper (README.md does).

#include "core/nn/activation.h"
#include "core/nn/linear.h"
#include "core/nn/plugin.h"

namespace own {

using namespace sonde;
using nn::Var;
using tensor::Tensor;

// A module has a class name and a forward; parameters are added by name. y = x * factor, element by element.
class Scale : public nn::Module {
  public:
    explicit Scale(const Tensor& factor) : m_factor(addParameter("factor", factor)) {}
    std::string className() const override { return "Scale"; }
    Var forward(std::span<const Var> in) override { return in[0] * m_factor; }

  private:
    nn::Attribute m_factor;
};

// Children are added by name, too: what they are called here is what the window and `sonde trace` call them.
// x [1,4] -> hidden [1,3] -> relu -> out [1,2] -> scale
class OwnModel : public nn::Module {
  public:
    OwnModel()
        : m_hidden(add("hidden", std::make_shared<nn::Linear>(4, 3))),
          m_relu(add("relu", std::make_shared<nn::ReLU>())), m_out(add("out", std::make_shared<nn::Linear>(3, 2))),
          m_scale(add("scale", std::make_shared<Scale>(Tensor::of<float>({2}, {2, 0.5F})))) {
        set(m_hidden->weight(), Tensor::of<float>({3, 4}, {1, 0, 0, 0,  //
                                                           0, 1, 0, 0,  //
                                                           0, 0, 1, -1}));
        set(m_hidden->bias(), Tensor::of<float>({3}, {0, -1, 0}));
        set(m_out->weight(), Tensor::of<float>({2, 3}, {1, 2, 3,  //
                                                        -1, 3, 0}));
        set(m_out->bias(), Tensor::of<float>({2}, {0.5F, 0}));
    }

    std::string className() const override { return "OwnModel"; }

    // The names of forward's parameters; without this there is one, `input`.
    std::vector<nn::ForwardParameter> signature() const override { return {{"x", std::nullopt, false}}; }

    Var forward(std::span<const Var> in) override {
        const Var hidden = (*m_relu)((*m_hidden)(in[0]));
        return (*m_scale)((*m_out)(hidden));
    }

  private:
    static void set(nn::Attribute attribute, Tensor value) { attribute.setValue(std::move(value)); }

    std::shared_ptr<nn::Linear> m_hidden;
    std::shared_ptr<nn::ReLU> m_relu;
    std::shared_ptr<nn::Linear> m_out;
    std::shared_ptr<Scale> m_scale;
};

// Makes the library a model: its class, its name, and what it is run on.
SONDE_MODEL(OwnModel, "own_model", nn::input("x", {1, 4}));

}  // namespace own
