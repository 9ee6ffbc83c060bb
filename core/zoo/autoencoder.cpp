#include "core/zoo/autoencoder.h"

#include "core/zoo/parts.h"

namespace sonde::zoo {

namespace {

constexpr std::int64_t kSide = 7;  ///< of the smallest map: 28 halved twice

class Autoencoder final : public Block {
  public:
    explicit Autoencoder(std::int64_t code) : Block("Autoencoder") {
        m_encoder = add("encoder", sequential({make<nn::Conv2d>(1, 16, 3, withBias(2, 1)), make<nn::ReLU>(),
                                               make<nn::Conv2d>(16, 32, 3, withBias(2, 1)), make<nn::ReLU>(),
                                               make<nn::Flatten>(), make<nn::Linear>(32 * kSide * kSide, code)}));
        m_decoder = add("decoder", sequential({make<nn::Linear>(code, 32 * kSide * kSide), make<nn::ReLU>(),
                                               make<nn::Unflatten>(1, nn::Ints{32, kSide, kSide}),
                                               make<nn::ConvTranspose2d>(32, 16, 2, withBias(2)), make<nn::ReLU>(),
                                               make<nn::ConvTranspose2d>(16, 1, 2, withBias(2)), make<nn::Sigmoid>()}));
    }

    Var forward(std::span<const Var> in) override {
        const Var code = (*m_encoder)(in[0]);
        return Var::tuple({(*m_decoder)(code), code});
    }
    bool makesTensor() const override { return false; }

  private:
    std::shared_ptr<nn::Sequential> m_encoder;
    std::shared_ptr<nn::Sequential> m_decoder;
};

}  // namespace

ModulePtr autoencoder(const Settings& settings) { return make<Autoencoder>(settings.whole("code")); }

}  // namespace sonde::zoo
