// Attention: a sum of values, weighted by the softmax of their scores.

#include <algorithm>

#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops::dependence {

namespace {

constexpr std::int64_t kMaxProbe = std::int64_t{1} << 26;  ///< elements that finding the weights may take

/// The values as [batches, heads, rows, size], whether packed [batch, rows, heads * size] or not.
struct Heads {
    std::int64_t batches = 1, heads = 1, rows = 1, size = 1;
    bool isPacked = false;

    Shape shape(std::int64_t otherSize, std::size_t rank) const {
        if (isPacked) return Shape{batches, rows, heads * otherSize};
        Shape shape{batches, heads, rows, otherSize};
        return rank == 4 ? shape : rank == 3 ? Shape{batches * heads, rows, otherSize} : Shape{rows, otherSize};
    }
    std::int64_t element(std::int64_t b, std::int64_t h, std::int64_t row, std::int64_t d, std::int64_t width) const {
        return isPacked ? ((b * rows + row) * heads + h) * width + d : ((b * heads + h) * rows + row) * width + d;
    }
};

Heads headsOf(const Shape& shape, std::int64_t packedHeads) {
    Heads heads;
    const std::size_t rank = shape.rank();
    heads.isPacked = packedHeads > 0 && rank == 3;
    if (heads.isPacked) return {shape[0], packedHeads, shape[1], shape[2] / packedHeads, true};
    heads.size = shape[rank - 1], heads.rows = shape[rank - 2];
    heads.heads = rank > 3 ? shape[rank - 3] : 1;
    heads.batches =
        std::max<std::int64_t>(1, shape.numel() / std::max<std::int64_t>(heads.heads * heads.rows * heads.size, 1));
    return heads;
}

/// What the operator gives when each value is the unit vector of its row: the weights of the values.
base::Result<Tensor> weightsOf(const ElementCall& call, std::size_t input, const Heads& values) {
    const Tensor& v = call.context.in(input);
    const Shape shape = values.shape(values.rows, v.rank());
    const std::int64_t count = call.result.numel() / std::max<std::int64_t>(values.size, 1);
    if (shape.checkedNumel().value_or(kMaxProbe + 1) > kMaxProbe ||
        count > kMaxProbe / std::max<std::int64_t>(values.rows, 1))
        return opError("the attention is too large to find the weights of its values");
    SONDE_ASSIGN(Tensor unit, Tensor::zeros(DType::Float32, shape));
    for (std::int64_t b = 0; b < values.batches; ++b)
        for (std::int64_t h = 0; h < values.heads; ++h)
            for (std::int64_t row = 0; row < values.rows; ++row)
                unit.mutableData<float>()[values.element(b, h, row, row, values.rows)] = 1;
    SONDE_ASSIGN(unit, unit.cast(v.dtype()));
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < call.context.inputCount(); ++i)
        inputs.push_back(i == input ? Value(unit) : call.context.value(i));
    SONDE_ASSIGN(const std::vector<Value> results, ops::call(call.op, inputs, call.context.attributes(), 1,
                                                             call.context.environment(), call.context.version()));
    return results.front().tensor();
}

/// What the scores follow from: it has no weight, since it acts through the softmax.
base::Result<void> addScored(Dependence& dependence, const ElementCall& call, std::size_t input, std::string_view name,
                             const Heads& heads, std::int64_t batch, std::int64_t head, std::int64_t begin,
                             std::int64_t end) {
    SONDE_TRY(checkTerms((end - begin) * heads.size));
    const std::uint32_t part = dependence.listPart(name);
    for (std::int64_t row = begin; row < end; ++row) {
        for (std::int64_t d = 0; d < heads.size; ++d) {
            const std::int64_t element = heads.element(std::min(batch, heads.batches - 1), head, row, d, heads.size);
            if (element >= call.context.in(input).numel()) return opError("the heads do not match");
            addElement(dependence, part, call, input, element);
            dependence.terms.back().weight = 0;
        }
    }
    return {};
}

}  // namespace

base::Result<Dependence> attended(const ElementCall& call) {
    if (call.output != 0) return opError("only the first output has a formula");
    if (call.context.has("past_key") || call.context.has("past_value"))
        return opError("past keys and values have no formula");
    const std::size_t input = call.context.position(Name(call.text));
    const Attributes& attributes = call.context.attributes();
    const std::int64_t keyHeads = attributes.getInt("kv_num_heads", 0),
                       queryHeads = attributes.getInt("q_num_heads", 0);
    for (std::size_t i = 0; i < 3; ++i)
        if (call.context.in(i).rank() < 2) return opError("attention takes matrices");
    const Heads values = headsOf(call.context.in(input).shape(), keyHeads),
                queries = headsOf(call.context.in(kLeft).shape(), queryHeads),
                keys = headsOf(call.context.in(kRight).shape(), keyHeads);
    const Heads results = headsOf(call.result.shape(), queryHeads);
    if (values.rows < 1 || values.heads < 1 || results.size != values.size) return opError("the values do not match");
    SONDE_ASSIGN(const Tensor weights, weightsOf(call, input, values));
    // Where the element is: batch, head, query and dimension.
    std::int64_t rest = call.element;
    const std::int64_t d = rest % results.size;
    rest /= results.size;
    std::int64_t b = 0, h = 0, q = 0;
    if (results.isPacked)
        h = rest % results.heads, q = rest / results.heads % results.rows, b = rest / results.heads / results.rows;
    else q = rest % results.rows, h = rest / results.rows % results.heads, b = rest / results.rows / results.heads;
    const std::int64_t serves = std::max<std::int64_t>(1, results.heads / values.heads), valueHead = h / serves;
    Dependence dependence;
    dependence.formula = "sum(w * v)";
    SONDE_TRY(checkTerms(values.rows));
    const std::uint32_t part = dependence.listPart("v", "w");
    for (std::int64_t row = 0; row < values.rows; ++row) {
        const std::int64_t at = results.element(b, h, q, row, values.rows);
        const std::int64_t element = values.element(std::min(b, values.batches - 1), valueHead, row, d, values.size);
        if (at >= weights.numel() || element >= call.context.in(input).numel())
            return opError("the values do not match");
        const double weight = weights.toDouble(at);
        if (weight == 0) continue;  // masked
        addElement(dependence, part, call, input, element);
        dependence.terms.back().weight = weight;
    }
    SONDE_TRY(addScored(dependence, call, kLeft, "query", queries, b, h, q, q + 1));
    SONDE_TRY(addScored(dependence, call, kRight, "key", keys, b, valueHead, 0, keys.rows));
    return dependence;
}

}  // namespace sonde::ops::dependence
