#include "core/zoo/densenet.h"

#include <array>

#include "core/zoo/parts.h"

namespace sonde::zoo {

namespace {

constexpr std::int64_t kGrowth = 32;
constexpr std::int64_t kBottleneck = 4;  ///< times the growth

/// [N,C,H,W] (or a list of such, joined along the channels) -> growth new channels:
/// conv2(relu2(norm2(conv1(relu1(norm1(x)))))).
class DenseLayer final : public Block {
  public:
    explicit DenseLayer(std::int64_t in)
        : Block("_DenseLayer", {{"input", std::nullopt, false, false}}),
          m_norm1(add("norm1", make<nn::BatchNorm2d>(in))), m_relu1(add("relu1", make<nn::ReLU>())),
          m_conv1(add("conv1", make<nn::Conv2d>(in, kBottleneck * kGrowth, 1, noBias(1)))),
          m_norm2(add("norm2", make<nn::BatchNorm2d>(kBottleneck * kGrowth))), m_relu2(add("relu2", make<nn::ReLU>())),
          m_conv2(add("conv2", make<nn::Conv2d>(kBottleneck * kGrowth, kGrowth, 3, noBias(3)))) {}

    Var forward(std::span<const Var> in) override {
        const Var joined = nn::cat(in[0].kind() == Var::Kind::List ? in[0] : Var::list({in[0]}), 1);
        return (*m_conv2)((*m_relu2)((*m_norm2)((*m_conv1)((*m_relu1)((*m_norm1)(joined))))));
    }

  private:
    std::shared_ptr<nn::BatchNorm2d> m_norm1;
    std::shared_ptr<nn::ReLU> m_relu1;
    std::shared_ptr<nn::Conv2d> m_conv1;
    std::shared_ptr<nn::BatchNorm2d> m_norm2;
    std::shared_ptr<nn::ReLU> m_relu2;
    std::shared_ptr<nn::Conv2d> m_conv2;
};

/// x followed by the new channels of each layer.
class DenseBlock final : public Block {
  public:
    DenseBlock(std::int64_t in, int layers) : Block("_DenseBlock", {"init_features"}) {
        for (int i = 0; i < layers; ++i) {
            m_layers.push_back(add("denselayer" + std::to_string(i + 1), make<DenseLayer>(in + i * kGrowth)));
        }
    }

    Var forward(std::span<const Var> in) override {
        std::vector<Var> features{in[0]};
        for (const auto& layer : m_layers) features.push_back((*layer)(Var::list(features)));
        return nn::cat(std::move(features), 1);
    }

  private:
    std::vector<std::shared_ptr<DenseLayer>> m_layers;
};

/// Half the channels, half the height and width.
ModulePtr transition(std::int64_t in) {
    auto result = make<NamedSequential>("_Transition");
    result->addChild("norm", make<nn::BatchNorm2d>(in));
    result->addChild("relu", make<nn::ReLU>());
    result->addChild("conv", make<nn::Conv2d>(in, in / 2, 1, noBias(1)));
    result->addChild("pool", make<nn::AvgPool2d>(2, 2));
    return result;
}

class DenseNet final : public Block {
  public:
    DenseNet(const std::array<int, 4>& blocks, std::int64_t classes) : Block("DenseNet") {
        std::int64_t channels = 2 * kGrowth;
        m_features = add("features", sequential());
        m_features->addChild("conv0", make<nn::Conv2d>(3, channels, 7, noBias(7, 2)));
        m_features->addChild("norm0", make<nn::BatchNorm2d>(channels));
        m_features->addChild("relu0", make<nn::ReLU>());
        m_features->addChild("pool0", make<nn::MaxPool2d>(3, 2, 1));
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const std::string number = std::to_string(i + 1);
            m_features->addChild("denseblock" + number, make<DenseBlock>(channels, blocks[i]));
            channels += blocks[i] * kGrowth;
            if (i + 1 == blocks.size()) break;
            m_features->addChild("transition" + number, transition(channels));
            channels /= 2;
        }
        m_features->addChild("norm5", make<nn::BatchNorm2d>(channels));
        m_classifier = add("classifier", make<nn::Linear>(channels, classes));
    }

    Var forward(std::span<const Var> in) override {
        const Var features = nn::relu((*m_features)(in[0]));
        return (*m_classifier)(nn::flatten(adaptiveAvgPool(features, 1), 1));
    }

  private:
    std::shared_ptr<nn::Sequential> m_features;
    std::shared_ptr<nn::Linear> m_classifier;
};

}  // namespace

ModulePtr densenet121(const Settings& settings) {
    return make<DenseNet>(std::array{6, 12, 24, 16}, settings.whole("classes"));
}

}  // namespace sonde::zoo
