#include "core/zoo/parts.h"
#include "core/zoo/teaching_models.h"

namespace sonde::zoo {

namespace {

using tensor::Shape;
using tensor::Tensor;

constexpr std::int64_t kChannels = 8;

/// A factor for each channel. x [N,C,H,W] -> y of the same shape; weight [C,1,1].
class Scale final : public Block {
  public:
    Scale() : Block("Scale"), m_weight(addParameter("weight", nn::zeros({kChannels, 1, 1}))) {}
    Var forward(std::span<const Var> in) override {
        const Var weight = m_weight;
        return in[0] * weight;
    }

  private:
    Attribute m_weight;
};

/// 0, step, 2 step … as a tensor of that type.
template <typename T>
Tensor ramp(const Shape& shape, double step = 1) {
    std::vector<T> values;
    for (std::int64_t i = 0; i < shape.numel(); ++i) values.push_back(static_cast<T>(static_cast<double>(i) * step));
    return Tensor::of<T>(shape, values);
}

/// A convolution along one axis for each channel alone, and a factor.
ModulePtr branch(const nn::Ints& kernel, const nn::Ints& padding) {
    return sequential({make<nn::Conv2d>(kChannels, kChannels, kernel,
                                        nn::ConvOptions{.stride = 1,
                                                        .padding = padding,
                                                        .dilation = 1,
                                                        .groups = kChannels,
                                                        .bias = true,
                                                        .outputPadding = 0}),
                       make<Scale>()});
}

class NestedContainers final : public Block {
  public:
    NestedContainers() : Block("NestedContainers", {"image"}) {
        m_stem =
            add("stem", sequential({sequential({make<nn::Conv2d>(3, kChannels, 3, withBias(1, 1)), make<nn::ReLU6>()}),
                                    make<nn::Identity>()}));
        m_branches = add("branches", make<nn::ModuleDict>(std::vector<std::pair<std::string, ModulePtr>>{
                                         {"wide", branch({1, 5}, {0, 2})},
                                         {"tall", branch({5, 1}, {2, 0})},
                                         {"pool", make<nn::AvgPool2d>(3, 1, 1)}}));
        m_stages = add("stages", make<nn::ModuleList>());
        for (const std::int64_t dilation : {1, 2}) {
            m_stages->append(make<nn::ModuleList>(
                std::vector<ModulePtr>{make<nn::Conv2d>(kChannels, kChannels, 3,
                                                        nn::ConvOptions{.stride = 1,
                                                                        .padding = dilation,
                                                                        .dilation = dilation,
                                                                        .groups = 1,
                                                                        .bias = true,
                                                                        .outputPadding = 0}),
                                       make<nn::GroupNorm>(2, kChannels), make<nn::LeakyReLU>(0.1)}));
        }
        m_heads =
            add("heads", make<nn::ModuleDict>(std::vector<std::pair<std::string, ModulePtr>>{
                             {"mean", make<nn::Linear>(kChannels, 3)}, {"peak", make<nn::Linear>(kChannels, 2)}}));
        addBuffers();
    }

    Var forward(std::span<const Var> in) override {
        const Var x = (*m_stem)(in[0]);
        Var total = x;
        for (const Child& branch : m_branches->children()) total = total + (*branch.module)(x);
        for (std::size_t i = 0; i < m_stages->size(); ++i) {
            Var y = total;
            for (const Child& layer : (*m_stages)[i].children()) y = (*layer.module)(y);
            total = total + y * kScales[i];
        }
        const Var half = trace::callMethod({"to.dtype", "float", "float"}, {m_half.read(), kFloat32});
        total = total + half;
        total = trace::callFunction({"index_select", "index_select", "torch.index_select"}, {total, 1, m_order.read()});
        const Var keep = nn::view(m_keep.read(), {1, -1, 1, 1});
        const Var lowered = total * 0.125;
        total = nn::where(keep, total, lowered);
        const Var mean = nn::mean(total, {2, 3}) + m_offset.read();
        const Var peak =
            total.method("amax", {}, {{"dim", nn::Ints{2, 3}}}) * m_strided.read()[Var::tuple({Var::slice({}, {}), 1})];
        const Var meanHead = (*m_heads)["mean"](mean);
        return Var::dict({{tensor::Value("mean"), meanHead}, {tensor::Value("peak"), (*m_heads)["peak"](peak)}});
    }
    bool makesTensor() const override { return false; }

  private:
    void addBuffers() {
        m_half = addBuffer("buf_half", ramp<float>({kChannels, 1, 1}, 0.125).cast(tensor::DType::Float16).value());
        m_order = addBuffer("buf_order", Tensor::of<std::int64_t>({kChannels}, {7, 6, 5, 4, 3, 2, 1, 0}));
        m_keep =
            addBuffer("buf_keep", Tensor::of<bool>({kChannels}, {false, true, true, false, true, true, false, true}));
        addBuffer("buf_bytes", ramp<std::uint8_t>({kChannels}));
        addBuffer("buf_steps", Tensor::scalar<std::int64_t>(7));
        // Two views of one storage.
        const Tensor base = ramp<float>({4 * kChannels}, 1.0 / 16);
        m_strided = addBuffer("buf_strided", base.reshaped({4, kChannels}).value().transposed(0, 1));
        m_offset = addBuffer("buf_offset", base.sliced(0, 2 * kChannels, kChannels));
        addBuffer("buf_unused", nn::zeros({0, 3}));
    }

    static constexpr double kScales[] = {0.5, 0.25};
    static constexpr int kFloat32 = 6;  ///< torch's number of the dtype
    std::shared_ptr<nn::Sequential> m_stem;
    std::shared_ptr<nn::ModuleDict> m_branches;
    std::shared_ptr<nn::ModuleList> m_stages;
    std::shared_ptr<nn::ModuleDict> m_heads;
    Attribute m_half;
    Attribute m_order;
    Attribute m_keep;
    Attribute m_strided;
    Attribute m_offset;
};

}  // namespace

ModulePtr nestedContainers(const Settings&) { return make<NestedContainers>(); }

}  // namespace sonde::zoo
