#include "core/zoo/tracer_examples.h"

#include <functional>

#include "core/trace/custom_cond.h"
#include "core/zoo/parts.h"

namespace sonde::zoo {

namespace {

using tensor::Tensor;
using tensor::Value;

constexpr std::int64_t kWidth = 4;

/// A module whose forward is a function of itself and its inputs; parts are found by name.
class Lesson final : public Block {
  public:
    using Forward = Var (*)(Lesson& self, std::span<const Var> in);
    Lesson(const char* className, Forward forward) : Block(className), m_forward(forward) {}
    Lesson(const char* className, std::vector<ForwardParameter> parameters, Forward forward)
        : Block(className, std::move(parameters)), m_forward(forward) {}

    Var forward(std::span<const Var> in) override { return m_forward(*this, in); }
    bool makesTensor() const override { return false; }

    /// Registers a part.
    Lesson& with(const char* name, ModulePtr module) {
        addChild(name, std::move(module));
        return *this;
    }
    using Module::addBuffer;
    using Module::addParameter;
    using Module::addPlain;
    Module& part(const char* name) const { return *child(name); }
    Var tensor(const char* name) const {
        for (const NamedSlot& named : ownTensors()) {
            if (named.name == name) return Attribute(named.slot);
        }
        throw trace::TraceError(trace::TraceErrorKind::Attribute, name);
    }

  private:
    Forward m_forward;
};

std::shared_ptr<Lesson> lesson(const char* className, Lesson::Forward forward) {
    return make<Lesson>(className, forward);
}
std::shared_ptr<Lesson> lesson(const char* className, std::vector<ForwardParameter> parameters,
                               Lesson::Forward forward) {
    return make<Lesson>(className, std::move(parameters), forward);
}

std::shared_ptr<nn::Linear> linear() { return make<nn::Linear>(kWidth, kWidth); }
Tensor four() { return nn::ones({kWidth}); }
std::shared_ptr<Lesson> identity() {
    return lesson("Nothing", [](Lesson&, std::span<const Var> in) { return in[0]; });
}

std::shared_ptr<Lesson> myBlock() {
    auto block = lesson("MyBlock", [](Lesson& self, std::span<const Var> in) {
        const Var x = self.part("bn1")(self.part("conv1")(in[0]));
        return self.part("nothing")(nn::relu(x) + 1);
    });
    block->with("conv1", make<nn::Conv2d>(3, 3, 3, noBias(3)))
        .with("bn1", make<nn::BatchNorm2d>(3))
        .with("nothing", identity());
    return block;
}

std::shared_ptr<Lesson> tensorsBlock() {
    auto block = lesson("Block", [](Lesson& self, std::span<const Var> in) {
        const Var y = self.part("lin")(in[0]);
        const Var scaled = y * self.tensor("w");
        return nn::relu(scaled + self.tensor("b")) + self.tensor("plain");
    });
    block->with("lin", linear());
    block->addParameter("w", four());
    block->addBuffer("b", four());
    block->addPlain("plain", four());
    return block;
}

std::shared_ptr<Lesson> twoResults() {
    return lesson("TwoResults", {{"a", std::nullopt, false, true}}, [](Lesson&, std::span<const Var> in) {
        return Var::tuple({in[0], nn::cat({in[0], in[0]}, 0)});
    });
}

}  // namespace

ModulePtr plusOnePlusTwo(const Settings&) {
    return lesson("Seed", [](Lesson&, std::span<const Var> in) { return in[0] + 1 + 2; });
}

ModulePtr paramAndLinear(const Settings&) {
    auto model = lesson("MyModule", [](Lesson& self, std::span<const Var> in) {
        return nn::relu(self.part("linear")(in[0] + self.tensor("param")));
    });
    model->addParameter("param", nn::zeros({3, kWidth}));
    model->with("linear", make<nn::Linear>(kWidth, 5));
    return model;
}

ModulePtr blocksInNet(const Settings&) {
    auto net = lesson("Net", [](Lesson& self, std::span<const Var> in) {
        return self.part("nothing")(self.part("block1")(self.part("block0")(in[0])));
    });
    net->with("block0", myBlock()).with("block1", myBlock()).with("nothing", identity());
    return net;
}

ModulePtr calledWithTwoForms(const Settings&) {
    auto a = lesson("A", {{"x", std::nullopt, false, true}, {"k", Value::ofInt(1)}},
                    [](Lesson& self, std::span<const Var> in) { return in[0] * self.tensor("w") * in[1]; });
    a->addParameter("w", four());
    auto model = lesson("Sh2", [](Lesson& self, std::span<const Var> in) {
        const Var once = self.part("a")(in[0]);
        return once + self.part("a").call({in[0]}, {{"k", 3}});
    });
    model->with("a", a);
    return model;
}

ModulePtr severalResults(const Settings&) {
    auto model = lesson("Several", {{"a", std::nullopt, false, true}}, [](Lesson& self, std::span<const Var> in) {
        const Var first = self.part("b0")(in[0]).unpack(2)[1];
        const Var second = self.part("b1")(in[0] + 1).unpack(2)[1];
        return first + second;
    });
    model->with("b0", twoResults()).with("b1", twoResults());
    return model;
}

ModulePtr blockWithAlias(const Settings&) {
    auto net = lesson("Net", [](Lesson& self, std::span<const Var> in) {
        const Var y = self.part("a")(in[0]);
        const Var z = self.part("alias")(self.part("seq")(y));
        return z.method("flatten", {1}, {}, "flatten.using_ints") + four();
    });
    const auto block = tensorsBlock();
    net->with("a", block).with("seq", sequential({linear(), tensorsBlock()})).with("alias", block);
    return net;
}

ModulePtr flag(const Settings&) {
    auto model =
        lesson("Flag", {{"x", std::nullopt, false, true}, {"test_flag", Value::ofBool(false)}},
               [](Lesson& self, std::span<const Var> in) { return self.part("conv")(in[1] ? in[0] + 1 : in[0]); });
    model->with("conv", make<nn::Conv2d>(3, 3, 3, noBias(3)));
    return model;
}

ModulePtr iterating(const Settings&) {
    return sequential({lesson("Err", [](Lesson&, std::span<const Var> in) {
        Var last;
        for (const Var& row : in[0].iterate()) last = row;
        return last;
    })});
}

ModulePtr branching(const Settings&) {
    auto cf = lesson("CF", [](Lesson& self, std::span<const Var> in) {
        const Var x = self.part("a")(in[0]);
        return nn::sum(x) > 0 ? self.part("b")(x) : x;
    });
    cf->with("a", linear()).with("b", sequential({linear(), make<nn::ReLU>()}));
    auto net = lesson("Net", [](Lesson& self, std::span<const Var> in) {
        return self.part("head")(self.part("cf")(self.part("stem")(in[0])));
    });
    net->with("stem", linear()).with("cf", cf).with("head", linear()).with("unused", linear());
    return net;
}

ModulePtr keywords(const Settings&) {
    auto model = lesson(
        "KW",
        {{"x", std::nullopt, false, true}, {"mask", Value()}, {"scale", Value::ofFloat(2)}, {"mode", Value("a"), true}},
        [](Lesson& self, std::span<const Var> in) {
            Var y = self.part("l")(in[0]);
            if (!in[1].isNone()) y = y * in[1];
            return y * in[2];
        });
    model->with("l", linear());
    return model;
}

ModulePtr inPlace(const Settings&) {
    return lesson("InPlace", [](Lesson&, std::span<const Var> in) {
        const Var c = in[0].method("clone");
        c.method("add_", {2}, {}, "add_.Scalar");
        c.method("add_", {5}, {}, "add_.Scalar");
        return c + 3;
    });
}

ModulePtr itemAssignment(const Settings&) {
    return lesson("SetItem", [](Lesson&, std::span<const Var> in) {
        const Var doubled = in[0] * 2;
        return doubled.withItem(0, 5.0) + 1;
    });
}

ModulePtr sliceAssignment(const Settings&) {
    return lesson("SliceAssignment", [](Lesson&, std::span<const Var> in) {
        const Var c = in[0].method("clone");
        const Var index = Var::tuple({Var::slice({}, {}), Var::slice({}, 2)});
        const Var y = c[index] * 2;
        return c.withItem(index, y) + 3;
    });
}

ModulePtr maskAssignment(const Settings&) {
    constexpr int kBool = 11;  // torch's number of the dtype
    return lesson("MaskAssignment", [](Lesson&, std::span<const Var> in) {
        const Var mask = in[0].method("to", {kBool}, {}, "to.dtype");
        return in[0].withItem(mask, 2);
    });
}

ModulePtr conditional(const Settings&) {
    return lesson("Conditional", [](Lesson&, std::span<const Var> in) {
        const trace::NamedFunction doubled{"true_fn", [](std::span<const Var> x) { return x[0] * 2; }};
        const trace::NamedFunction negated{"false_fn", [](std::span<const Var> x) { return -x[0]; }};
        return trace::cond(nn::sum(in[0]) > 0, doubled, negated, Var::list({in[0]}));
    });
}

}  // namespace sonde::zoo
