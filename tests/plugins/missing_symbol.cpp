// A library that needs a function which Sonde does not have.

#include "core/nn/plugin.h"

void functionThatIsNowhere();

class Missing : public sonde::nn::Module {
  public:
    std::string className() const override { return "Missing"; }
    sonde::nn::Var forward(std::span<const sonde::nn::Var> in) override {
        functionThatIsNowhere();
        return in[0];
    }
};

SONDE_MODEL(Missing, "missing");
