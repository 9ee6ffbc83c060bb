#include "core/zoo/resnet.h"

#include <array>

#include "core/nn/activation.h"
#include "core/nn/containers.h"
#include "core/nn/conv.h"
#include "core/nn/functional.h"
#include "core/nn/linear.h"
#include "core/nn/normalization.h"
#include "core/nn/pooling.h"

namespace sonde::zoo {

namespace {

using nn::Module;
using nn::Var;

std::shared_ptr<nn::Conv2d> conv(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride = 1) {
    return std::make_shared<nn::Conv2d>(
        in, out, kernel, nn::ConvOptions{.stride = stride, .padding = kernel / 2, .dilation = 1, .groups = 1, .bias = false});
}

/// y = relu(F(x) + shortcut(x)) with two 3x3 convolutions (basic) or 1x1, 3x3, 1x1 (bottleneck, four times as wide).
class ResidualBlock final : public Module {
  public:
    ResidualBlock(bool bottleneck, std::int64_t in, std::int64_t width, std::int64_t stride) : m_bottleneck(bottleneck) {
        const std::int64_t out = bottleneck ? 4 * width : width;
        m_convs = {add("conv1", bottleneck ? conv(in, width, 1) : conv(in, width, 3, stride))};
        m_norms = {add("bn1", std::make_shared<nn::BatchNorm2d>(width))};
        if (!bottleneck) m_relu = add("relu", std::make_shared<nn::ReLU>());
        m_convs.push_back(add("conv2", conv(width, width, 3, bottleneck ? stride : 1)));
        m_norms.push_back(add("bn2", std::make_shared<nn::BatchNorm2d>(width)));
        if (bottleneck) {
            m_convs.push_back(add("conv3", conv(width, out, 1)));
            m_norms.push_back(add("bn3", std::make_shared<nn::BatchNorm2d>(out)));
            m_relu = add("relu", std::make_shared<nn::ReLU>());
        }
        if (stride != 1 || in != out) {
            const std::vector<std::shared_ptr<Module>> parts{conv(in, out, 1, stride), std::make_shared<nn::BatchNorm2d>(out)};
            m_downsample = add("downsample", std::make_shared<nn::Sequential>(parts));
        }
    }

    std::string className() const override { return m_bottleneck ? "Bottleneck" : "BasicBlock"; }
    std::vector<nn::ForwardParameter> signature() const override { return {{"x", std::nullopt, false}}; }

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
    bool m_bottleneck;
    std::vector<std::shared_ptr<nn::Conv2d>> m_convs;
    std::vector<std::shared_ptr<nn::BatchNorm2d>> m_norms;
    std::shared_ptr<nn::ReLU> m_relu;
    std::shared_ptr<nn::Sequential> m_downsample;
};

class ResNet final : public Module {
  public:
    ResNet(bool bottleneck, const std::array<int, 4>& blocks) {
        m_conv1 = add("conv1", std::make_shared<nn::Conv2d>(3, 64, 7,
                                                            nn::ConvOptions{.stride = 2, .padding = 3, .dilation = 1, .groups = 1, .bias = false}));
        m_bn1 = add("bn1", std::make_shared<nn::BatchNorm2d>(64));
        m_relu = add("relu", std::make_shared<nn::ReLU>());
        m_maxpool = add("maxpool", std::make_shared<nn::MaxPool2d>(3, 2, 1));
        std::int64_t channels = 64;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const std::int64_t width = std::int64_t{64} << i;
            auto layer = std::make_shared<nn::Sequential>();
            for (int b = 0; b < blocks[i]; ++b) {
                layer->append(std::make_shared<ResidualBlock>(bottleneck, channels, width, b == 0 && i > 0 ? 2 : 1));
                channels = bottleneck ? 4 * width : width;
            }
            m_layers.push_back(add("layer" + std::to_string(i + 1), layer));
        }
        m_avgpool = add("avgpool", std::make_shared<nn::AdaptiveAvgPool2d>(1));
        m_fc = add("fc", std::make_shared<nn::Linear>(channels, 1000));
    }

    std::string className() const override { return "ResNet"; }
    std::vector<nn::ForwardParameter> signature() const override { return {{"x", std::nullopt, false}}; }

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

std::shared_ptr<Module> resnet18() { return std::make_shared<ResNet>(false, std::array{2, 2, 2, 2}); }
std::shared_ptr<Module> resnet34() { return std::make_shared<ResNet>(false, std::array{3, 4, 6, 3}); }
std::shared_ptr<Module> resnet50() { return std::make_shared<ResNet>(true, std::array{3, 4, 6, 3}); }

}  // namespace sonde::zoo
