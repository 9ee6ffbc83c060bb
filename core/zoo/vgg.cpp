#include "core/zoo/vgg.h"

#include "core/zoo/parts.h"

namespace sonde::zoo {

namespace {

class Vgg final : public Block {
  public:
    Vgg(std::span<const int> widths, std::int64_t classes) : Block("VGG") {
        m_features = add("features", sequential());
        std::int64_t channels = 3;
        for (const int width : widths) {
            if (width == 0) {
                m_features->append(make<nn::MaxPool2d>(2, 2));
                continue;
            }
            m_features->append(make<nn::Conv2d>(channels, width, 3, withBias(1, 1)));
            m_features->append(make<nn::ReLU>());
            channels = width;
        }
        m_avgpool = add("avgpool", make<nn::AdaptiveAvgPool2d>(7));
        m_classifier =
            add("classifier", sequential({make<nn::Linear>(channels * 49, 4096), make<nn::ReLU>(), make<nn::Dropout>(),
                                          make<nn::Linear>(4096, 4096), make<nn::ReLU>(), make<nn::Dropout>(),
                                          make<nn::Linear>(4096, classes)}));
    }

    Var forward(std::span<const Var> in) override {
        return (*m_classifier)(nn::flatten((*m_avgpool)((*m_features)(in[0])), 1));
    }

  private:
    std::shared_ptr<nn::Sequential> m_features;
    std::shared_ptr<nn::AdaptiveAvgPool2d> m_avgpool;
    std::shared_ptr<nn::Sequential> m_classifier;
};

constexpr int kPool = 0;

}  // namespace

ModulePtr vgg11(const Settings& settings) {
    static constexpr int kWidths[] = {64, kPool, 128, kPool, 256, 256, kPool, 512, 512, kPool, 512, 512, kPool};
    return make<Vgg>(kWidths, settings.whole("classes"));
}

}  // namespace sonde::zoo
