// A library that gives one name to two of its models.

#include "core/nn/plugin.h"

namespace own {

using namespace sonde;

class First : public nn::Module {
  public:
    std::string className() const override { return "First"; }
    nn::Var forward(std::span<const nn::Var> in) override { return in[0] + 1; }
};

class Second : public nn::Module {
  public:
    std::string className() const override { return "Second"; }
    nn::Var forward(std::span<const nn::Var> in) override { return in[0] + 2; }
};

class Single : public nn::Module {
  public:
    std::string className() const override { return "Single"; }
    nn::Var forward(std::span<const nn::Var> in) override { return in[0] + 3; }
};

SONDE_MODEL(First, "twin", nn::input("x", {2}));
SONDE_MODEL(Single, "single", nn::input("x", {2}));
SONDE_MODEL(Second, "twin", nn::input("x", {2}));

}  // namespace own
