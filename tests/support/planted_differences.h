#pragma once

#include <random>
#include <string>
#include <vector>

#include "core/tensor/tensor.h"
#include "tests/support/onnx_file.h"

namespace sonde::test {

/// In what the second of two networks is not the first.
enum class PlantedChange { Weight, Attribute, Operator, Constant };
/// How a network is built.
enum class NetworkShape { Chain, Branches, Residual, Loops };

inline const char* nameOf(PlantedChange change) {
    static const char* const kNames[] = {"weight", "attribute", "operator", "constant"};
    return kNames[static_cast<int>(change)];
}
inline const char* nameOf(NetworkShape shape) {
    static const char* const kNames[] = {"chain", "branches", "residual", "loops"};
    return kNames[static_cast<int>(shape)];
}

/// A random network on x [3,3] of float32, float64, float16 or int64 as an ONNX file, and the same with one operation
/// that is another one. Each operation is one-to-one, and branches are joined as a + 2 b: no fault is lost on the way
/// to the output. The same index gives the same network. A fault in a loop's body is one of the loop.
class PlantedDifference {
  public:
    static constexpr int kCount = 48;

    explicit PlantedDifference(int index) : m_index(index) {}

    PlantedChange change() const { return static_cast<PlantedChange>(m_index % 4); }
    NetworkShape shape() const { return static_cast<NetworkShape>(m_index / 4 % 4); }
    /// As ONNX numbers them.
    int dtype() const {
        static constexpr int kTypes[] = {1, 11, 10, 7};
        return kTypes[(m_index + m_index / 16) % 4];
    }
    const char* typeName() const {
        static const char* const kNames[] = {"float32", "float64", "float16", "int64"};
        return kNames[(m_index + m_index / 16) % 4];
    }
    std::string title() const {
        return std::to_string(m_index) + ", " + nameOf(shape()) + ", " + nameOf(change()) + ", " + typeName();
    }
    /// Known after model().
    const std::string& faultyNode() const { return m_faulty; }
    int operations() const { return m_operations; }

    std::string model(bool isFaulty) {
        m_isFaulty = isFaulty;
        m_random.seed(static_cast<unsigned>(1700 + m_index));
        m_graph = {};
        m_inner = nullptr;
        m_operations = m_names = 0;
        m_faulty.clear();
        m_now = "x";
        const int parts = shape() == NetworkShape::Chain ? 6 + static_cast<int>(m_random() % (dtype() == 10 ? 10 : 60))
                                                         : 3 + static_cast<int>(m_random() % 3);
        const int faulty = static_cast<int>(m_random() % static_cast<unsigned>(parts));
        for (int i = 0; i < parts; ++i) part(i == faulty, i);
        m_graph.inputs = {onnxfile::valueInfo("x", dtype(), {3, 3})};
        m_graph.outputs = {onnxfile::valueInfo(m_now, dtype(), {3, 3})};
        return onnxfile::model(m_graph, {}, {onnxfile::opset("", 17)});
    }

    tensor::Tensor input() const {
        const auto float32 = tensor::Tensor::of<float>({3, 3}, {1, -2, 3, 0.5F, -0.25F, 2, -1, 1.5F, -3});
        static constexpr tensor::DType kTypes[] = {tensor::DType::Float32, tensor::DType::Float64,
                                                   tensor::DType::Float16, tensor::DType::Int64};
        return float32.cast(kTypes[(m_index + m_index / 16) % 4]).value();
    }

  private:
    void part(bool isFaulty, int index) {
        const std::string before = m_now;
        const NetworkShape is = shape();
        if (is == NetworkShape::Loops && index % 2 == (m_index / 16) % 2) return loop(isFaulty);
        step(isFaulty);
        if (is == NetworkShape::Chain || is == NetworkShape::Loops) return;
        const std::string left = is == NetworkShape::Branches ? m_now : before;
        if (is == NetworkShape::Branches) m_now = before;
        step(false);
        node("Mul", {m_now, constant({2})});
        node("Add", {left, m_now});
    }

    void step(bool isFaulty) {
        if (!isFaulty) return plainStep();
        if (!m_inner) m_faulty = "n" + std::to_string(m_names);
        const bool now = m_isFaulty;
        switch (change()) {
            case PlantedChange::Weight: return product(now);
            case PlantedChange::Constant: return sum("Add", now);
            case PlantedChange::Operator: return sum(now ? "Sub" : "Add", false);
            case PlantedChange::Attribute: break;
        }
        using Order = std::vector<std::int64_t>;
        node("Transpose", {m_now}, {onnxfile::intsAttribute("perm", now ? Order{0, 1} : Order{1, 0})});
    }

    void plainStep() {
        switch (m_random() % 4) {
            case 0: return product(false);
            case 1: return sum("Add", false);
            case 2: return node("Neg", {m_now});
            default: return node("Transpose", {m_now}, {onnxfile::intsAttribute("perm", {1, 0})});
        }
    }

    /// By a permutation with signs, one element of which is changed.
    void product(bool isChanged) {
        std::vector<double> weights(9, 0.0);
        const std::size_t shift = m_random() % 3;
        for (std::size_t i = 0; i < 3; ++i) weights[i * 3 + (i + shift) % 3] = m_random() % 2 == 0 ? 1 : -1;
        if (isChanged) weights[shift] += 2;
        node("MatMul", {m_now, initializer(weights)});
    }

    void sum(const char* op, bool isChanged) {
        std::vector<double> numbers(9);
        for (double& number : numbers)
            number = (m_random() % 2 == 0 ? 1.0 : -1.0) * (1 + static_cast<double>(m_random() % 2));
        if (isChanged) numbers[4] += 5;
        const std::string added = constant(numbers);
        node(op, {m_now, added});
    }

    /// Three iterations of two steps: after an even count x ↦ −(x + c) is x, whatever c is.
    void loop(bool isFaulty) {
        const std::string name = "n" + std::to_string(m_names++);
        const std::string before = m_now;
        onnxfile::Graph body;
        m_inner = &body;
        m_now = name + "_state";
        step(isFaulty);
        plainStep();
        m_inner = nullptr;
        body.nodes.push_back({"Identity", {name + "_go"}, {name + "_still"}});
        body.inputs = {onnxfile::valueInfo(name + "_at", 7, {}), onnxfile::valueInfo(name + "_go", 9, {}),
                       onnxfile::valueInfo(name + "_state", dtype(), {3, 3})};
        body.outputs = {onnxfile::valueInfo(name + "_still", 9, {}), onnxfile::valueInfo(m_now, dtype(), {3, 3})};
        if (isFaulty) m_faulty = name;
        const std::int64_t count = 3;
        const std::string times = name + "_times";
        m_graph.initializers.push_back(
            onnxfile::rawTensor(times, 7, {}, {reinterpret_cast<const char*>(&count), sizeof count}));
        m_graph.nodes.push_back(
            {"Loop", {times, "", before}, {name}, name, "", {onnxfile::graphAttribute("body", body.bytes())}});
        ++m_operations;
        m_now = name;
    }

    void node(const char* op, const std::vector<std::string>& inputs, const std::vector<std::string>& attributes = {}) {
        const std::string name = (m_inner ? "i" : "n") + std::to_string(m_names++);
        (m_inner ? *m_inner : m_graph).nodes.push_back({op, inputs, {name}, name, {}, attributes});
        m_operations += m_inner ? 0 : 1;
        m_now = name;
    }

    std::string bytesOf(const std::vector<double>& numbers) const {
        std::string bytes;
        const auto add = [&](auto number) { bytes.append(reinterpret_cast<const char*>(&number), sizeof number); };
        for (const double number : numbers) {
            switch (dtype()) {
                case 1: add(static_cast<float>(number)); break;
                case 11: add(number); break;
                case 7: add(static_cast<std::int64_t>(number)); break;
                default: add(halfOf(static_cast<int>(number)));
            }
        }
        return bytes;
    }
    /// IEEE 754 binary16 of an integer below 16.
    static std::uint16_t halfOf(int number) {
        const unsigned magnitude = static_cast<unsigned>(number < 0 ? -number : number);
        if (magnitude == 0) return 0;
        unsigned exponent = 0;
        while ((magnitude >> exponent) > 1) ++exponent;
        const unsigned fraction = (magnitude << (10 - exponent)) & 0x3ffU;
        return static_cast<std::uint16_t>((number < 0 ? 0x8000U : 0U) | ((15 + exponent) << 10) | fraction);
    }

    std::string tensorOf(const std::string& name, const std::vector<double>& numbers) const {
        std::vector<std::int64_t> dims{3, 3};
        if (numbers.size() == 1) dims = {1};
        return onnxfile::rawTensor(name, dtype(), dims, bytesOf(numbers));
    }
    std::string initializer(const std::vector<double>& numbers) {
        const std::string name = "w" + std::to_string(m_names);
        m_graph.initializers.push_back(tensorOf(name, numbers));
        return name;
    }
    /// By a node Constant, which computes nothing.
    std::string constant(const std::vector<double>& numbers) {
        const std::string name = "c" + std::to_string(m_names);
        std::string value;
        protozero::pbf_writer writer(value);
        writer.add_string(1, "value");
        writer.add_message(5, tensorOf({}, numbers));
        writer.add_enum(20, 4);
        (m_inner ? *m_inner : m_graph).nodes.push_back({"Constant", {}, {name}, name, {}, {value}});
        return name;
    }

    int m_index;
    bool m_isFaulty = false;
    std::mt19937 m_random;
    onnxfile::Graph m_graph;
    onnxfile::Graph* m_inner = nullptr;  ///< the loop's body that is being made
    int m_names = 0, m_operations = 0;
    std::string m_now, m_faulty;
};

}  // namespace sonde::test
