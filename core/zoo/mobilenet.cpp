#include "core/zoo/mobilenet.h"

#include "core/zoo/parts.h"

namespace sonde::zoo {

namespace {

using Activation = ModulePtr (*)();
ModulePtr relu6() { return make<nn::ReLU6>(); }
ModulePtr hardswish() { return make<nn::Hardswish>(); }

struct Normalisation {
    double eps = 1e-5;
    double momentum = 0.1;
};

/// Convolution without bias, batch normalisation, and an activation unless there is none.
ModulePtr convNormActivation(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                             std::int64_t groups, Activation activation, Normalisation norm) {
    auto result = make<NamedSequential>("Conv2dNormActivation");
    result->append(make<nn::Conv2d>(in, out, kernel, noBias(kernel, stride, groups)));
    result->append(make<nn::BatchNorm2d>(out, norm.eps, norm.momentum));
    if (activation) result->append(activation());
    return result;
}

/// y = x hardsigmoid(fc2(relu(fc1(mean(x))))): a weight for each channel (Hu et al. 2018, arXiv:1709.01507).
class SqueezeExcitation final : public Block {
  public:
    SqueezeExcitation(std::int64_t channels, std::int64_t squeezed)
        : Block("SqueezeExcitation", {"input"}), m_avgpool(add("avgpool", make<nn::AdaptiveAvgPool2d>(1))),
          m_fc1(add("fc1", make<nn::Conv2d>(channels, squeezed, 1))),
          m_fc2(add("fc2", make<nn::Conv2d>(squeezed, channels, 1))), m_activation(add("activation", make<nn::ReLU>())),
          m_scaleActivation(add("scale_activation", make<nn::Hardsigmoid>())) {}

    Var forward(std::span<const Var> in) override {
        const Var squeezed = (*m_activation)((*m_fc1)((*m_avgpool)(in[0])));
        return (*m_scaleActivation)((*m_fc2)(squeezed)) * in[0];
    }

  private:
    std::shared_ptr<nn::AdaptiveAvgPool2d> m_avgpool;
    std::shared_ptr<nn::Conv2d> m_fc1;
    std::shared_ptr<nn::Conv2d> m_fc2;
    std::shared_ptr<nn::ReLU> m_activation;
    std::shared_ptr<nn::Hardsigmoid> m_scaleActivation;
};

/// y = x + inside(x) if the shape stays, else inside(x): widen by 1x1, filter each channel, narrow by 1x1.
/// The parts are in a Sequential called "conv" (V2) or "block" (V3).
class InvertedResidual final : public Block {
  public:
    InvertedResidual(const char* insideName, std::shared_ptr<nn::Sequential> inside, bool shortcut, bool shortcutFirst)
        : Block("InvertedResidual", {insideName[0] == 'b' ? "input" : "x"}),
          m_inside(add(insideName, std::move(inside))), m_shortcut(shortcut), m_shortcutFirst(shortcutFirst) {}

    Var forward(std::span<const Var> in) override {
        if (!m_shortcut) return (*m_inside)(in[0]);
        const Var y = (*m_inside)(in[0]);
        return m_shortcutFirst ? in[0] + y : y + in[0];
    }

  private:
    std::shared_ptr<nn::Sequential> m_inside;
    bool m_shortcut;
    bool m_shortcutFirst;
};

ModulePtr v2Block(std::int64_t in, std::int64_t out, std::int64_t stride, std::int64_t expansion) {
    const std::int64_t hidden = in * expansion;
    auto inside = sequential();
    if (expansion != 1) inside->append(convNormActivation(in, hidden, 1, 1, 1, relu6, {}));
    inside->append(convNormActivation(hidden, hidden, 3, stride, hidden, relu6, {}));
    inside->append(make<nn::Conv2d>(hidden, out, 1, noBias(1)));
    inside->append(make<nn::BatchNorm2d>(out));
    return make<InvertedResidual>("conv", inside, stride == 1 && in == out, true);
}

class MobileNetV2 final : public Block {
  public:
    explicit MobileNetV2(const Settings& settings) : Block("MobileNetV2") {
        struct Stage {
            std::int64_t expansion, channels, blocks, stride;
        };
        static constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                            {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
        const double width = settings.number("width");
        std::int64_t channels = scaledToEight(32, width);
        m_features = add("features", sequential({convNormActivation(3, channels, 3, 2, 1, relu6, {})}));
        for (const Stage& stage : kStages) {
            const std::int64_t out = scaledToEight(static_cast<double>(stage.channels), width);
            for (std::int64_t i = 0; i < stage.blocks; ++i) {
                m_features->append(v2Block(channels, out, i == 0 ? stage.stride : 1, stage.expansion));
                channels = out;
            }
        }
        const std::int64_t last = scaledToEight(1280, std::max(1.0, width));
        m_features->append(convNormActivation(channels, last, 1, 1, 1, relu6, {}));
        m_classifier =
            add("classifier", sequential({make<nn::Dropout>(0.2), make<nn::Linear>(last, settings.whole("classes"))}));
    }

    Var forward(std::span<const Var> in) override {
        const Var pooled = adaptiveAvgPool((*m_features)(in[0]), 1);
        return (*m_classifier)(nn::flatten(pooled, 1));
    }

  private:
    std::shared_ptr<nn::Sequential> m_features;
    std::shared_ptr<nn::Sequential> m_classifier;
};

/// One block of V3 as in table 2 of the paper: input, kernel, expanded and output channels, squeeze-excitation,
/// hard-swish instead of ReLU, stride.
struct V3Block {
    std::int64_t in, kernel, expanded, out;
    bool squeezes, swishes;
    std::int64_t stride;
};

constexpr Normalisation kV3Norm{1e-3, 1e-2};

ModulePtr v3Block(const V3Block& row, double width) {
    const auto channels = [width](std::int64_t count) { return scaledToEight(static_cast<double>(count), width); };
    const std::int64_t in = channels(row.in);
    const std::int64_t expanded = channels(row.expanded);
    const std::int64_t out = channels(row.out);
    const Activation activation = row.swishes ? hardswish : relu;
    auto inside = sequential();
    if (expanded != in) inside->append(convNormActivation(in, expanded, 1, 1, 1, activation, kV3Norm));
    inside->append(convNormActivation(expanded, expanded, row.kernel, row.stride, expanded, activation, kV3Norm));
    if (row.squeezes)
        inside->append(make<SqueezeExcitation>(expanded, scaledToEight(static_cast<double>(expanded / 4), 1)));
    inside->append(convNormActivation(expanded, out, 1, 1, 1, nullptr, kV3Norm));
    return make<InvertedResidual>("block", inside, row.stride == 1 && in == out, false);
}

class MobileNetV3 final : public Block {
  public:
    MobileNetV3(std::span<const V3Block> rows, std::int64_t lastChannels, const Settings& settings)
        : Block("MobileNetV3") {
        const double width = settings.number("width");
        const std::int64_t first = scaledToEight(static_cast<double>(rows.front().in), width);
        m_features = add("features", sequential({convNormActivation(3, first, 3, 2, 1, hardswish, kV3Norm)}));
        for (const V3Block& row : rows) m_features->append(v3Block(row, width));
        const std::int64_t channels = scaledToEight(static_cast<double>(rows.back().out), width);
        const std::int64_t wide = 6 * channels;
        m_features->append(convNormActivation(channels, wide, 1, 1, 1, hardswish, kV3Norm));
        m_avgpool = add("avgpool", make<nn::AdaptiveAvgPool2d>(1));
        const std::int64_t last = scaledToEight(static_cast<double>(lastChannels), width);
        m_classifier =
            add("classifier", sequential({make<nn::Linear>(wide, last), make<nn::Hardswish>(), make<nn::Dropout>(0.2),
                                          make<nn::Linear>(last, settings.whole("classes"))}));
    }

    Var forward(std::span<const Var> in) override {
        return (*m_classifier)(nn::flatten((*m_avgpool)((*m_features)(in[0])), 1));
    }

  private:
    std::shared_ptr<nn::Sequential> m_features;
    std::shared_ptr<nn::AdaptiveAvgPool2d> m_avgpool;
    std::shared_ptr<nn::Sequential> m_classifier;
};

}  // namespace

ModulePtr mobilenetV2(const Settings& settings) { return make<MobileNetV2>(settings); }

ModulePtr mobilenetV3Small(const Settings& settings) {
    static constexpr V3Block kSmall[] = {
        {16, 3, 16, 16, true, false, 2}, {16, 3, 72, 24, false, false, 2}, {24, 3, 88, 24, false, false, 1},
        {24, 5, 96, 40, true, true, 2},  {40, 5, 240, 40, true, true, 1},  {40, 5, 240, 40, true, true, 1},
        {40, 5, 120, 48, true, true, 1}, {48, 5, 144, 48, true, true, 1},  {48, 5, 288, 96, true, true, 2},
        {96, 5, 576, 96, true, true, 1}, {96, 5, 576, 96, true, true, 1},
    };
    return make<MobileNetV3>(kSmall, 1024, settings);
}

}  // namespace sonde::zoo
