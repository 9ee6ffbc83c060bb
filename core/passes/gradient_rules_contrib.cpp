// Derivatives of com.microsoft's operators: by those of ai.onnx that they are, or that they are made of.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/passes/gradient_rules.h"

namespace sonde::passes {

namespace {

using graph::Expr;
using graph::NodeId;
using tensor::Attributes;
using tensor::Tensor;
using Dims = std::vector<std::int64_t>;

/// x·Φ(x), or its approximation by tanh.
NodeId gelu(GradientBuilder& b, NodeId x, bool byTanh) {
    const auto number = [&](double value) { return b.number(value, x); };
    NodeId bend;
    if (byTanh) {
        const NodeId cube = b.mul(number(0.044715), b.mul(x, b.mul(x, x)));
        bend = b.op("Tanh", {b.mul(number(std::sqrt(2 * std::numbers::inv_pi)), b.add(x, cube))});
    } else {
        bend = b.op("Erf", {b.mul(x, number(1 / std::numbers::sqrt2))});
    }
    return b.mul(b.mul(number(0.5), x), b.add(number(1), bend));
}
NodeId silu(GradientBuilder& b, NodeId x) { return b.mul(x, b.op("Sigmoid", {x})); }

NodeId biased(GradientBuilder& b, NodeId x, NodeId bias) { return bias.valid() ? b.add(x, bias) : x; }

void biasGeluRule(GradientBuilder& b, const Expr& e) {
    b.through(e, [&]() -> std::vector<NodeId> { return {gelu(b, biased(b, inputOf(e, 0), inputOf(e, 1)), false)}; });
}
void fastGeluRule(GradientBuilder& b, const Expr& e) {
    b.through(e, [&]() -> std::vector<NodeId> { return {gelu(b, biased(b, inputOf(e, 0), inputOf(e, 1)), true)}; });
}
void quickGeluRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = inputOf(e, 0), alpha = b.number(e.attributes.getFloat("alpha", 1.702), x);
    b.through(e, [&]() -> std::vector<NodeId> { return {b.mul(x, b.op("Sigmoid", {b.mul(alpha, x)}))}; });
}
void biasAddRule(GradientBuilder& b, const Expr& e) {
    b.through(e, [&]() -> std::vector<NodeId> { return {b.add(b.add(inputOf(e, 0), inputOf(e, 1)), inputOf(e, 2))}; });
}
void gatedAddRule(GradientBuilder& b, const Expr& e) {
    b.through(e, [&]() -> std::vector<NodeId> { return {b.add(inputOf(e, 0), b.mul(inputOf(e, 1), inputOf(e, 2)))}; });
}

/// The left half of x + bias times gelu of the right one.
void splitGeluRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = inputOf(e, 0);
    const auto dims = b.dimSizesOf(x);
    if (!dims || dims->empty()) return b.fail("the dimensions of " + e.op.name + " are unknown");
    const std::int64_t axis = static_cast<std::int64_t>(dims->size()) - 1, half = dims->back() / 2;
    b.through(e, [&]() -> std::vector<NodeId> {
        const NodeId sum = biased(b, x, inputOf(e, 1));
        Dims part = *dims;
        part.back() = half;
        const auto cut = [&](std::int64_t first) {
            return b.sized(b.op("Slice", {sum, b.integers({first}), b.integers({first + half}), b.integers({axis})}),
                           part);
        };
        return {b.mul(cut(0), gelu(b, cut(half), false))};
    });
}

/// softmax(data + bias) over the axes from `axis` on as one.
void biasSoftmaxRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = inputOf(e, 0), bias = inputOf(e, 1);
    const auto dims = b.dimSizesOf(x), given = b.dimSizesOf(bias);
    if (!dims || !given) return b.fail("the dimensions of " + e.op.name + " are unknown");
    std::int64_t axis = e.attributes.getInt("axis", 1);
    if (axis < 0) axis += static_cast<std::int64_t>(dims->size());
    const std::size_t tail = dims->size() - static_cast<std::size_t>(axis);
    Dims spread = *given;
    if (e.attributes.getInt("is_inner_broadcast", 0) != 0 && spread.size() < dims->size() && spread.size() >= tail)
        spread.insert(spread.end() - static_cast<std::ptrdiff_t>(tail), dims->size() - spread.size(), 1);
    std::int64_t outer = 1;
    for (std::int64_t i = 0; i < axis; ++i) outer *= (*dims)[static_cast<std::size_t>(i)];
    b.through(e, [&]() -> std::vector<NodeId> {
        const NodeId wide = spread == *given ? bias : b.sized(b.op("Reshape", {bias, b.integers(spread)}), spread);
        const NodeId rows = b.op("Reshape", {b.add(x, wide), b.integers({outer, -1})});
        return {b.op("Reshape", {b.op("Softmax", {rows}, {{"axis", std::int64_t{1}}}), b.integers(*dims)})};
    });
}

/// f(x) for the activations that fused operators name.
NodeId activated(GradientBuilder& b, NodeId x, const std::string& name, const Attributes& parameters) {
    if (name.empty()) return x;
    if (name == "Clip") {
        return b.op("Clip",
                    {x, b.number(parameters.getFloat("alpha", 0), x), b.number(parameters.getFloat("beta", 0), x)});
    }
    for (const std::string_view known :
         {"Relu", "LeakyRelu", "Tanh", "Sigmoid", "HardSigmoid", "Elu", "Selu", "Softplus", "Softsign", "Softmax"})
        if (name == known) return b.op(name, {x}, parameters);
    b.fail("the derivative of the activation '" + name + "' is not supported");
    return {};
}

/// activation_alpha … of products by their ONNX names.
Attributes productParameters(const Expr& e) {
    Attributes made;
    for (const std::string_view name : {"alpha", "beta", "gamma"}) {
        const std::string full = "activation_" + std::string(name);
        if (e.attributes.has(full)) made.set(std::string(name), e.attributes.getFloat(full, 0));
    }
    if (e.attributes.getString("activation", "") == "Softmax")
        made.set("axis", e.attributes.getInt("activation_axis", -1));
    return made;
}

/// alpha·A·B, either turned: the first axis behind those of the batch, then the last two exchanged.
void fusedProductRule(GradientBuilder& b, const Expr& e) {
    const auto turned = [&](std::size_t at, const char* swaps, const char* moves) {
        const NodeId x = inputOf(e, at);
        const auto rank = b.rankOf(x);
        if (!rank) b.fail("the rank of a factor of " + e.op.name + " is unknown");
        if (!rank || *rank < 2) return x;
        Dims order(*rank);
        std::iota(order.begin(), order.end(), 0);
        if (e.attributes.getInt(moves, 0) != 0) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
        if (e.attributes.getInt(swaps, 0) != 0) std::swap(order[*rank - 2], order[*rank - 1]);
        if (std::ranges::is_sorted(order)) return x;
        const NodeId made = b.op("Transpose", {x}, {{"perm", order}});
        const auto dims = b.dimSizesOf(x);
        Dims size;
        for (const std::int64_t axis : order)
            if (dims) size.push_back((*dims)[static_cast<std::size_t>(axis)]);
        return dims ? b.sized(made, size) : made;
    };
    b.through(e, [&]() -> std::vector<NodeId> {
        const NodeId left = turned(0, "transA", "transBatchA"), right = turned(1, "transB", "transBatchB");
        const NodeId product = b.mul(b.op("MatMul", {left, right}), b.number(e.attributes.getFloat("alpha", 1), left));
        return {activated(b, product, e.attributes.getString("activation", ""), productParameters(e))};
    });
}

void fusedGemmRule(GradientBuilder& b, const Expr& e) {
    b.through(e, [&]() -> std::vector<NodeId> {
        Attributes own;
        for (const std::string_view name : {"alpha", "beta"})
            own.set(std::string(name), e.attributes.getFloat(name, 1));
        for (const std::string_view name : {"transA", "transB"})
            own.set(std::string(name), e.attributes.getInt(name, 0));
        std::vector<NodeId> inputs{inputOf(e, 0), inputOf(e, 1)};
        if (inputOf(e, 2).valid()) inputs.push_back(inputOf(e, 2));
        return {
            activated(b, b.op("Gemm", inputs, own), e.attributes.getString("activation", ""), productParameters(e))};
    });
}

void productGeluRule(GradientBuilder& b, const Expr& e) {
    b.through(e, [&]() -> std::vector<NodeId> {
        return {gelu(b, biased(b, b.op("MatMul", {inputOf(e, 0), inputOf(e, 1)}), inputOf(e, 2)), true)};
    });
}

/// activation(conv(X, W, B) + Z), with channels last or not.
void fusedConv(GradientBuilder& b, const Expr& e, bool hasLastChannels) {
    const auto dims = b.dimSizesOf(inputOf(e, 0));
    if (!dims || dims->size() < 3) return b.fail("the dimensions of " + e.op.name + " are unknown");
    Attributes own;
    for (const auto& [name, value] : e.attributes.items())
        if (!name.starts_with("activation")) own.set(name, value);
    const std::vector<double> given = e.attributes.getFloats("activation_params");
    Attributes parameters;
    if (!given.empty()) parameters.set("alpha", given[0]);
    if (given.size() > 1) parameters.set("beta", given[1]);
    b.through(e, [&]() -> std::vector<NodeId> {
        const auto last = static_cast<std::int64_t>(dims->size()) - 1;
        Dims front{0, last}, back{0}, size{(*dims)[0], dims->back()};
        for (std::int64_t i = 1; i < last; ++i)
            front.push_back(i), back.push_back(i + 1), size.push_back((*dims)[static_cast<std::size_t>(i)]);
        back.push_back(1);
        NodeId x = inputOf(e, 0);
        if (hasLastChannels) x = b.sized(b.op("Transpose", {x}, {{"perm", front}}), size);
        std::vector<NodeId> inputs{x, inputOf(e, 1)};
        if (inputOf(e, 2).valid()) inputs.push_back(inputOf(e, 2));
        NodeId y = b.op("Conv", inputs, own);
        if (hasLastChannels) y = b.op("Transpose", {y}, {{"perm", back}});
        return {activated(b, biased(b, y, inputOf(e, 3)), e.attributes.getString("activation", ""), parameters)};
    });
}
void fusedConvRule(GradientBuilder& b, const Expr& e) { fusedConv(b, e, false); }
void lastConvRule(GradientBuilder& b, const Expr& e) { fusedConv(b, e, true); }

/// By groups of channels, of X + skip + bias, scaled, with x·σ(x) behind it; the sum is the second result.
void contribGroupNormRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = inputOf(e, 0), gamma = inputOf(e, 1), beta = inputOf(e, 2);
    const auto dims = b.dimSizesOf(x);
    if (!dims || dims->size() != 4) return b.fail("the dimensions of " + e.op.name + " are unknown");
    const bool isLast = e.attributes.getInt("channels_last", 1) != 0;
    const std::size_t axis = isLast ? 3 : 1;
    const std::int64_t groups = e.attributes.getInt("groups", 1), channels = (*dims)[axis];
    if (groups < 1 || channels % groups != 0) return b.fail("the groups of " + e.op.name + " do not match");
    const auto spread = [&](NodeId values) {  // [C] and [N, C] are repeated over the image
        const auto own = b.dimSizesOf(values);
        if (!own || own->size() == 4 || own->empty()) return values;
        Dims shape{own->size() == 2 ? (*own)[0] : 1, 1, 1, 1};
        shape[axis] = own->back();
        return b.sized(b.op("Reshape", {values, b.integers(shape)}), shape);
    };
    b.through(e, [&]() -> std::vector<NodeId> {
        NodeId sum = x;
        for (const std::size_t input : {3U, 4U})
            if (inputOf(e, input).valid()) sum = b.sized(b.add(sum, spread(inputOf(e, input))), *dims);
        // [N, H·W, groups, C / groups] or [N, groups, C / groups, H·W]
        const Dims split =
            isLast ? Dims{(*dims)[0], -1, groups, channels / groups} : Dims{(*dims)[0], groups, channels / groups, -1};
        const Dims axes = isLast ? Dims{1, 3} : Dims{2, 3};
        const NodeId rows = b.op("Reshape", {sum, b.integers(split)});
        const NodeId centred = b.sub(rows, b.reduced("ReduceMean", rows, axes));
        const NodeId variance = b.reduced("ReduceMean", b.mul(centred, centred), axes);
        const NodeId deviation = b.op("Sqrt", {b.add(variance, b.number(e.attributes.getFloat("epsilon", 1e-5), x))});
        const NodeId normal = b.sized(b.op("Reshape", {b.div(centred, deviation), b.integers(*dims)}), *dims);
        NodeId y = b.add(b.mul(normal, b.castLike(spread(gamma), x)), b.castLike(spread(beta), x));
        if (e.attributes.getInt("activation", 0) == 1) y = silu(b, y);
        return {y, sum};
    });
}

/// X over its root mean square by stretches as long as the scale, times scale·gate·σ(gate).
void gatedNormRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = inputOf(e, 0), scale = inputOf(e, 1);
    const auto dims = b.dimSizesOf(x), length = b.dimSizesOf(scale);
    if (!dims || !length) return b.fail("the dimensions of " + e.op.name + " are unknown");
    const std::int64_t count = std::accumulate(length->begin(), length->end(), std::int64_t{1}, std::multiplies<>());
    b.through(e, [&]() -> std::vector<NodeId> {
        const NodeId rows = b.op("Reshape", {x, b.integers({-1, count})});
        const NodeId square = b.reduced("ReduceMean", b.mul(rows, rows), {1});
        const NodeId root = b.op("Sqrt", {b.add(square, b.number(e.attributes.getFloat("epsilon", 1e-5), x))});
        const NodeId scaled = b.mul(b.div(rows, root), b.op("Reshape", {scale, b.integers({count})}));
        return {b.mul(b.op("Reshape", {scaled, b.integers(*dims)}), silu(b, inputOf(e, 2)))};
    });
}

/// Rows of tables, added and normalised.
void embeddingNormRule(GradientBuilder& b, const Expr& e) {
    b.through(e, [&]() -> std::vector<NodeId> {
        const auto rows = [&](std::size_t table, NodeId ids) {
            return b.op("Gather", {inputOf(e, table), ids}, {{"axis", std::int64_t{0}}});
        };
        const NodeId ids = inputOf(e, 0), gamma = inputOf(e, 5);
        const auto dims = b.dimSizesOf(ids);
        NodeId positions = inputOf(e, 8);
        if (!positions.valid() && (!dims || dims->size() != 2)) {
            b.fail("the dimensions of " + e.op.name + " are unknown");
            return {};
        }
        if (!positions.valid()) {
            Dims counted(static_cast<std::size_t>((*dims)[1]));
            std::iota(counted.begin(), counted.end(), 0);
            positions = b.constant(Tensor::of<std::int64_t>({1, (*dims)[1]}, counted));
        }
        NodeId sum = b.add(rows(2, ids), rows(3, positions));
        if (inputOf(e, 4).valid()) sum = b.add(sum, rows(4, inputOf(e, 1)));
        const NodeId centred = b.sub(sum, b.reduced("ReduceMean", sum, {-1}));
        const NodeId variance = b.reduced("ReduceMean", b.mul(centred, centred), {-1});
        const NodeId deviation =
            b.op("Sqrt", {b.add(variance, b.number(e.attributes.getFloat("epsilon", 1e-12), gamma))});
        const NodeId y = b.add(b.mul(b.div(centred, deviation), gamma), inputOf(e, 6));
        if (e.outputs.size() < 3) return {y};
        return {y, e.outputs[1], sum};  // the counts of tokens have none
    });
}

/// The weights are what the operator gives for the unit matrix: of a product with those that are packed.
void packedProductRule(GradientBuilder& b, const Expr& e) {
    const std::int64_t k = e.attributes.getInt("K", 0);
    constexpr std::int64_t kMaxK = std::int64_t{1} << 13;
    if (k < 1 || k > kMaxK) return b.fail("the derivative of " + e.op.name + " with this K is not supported");
    const NodeId a = inputOf(e, 0), g = gradientOf(b, e);
    std::vector<NodeId> inputs{b.constant(unitMatrix(k, b.graph().node(a).type.dtype))};
    for (std::size_t i = 1; i < e.arguments.size(); ++i)
        inputs.push_back(i == 5 ? NodeId() : inputOf(e, i));  // without the bias
    const NodeId weights = b.like(e, inputs, e.attributes);
    b.give(a, b.op("MatMul", {g, b.op("Transpose", {weights}, {{"perm", Dims{1, 0}}})}));
    if (const NodeId bias = inputOf(e, 5); bias.valid()) b.giveBroadcast(e, bias, g);
}

/// (x + iy)·(u ± iv), pairs along the last axis.
void complexProduct(GradientBuilder& b, const Expr& e, double sign) {
    const NodeId p = inputOf(e, 0), q = inputOf(e, 1);
    const auto left = b.dimSizesOf(p), right = b.dimSizesOf(q);
    if (!left || !right) return b.fail("the dimensions of " + e.op.name + " are unknown");
    b.through(e, [&]() -> std::vector<NodeId> {
        const auto part = [&](NodeId of, const Dims& dims, std::int64_t at) {
            Dims one = dims;
            one.back() = 1;
            return b.sized(b.op("Slice", {of, b.integers({at}), b.integers({at + 1}), b.integers({-1})}), one);
        };
        const NodeId x = part(p, *left, 0), y = part(p, *left, 1), u = part(q, *right, 0),
                     v = b.mul(part(q, *right, 1), b.number(sign, q));
        auto dims = b.dimSizesOf(e.outputs.front());
        const NodeId real = b.sub(b.mul(x, u), b.mul(y, v)), imaginary = b.add(b.mul(x, v), b.mul(y, u));
        if (!dims) {
            b.fail("the dimensions of " + e.op.name + " are unknown");
            return {};
        }
        dims->back() = 1;
        return {b.op("Concat", {b.sized(real, *dims), b.sized(imaginary, *dims)}, {{"axis", std::int64_t{-1}}})};
    });
}
void complexRule(GradientBuilder& b, const Expr& e) { complexProduct(b, e, 1); }
void conjugateRule(GradientBuilder& b, const Expr& e) { complexProduct(b, e, -1); }

/// Distances of all pairs of rows [n, k] and [m, k].
void distancesRule(GradientBuilder& b, const Expr& e) {
    b.through(e, [&]() -> std::vector<NodeId> {
        const NodeId apart = b.sub(b.unsqueezed(inputOf(e, 0), 1), b.unsqueezed(inputOf(e, 1), 0));
        const NodeId square = b.op("Squeeze", {b.reduced("ReduceSum", b.mul(apart, apart), {2}), b.integers({2})});
        const bool isSquare = e.attributes.getString("metric", "sqeuclidean") == "sqeuclidean";
        return {isSquare ? square : b.op("Sqrt", {square})};
    });
}

/// −Yᵀ·g·Yᵀ of Y = X⁻¹.
void inverseRule(GradientBuilder& b, const Expr& e) {
    const NodeId turned = b.transposed(e.outputs.front());
    b.give(inputOf(e, 0), b.op("Neg", {b.op("MatMul", {b.op("MatMul", {turned, gradientOf(b, e)}), turned})}));
}

}  // namespace

void addContribGradients(GradientRules& rules) {
    rules.insert({{"com.microsoft::BiasAdd", biasAddRule},
                  {"com.microsoft::BiasGelu", biasGeluRule},
                  {"com.microsoft::BiasSoftmax", biasSoftmaxRule},
                  {"com.microsoft::BiasSplitGelu", splitGeluRule},
                  {"com.microsoft::CDist", distancesRule},
                  {"com.microsoft::ComplexMul", complexRule},
                  {"com.microsoft::ComplexMulConj", conjugateRule},
                  {"com.microsoft::EmbedLayerNormalization", embeddingNormRule},
                  {"com.microsoft::FastGelu", fastGeluRule},
                  {"com.microsoft::FusedConv", fusedConvRule},
                  {"com.microsoft::FusedGemm", fusedGemmRule},
                  {"com.microsoft::FusedMatMul", fusedProductRule},
                  {"com.microsoft::FusedMatMulActivation", fusedProductRule},
                  {"com.microsoft::Inverse", inverseRule},
                  {"com.microsoft::GatedAdd", gatedAddRule},
                  {"com.microsoft::GatedRMSNorm", gatedNormRule},
                  {"com.microsoft::GemmFastGelu", productGeluRule},
                  {"com.microsoft::GroupNorm", contribGroupNormRule},
                  {"com.microsoft::MatMulBnb4", packedProductRule},
                  {"com.microsoft::MatMulNBits", packedProductRule},
                  {"com.microsoft::NhwcConv", lastConvRule},
                  {"com.microsoft::NhwcFusedConv", lastConvRule},
                  {"com.microsoft::QuickGelu", quickGeluRule},
                  {"com.microsoft::SkipGroupNorm", contribGroupNormRule},
                  {"com.microsoft::TransposeMatMul", fusedProductRule}});
    // What is the operator of ai.onnx, or picks elements of its first input as that one does.
    for (const auto& [name, onnx] :
         {std::pair("com.microsoft::Gelu", "Gelu"),
          std::pair("com.microsoft::LayerNormalization", "LayerNormalization"),
          std::pair("com.microsoft::SimplifiedLayerNormalization", "RMSNormalization"),
          std::pair("com.microsoft::Trilu", "Trilu"), std::pair("com.microsoft::GridSample", "GridSample"),
          std::pair("com.microsoft::GatherND", "GatherND"), std::pair("com.microsoft::ExpandDims", "Reshape"),
          std::pair("com.microsoft::UnfoldTensor", "Gather"), std::pair("com.microsoft::TorchEmbedding", "Gather")})
        rules.emplace(name, rules.at(onnx));
}

}  // namespace sonde::passes
