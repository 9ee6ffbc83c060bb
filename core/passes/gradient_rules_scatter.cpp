// Derivatives of operators that combine elements of several inputs, or of one, in one place: scattering, blocks added
// up.

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/passes/gradient_rules.h"

namespace sonde::passes {

namespace {

using graph::Expr;
using graph::NodeId;
using tensor::Attributes;
using Dims = std::vector<std::int64_t>;

/// y: data with updates at indices, which replace, or are combined with what is there by the reduction.
struct ScatterCall {
    GradientBuilder& b;
    const Expr& e;
    const char* gather;  ///< the operator that reads what this one writes
    Attributes gatherAttributes;
    NodeId data = inputOf(e, 0), indices = inputOf(e, 1), updates = inputOf(e, 2), g = gradientOf(b, e);

    /// What the operator makes of other data and updates.
    NodeId scattered(NodeId onto, NodeId values, const char* reduction) const {
        Attributes attributes = e.attributes;
        attributes.set("reduction", std::string(reduction));
        return b.like(e, {onto, indices, values}, std::move(attributes));
    }
    NodeId gathered(NodeId x) const { return b.op(gather, {x, indices}, gatherAttributes); }
    /// 1 where a condition holds, else 0.
    NodeId counted(NodeId condition) const { return b.op("Where", {condition, b.number(1, data), b.number(0, data)}); }

    /// What was overwritten has no part in the result.
    void replaced() const {
        b.give(data, b.like(e, {g, indices, b.filled(updates, 0)}, e.attributes));
        b.give(updates, gathered(g));
    }
    void added() const {
        b.give(data, g);
        b.give(updates, gathered(g));
    }
    /// The product of the others at a place: y / u, or with one zero among the updates that one's is that without it.
    void multiplied() const {
        b.give(data, b.mul(g, scattered(b.filled(data, 1), updates, "mul")));
        const NodeId zero = b.number(0, data), one = b.number(1, data);
        const NodeId isZero = b.op("Equal", {updates, zero}), others = b.op("Where", {isZero, one, updates});
        const NodeId product = gathered(b.mul(g, scattered(data, others, "mul")));
        const NodeId zeros = gathered(scattered(b.filled(data, 0), counted(isZero), "add"));
        const NodeId atZero = b.op("Where", {b.op("Equal", {zeros, one}), product, zero});
        const NodeId elsewhere = b.op("Where", {b.op("Equal", {zeros, zero}), b.div(product, others), zero});
        b.give(updates, b.op("Where", {isZero, atZero, elsewhere}));
    }
    /// To those that are the result, in equal shares.
    void compared() const {
        const NodeId y = e.outputs.front();
        const NodeId isData = counted(b.op("Equal", {data, y})),
                     isUpdate = counted(b.op("Equal", {updates, gathered(y)}));
        const NodeId share = b.div(g, scattered(isData, isUpdate, "add"));
        b.give(data, b.mul(isData, share));
        b.give(updates, b.mul(isUpdate, gathered(share)));
    }

    void differentiate() const {
        const std::string reduction = e.attributes.getString("reduction", "none");
        if (reduction == "none") replaced();
        else if (reduction == "add") added();
        else if (reduction == "mul") multiplied();
        else if (reduction == "max" || reduction == "min") compared();
        else b.fail("the derivative of " + e.op.name + " with reduction " + reduction + " is not supported");
    }
};

void scatterElementsRule(GradientBuilder& b, const Expr& e) {
    ScatterCall{b, e, "GatherElements", {{"axis", e.attributes.getInt("axis", 0)}}}.differentiate();
}
void scatterNdRule(GradientBuilder& b, const Expr& e) { ScatterCall{b, e, "GatherND", {}}.differentiate(); }

/// Blocks that were added up have the gradient of where they are: a convolution whose filters are the unit vectors of a
/// block. x [N,C·taps,L], g [N,C,D…].
void col2ImRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = inputOf(e, 0);
    Dims image, block;
    for (const double size : constantNumbers(b, inputOf(e, 1))) image.push_back(static_cast<std::int64_t>(size));
    for (const double size : constantNumbers(b, inputOf(e, 2))) block.push_back(static_cast<std::int64_t>(size));
    if (image.empty() || image.size() != block.size()) return b.fail("the dimensions of Col2Im are unknown");
    constexpr std::int64_t kMaxTaps = 4096;
    std::int64_t taps = 1;
    for (const std::int64_t size : block) {
        if (size < 1 || size > kMaxTaps / taps)
            return b.fail("the derivative of Col2Im with blocks of more than " + std::to_string(kMaxTaps) +
                          " elements is not supported");
        taps *= size;
    }
    Dims planes{-1, 1}, filters{taps, 1};
    planes.insert(planes.end(), image.begin(), image.end());
    filters.insert(filters.end(), block.begin(), block.end());
    Attributes window;
    for (const char* name : {"dilations", "pads", "strides"})
        if (const Dims given = e.attributes.getInts(name); !given.empty()) window.set(name, given);
    const NodeId units = b.constant(unitMatrix(taps, b.graph().node(x).type.dtype));
    const NodeId blocks =
        b.op("Conv",
             {b.op("Reshape", {gradientOf(b, e), b.integers(planes)}), b.op("Reshape", {units, b.integers(filters)})},
             std::move(window));
    b.give(x, b.reshapedTo(blocks, x));
}

}  // namespace

void addScatterGradients(GradientRules& rules) {
    rules.insert({{"Col2Im", col2ImRule},
                  {"Scatter", scatterElementsRule},
                  {"ScatterElements", scatterElementsRule},
                  {"ScatterND", scatterNdRule}});
}

}  // namespace sonde::passes
