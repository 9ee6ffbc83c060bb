#include "core/zoo/teaching_models.h"

#include "core/zoo/parts.h"

namespace sonde::zoo {

namespace {

using tensor::Shape;
using tensor::Tensor;

const Var kAll = Var::slice({}, {});

class MlpFunctional final : public Block {
  public:
    MlpFunctional() : Block("MLPFunctional") {
        std::vector<float> table;
        for (int i = 0; i < kHidden; ++i) table.push_back(-1.0F + 2.0F * static_cast<float>(i) / (kHidden - 1));
        m_gain = addParameter("gain", nn::zeros({kHidden}));
        m_table = addBuffer("table", Tensor::of<float>(Shape{kHidden}, table));
        m_fc1 = add("fc1", make<nn::Linear>(12, kHidden));
        m_fc2 = add("fc2", make<nn::Linear>(kHidden, kHidden));
    }

    Var forward(std::span<const Var> in) override {
        const Var h = nn::relu((*m_fc1)(in[0] + 1 + 2));
        const Var left = h[Var::tuple({kAll, Var::slice({}, 6)})];
        const Var right = h[Var::tuple({kAll, Var::slice(6, {})})];
        const Var y = nn::cat(Var::tuple({right, left}), 1);
        // In place: what comes later means the changed value.
        const Var raised = y.method("add_", {0.5}, {}, "add_.Scalar");
        const Var gain = m_gain;
        const Var scaled = raised.method("mul_", {gain}, {}, "mul_.Tensor");
        const Var activated = nn::tanh((*m_fc2)(scaled));
        const Var z = activated + m_table.read();
        const Var linearPart = (1.0 - z) / 2;
        const Var w = nn::clamp(linearPart - power(z, 2), -1.5, 1.5);
        const Var even = w[Var::tuple({Var::ellipsis(), Var::slice({}, {}, 2)})];
        const Var odd = w[Var::tuple({Var::ellipsis(), Var::slice(1, {}, 2)})];
        const Var pair = nn::stack({even, odd}, -1).method("flatten", {1}, {}, "flatten.using_ints");
        const Var positive = pair > 0;
        const Var score = nn::where(positive, pair, 0.1 * pair);
        const Var total = score.method("sum", {}, {{"dim", nn::Ints{-1}}, {"keepdim", true}}, "sum.dim_IntList");
        const Var gate = nn::sigmoid(-total);
        const Var gated = score * gate;
        return Var::tuple({gated, nn::squeeze(gate, -1)});
    }
    bool makesTensor() const override { return false; }

  private:
    static constexpr int kHidden = 16;
    Attribute m_gain;
    Attribute m_table;
    std::shared_ptr<nn::Linear> m_fc1;
    std::shared_ptr<nn::Linear> m_fc2;
};

/// y = elu(lin(x)) + 0.5 x.
class MixBlock final : public Block {
  public:
    explicit MixBlock(std::int64_t n)
        : Block("MixBlock"), m_lin(add("lin", make<nn::Linear>(n, n))), m_act(add("act", make<nn::ELU>())) {}
    Var forward(std::span<const Var> in) override {
        const Var y = (*m_act)((*m_lin)(in[0]));
        return y + 0.5 * in[0];
    }

  private:
    std::shared_ptr<nn::Linear> m_lin;
    std::shared_ptr<nn::ELU> m_act;
};

class SharedTwice final : public Block {
  public:
    SharedTwice() : Block("SharedTwice") {
        constexpr std::int64_t kWidth = 12;
        m_proj = add("proj", make<nn::Linear>(kWidth, kWidth));
        m_act = add("act", make<nn::Tanh>());
        m_block = add("block", make<MixBlock>(kWidth));
        m_alias = add("alias", m_block);
        m_norm = add("norm", make<nn::LayerNorm>(nn::Ints{kWidth}));
    }

    Var forward(std::span<const Var> in) override {
        const Var a = (*m_act)((*m_proj)(in[0]));
        const Var b = (*m_act)((*m_proj)(a));
        const Var c = (*m_block)(b);
        const Var again = (*m_alias)(c);
        const Var d = again + (*m_block)(a);
        return (*m_norm)(c - d);
    }

  private:
    std::shared_ptr<nn::Linear> m_proj;
    std::shared_ptr<nn::Tanh> m_act;
    std::shared_ptr<MixBlock> m_block;
    std::shared_ptr<MixBlock> m_alias;
    std::shared_ptr<nn::LayerNorm> m_norm;
};

/// Stacks the channels again one by one, then takes one of two convolutions: a loop over a size, a branch on the data.
class GateBlock final : public Block {
  public:
    explicit GateBlock(std::int64_t channels)
        : Block("GateBlock"), m_conv(add("conv", make<nn::Conv2d>(channels, channels, 3, withBias(1, 1)))),
          m_alt(add("alt", make<nn::Conv2d>(channels, channels, 1))), m_bn(add("bn", make<nn::BatchNorm2d>(channels))),
          m_act(add("act", sequential({make<nn::Hardswish>(), make<nn::Identity>()}))) {}

    Var forward(std::span<const Var> in) override {
        std::vector<Var> rows;
        const std::int64_t channels = nn::size(in[0], 1).toInt();
        for (std::int64_t i = 0; i < channels; ++i) {
            rows.push_back(in[0][Var::tuple({kAll, i})] * (1.0 + 0.25 * static_cast<double>(i)));
        }
        const Var y = nn::stack(std::move(rows), 1);
        const Var filtered = y.method("mean") > 0 ? (*m_conv)(y) : (*m_alt)(y);
        return (*m_act)((*m_bn)(filtered));
    }

  private:
    std::shared_ptr<nn::Conv2d> m_conv;
    std::shared_ptr<nn::Conv2d> m_alt;
    std::shared_ptr<nn::BatchNorm2d> m_bn;
    std::shared_ptr<nn::Sequential> m_act;
};

class Residual final : public Block {
  public:
    explicit Residual(std::int64_t channels)
        : Block("Residual"), m_pre(add("pre", make<nn::Conv2d>(channels, channels, 1))),
          m_gate(add("gate", make<GateBlock>(channels))) {}
    Var forward(std::span<const Var> in) override { return in[0] + (*m_gate)((*m_pre)(in[0])); }

  private:
    std::shared_ptr<nn::Conv2d> m_pre;
    std::shared_ptr<GateBlock> m_gate;
};

class RobustNested final : public Block {
  public:
    RobustNested() : Block("RobustNested", {"image"}) {
        constexpr std::int64_t kChannels = 6;
        m_stem = add("stem", sequential({make<nn::Conv2d>(3, kChannels, 3, withBias(2, 1)),
                                         make<nn::BatchNorm2d>(kChannels), make<nn::ReLU>()}));
        m_body = add("body", sequential({make<Residual>(kChannels), make<Residual>(kChannels)}));
        m_pool = add("pool", make<nn::AdaptiveAvgPool2d>(1));
        m_head = add("head", make<nn::Linear>(kChannels, 4));
    }
    Var forward(std::span<const Var> in) override {
        const Var x = (*m_body)((*m_stem)(in[0]));
        return (*m_head)(nn::flatten((*m_pool)(x), 1));
    }

  private:
    std::shared_ptr<nn::Sequential> m_stem;
    std::shared_ptr<nn::Sequential> m_body;
    std::shared_ptr<nn::AdaptiveAvgPool2d> m_pool;
    std::shared_ptr<nn::Linear> m_head;
};

class ControlFlow final : public Block {
  public:
    ControlFlow()
        : Block("ControlFlow"), m_up(add("up", make<nn::Linear>(8, 8))), m_down(add("down", make<nn::Linear>(8, 8))) {}

    Var forward(std::span<const Var> in) override {
        const Var& x = in[0];
        if (!(x.method("dim") == 2))
            throw trace::TraceError(trace::TraceErrorKind::Assertion, "expected a batch of vectors");
        Var y = x.method("sum") > 0 ? nn::tanh((*m_up)(x)) * 8.0 : (*m_down)(x);
        int steps = 0;
        while (steps < kMaxSteps && y.method("abs").method("max") > kLimit) {
            y = y * 0.5;
            ++steps;
        }
        Var sum = trace::callFunction({"zeros_like", "zeros_like", "torch.zeros_like"}, {y});
        for (int i = 0; i <= steps; ++i) sum = i % 2 == 0 ? sum + (*m_up)(y) : sum - (*m_down)(y) / (i + 1);
        return Var::tuple({sum, Tensor::of<std::int64_t>(Shape{1}, {steps})});
    }
    bool makesTensor() const override { return false; }

  private:
    static constexpr double kLimit = 0.75;
    static constexpr int kMaxSteps = 12;
    std::shared_ptr<nn::Linear> m_up;
    std::shared_ptr<nn::Linear> m_down;
};

}  // namespace

ModulePtr mlpFunctional(const Settings&) { return make<MlpFunctional>(); }
ModulePtr sharedTwice(const Settings&) { return make<SharedTwice>(); }
ModulePtr controlFlow(const Settings&) { return make<ControlFlow>(); }
ModulePtr robustNested(const Settings&) { return make<RobustNested>(); }

}  // namespace sonde::zoo
