#include "core/zoo/shufflenet.h"

#include <array>

#include "core/zoo/parts.h"

namespace sonde::zoo {

namespace {

/// Channels (g, c) -> (c, g): what was in different groups comes to lie side by side.
Var channelShuffle(const Var& x, std::int64_t groups) {
    const std::vector<Var> size = nn::size(x).unpack(4);
    const Var perGroup = floordiv(size[1], groups);
    const Var split = nn::view(x, {size[0], groups, perGroup, size[2], size[3]});
    const Var swapped = trace::callFunction({"transpose.int", "transpose", "torch.transpose"}, {split, 1, 2});
    return nn::view(nn::contiguous(swapped), {size[0], -1, size[2], size[3]});
}

ModulePtr convolution(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                      std::int64_t groups) {
    return make<nn::Conv2d>(in, out, kernel, noBias(kernel, stride, groups));
}
ModulePtr norm(std::int64_t channels) { return make<nn::BatchNorm2d>(channels); }

/// Stride 1: one half of the channels passes through, the other through branch2. Stride 2: both branches read all.
class ShuffleResidual final : public Block {
  public:
    ShuffleResidual(std::int64_t in, std::int64_t out, std::int64_t stride)
        : Block("InvertedResidual"), m_stride(stride) {
        const std::int64_t half = out / 2;
        m_branch1 = add("branch1", sequential());
        if (stride > 1) {
            for (const ModulePtr& part :
                 {convolution(in, in, 3, stride, in), norm(in), convolution(in, half, 1, 1, 1), norm(half), relu()}) {
                m_branch1->append(part);
            }
        }
        m_branch2 = add("branch2", sequential({convolution(stride > 1 ? in : half, half, 1, 1, 1), norm(half), relu(),
                                               convolution(half, half, 3, stride, half), norm(half),
                                               convolution(half, half, 1, 1, 1), norm(half), relu()}));
    }

    Var forward(std::span<const Var> in) override {
        std::vector<Var> halves;
        if (m_stride == 1) {
            halves = nn::chunk(in[0], 2, 1).unpack(2);
            halves[1] = (*m_branch2)(halves[1]);
        } else {
            halves.push_back((*m_branch1)(in[0]));
            halves.push_back((*m_branch2)(in[0]));
        }
        return channelShuffle(nn::cat(Var::tuple(std::move(halves)), 1), 2);
    }

  private:
    std::int64_t m_stride;
    std::shared_ptr<nn::Sequential> m_branch1;
    std::shared_ptr<nn::Sequential> m_branch2;
};

class ShuffleNetV2 final : public Block {
  public:
    ShuffleNetV2(const std::array<std::int64_t, 5>& widths, std::int64_t classes) : Block("ShuffleNetV2") {
        static constexpr int kBlocks[] = {4, 8, 4};
        std::int64_t channels = widths[0];
        m_parts.push_back(add("conv1", sequential({convolution(3, channels, 3, 2, 1), norm(channels), relu()})));
        m_parts.push_back(add("maxpool", make<nn::MaxPool2d>(3, 2, 1)));
        for (std::size_t stage = 0; stage < 3; ++stage) {
            auto blocks = sequential();
            for (int i = 0; i < kBlocks[stage]; ++i) {
                blocks->append(make<ShuffleResidual>(channels, widths[stage + 1], i == 0 ? 2 : 1));
                channels = widths[stage + 1];
            }
            m_parts.push_back(add("stage" + std::to_string(stage + 2), blocks));
        }
        m_parts.push_back(
            add("conv5", sequential({convolution(channels, widths[4], 1, 1, 1), norm(widths[4]), relu()})));
        m_fc = add("fc", make<nn::Linear>(widths[4], classes));
    }

    Var forward(std::span<const Var> in) override {
        Var x = in[0];
        for (const ModulePtr& part : m_parts) x = (*part)(x);
        return (*m_fc)(x.method("mean", {nn::Ints{2, 3}}, {}, "mean.dim"));
    }

  private:
    std::vector<ModulePtr> m_parts;
    std::shared_ptr<nn::Linear> m_fc;
};

}  // namespace

ModulePtr shufflenetV2Half(const Settings& settings) {
    return make<ShuffleNetV2>(std::array<std::int64_t, 5>{24, 48, 96, 192, 1024}, settings.whole("classes"));
}

}  // namespace sonde::zoo
