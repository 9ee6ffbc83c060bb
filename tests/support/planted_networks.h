#pragma once

#include <cmath>
#include <random>

#include "core/io/npz/npz.h"
#include "core/session/session.h"
#include "tests/support/onnx_file.h"

namespace sonde::test {

/// What is wrong with a generated network.
enum class Fault {
    ZeroByZero,
    Log,
    Sqrt,
    HalfOverflow,
    UninitialisedNorm,
    WrongWeight,
    SwappedChannels,
    WrongNormalisation
};
inline constexpr int kFaultCount = 8, kPlantedCount = 50;

inline const char* nameOf(Fault fault) {
    static const char* const kNames[] = {"0/0",
                                         "log",
                                         "sqrt",
                                         "float16 overflow",
                                         "uninitialised norm",
                                         "wrong weight",
                                         "swapped channels",
                                         "wrong normalisation"};
    return kNames[static_cast<int>(fault)];
}

/// A small random network on an image x of [1,3,8,8], and the same with one fault: perceptrons, convolutions, residual
/// blocks, attention, norms, in turn. The same index gives the same network.
class PlantedNetwork {
  public:
    explicit PlantedNetwork(int index)
        : m_index(index), m_fault(static_cast<Fault>(index % kFaultCount)), m_variant(index / kFaultCount) {}

    Fault fault() const { return m_fault; }
    /// The fault is in what the model is given: its file is right.
    bool isInInput() const {
        return m_fault == Fault::SwappedChannels || (m_fault == Fault::WrongNormalisation && m_variant % 2 == 0);
    }
    /// Found only by comparing with the right network.
    bool needsReference() const {
        return isInInput() || m_fault == Fault::WrongWeight || m_fault == Fault::WrongNormalisation ||
               (m_fault == Fault::UninitialisedNorm && m_variant % 3 == 2);
    }
    /// Where it is: known after model(true).
    const std::string& faultyNode() const { return m_faulty; }

    std::string model(bool isFaulty) {
        m_isFaulty = isFaulty;
        m_random.seed(static_cast<unsigned>(1000 + m_index));
        m_graph = {};
        m_count = 0;
        m_shape = {1, 3, 8, 8};
        m_now = "x";
        m_faulty = isInInput() ? "x" : "";
        normaliseImage();
        const int blocks = 2 + static_cast<int>(m_random() % 4);
        const int slot = static_cast<int>(m_random()) & 0x7fffffff;
        m_wrongWeight = static_cast<int>(m_random() % static_cast<unsigned>(blocks));
        begin();
        for (int i = 0; i < blocks; ++i) {
            m_isWrongBlock = m_fault == Fault::WrongWeight && i == m_wrongWeight;
            block();
            if (i == slot % blocks) plant();
        }
        finish();
        m_graph.inputs = {onnxfile::valueInfo("x", 1, {1, 3, 8, 8})};
        m_graph.outputs = {onnxfile::valueInfo("y", 1, {1, 10})};
        return onnxfile::model(m_graph, {}, {onnxfile::opset("", 17)});
    }

    /// The image that the network was made for.
    tensor::Tensor image() const {
        std::mt19937 random(static_cast<unsigned>(77 + m_index));
        std::vector<float> values(3 * 8 * 8);
        for (float& value : values) value = static_cast<float>(random() % 1000) / 1000.0F;
        return tensor::Tensor::of<float>({1, 3, 8, 8}, values);
    }
    /// What is given in its place: the same one, but for faults of the input.
    tensor::Tensor given() const {
        const tensor::Tensor right = image();
        if (!isInInput()) return right;
        std::vector<float> values(right.span<float>().begin(), right.span<float>().end());
        const std::vector<float> before = values;
        const float means[] = {0.485F, 0.456F, 0.406F}, deviations[] = {0.229F, 0.224F, 0.225F};
        for (std::size_t c = 0; c < 3; ++c)
            for (std::size_t i = 0; i < 64; ++i) {
                float& value = values[c * 64 + i];
                if (m_fault == Fault::SwappedChannels) value = before[(2 - c) * 64 + i];
                else if (m_variant % 4 == 0) value = before[c * 64 + i] * 255;
                else value = (before[c * 64 + i] - means[c]) / deviations[c];
            }
        return tensor::Tensor::of<float>({1, 3, 8, 8}, values);
    }

    /// The values of the right network, by the keys of a reference file. A quarter of the nodes is left out, as those
    /// of another tool would be, but not the faulty one.
    std::vector<io::NamedTensor> reference(session::Session& session) const {
        std::vector<io::NamedTensor> arrays{{"in.x", image()}};
        session.runs().giveValues({tensor::Value(image())});
        session::RunSettings settings;
        settings.watchAll = true;
        session.runs().setSettings(settings);
        session.runs().run();
        const auto& recording = session.runs().last().recording;
        if (!recording) return {};
        const graph::InternalGraph& graph = *session.document()->graph;
        std::mt19937 random(static_cast<unsigned>(5 + m_index));
        for (const graph::ExprId id : graph.main().order)
            for (const graph::NodeId node : graph.expr(id).outputs) {
                const tensor::Value* const value = recording->value(node);
                const std::string& name = graph.node(node).name;
                const bool isLeftOut = random() % 4 == 0 && name != m_faulty;
                if (value && value->isTensor() && name != "x" && !graph.node(node).constant && !isLeftOut)
                    arrays.emplace_back("node." + name, value->tensor());
            }
        if (!recording->outputs.empty()) arrays.emplace_back("out.y", recording->outputs.front().tensor());
        return arrays;
    }

  private:
    float normal(float deviation) { return std::normal_distribution<float>(0, deviation)(m_random); }

    std::string constant(const std::string& name, const std::vector<std::int64_t>& dims,
                         const std::vector<float>& values) {
        m_graph.initializers.push_back(
            onnxfile::rawTensor(name, 1, dims, {reinterpret_cast<const char*>(values.data()), values.size() * 4}));
        return name;
    }
    std::string scalar(const std::string& name, float value) { return constant(name, {1}, {value}); }
    std::string weight(const std::string& name, const std::vector<std::int64_t>& dims, std::int64_t fanIn) {
        std::int64_t count = 1;
        for (const std::int64_t dim : dims) count *= dim;
        std::vector<float> values(static_cast<std::size_t>(count));
        for (float& value : values) value = normal(1 / std::sqrt(static_cast<float>(fanIn)));
        if (m_isWrongBlock && m_faulty.empty()) {
            m_faulty = name.substr(0, name.find('.'));
            if (m_isFaulty)
                for (float& value : values) value = 0.5F - value;
        }
        return constant(name, dims, values);
    }
    std::string next(const char* what) { return std::string(what) + "_" + std::to_string(m_count++); }
    const std::string& node(const char* op, const std::string& name, const std::vector<std::string>& inputs,
                            const std::vector<std::string>& attributes = {}) {
        m_graph.nodes.push_back({op, inputs, {name}, name, {}, attributes});
        m_now = name;
        return m_now;
    }
    const std::string& unary(const char* op, const char* what) { return node(op, next(what), {m_now}); }
    void linear(std::int64_t to) {
        const std::string name = next("linear");
        const std::int64_t from = m_shape.back();
        const std::string w = weight(name + ".weight", {from, to}, from);
        node("MatMul", name, {m_now, w});
        m_shape.back() = to;
    }
    void conv(std::int64_t to) {
        const std::string name = next("conv");
        const std::string w = weight(name + ".weight", {to, m_shape[1], 3, 3}, m_shape[1] * 9);
        node("Conv", name, {m_now, w}, {onnxfile::intsAttribute("pads", {1, 1, 1, 1})});
        m_shape[1] = to;
    }

    /// (x − 0.45) / 0.22; where that is the fault, the mean is another one.
    void normaliseImage() {
        const bool isWrong = m_fault == Fault::WrongNormalisation && !isInInput();
        if (isWrong) m_faulty = "centred";
        node("Sub", "centred", {"x", scalar("mean", isWrong && m_isFaulty ? 0.9F : 0.45F)});
        node("Div", "scaled", {"centred", scalar("deviation", 0.22F)});
    }

    int kind() const { return (m_index + m_variant) % 5; }
    void begin() {
        if (kind() == 0) {
            node("Flatten", "flat", {m_now});
            m_shape = {1, 192};
        } else if (kind() == 3) {
            m_graph.initializers.push_back(onnxfile::rawTensor("tokens.shape", 7, {3}, int64s({1, 3, 64})));
            node("Reshape", "rows", {m_now, "tokens.shape"});
            node("Transpose", "tokens", {"rows"}, {onnxfile::intsAttribute("perm", {0, 2, 1})});
            m_shape = {1, 64, 3};
            linear(8);
        } else {
            conv(6);
        }
    }
    static std::string int64s(const std::vector<std::int64_t>& values) {
        return {reinterpret_cast<const char*>(values.data()), values.size() * 8};
    }

    void block() {
        const std::string before = m_now;
        switch (kind()) {
            case 0:
                linear(24);
                unary("Relu", "relu");
                break;
            case 1:
                conv(6);
                unary("Relu", "relu");
                break;
            case 2:
                conv(6);
                unary("Relu", "relu");
                conv(6);
                node("Add", next("sum"), {before, m_now});
                break;
            case 3: attention(before); break;
            default:
                conv(6);
                norm(false, 0);
                unary("Relu", "relu");
        }
    }

    /// softmax(q kᵀ) v + x
    void attention(const std::string& before) {
        std::string parts[3];
        for (std::string& part : parts) {
            m_now = before;
            linear(8);
            part = m_now;
        }
        const std::string keys =
            node("Transpose", next("keys"), {parts[1]}, {onnxfile::intsAttribute("perm", {0, 2, 1})});
        const std::string scores = node("MatMul", next("scores"), {parts[0], keys});
        const std::string small = node("Mul", next("small"), {scores, scalar(next("scale"), 0.35F)});
        const std::string shares = node("Softmax", next("shares"), {small}, {onnxfile::intAttribute("axis", -1)});
        const std::string mixed = node("MatMul", next("mixed"), {shares, parts[2]});
        const std::string sum = node("Add", next("sum"), {before, mixed});
        const std::string name = next("layer_norm");
        node("LayerNormalization", name,
             {sum, constant(name + ".scale", {8}, std::vector<float>(8, 1)),
              constant(name + ".bias", {8}, std::vector<float>(8, 0.1F))},
             {onnxfile::intAttribute("axis", -1)});
    }

    /// What is wrong: 0 variances 0 with an epsilon of 0, 1 statistics that are NaN, 2 those of a norm never trained.
    void norm(bool isWrong, int how) {
        const auto channels = static_cast<std::size_t>(m_shape[1]);
        std::vector<float> means(channels), variances(channels);
        for (std::size_t c = 0; c < channels; ++c)
            means[c] = 0.5F + std::abs(normal(1)), variances[c] = 2 + std::abs(normal(1));
        if (isWrong && how == 0) variances.assign(channels, 0);
        if (isWrong && how == 1) variances.assign(channels, std::nanf(""));
        if (isWrong && how == 2) means.assign(channels, 0), variances.assign(channels, 1);
        const std::string name = next("norm");
        const std::vector<std::int64_t> dims{m_shape[1]};
        std::vector<std::string> attributes;
        if (isWrong && how == 0) attributes.push_back(onnxfile::floatAttribute("epsilon", 0));
        node("BatchNormalization", name,
             {m_now, constant(name + ".scale", dims, std::vector<float>(channels, 1)),
              constant(name + ".bias", dims, std::vector<float>(channels, 0.2F)), constant(name + ".mean", dims, means),
              constant(name + ".variance", dims, variances)},
             attributes);
    }

    /// |h| + `offset`, and an operation that cannot bear what it gives with the wrong one.
    void afterOffset(const char* op, const char* what, float right, float wrong) {
        unary("Abs", "magnitude");
        node("Add", next("shifted"), {m_now, scalar(next("offset"), m_isFaulty ? wrong : right)});
        m_faulty = next(what);
        node(op, m_faulty, {m_now});
    }

    void plant() {
        const std::string before = m_now;
        switch (m_fault) {
            case Fault::ZeroByZero: {
                const std::string top =
                    node("Mul", next("top"), {before, scalar(next("one"), m_isFaulty ? 0.0F : 1.0F)});
                const std::string none = node("Mul", next("none"), {before, scalar(next("zero"), 0)});
                const std::string bottom =
                    node("Add", next("bottom"), {none, scalar(next("more"), m_isFaulty ? 0.0F : 2.0F)});
                m_faulty = next("ratio");
                node("Div", m_faulty, {top, bottom});
                break;
            }
            case Fault::Log: return afterOffset("Log", "log", 1, -1000);
            case Fault::Sqrt: return afterOffset("Sqrt", "root", 1, -1000);
            case Fault::HalfOverflow: return halves();
            case Fault::UninitialisedNorm:
                norm(m_isFaulty, m_variant % 3);
                m_faulty = m_now;
                break;
            default: break;
        }
    }

    /// In float16: a product that is too large, or the conversion itself.
    void halves() {
        unary("Abs", "magnitude");
        node("Add", next("shifted"), {m_now, scalar(next("two"), 2)});
        const bool isCast = m_variant % 2 == 1;
        if (isCast) node("Mul", next("large"), {m_now, scalar(next("factor"), m_isFaulty ? 1e5F : 1.5F)});
        const std::string half = next("half");
        node("Cast", half, {m_now}, {onnxfile::intAttribute("to", 10)});
        const std::uint16_t factor = m_isFaulty && !isCast ? 0x7b00 : 0x3c00;  // 57344, or 1
        const std::string constant = next("half_factor");
        m_graph.initializers.push_back(
            onnxfile::rawTensor(constant, 10, {1}, {reinterpret_cast<const char*>(&factor), 2}));
        const std::string product = next("product");
        node("Mul", product, {half, constant});
        m_faulty = isCast ? half : product;
        node("Cast", next("whole"), {m_now}, {onnxfile::intAttribute("to", 1)});
    }

    void finish() {
        m_isWrongBlock = false;
        if (kind() == 0) {
            linear(10);
        } else if (kind() == 3) {
            node("ReduceMean", "pooled", {m_now},
                 {onnxfile::intsAttribute("axes", {1}), onnxfile::intAttribute("keepdims", 0)});
            m_shape = {1, 8};
            linear(10);
        } else {
            node("GlobalAveragePool", "pooled", {m_now});
            node("Flatten", "features", {m_now});
            m_shape = {1, m_shape[1]};
            linear(10);
        }
        node("Identity", "y", {m_now});
    }

    int m_index;
    Fault m_fault;
    int m_variant;
    bool m_isFaulty = false, m_isWrongBlock = false;
    int m_count = 0, m_wrongWeight = 0;
    std::mt19937 m_random;
    onnxfile::Graph m_graph;
    std::vector<std::int64_t> m_shape;
    std::string m_now, m_faulty;
};

}  // namespace sonde::test
