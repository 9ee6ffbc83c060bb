#pragma once

#include <cmath>
#include <functional>
#include <map>

#include "tests/support/onnx_file.h"

namespace sonde::test {

/// A generated network with one thing to find, and the same network without it.
struct FindingNetwork {
    const char* id;    ///< of the finding
    const char* what;  ///< of it
    std::function<std::string(bool hasFault)> model;
    const char* node;  ///< that the finding names; empty: none in the graph
};

namespace findingnetworks {

using namespace onnxfile;

inline constexpr int kFloat = 1, kUInt8 = 2, kInt64 = 7, kBool = 9, kDouble = 11;
using Floats = std::vector<float>;
using Dims = std::vector<std::int64_t>;

inline std::string floats(const std::string& name, const Dims& dims, const Floats& values) {
    return rawTensor(name, kFloat, dims, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}
inline std::string longs(const std::string& name, const Dims& dims, const std::vector<std::int64_t>& values) {
    return rawTensor(name, kInt64, dims, {reinterpret_cast<const char*>(values.data()), values.size() * 8});
}
inline std::size_t countOf(const Dims& dims) {
    std::int64_t count = 1;
    for (const std::int64_t dim : dims) count *= dim;
    return static_cast<std::size_t>(count);
}
/// No two alike, of both signs, between −scale and scale.
inline Floats varied(const Dims& dims, float scale = 0.5F) {
    Floats values(countOf(dims));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = scale * std::sin(1.7F * static_cast<float>(i + 1));
    return values;
}
inline Floats filled(const Dims& dims, float value) { return Floats(countOf(dims), value); }

/// y = x · w of [1,16], then whatever else.
inline std::string product(const Floats& weights, const Dims& dims = {16, 16}) {
    return onnxfile::model({.nodes = {{"MatMul", {"x", "w"}, {"y"}}},
                            .inputs = {valueInfo("x", kFloat, {1, dims[0]})},
                            .outputs = {valueInfo("y", kFloat, {1, dims[1]})},
                            .initializers = {floats("w", dims, weights)}});
}

/// Operations on x of the given type, with constants; y is the output.
inline std::string chain(const std::vector<Node>& nodes, const Dims& x, const Dims& y,
                         const std::vector<std::string>& constants = {}, std::int64_t version = 17, int type = kFloat) {
    return onnxfile::model({.nodes = nodes,
                            .inputs = {valueInfo("x", kFloat, x)},
                            .outputs = {valueInfo("y", type, y)},
                            .initializers = constants},
                           {}, {opset("", version)});
}

/// relu(conv(x)) of [1,3,8,8] with 3 filters of 3×3.
inline std::string convolution(const Floats& weights, const Floats& bias = {0, 0.1F, -0.1F}) {
    return chain(
        {{"Conv", {"x", "w", "b"}, {"c"}, "", "", {intsAttribute("pads", {1, 1, 1, 1})}}, {"Relu", {"c"}, {"y"}}},
        {1, 3, 8, 8}, {1, 3, 8, 8}, {floats("w", {3, 3, 3, 3}, weights), floats("b", {3}, bias)});
}

inline std::string withMetadata(std::string model, const Pairs& pairs) {
    protozero::pbf_writer writer(model);
    addPairs(writer, 14, pairs);
    return model;
}

inline std::string quantised(float scale) {
    return chain(
        {{"QuantizeLinear", {"x", "scale", "zero"}, {"q"}}, {"DequantizeLinear", {"q", "scale", "zero"}, {"y"}}},
        {1, 256}, {1, 256}, {floats("scale", {}, {scale}), rawTensor("zero", kUInt8, {}, std::string(1, '\0'))});
}

inline std::vector<FindingNetwork> ofWeights() {
    return {
        {"bad-weight", "NaN",
         [](bool fault) {
             Floats w = varied({16, 16});
             if (fault) w[5] = NAN;
             return product(w);
         },
         "w"},
        {"denormal", "weights",
         [](bool fault) {
             return product(filled({16, 16}, fault ? 1e-40F : 0.01F));
         },
         "w"},
        {"duplicate-filter", "two of three",
         [](bool fault) {
             Floats w = varied({3, 3, 3, 3});
             if (fault) std::copy_n(w.begin(), 27, w.begin() + 54);
             return convolution(w);
         },
         "w"},
        {"zero-filter", "one of three",
         [](bool fault) {
             Floats w = varied({3, 3, 3, 3});
             if (fault) std::fill_n(w.begin() + 27, 27, 0.0F);
             return convolution(w);
         },
         "w"},
        {"suspicious-initialisation", "all alike",
         [](bool fault) {
             return product(fault ? filled({16, 16}, 0.1F) : varied({16, 16}));
         },
         "w"},
        {"suspicious-initialisation", "a norm as before the first batch",
         [](bool fault) {
             return chain(
                 {{"BatchNormalization", {"x", "g", "b", "mean", "var"}, {"y"}}}, {1, 4, 8}, {1, 4, 8},
                 {floats("g", {4}, varied({4})), floats("b", {4}, varied({4})),
                  floats("mean", {4}, fault ? filled({4}, 0) : varied({4})), floats("var", {4}, filled({4}, 1))});
         },
         "mean"},
        {"suspicious-initialisation", "evenly up to 1 / sqrt(fan in)",
         [](bool fault) {
             // 0.9 of the range is what training left.
             Floats w(64 * 64);
             for (std::size_t i = 0; i < w.size(); ++i)
                 w[i] = (fault ? 0.125F : 0.11F) * (2 * static_cast<float>(i * 1031 % 4096) / 4095 - 1);
             return product(w, {64, 64});
         },
         "w"},
        {"weight-scale", "one layer of four",
         [](bool fault) {
             std::vector<Node> nodes;
             std::vector<std::string> weights;
             std::string last = "x";
             for (int i = 0; i < 4; ++i) {
                 const std::string name = "w" + std::to_string(i), next = i == 3 ? "y" : "h" + std::to_string(i);
                 nodes.push_back({"MatMul", {last, name}, {next}});
                 weights.push_back(floats(name, {16, 16}, varied({16, 16}, fault && i == 2 ? 2000 : 0.5F)));
                 last = next;
             }
             return chain(nodes, {1, 16}, {1, 16}, weights);
         },
         "w2"},
        {"weight-scale", "one filter of three",
         [](bool fault) {
             Floats w = varied({3, 3, 3, 3});
             for (int i = 0; fault && i < 27; ++i) w[static_cast<std::size_t>(i)] *= 1e-6F;
             return convolution(w);
         },
         "w"},
        {"unused-parameter", "a weight that nothing reads",
         [](bool fault) {
             return chain({{"MatMul", {"x", "w"}, {"y"}}}, {1, 16}, {1, 16},
                          fault ? std::vector{floats("w", {16, 16}, varied({16, 16})),
                                              floats("left", {16, 16}, varied({16, 16}))}
                                : std::vector{floats("w", {16, 16}, varied({16, 16}))});
         },
         "left"},
    };
}

inline std::vector<FindingNetwork> ofStructure() {
    return {
        {"unused-output", "an operation that nothing reads",
         [](bool fault) {
             std::vector<Node> nodes{{"Relu", {"x"}, {"r"}}, {"Exp", {"r"}, {"e"}}, {"Tanh", {"r"}, {"y"}}};
             if (!fault) nodes = {{"Relu", {"x"}, {"r"}}, {"Exp", {"r"}, {"e"}}, {"Tanh", {"e"}, {"y"}}};
             return chain(nodes, {1, 16}, {1, 16});
         },
         "e"},
        {"unused-input", "one of two",
         [](bool fault) {
             return onnxfile::model({.nodes = {{"Add", {"x", fault ? "x" : "z"}, {"y"}}},
                                     .inputs = {valueInfo("x", kFloat, {1, 4}), valueInfo("z", kFloat, {1, 4})},
                                     .outputs = {valueInfo("y", kFloat, {1, 4})}});
         },
         "z"},
        {"duplicate-subgraph", "two branches that are one",
         [](bool fault) {
             return chain({{"MatMul", {"x", "w"}, {"a"}},
                           {"Relu", {"a"}, {"ra"}},
                           {"MatMul", {"x", fault ? "w" : "v"}, {"b"}},
                           {"Relu", {"b"}, {"rb"}},
                           {"Add", {"ra", "rb"}, {"y"}}},
                          {1, 16}, {1, 16},
                          {floats("w", {16, 16}, varied({16, 16})), floats("v", {16, 16}, varied({16, 16}, 0.4F))});
         },
         "rb"},
        {"redundant-transpose", "one undoes the other",
         [](bool fault) {
             const Node undone{"Transpose", {"r"}, {"y"}, "", "", {intsAttribute("perm", {0, 2, 1})}};
             return chain({{"Transpose", {"x"}, {"t"}, "", "", {intsAttribute("perm", {0, 2, 1})}},
                           {"Relu", {"t"}, {"r"}},
                           fault ? undone : Node{"Tanh", {"r"}, {"y"}}},
                          {3, 4, 5}, fault ? Dims{3, 4, 5} : Dims{3, 5, 4});
         },
         "y"},
        {"redundant-transpose", "of nothing",
         [](bool fault) {
             return chain(
                 {{"Transpose", {"x"}, {"y"}, "", "", {intsAttribute("perm", fault ? Dims{0, 1} : Dims{1, 0})}}},
                 {3, 3}, {3, 3});
         },
         "y"},
        {"redundant-cast", "there and back",
         [](bool fault) {
             return chain({{"Cast", {"x"}, {"c"}, "", "", {intAttribute("to", fault ? kDouble : kInt64)}},
                           {"Cast", {"c"}, {"y"}, "", "", {intAttribute("to", kFloat)}}},
                          {1, 16}, {1, 16});
         },
         "y"},
        {"redundant-cast", "to what it is",
         [](bool fault) {
             return chain(
                 {{"Cast", {"x"}, {"c"}, "", "", {intAttribute("to", fault ? kFloat : kInt64)}}, {"Abs", {"c"}, {"y"}}},
                 {1, 16}, {1, 16}, {}, 17, fault ? kFloat : kInt64);
         },
         "c"},
        {"foldable-constant", "a product of constants",
         [](bool fault) {
             return chain(
                 {{"Mul", {"p", fault ? "q" : "x"}, {"pq"}}, {"Sqrt", {"pq"}, {"root"}}, {"Add", {"x", "root"}, {"y"}}},
                 {1, 16}, {1, 16}, {floats("p", {16}, filled({16}, 2)), floats("q", {16}, filled({16}, 3))});
         },
         "root"},
        {"training-mode", "dropout",
         [](bool fault) {
             return chain(
                 {{"Dropout", {"x", "ratio", "mode"}, {"y"}}}, {1, 16}, {1, 16},
                 {floats("ratio", {}, {0.5F}), rawTensor("mode", kBool, {}, std::string(1, fault ? '\1' : '\0'))});
         },
         "y"},
        {"training-mode", "batch norm",
         [](bool fault) {
             return chain(
                 {{"BatchNormalization",
                   {"x", "g", "b", "mean", "var"},
                   fault ? std::vector<std::string>{"y", "new_mean", "new_var"} : std::vector<std::string>{"y"},
                   "",
                   "",
                   {intAttribute("training_mode", fault ? 1 : 0)}}},
                 {2, 4, 8}, {2, 4, 8},
                 {floats("g", {4}, varied({4})), floats("b", {4}, varied({4})), floats("mean", {4}, varied({4})),
                  floats("var", {4}, filled({4}, 2))});
         },
         "y"},
        {"deprecated-operator", "Upsample",
         [](bool fault) {
             const std::vector<std::string> scales{floats("s", {4}, {1, 1, 2, 2})};
             return fault ? chain({{"Upsample", {"x", "s"}, {"y"}}}, {1, 1, 4, 4}, {1, 1, 8, 8}, scales, 9)
                          : chain({{"Resize", {"x", "", "s"}, {"y"}}}, {1, 1, 4, 4}, {1, 1, 8, 8}, scales, 13);
         },
         "y"},
        {"old-opset", "7",
         [](bool fault) {
             return chain({{"Relu", {"x"}, {"y"}}}, {1, 4}, {1, 4}, {}, fault ? 7 : 17);
         },
         ""},
        {"name-collision", "operations",
         [](bool fault) {
             return chain({{"Relu", {"x"}, {"r"}, "layer"}, {"Tanh", {"r"}, {"y"}, fault ? "layer" : "tanh"}}, {1, 4},
                          {1, 4});
         },
         "y"},
        {"name-collision", "inputs",
         [](bool fault) {
             const char* const other = fault ? "X" : "z";
             return onnxfile::model({.nodes = {{"Add", {"x", other}, {"y"}}},
                                     .inputs = {valueInfo("x", kFloat, {1, 4}), valueInfo(other, kFloat, {1, 4})},
                                     .outputs = {valueInfo("y", kFloat, {1, 4})}});
         },
         "X"},
        {"private-metadata", "a path",
         [](bool fault) {
             return withMetadata(chain({{"Relu", {"x"}, {"y"}}}, {1, 4}, {1, 4}),
                                 {{"config", fault ? "/home/ada/runs/7/config.yaml" : "runs/7/home/config.yaml"}});
         },
         ""},
        {"private-metadata", "a mail address",
         [](bool fault) {
             return withMetadata(chain({{"Relu", {"x"}, {"y"}}}, {1, 4}, {1, 4}),
                                 {{"author", fault ? "Ada <ada@example.org>" : "Ada @ Example"}});
         },
         ""},
    };
}

inline std::vector<FindingNetwork> ofValues() {
    return {
        {"nan", "square root of negative numbers",
         [](bool fault) {
             return chain({{fault ? "Neg" : "Abs", {"x"}, {"n"}}, {"Sqrt", {"n"}, {"y"}}}, {1, 16}, {1, 16});
         },
         "y"},
        {"inf", "division by 0",
         [](bool fault) {
             return chain({{"Div", {"x", "d"}, {"y"}}}, {1, 16}, {1, 16}, {floats("d", {1}, {fault ? 0.0F : 2.0F})});
         },
         "y"},
        {"saturation", "sigmoid",
         [](bool fault) {
             return chain({{"Mul", {"x", "k"}, {"m"}}, {"Sigmoid", {"m"}, {"s"}}, {"Add", {"s", "x"}, {"y"}}}, {1, 64},
                          {1, 64}, {floats("k", {1}, {fault ? 9000.0F : 1.0F})});
         },
         "s"},
        {"saturation", "tanh",
         [](bool fault) {
             return chain({{"Mul", {"x", "k"}, {"m"}}, {"Tanh", {"m"}, {"s"}}, {"Add", {"s", "x"}, {"y"}}}, {1, 64},
                          {1, 64}, {floats("k", {1}, {fault ? 9000.0F : 1.0F})});
         },
         "s"},
        {"saturation", "upper limit of a clip",
         [](bool fault) {
             return chain({{"Add", {"x", "k"}, {"m"}}, {"Clip", {"m", "lo", "hi"}, {"s"}}, {"Add", {"s", "x"}, {"y"}}},
                          {1, 64}, {1, 64},
                          {floats("k", {1}, {fault ? 9.0F : 1.0F}), floats("lo", {}, {0}), floats("hi", {}, {6})});
         },
         "s"},
        {"dead-unit", "a bias of -100",
         [](bool fault) {
             return convolution(varied({3, 3, 3, 3}), {0, fault ? -100.0F : 1.0F, 1});
         },
         "y"},
        {"constant-output", "a softmax over one element",
         [](bool fault) {
             return chain({{"MatMul", {"x", "w"}, {"s"}}, {fault ? "Softmax" : "Sigmoid", {"s"}, {"y"}}}, {-1, 4},
                          {-1, 1}, {floats("w", {4, 1}, varied({4, 1}))});
         },
         "y"},
        {"constant-output", "no input",
         [](bool fault) {
             return onnxfile::model({.nodes = {{"Relu", {"x"}, {"y"}}, {"Exp", {fault ? "c" : "x"}, {"z"}}},
                                     .inputs = {valueInfo("x", kFloat, {1, 4})},
                                     .outputs = {valueInfo("y", kFloat, {1, 4}), valueInfo("z", kFloat, {1, 4})},
                                     .initializers = {floats("c", {1, 4}, varied({1, 4}))}});
         },
         "z"},
        {"exploding-scale", "weights of 10^6",
         [](bool fault) {
             return product(varied({16, 16}, fault ? 1e6F : 0.5F));
         },
         "y"},
        {"vanishing-scale", "weights of 10^-12",
         [](bool fault) {
             return product(varied({16, 16}, fault ? 1e-12F : 0.5F));
         },
         "y"},
        {"denormal", "values",
         [](bool fault) {
             return chain({{"Mul", {"x", "k"}, {"y"}}}, {1, 64}, {1, 64}, {floats("k", {1}, {fault ? 1e-39F : 1e-3F})});
         },
         "y"},
        {"float16-overflow", "a product",
         [](bool fault) {
             return product(filled({16, 16}, fault ? 3e4F : 0.5F));
         },
         "y"},
        {"float16-overflow", "a weight",
         [](bool fault) {
             return product(varied({16, 16}, fault ? 1e5F : 0.5F));
         },
         "w"},
        // 0x47C3 are the upper bytes of 99840 in float32, 0x3F80 and 0x3F40 those of 1 and 0.75.
        {"float16-overflow", "a weight in bfloat16",
         [](bool fault) {
             constexpr int kBFloat16 = 16;
             std::string weights;
             for (int i = 0; i < 16 * 16; ++i) weights += fault ? "\xC3\x47" : (i % 2 == 0 ? "\x80\x3F" : "\x40\x3F");
             return chain({{"Cast", {"x"}, {"c"}, "", "", {intAttribute("to", kBFloat16)}},
                           {"MatMul", {"c", "w"}, {"m"}},
                           {"Cast", {"m"}, {"y"}, "", "", {intAttribute("to", 1)}}},
                          {1, 16}, {1, 16}, {rawTensor("w", kBFloat16, {16, 16}, weights)});
         },
         "w"},
        {"quantization-clipping", "a scale that is too small",
         [](bool fault) { return quantised(fault ? 1e-3F : 1 / 250.0F); }, "q"},
        {"quantization-range", "a scale that is too large",
         [](bool fault) { return quantised(fault ? 0.5F : 1 / 250.0F); }, "q"},
        {"quantization-range", "a scale of 0", [](bool fault) { return quantised(fault ? 0.0F : 1 / 250.0F); }, "q"},
        {"batch-dependent", "a softmax over the batch",
         [](bool fault) {
             return chain({{"Softmax", {"x"}, {"y"}, "", "", {intAttribute("axis", fault ? 0 : 1)}}}, {-1, 8}, {-1, 8});
         },
         "y"},
        {"batch-dependent", "a shape of the example",
         [](bool fault) {
             return chain(
                 {{"Reshape", {"x", "shape"}, {"r"}}, {"Relu", {"r"}, {"y"}}}, {-1, 8}, {-1, 8},
                 {longs("shape", {2}, fault ? std::vector<std::int64_t>{1, 8} : std::vector<std::int64_t>{-1, 8})});
         },
         "x"},
    };
}

}  // namespace findingnetworks

/// At least one for each id of analysis::findingCheckers().
inline std::vector<FindingNetwork> findingNetworks() {
    std::vector<FindingNetwork> all = findingnetworks::ofWeights();
    for (auto part : {findingnetworks::ofStructure(), findingnetworks::ofValues()})
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

}  // namespace sonde::test
