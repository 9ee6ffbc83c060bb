#include "core/zoo/squeezenet.h"

#include "core/zoo/parts.h"

namespace sonde::zoo {

namespace {

/// s = relu(squeeze(x)); y = [relu(expand1x1(s)), relu(expand3x3(s))] along the channels.
class Fire final : public Block {
  public:
    Fire(std::int64_t in, std::int64_t squeezed, std::int64_t expanded)
        : Block("Fire"), m_squeeze(add("squeeze", make<nn::Conv2d>(in, squeezed, 1))),
          m_squeezeActivation(add("squeeze_activation", make<nn::ReLU>())),
          m_expand1(add("expand1x1", make<nn::Conv2d>(squeezed, expanded, 1))),
          m_expand1Activation(add("expand1x1_activation", make<nn::ReLU>())),
          m_expand3(add("expand3x3", make<nn::Conv2d>(squeezed, expanded, 3, withBias(1, 1)))),
          m_expand3Activation(add("expand3x3_activation", make<nn::ReLU>())) {}

    Var forward(std::span<const Var> in) override {
        const Var x = (*m_squeezeActivation)((*m_squeeze)(in[0]));
        const Var narrow = (*m_expand1Activation)((*m_expand1)(x));
        const Var wide = (*m_expand3Activation)((*m_expand3)(x));
        return nn::cat({narrow, wide}, 1);
    }

  private:
    std::shared_ptr<nn::Conv2d> m_squeeze;
    std::shared_ptr<nn::ReLU> m_squeezeActivation;
    std::shared_ptr<nn::Conv2d> m_expand1;
    std::shared_ptr<nn::ReLU> m_expand1Activation;
    std::shared_ptr<nn::Conv2d> m_expand3;
    std::shared_ptr<nn::ReLU> m_expand3Activation;
};

class SqueezeNet final : public Block {
  public:
    explicit SqueezeNet(const Settings& settings) : Block("SqueezeNet") {
        const auto width = [factor = settings.number("width")](std::int64_t channels) {
            return scaled(channels, factor);
        };
        const auto pool = [] { return make<nn::MaxPool2d>(3, 2, 0, 1, false, true); };
        m_features =
            add("features", sequential({make<nn::Conv2d>(3, width(64), 3, withBias(2)), make<nn::ReLU>(), pool()}));
        struct Stage {
            std::int64_t squeezed;
            std::int64_t expanded;
        };
        std::int64_t channels = width(64);
        const auto addStages = [&](std::initializer_list<Stage> stages) {
            for (const Stage& stage : stages) {
                m_features->append(make<Fire>(channels, width(stage.squeezed), width(stage.expanded)));
                channels = 2 * width(stage.expanded);
            }
        };
        addStages({{16, 64}, {16, 64}});
        m_features->append(pool());
        addStages({{32, 128}, {32, 128}});
        m_features->append(pool());
        addStages({{48, 192}, {48, 192}, {64, 256}, {64, 256}});
        m_classifier =
            add("classifier", sequential({make<nn::Dropout>(), make<nn::Conv2d>(channels, settings.whole("classes"), 1),
                                          make<nn::ReLU>(), make<nn::AdaptiveAvgPool2d>(1)}));
    }

    Var forward(std::span<const Var> in) override { return nn::flatten((*m_classifier)((*m_features)(in[0])), 1); }

  private:
    std::shared_ptr<nn::Sequential> m_features;
    std::shared_ptr<nn::Sequential> m_classifier;
};

}  // namespace

ModulePtr squeezenet11(const Settings& settings) { return make<SqueezeNet>(settings); }

}  // namespace sonde::zoo
