// Attention: a sum of values, weighted by the softmax of their scores.

#include <algorithm>
#include <cmath>

#include "core/ops/dependence/heads.h"
#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops::dependence {

namespace {

constexpr std::int64_t kMaxProbe = std::int64_t{1} << 26;  ///< elements that finding the weights may take

/// What an operator of ai.onnx gives as its scores if asked for those behind the softmax.
base::Result<Tensor> weightsAsScores(const ElementCall& call) {
    Attributes attributes = call.context.attributes();
    attributes.set("qk_matmul_output_mode", std::int64_t{3});
    SONDE_ASSIGN(const std::vector<Value> results,
                 ops::call(call.op, callInputs(call), attributes, call.op.outputs.size(), call.context.environment(),
                           call.context.version()));
    return results.back().tensor();
}

/// What the operator gives when each value is the unit vector of its row: the weights of the values.
base::Result<Tensor> weightsByUnits(const ElementCall& call, const HeadRows& values) {
    const Tensor& v = call.context.in(values.input);
    Shape shape = v.shape();
    shape[shape.rank() - 1] = values.rows;
    const std::int64_t count = call.result.numel() / std::max<std::int64_t>(values.size, 1);
    if (shape.checkedNumel().value_or(kMaxProbe + 1) > kMaxProbe ||
        count > kMaxProbe / std::max<std::int64_t>(values.rows, 1))
        return opError("the attention is too large to find the weights of its values");
    SONDE_ASSIGN(Tensor unit, Tensor::zeros(DType::Float32, shape));
    for (std::int64_t row = 0; row < unit.numel() / std::max<std::int64_t>(values.rows, 1); ++row)
        unit.mutableData<float>()[row * values.rows + row % values.rows] = 1;
    SONDE_ASSIGN(unit, unit.cast(v.dtype()));
    std::vector<Value> inputs = callInputs(call);
    inputs[values.input] = Value(unit);
    SONDE_ASSIGN(const std::vector<Value> results, ops::call(call.op, inputs, call.context.attributes(), 1,
                                                             call.context.environment(), call.context.version()));
    return results.front().tensor();
}

/// The rows before those of the call, if there are any, and those of the call.
std::vector<HeadRows> withPast(const ElementCall& call, HeadRows own, std::string_view past) {
    std::vector<HeadRows> rows;
    const std::size_t at = call.op.position(Name(past));
    if (at < call.context.inputCount() && call.context.has(at)) rows.push_back(headRows(at, call.context.in(at), 0));
    rows.push_back(own);
    return rows;
}

/// What the scores follow from: it has no weight, since it acts through the softmax.
base::Result<void> addScored(Dependence& dependence, const ElementCall& call, const HeadRows& rows,
                             std::string_view name, const HeadPlace& at, std::int64_t begin, std::int64_t end) {
    SONDE_TRY(checkTerms((end - begin) * rows.size));
    const std::uint32_t part = dependence.listPart(name);
    for (std::int64_t row = begin; row < end; ++row) {
        for (std::int64_t d = 0; d < rows.size; ++d) {
            const std::int64_t element = rows.element({at.batch, at.head, row, d});
            if (element >= call.context.in(rows.input).numel()) return opError("the heads do not match");
            addElement(dependence, part, call, rows.input, element);
            dependence.terms.back().weight = 0;
        }
    }
    return {};
}

/// " + bias", which all rows of a head have; or nothing.
base::Result<std::string> addBias(Dependence& dependence, const ElementCall& call, const HeadRows& rows,
                                  const HeadPlace& at) {
    if (rows.bias == kNoOperand) return std::string();
    const std::int64_t element = rows.biasFirst + at.head * rows.size + at.place;
    if (element >= call.context.in(rows.bias).numel()) return opError("the bias does not match the heads");
    addElement(dependence, dependence.part("bias"), call, rows.bias, element);
    return std::string(" + bias");
}

}  // namespace

std::vector<Value> callInputs(const ElementCall& call) {
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < call.context.inputCount(); ++i) inputs.push_back(call.context.value(i));
    return inputs;
}

HeadRows headRows(std::size_t input, const Tensor& x, std::int64_t packedHeads) {
    const std::size_t rank = x.rank();
    HeadRows rows;
    rows.input = input;
    if (packedHeads > 0 && rank == 3) {
        rows.batches = x.dim(0), rows.heads = packedHeads, rows.rows = x.dim(1), rows.size = x.dim(2) / packedHeads;
        rows.row = x.dim(2), rows.head = rows.size, rows.batch = rows.rows * rows.row;
        return rows;
    }
    rows.size = x.dim(rank - 1), rows.rows = x.dim(rank - 2), rows.heads = rank > 3 ? x.dim(rank - 3) : 1;
    rows.row = rows.size, rows.head = rows.rows * rows.row, rows.batch = rows.heads * rows.head;
    rows.batches = std::max<std::int64_t>(1, x.numel() / std::max<std::int64_t>(rows.batch, 1));
    return rows;
}

std::int64_t HeadRows::element(const HeadPlace& at) const {
    return first + std::min(at.batch, batches - 1) * batch + at.head * head + at.row * row + at.place;
}

HeadPlace HeadRows::placeOf(std::int64_t element) const {
    const auto along = [element](std::int64_t step, std::int64_t count) {
        return element / std::max<std::int64_t>(step, 1) % std::max<std::int64_t>(count, 1);
    };
    return {along(batch, batches), along(head, heads), along(row, rows), along(1, size)};
}

base::Result<Tensor> softmaxOfScores(const Tensor& scores) {
    const std::int64_t keys = scores.rank() > 0 ? scores.dim(scores.rank() - 1) : 0;
    SONDE_ASSIGN(Tensor weights, scores.cast(DType::Float64));
    for (std::int64_t line = 0; keys > 0 && line < weights.numel(); line += keys) {
        const std::span<double> row =
            weights.mutableSpan<double>().subspan(static_cast<std::size_t>(line), static_cast<std::size_t>(keys));
        const double most = *std::ranges::max_element(row);
        double sum = 0;
        for (double& score : row) sum += score = std::exp(score - most);
        for (double& score : row) score /= sum;
    }
    return weights;
}

base::Result<Dependence> attendedHeads(const ElementCall& call, const AttendedHeads& heads) {
    const HeadRows& own = heads.values.back();
    const HeadRows results = headRows(0, call.result, heads.isPacked ? heads.queries.heads : 0);
    if (own.heads < 1 || results.size != own.size) return opError("the values do not match");
    const HeadPlace at = results.placeOf(call.element);
    const std::int64_t valueHead = at.head / std::max<std::int64_t>(1, results.heads / own.heads);
    std::int64_t count = 0;
    for (const HeadRows& values : heads.values) count += values.rows;
    SONDE_TRY(checkTerms(count));
    std::int64_t line = ((at.batch * results.heads + at.head) * results.rows + at.row) * count;
    if (line + count > heads.weights.numel()) return opError("the values do not match");
    Dependence dependence;
    for (const HeadRows& values : heads.values) {
        const bool isPast = &values != &own;
        const std::uint32_t part = isPast ? dependence.listPart("past", "w_past") : dependence.listPart("v", "w");
        for (std::int64_t row = 0; row < values.rows; ++row) {
            const double weight = heads.weights.toDouble(line++);
            const std::int64_t element = values.element({at.batch, valueHead, row, at.place});
            if (element >= call.context.in(values.input).numel()) return opError("the values do not match");
            if (weight == 0) continue;  // masked
            addElement(dependence, part, call, values.input, element);
            dependence.terms.back().weight = weight;
        }
        if (isPast) dependence.formula = "sum(w_past * past) + ";
    }
    SONDE_ASSIGN(const std::string bias, addBias(dependence, call, own, {at.batch, valueHead, 0, at.place}));
    dependence.formula += bias.empty() ? "sum(w * v)" : "sum(w * (v" + bias + "))";
    SONDE_TRY(addScored(dependence, call, heads.queries, "query", at, at.row, at.row + 1));
    for (const HeadRows& keys : heads.keys)
        SONDE_TRY(addScored(dependence, call, keys, "key", {at.batch, valueHead, 0, 0}, 0, keys.rows));
    return dependence;
}

base::Result<Dependence> presentRows(const ElementCall& call, const std::vector<HeadRows>& kept) {
    HeadPlace at = headRows(0, call.result, 0).placeOf(call.element);
    for (const HeadRows& rows : kept) {
        if (at.row >= rows.rows) {
            at.row -= rows.rows;
            continue;
        }
        const std::int64_t element = rows.element(at);
        if (element >= call.context.in(rows.input).numel()) break;
        Dependence made = sourceElement(call, rows.input, 0, element, call.context.in(rows.input).toDouble(element));
        SONDE_ASSIGN(const std::string bias, addBias(made, call, rows, at));
        made.formula += bias;
        return made;
    }
    return opError("the result does not match what is kept");
}

base::Result<Dependence> rotatedPair(const ElementCall& call, const RotatedPair& pair) {
    const std::int64_t within = pair.x.placeOf(call.element).place, half = pair.half;
    Dependence made;
    made.formula = "x";
    addElement(made, made.part("x"), call, pair.x.input, call.element);
    if (within >= 2 * half) return made;
    const std::int64_t number = pair.isInterleaved ? within / 2 : within % half;
    const bool isFirst = pair.isInterleaved ? within % 2 == 0 : within < half;
    const std::int64_t apart = pair.isInterleaved ? 1 : half, other = call.element + (isFirst ? apart : -apart);
    const std::int64_t angle = pair.entry * half + number;
    if (pair.entry < 0 || angle >= call.context.in(pair.cosines).numel() ||
        angle >= call.context.in(pair.sines).numel())
        return opError("the position is outside of the cache");
    made.formula = isFirst ? "cos * x - sin * y" : "cos * x + sin * y";
    addElement(made, made.part("y"), call, pair.x.input, other);
    addElement(made, made.part("cos"), call, pair.cosines, angle);
    addElement(made, made.part("sin"), call, pair.sines, angle);
    if (pair.positions != kNoOperand) {  // it takes no part in the value, but tells which angle it is
        addElement(made, made.part("position"), call, pair.positions, pair.position);
        made.terms.back().weight = 0;
    }
    return made;
}

base::Result<Dependence> attended(const ElementCall& call) {
    const Attributes& attributes = call.context.attributes();
    const std::int64_t keyHeads = attributes.getInt("kv_num_heads", 0),
                       queryHeads = attributes.getInt("q_num_heads", 0);
    for (std::size_t i = 0; i < 3; ++i)
        if (call.context.in(i).rank() < 2) return opError("attention takes matrices");
    const std::size_t input = call.context.position(Name(call.text));
    AttendedHeads heads;
    heads.queries = headRows(kLeft, call.context.in(kLeft), queryHeads);
    heads.keys = withPast(call, headRows(kRight, call.context.in(kRight), keyHeads), "past_key");
    heads.values = withPast(call, headRows(input, call.context.in(input), keyHeads), "past_value");
    heads.isPacked = queryHeads > 0 && call.result.rank() == 3;
    if (call.output == 1 || call.output == 2) return presentRows(call, call.output == 1 ? heads.keys : heads.values);
    if (call.output != 0) return opError("scores have no formula");
    if (call.op.outputs.size() > 1) {
        SONDE_ASSIGN(heads.weights, weightsAsScores(call));
    } else {
        SONDE_ASSIGN(heads.weights, weightsByUnits(call, heads.values.back()));
    }
    return attendedHeads(call, heads);
}

}  // namespace sonde::ops::dependence
