// Normalisations: (x - mean) / sqrt(var + epsilon) * scale + bias, of elements that share mean and variance.

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops::dependence {

namespace {

constexpr std::string_view kByRow = "(x - mean(row)) / sqrt(var(row) + epsilon)",
                           kByStatistics = "(x - mean) / sqrt(var + epsilon)",
                           kByRootMeanSquare = "x / sqrt(mean(row * row) + epsilon)";

std::size_t inputOf(const ElementCall& call, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
        const std::size_t at = call.op.position(Name(name));
        if (at < call.context.inputCount() && call.context.has(at)) return at;
    }
    return kNoOperand;
}

base::Result<void> addEpsilon(Dependence& dependence, const ElementCall& call) {
    double epsilon = call.context.attributes().getFloat("epsilon", 1e-5);
    if (const std::size_t at = inputOf(call, {"eps"}); at != kNoOperand) {
        SONDE_ASSIGN(epsilon, numberOf(call.context.value(at)));
    } else if (call.op.domain == "aten" && call.op.position(Name("eps")) < call.op.inputs.size()) {
        const DType dtype = call.context.in(kOperand).dtype();  // rms_norm: the machine's
        epsilon =
            dtype == DType::Float64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
    }
    dependence.number("epsilon", epsilon);
    return {};
}

/// x and what it is normalised with; then scale and bias, where they are, each at an element of its own.
base::Result<Dependence> normalised(const ElementCall& call, std::string_view formula, const Region* row,
                                    std::size_t scale, std::int64_t scaleElement, std::size_t bias,
                                    std::int64_t biasElement) {
    Dependence dependence;
    dependence.formula = formula;
    addElement(dependence, dependence.part("x"), call, kOperand, call.element);
    if (row) SONDE_TRY(addRegion(dependence, dependence.listPart("row"), call, kOperand, *row));
    SONDE_TRY(addEpsilon(dependence, call));
    const auto add = [&](std::size_t input, std::int64_t element, std::string_view name,
                         std::string_view sign) -> base::Result<void> {
        if (input == kNoOperand) return {};
        if (element < 0 || element >= call.context.in(input).numel())
            return opError(std::string(name) + " " + call.context.in(input).typeText() + " does not match " +
                           call.result.typeText());
        addElement(dependence, dependence.part(name), call, input, element);
        dependence.formula += std::string(sign) + std::string(name);
        return {};
    };
    SONDE_TRY(add(scale, scaleElement, "scale", " * "));
    SONDE_TRY(add(bias, biasElement, "bias", " + "));
    return dependence;
}

std::int64_t channelOf(const ElementCall& call) {
    return call.at.size() > 1 ? call.at[1] : call.at.empty() ? 0 : call.at[0];
}

base::Result<Dependence> byRows(const ElementCall& call, std::string_view formula, std::size_t axis) {
    const Shape& shape = call.context.in(kOperand).shape();
    Region row = Region::only(call.at);
    for (std::size_t d = axis; d < shape.rank(); ++d) row.widen(d, shape);
    const std::size_t scale = inputOf(call, {"scale", "Scale", "weight"}), bias = inputOf(call, {"B", "bias"});
    const std::vector<std::int64_t> inside(call.at.begin() + static_cast<std::ptrdiff_t>(axis), call.at.end());
    const auto element = [&](std::size_t input) {
        return input == kNoOperand ? -1 : broadcastElement(inside, call.context.in(input).shape());
    };
    return normalised(call, formula, &row, scale, element(scale), bias, element(bias));
}

/// Mean or inverse deviation of the elements from an axis on, which the result has as 1.
base::Result<Dependence> ofStatistic(const ElementCall& call, std::string_view formula, std::size_t axis) {
    const Shape& shape = call.context.in(kOperand).shape();
    if (call.at.size() != shape.rank()) return opError("the result does not match the input");
    Region row = Region::only(call.at);
    for (std::size_t d = axis; d < shape.rank(); ++d) row.widen(d, shape);
    Dependence dependence;
    dependence.formula = formula;
    SONDE_TRY(addRegion(dependence, dependence.listPart("row"), call, kOperand, row));
    if (formula == "mean(row)")
        for (DependenceTerm& term : dependence.terms) term.weight = 1 / static_cast<double>(dependence.terms.size());
    else SONDE_TRY(addEpsilon(dependence, call));
    return dependence;
}

base::Result<std::size_t> firstAxis(const ElementCall& call) {
    const std::size_t rank = call.context.in(kOperand).rank();
    if (!call.context.has("normalized_shape")) return axisOf(call.context.attributes().getInt("axis", -1), rank);
    SONDE_ASSIGN(const std::vector<std::int64_t> dims, intsOf(call.context.value("normalized_shape")));
    if (dims.size() > rank) return opError("normalized_shape does not match the input");
    return rank - dims.size();
}

}  // namespace

base::Result<Dependence> batchNormalised(const ElementCall& call) {
    if (call.output != 0) return opError("running statistics have no formula");
    const std::int64_t channel = channelOf(call);
    const std::size_t scale = inputOf(call, {"scale", "weight"}), bias = inputOf(call, {"B", "bias"}),
                      mean = inputOf(call, {"mean", "input_mean", "running_mean"}),
                      variance = inputOf(call, {"var", "input_var", "running_var"});
    bool isTraining =
        call.context.attributes().getInt("training_mode", 0) != 0 || mean == kNoOperand || variance == kNoOperand;
    if (const std::size_t at = inputOf(call, {"training", "use_input_stats"}); at != kNoOperand)
        isTraining = isTraining || call.context.value(at).number() != 0;
    // Before opset 9 each element of an image could have statistics of its own.
    const bool isByElement = call.context.attributes().getInt("spatial", 1) == 0;
    const Shape& shape = call.context.in(kOperand).shape();
    const std::int64_t element =
        isByElement ? call.element % std::max<std::int64_t>(shape.numel() / shape[0], 1) : channel;
    if (isTraining) {
        Region row = Region::all(shape);
        if (shape.rank() > 1) row.begin[1] = channel, row.end[1] = channel + 1;
        return normalised(call, kByRow, &row, scale, element, bias, element);
    }
    SONDE_ASSIGN(Dependence dependence, normalised(call, kByStatistics, nullptr, scale, element, bias, element));
    for (const auto& [name, input] : {std::pair("mean", mean), std::pair("var", variance)}) {
        if (element >= call.context.in(input).numel()) return opError("the statistics do not match the input");
        addElement(dependence, dependence.part(name), call, input, element);
    }
    return dependence;
}

base::Result<Dependence> layerNormalised(const ElementCall& call) {
    SONDE_ASSIGN(const std::size_t axis, firstAxis(call));
    if (call.output == 0) return byRows(call, kByRow, axis);
    if (call.output == 1) return ofStatistic(call, "mean(row)", axis);
    return ofStatistic(call, "1 / sqrt(var(row) + epsilon)", axis);
}

base::Result<Dependence> rootMeanSquareNormalised(const ElementCall& call) {
    SONDE_ASSIGN(const std::size_t axis, firstAxis(call));
    if (call.output == 0) return byRows(call, kByRootMeanSquare, axis);
    return ofStatistic(call, "1 / sqrt(mean(row * row) + epsilon)", axis);
}

namespace {

/// One of the values whose sum is normalised: where its row begins.
struct Summand {
    std::size_t input = 0;
    std::string name, row;  ///< of its element and of its row in the formula
    std::int64_t first = 0, step = 1;
};

enum class OfSum : std::uint8_t { Normal, Mean, InverseDeviation, Itself };

/// What is made of the sum at the call's place in its row. Gamma and beta are the inputs of these names.
base::Result<Dependence> ofSum(const ElementCall& call, const std::vector<Summand>& summands, std::int64_t width,
                               OfSum what, bool subtractsMean) {
    Dependence dependence;
    std::string element, row;
    for (const Summand& summand : summands) {
        element += (element.empty() ? "" : " + ") + summand.name, row += (row.empty() ? "" : " + ") + summand.row;
        const std::int64_t own = summand.first + call.at.back() * summand.step;
        if (summand.first < 0 || summand.first + (width - 1) * summand.step >= call.context.in(summand.input).numel())
            return opError("the values that are added do not match");
        if (what == OfSum::Normal || what == OfSum::Itself)
            addElement(dependence, dependence.part(summand.name), call, summand.input, own);
        if (what == OfSum::Itself) continue;
        SONDE_TRY(checkTerms(width + static_cast<std::int64_t>(dependence.terms.size())));
        const std::uint32_t part = dependence.listPart(summand.row);
        for (std::int64_t i = 0; i < width; ++i)
            addElement(dependence, part, call, summand.input, summand.first + i * summand.step);
    }
    const std::string mean = "mean(" + row + ")",
                      square = subtractsMean ? "var(" + row + ")" : "mean((" + row + ") ** 2)",
                      deviation = "sqrt(" + square + " + epsilon)";
    if (what == OfSum::Normal || what == OfSum::InverseDeviation) SONDE_TRY(addEpsilon(dependence, call));
    dependence.formula = what == OfSum::Itself ? element : what == OfSum::Mean ? mean : "1 / " + deviation;
    if (what != OfSum::Normal) return dependence;
    dependence.formula = "(" + element + (subtractsMean ? " - " + mean : "") + ") / " + deviation;
    for (const auto& [input, sign] : {std::pair("gamma", " * "), std::pair("beta", " + ")}) {
        const std::size_t at = inputOf(call, {input});
        if (at == kNoOperand) continue;
        if (call.at.back() >= call.context.in(at).numel())
            return opError(std::string(input) + " does not match the result");
        addElement(dependence, dependence.part(input), call, at, call.at.back());
        dependence.formula += std::string(sign) + input;
    }
    return dependence;
}

}  // namespace

base::Result<Dependence> skipNormalised(const ElementCall& call) {
    if (call.at.empty()) return opError("the input has no rows");
    const bool isMean = call.text == "mean";
    if (call.output == 1 && !isMean) return constantElement(call.result.toDouble(call.element));  // none is taken
    std::vector<Summand> summands;
    std::vector<std::int64_t> start = call.at;
    start.back() = 0;
    for (const auto& [input, name, row] : {std::tuple("input", "x", "row"), std::tuple("skip", "skip", "skip_row"),
                                           std::tuple("bias", "bias", "bias_row")}) {
        const std::size_t at = inputOf(call, {input});
        if (at == kNoOperand) continue;
        const Shape& shape = call.context.in(at).shape();
        const bool isOne = shape.rank() == 0 || shape[shape.rank() - 1] == 1;
        summands.push_back({at, name, row, broadcastElement(start, shape), isOne ? 0 : 1});
    }
    constexpr OfSum kOutputs[] = {OfSum::Normal, OfSum::Mean, OfSum::InverseDeviation, OfSum::Itself};
    return ofSum(call, summands, call.context.in(kOperand).shape().dims().back(),
                 kOutputs[std::min<std::size_t>(call.output, 3)], isMean);
}

base::Result<Dependence> embeddingNormalised(const ElementCall& call) {
    if (call.output == 1) return opError("counts of tokens have no formula");
    if (call.at.size() != 3) return opError("the result does not match the tokens");
    const std::int64_t width = call.result.dim(2);
    std::vector<Summand> summands;
    std::vector<std::pair<std::size_t, std::int64_t>> choices;  // inputs and elements that tell which rows
    for (const auto& [table, ids, name] : {std::tuple("word_embedding", "input_ids", "word"),
                                           std::tuple("position_embedding", "position_ids", "position"),
                                           std::tuple("segment_embedding", "segment_ids", "segment")}) {
        const std::size_t at = inputOf(call, {table}), chosenBy = inputOf(call, {ids});
        if (at == kNoOperand) continue;
        std::int64_t row = call.at[1];  // positions that are not given are those of the tokens
        if (chosenBy != kNoOperand) {
            const std::int64_t element = broadcastElement({call.at[0], call.at[1]}, call.context.in(chosenBy).shape());
            if (element < 0) return opError(std::string(ids) + " do not match the tokens");
            row = call.context.in(chosenBy).toInt64(element);
            choices.emplace_back(chosenBy, element);
        }
        summands.push_back({at, name, std::string(name) + "_row", row * width, 1});
    }
    SONDE_ASSIGN(Dependence dependence,
                 ofSum(call, summands, width, call.output == 0 ? OfSum::Normal : OfSum::Itself, true));
    for (const auto& [input, element] : choices) {
        addElement(dependence, dependence.listPart("index"), call, input, element);
        dependence.terms.back().weight = 0;
    }
    return dependence;
}

base::Result<Dependence> groupNormalised(const ElementCall& call) {
    const Shape& shape = call.context.in(kOperand).shape();
    std::int64_t groups = call.context.attributes().getInt("num_groups", 1);
    for (const std::string_view name : {"num_groups", "group"}) {
        if (const Value* const given = argumentOf(call, name)) {
            SONDE_ASSIGN(groups, intOf(*given));
        }
    }
    if (call.output != 0) return opError("mean and deviation of the groups have no formula");
    if (shape.rank() < 2 || groups < 1 || shape[1] % groups != 0) return opError("the groups do not match the input");
    const std::int64_t each = shape[1] / groups, channel = channelOf(call), group = channel / each;
    Region row = Region::all(shape);
    row.begin[0] = call.at[0], row.end[0] = call.at[0] + 1;
    row.begin[1] = group * each, row.end[1] = row.begin[1] + each;
    const std::size_t scale = inputOf(call, {"scale", "weight"}), bias = inputOf(call, {"bias", "B"});
    // In opset 18 there was one scale for each group.
    const auto element = [&](std::size_t input) {
        return input != kNoOperand && call.context.in(input).numel() != shape[1] ? group : channel;
    };
    return normalised(call, kByRow, &row, scale, element(scale), bias, element(bias));
}

base::Result<Dependence> sumGroupNormalised(const ElementCall& call) {
    const Attributes& attributes = call.context.attributes();
    const Shape& shape = call.context.in(kOperand).shape();
    if (shape.rank() != 4) return opError("the input is no image");
    const std::size_t axis = attributes.getInt("channels_last", 1) != 0 ? 3 : 1;
    const std::int64_t groups = attributes.getInt("groups", 1), channel = call.at[axis];
    if (groups < 1 || shape[axis] % groups != 0) return opError("the groups do not match the input");
    const std::int64_t each = shape[axis] / groups;
    Region row = Region::all(shape);
    row.begin[0] = call.at[0], row.end[0] = call.at[0] + 1;
    row.begin[axis] = channel / each * each, row.end[axis] = row.begin[axis] + each;
    Dependence dependence;
    std::string element, rows;
    for (const auto& [input, name, list] : {std::tuple("X", "x", "row"), std::tuple("skip", "skip", "skip_row"),
                                            std::tuple("bias", "bias", "bias_row")}) {
        const std::size_t at = inputOf(call, {input});
        if (at == kNoOperand) continue;
        Shape spread = call.context.in(at).shape();  // [C] and [N, C] are repeated over the image
        if (spread.rank() < 4) {
            const Shape given = spread;
            spread = Shape{given.rank() == 2 ? given[0] : 1, 1, 1, 1};
            spread[axis] = given[given.rank() - 1];
        }
        SONDE_TRY(checkTerms(static_cast<std::int64_t>(dependence.terms.size()) + row.count()));
        const std::uint32_t part = dependence.part(name), listed = dependence.listPart(list);
        addElement(dependence, part, call, at, broadcastElement(call.at, spread));
        if (call.output == 0)
            forEach(row, shape, [&](const std::vector<std::int64_t>& index, std::int64_t) {
                addElement(dependence, listed, call, at, broadcastElement(index, spread));
            });
        element += (element.empty() ? "" : " + ") + std::string(name);
        rows += (rows.empty() ? "" : " + ") + std::string(list);
    }
    dependence.formula = element;
    if (call.output != 0) return dependence;
    SONDE_TRY(addEpsilon(dependence, call));
    for (const std::string_view name : {"gamma", "beta"})
        addElement(dependence, dependence.part(name), call, inputOf(call, {name}), channel);
    dependence.formula = "(" + element + " - mean(" + rows + ")) / sqrt(var(" + rows + ") + epsilon) * gamma + beta";
    if (attributes.getInt("activation", 0) == 1)
        dependence.formula = "(" + dependence.formula + ") * sigmoid(" + dependence.formula + ")";
    return dependence;
}

base::Result<Dependence> instanceNormalised(const ElementCall& call) {
    if (call.context.has("use_input_stats") && call.context.value("use_input_stats").number() == 0 &&
        call.context.has("running_mean") && call.context.has("running_var"))
        return batchNormalised(call);
    const Shape& shape = call.context.in(kOperand).shape();
    if (shape.rank() < 2) return opError("the input has no channels");
    Region row = Region::only(call.at);
    for (std::size_t d = 2; d < shape.rank(); ++d) row.widen(d, shape);
    return normalised(call, kByRow, &row, inputOf(call, {"scale", "weight"}), call.at[1], inputOf(call, {"B", "bias"}),
                      call.at[1]);
}

base::Result<Dependence> meanVarianceNormalised(const ElementCall& call) {
    const Shape& shape = call.context.in(kOperand).shape();
    SONDE_ASSIGN(const std::vector<std::size_t> axes,
                 axesOf(call.context.attributes().getInts("axes", {0, 2, 3}), shape.rank()));
    Region row = Region::only(call.at);
    for (const std::size_t axis : axes) row.widen(axis, shape);
    Dependence dependence;
    dependence.formula = "(x - mean(row)) / (sqrt(var(row)) + epsilon)";
    addElement(dependence, dependence.part("x"), call, kOperand, call.element);
    SONDE_TRY(addRegion(dependence, dependence.listPart("row"), call, kOperand, row));
    dependence.number("epsilon", 1e-9);
    return dependence;
}

base::Result<Dependence> localResponse(const ElementCall& call) {
    const Shape& shape = call.context.in(kOperand).shape();
    const Attributes& attributes = call.context.attributes();
    const std::int64_t size = attributes.getInt("size", 1), before = (size - 1) / 2;
    if (shape.rank() < 2 || size < 1) return opError("the input has no channels");
    Region row = Region::only(call.at);
    row.begin[1] = std::max<std::int64_t>(0, call.at[1] - before);
    row.end[1] = std::min(shape[1], call.at[1] + std::min(size - 1 - before, shape[1]) + 1);
    Dependence dependence;
    dependence.formula = "x / (bias + alpha / size * sum(row * row)) ** beta";
    addElement(dependence, dependence.part("x"), call, kOperand, call.element);
    SONDE_TRY(addRegion(dependence, dependence.listPart("row"), call, kOperand, row));
    dependence.number("bias", attributes.getFloat("bias", 1));
    dependence.number("alpha", attributes.getFloat("alpha", 1e-4));
    dependence.number("beta", attributes.getFloat("beta", 0.75));
    dependence.number("size", static_cast<double>(size));
    return dependence;
}

}  // namespace sonde::ops::dependence
