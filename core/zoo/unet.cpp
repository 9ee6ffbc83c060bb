#include "core/zoo/unet.h"

#include "core/nn/upsample.h"
#include "core/zoo/parts.h"

namespace sonde::zoo {

namespace {

/// Twice: 3x3 convolution, batch normalisation, ReLU.
class DoubleConv final : public Block {
  public:
    DoubleConv(std::int64_t in, std::int64_t out)
        : Block("DoubleConv"), m_conv1(add("conv1", make<nn::Conv2d>(in, out, 3, noBias(3)))),
          m_bn1(add("bn1", make<nn::BatchNorm2d>(out))),
          m_conv2(add("conv2", make<nn::Conv2d>(out, out, 3, noBias(3)))),
          m_bn2(add("bn2", make<nn::BatchNorm2d>(out))), m_relu(add("relu", make<nn::ReLU>())) {}

    Var forward(std::span<const Var> in) override {
        const Var x = (*m_relu)((*m_bn1)((*m_conv1)(in[0])));
        return (*m_relu)((*m_bn2)((*m_conv2)(x)));
    }

  private:
    std::shared_ptr<nn::Conv2d> m_conv1;
    std::shared_ptr<nn::BatchNorm2d> m_bn1;
    std::shared_ptr<nn::Conv2d> m_conv2;
    std::shared_ptr<nn::BatchNorm2d> m_bn2;
    std::shared_ptr<nn::ReLU> m_relu;
};

/// Doubles height and width, joins the skip connection, and filters. x [N,2C,H,W], skip [N,C,2H,2W] -> [N,C,2H,2W].
class Up final : public Block {
  public:
    Up(std::int64_t in, std::int64_t out, bool bilinear)
        : Block(bilinear ? "UpBilinear" : "UpTransposed", {"x", "skip"}) {
        if (bilinear) {
            m_up = add("up", make<nn::Upsample>(
                                 nn::UpsampleOptions{.scaleFactor = 2.0, .mode = "bilinear", .alignCorners = false}));
            m_reduce = add("reduce", make<nn::Conv2d>(in, out, 1));
        } else {
            m_up = add("up", make<nn::ConvTranspose2d>(in, out, 2, withBias(2)));
        }
        m_conv = add("conv", make<DoubleConv>(2 * out, out));
    }

    Var forward(std::span<const Var> in) override {
        Var x = (*m_up)(in[0]);
        if (m_reduce) x = (*m_reduce)(x);
        return (*m_conv)(nn::cat({in[1], x}, 1));
    }

  private:
    ModulePtr m_up;
    std::shared_ptr<nn::Conv2d> m_reduce;
    std::shared_ptr<DoubleConv> m_conv;
};

class UNet final : public Block {
  public:
    /// `bilinear` says for each scale, the finest first, how the decoder enlarges.
    UNet(std::int64_t classes, std::int64_t width, const std::vector<bool>& bilinear) : Block("UNet", {"image"}) {
        std::int64_t channels = 3;
        std::int64_t next = width;
        for (std::size_t i = 0; i < bilinear.size(); ++i, next *= 2) {
            m_encoders.push_back(add("enc" + std::to_string(i + 1), make<DoubleConv>(channels, next)));
            channels = next;
        }
        m_pool = add("pool", make<nn::MaxPool2d>(2));
        m_middle = add("mid", make<DoubleConv>(channels, next));
        for (std::size_t i = bilinear.size(); i-- > 0; next /= 2) {
            m_decoders.push_back(add("up" + std::to_string(i + 1), make<Up>(next, next / 2, bilinear[i])));
        }
        m_head = add("head", make<nn::Conv2d>(width, classes, 1));
    }

    Var forward(std::span<const Var> in) override {
        std::vector<Var> skips;
        Var x = in[0];
        for (const auto& encoder : m_encoders) {
            skips.push_back((*encoder)(x));
            x = (*m_pool)(skips.back());
        }
        x = (*m_middle)(x);
        for (const auto& decoder : m_decoders) {
            x = (*decoder)(x, skips.back());
            skips.pop_back();
        }
        return (*m_head)(x);
    }

  private:
    std::vector<std::shared_ptr<DoubleConv>> m_encoders;
    std::shared_ptr<nn::MaxPool2d> m_pool;
    std::shared_ptr<DoubleConv> m_middle;
    std::vector<std::shared_ptr<Up>> m_decoders;
    std::shared_ptr<nn::Conv2d> m_head;
};

}  // namespace

ModulePtr unet(const Settings& settings) {
    return make<UNet>(settings.whole("classes"), settings.whole("width"),
                      std::vector<bool>{false, false, false, false});
}

ModulePtr unetSmall(const Settings& settings) {
    return make<UNet>(settings.whole("classes"), settings.whole("width"), std::vector<bool>{false, true, false});
}

}  // namespace sonde::zoo
