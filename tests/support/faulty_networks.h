#pragma once

#include <random>
#include <string>
#include <vector>

#include "core/tensor/tensor.h"
#include "tests/support/onnx_file.h"

namespace sonde::test {

/// In what the second of two networks is not the first.
enum class Planted { Weight, SwappedChannels, Attribute, Operator };
inline constexpr int kPlantedKinds = 4, kFaultyCount = 40;

inline const char* nameOf(Planted planted) {
    static const char* const kNames[] = {"changed weight", "swapped channels", "other attribute", "other operator"};
    return kNames[static_cast<int>(planted)];
}

/// A random network on x [1,4,6,6] as an ONNX file, and the same with one operation that is another one: chains,
/// branches that join, residual blocks, and all of them, in turn. The same index gives the same network.
class FaultyNetwork {
  public:
    explicit FaultyNetwork(int index) : m_index(index), m_planted(static_cast<Planted>(index / 4 % kPlantedKinds)) {}

    Planted planted() const { return m_planted; }
    bool isChain() const { return m_index % 4 == 0; }
    /// Known after model().
    const std::string& faultyNode() const { return m_faulty; }
    int operations() const { return m_count; }

    std::string model(bool isFaulty) {
        m_isFaulty = isFaulty;
        m_random.seed(static_cast<unsigned>(300 + m_index));
        m_graph = {};
        m_count = 0;
        m_now = "x";
        m_faulty.clear();
        const int parts = 5 + static_cast<int>(m_random() % 12);
        m_faultyPart = static_cast<int>(m_random() % static_cast<unsigned>(parts));
        for (m_part = 0; m_part < parts; ++m_part) part();
        m_graph.inputs = {onnxfile::valueInfo("x", 1, {1, 4, 6, 6})};
        m_graph.outputs = {onnxfile::valueInfo(m_now, 1, {1, 4, 6, 6})};
        return onnxfile::model(m_graph, {}, {onnxfile::opset("", 17)});
    }

    tensor::Tensor input() const {
        std::mt19937 random(static_cast<unsigned>(9 + m_index));
        std::vector<float> values(4 * 6 * 6);
        for (float& value : values) value = static_cast<float>(random() % 2000) / 1000.0F - 1;
        return tensor::Tensor::of<float>({1, 4, 6, 6}, values);
    }

  private:
    void part() {
        const std::string before = m_now;
        const int kind = m_index % 4 == 3 ? static_cast<int>(m_random() % 3) : m_index % 4;
        step();
        if (kind == 0) return;
        const std::string left = m_now;
        if (kind == 1) {  // two branches
            m_now = before;
            plainStep();
            plainStep();
            node("Add", {left, m_now});
        } else {  // x + f(x)
            plainStep();
            node("Add", {before, m_now});
        }
    }

    /// The faulty operation, where it belongs.
    void step() {
        if (m_part != m_faultyPart) return plainStep();
        m_faulty = "n" + std::to_string(m_count);
        switch (m_planted) {
            case Planted::Weight: return conv(m_isFaulty ? 1 : 0);
            case Planted::SwappedChannels: return conv(m_isFaulty ? 2 : 0);
            case Planted::Operator: return node(m_isFaulty ? "Sigmoid" : "Tanh", {m_now});
            case Planted::Attribute: break;
        }
        switch (m_random() % 3) {
            case 0: return node("LeakyRelu", {m_now}, {onnxfile::floatAttribute("alpha", m_isFaulty ? 0.6F : 0.1F)});
            case 1: return pool(m_isFaulty ? 0 : 1);
            default: {
                using Order = std::vector<std::int64_t>;
                return node("Transpose", {m_now},
                            {onnxfile::intsAttribute("perm", m_isFaulty ? Order{0, 1, 2, 3} : Order{0, 1, 3, 2})});
            }
        }
    }

    void plainStep() {
        switch (m_random() % 5) {
            case 0: return conv(0);
            case 1: return node("Tanh", {m_now});
            case 2: return node("Elu", {m_now}, {onnxfile::floatAttribute("alpha", 1.3F)});
            case 3: return node("LeakyRelu", {m_now}, {onnxfile::floatAttribute("alpha", 0.4F)});
            default: return pool(1);
        }
    }

    void node(const char* op, const std::vector<std::string>& inputs, const std::vector<std::string>& attributes = {}) {
        const std::string name = "n" + std::to_string(m_count++);
        m_graph.nodes.push_back({op, inputs, {name}, name, {}, attributes});
        m_now = name;
    }

    /// `fault`: 1 another weight, 2 input channels 0 and 1 are exchanged.
    void conv(int fault) {
        std::vector<float> weights(4 * 4 * 9);
        for (float& weight : weights) weight = std::normal_distribution<float>(0, 0.25F)(m_random);
        if (fault == 1) weights[40] += 0.5F;
        for (std::size_t k = 0; fault == 2 && k < 4; ++k)
            for (std::size_t i = 0; i < 9; ++i) std::swap(weights[k * 36 + i], weights[k * 36 + 9 + i]);
        const std::string name = "w" + std::to_string(m_count);
        m_graph.initializers.push_back(onnxfile::rawTensor(
            name, 1, {4, 4, 3, 3}, {reinterpret_cast<const char*>(weights.data()), weights.size() * sizeof(float)}));
        node("Conv", {m_now, name}, {onnxfile::intsAttribute("pads", {1, 1, 1, 1})});
    }

    void pool(std::int64_t countsPadding) {
        node("AveragePool", {m_now},
             {onnxfile::intsAttribute("kernel_shape", {3, 3}), onnxfile::intsAttribute("pads", {1, 1, 1, 1}),
              onnxfile::intAttribute("count_include_pad", countsPadding)});
    }

    int m_index;
    Planted m_planted;
    bool m_isFaulty = false;
    std::mt19937 m_random;
    onnxfile::Graph m_graph;
    int m_part = 0, m_faultyPart = 0, m_count = 0;
    std::string m_now, m_faulty;
};

}  // namespace sonde::test
