#include "core/zoo/resnet.h"

#include <array>

#include "core/zoo/parts.h"

namespace sonde::zoo {

namespace {

std::shared_ptr<nn::Conv2d> conv(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride = 1) {
    return make<nn::Conv2d>(in, out, kernel, noBias(kernel, stride));
}

/// y = relu(F(x) + shortcut(x)) with two 3x3 convolutions (basic) or 1x1, 3x3, 1x1 (bottleneck, four times as wide).
class ResidualBlock final : public Block {
  public:
    ResidualBlock(bool bottleneck, std::int64_t in, std::int64_t width, std::int64_t stride)
        : Block(bottleneck ? "Bottleneck" : "BasicBlock") {
        const std::int64_t out = bottleneck ? 4 * width : width;
        m_convs = {add("conv1", bottleneck ? conv(in, width, 1) : conv(in, width, 3, stride))};
        m_norms = {add("bn1", make<nn::BatchNorm2d>(width))};
        if (!bottleneck) m_relu = add("relu", make<nn::ReLU>());
        m_convs.push_back(add("conv2", conv(width, width, 3, bottleneck ? stride : 1)));
        m_norms.push_back(add("bn2", make<nn::BatchNorm2d>(width)));
        if (bottleneck) {
            m_convs.push_back(add("conv3", conv(width, out, 1)));
            m_norms.push_back(add("bn3", make<nn::BatchNorm2d>(out)));
            m_relu = add("relu", make<nn::ReLU>());
        }
        if (stride != 1 || in != out)
            m_downsample = add("downsample", sequential({conv(in, out, 1, stride), make<nn::BatchNorm2d>(out)}));
    }

    Var forward(std::span<const Var> in) override {
        Var y = in[0];
        for (std::size_t i = 0; i < m_convs.size(); ++i) {
            y = (*m_norms[i])((*m_convs[i])(y));
            if (i + 1 < m_convs.size()) y = (*m_relu)(y);
        }
        const Var shortcut = m_downsample ? (*m_downsample)(in[0]) : in[0];
        return (*m_relu)(y + shortcut);
    }

  private:
    std::vector<std::shared_ptr<nn::Conv2d>> m_convs;
    std::vector<std::shared_ptr<nn::BatchNorm2d>> m_norms;
    std::shared_ptr<nn::ReLU> m_relu;
    std::shared_ptr<nn::Sequential> m_downsample;
};

class ResNet final : public Block {
  public:
    ResNet(bool bottleneck, const std::array<int, 4>& blocks, const Settings& settings) : Block("ResNet") {
        const double factor = settings.number("width");
        std::int64_t channels = scaled(64, factor);
        m_conv1 = add("conv1", make<nn::Conv2d>(3, channels, 7, noBias(7, 2)));
        m_bn1 = add("bn1", make<nn::BatchNorm2d>(channels));
        m_relu = add("relu", make<nn::ReLU>());
        m_maxpool = add("maxpool", make<nn::MaxPool2d>(3, 2, 1));
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const std::int64_t width = scaled(std::int64_t{64} << i, factor);
            auto layer = sequential();
            for (int b = 0; b < blocks[i]; ++b) {
                layer->append(make<ResidualBlock>(bottleneck, channels, width, b == 0 && i > 0 ? 2 : 1));
                channels = bottleneck ? 4 * width : width;
            }
            m_layers.push_back(add("layer" + std::to_string(i + 1), layer));
        }
        m_avgpool = add("avgpool", make<nn::AdaptiveAvgPool2d>(1));
        m_fc = add("fc", make<nn::Linear>(channels, settings.whole("classes")));
    }

    Var forward(std::span<const Var> in) override {
        Var x = (*m_maxpool)((*m_relu)((*m_bn1)((*m_conv1)(in[0]))));
        for (const auto& layer : m_layers) x = (*layer)(x);
        return (*m_fc)(nn::flatten((*m_avgpool)(x), 1));
    }

  private:
    std::shared_ptr<nn::Conv2d> m_conv1;
    std::shared_ptr<nn::BatchNorm2d> m_bn1;
    std::shared_ptr<nn::ReLU> m_relu;
    std::shared_ptr<nn::MaxPool2d> m_maxpool;
    std::vector<std::shared_ptr<nn::Sequential>> m_layers;
    std::shared_ptr<nn::AdaptiveAvgPool2d> m_avgpool;
    std::shared_ptr<nn::Linear> m_fc;
};

}  // namespace

ModulePtr resnet18(const Settings& settings) { return make<ResNet>(false, std::array{2, 2, 2, 2}, settings); }
ModulePtr resnet34(const Settings& settings) { return make<ResNet>(false, std::array{3, 4, 6, 3}, settings); }
ModulePtr resnet50(const Settings& settings) { return make<ResNet>(true, std::array{3, 4, 6, 3}, settings); }

}  // namespace sonde::zoo
