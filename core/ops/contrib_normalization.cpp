// Normalisations as ONNX Runtime writes them: in com.microsoft, and in ai.onnx before that domain had them.

#include <algorithm>

#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/support/contrib.h"

namespace sonde::ops {

namespace {

/// A normalisation of ai.onnx over the last axes: y, and mean and inverse deviation where they are asked for.
std::vector<Value> normalized(Eager& e, const Tensor& x, const Value& scale, const Value& bias, bool subtractMean,
                              std::int64_t axis, std::size_t outputs) {
    const Attributes attributes{{"axis", axis}, {"epsilon", e.context().attributes().getFloat("epsilon", 1e-5)}};
    const DType type = x.dtype();
    const auto same = [&](const Value& value) { return value.isTensor() ? Value(e.as(value.tensor(), type)) : value; };
    std::vector<Value> results =
        subtractMean ? e.all("", "LayerNormalization", {Value(x), same(scale), same(bias)}, attributes, outputs)
                     : e.all("", "RMSNormalization", {Value(x), same(scale)}, attributes, outputs);
    results.resize(std::max<std::size_t>(outputs, 3));
    return results;
}

/// Before opset 17 ONNX Runtime kept LayerNormalization in ai.onnx; the result has the dtype of the scale.
EagerKernel earlyNorm(bool subtractMean) {
    return [subtractMean](Eager& e) -> EagerResult {
        const std::int64_t axis = e.context().attributes().getInt("axis", -1);
        const std::size_t wanted = e.context().outputCount();
        const Tensor scale = e.tensor({"Scale", "scale"});
        // RMSNormalization gives the inverse deviation third; SimplifiedLayerNormalization has it second.
        std::vector<Value> results = normalized(e, widened(e, "X"), Value(scale), e.optional("B"), subtractMean, axis,
                                                subtractMean || wanted < 2 ? wanted : 3);
        results[0] = Value(e.as(results[0].tensor(), scale.dtype()));
        if (!subtractMean) std::swap(results[1], results[2]);
        results.resize(wanted);
        return results;
    };
}

base::Result<void> inferEarlyNorm(InferContext& context) {
    std::optional<Dims> dims = context.in("X").shape;
    context.set(TypeInfo::tensor(context.in({"scale", "Scale"}).dtype, dims));
    if (dims) {
        SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", -1), dims->size()));
        for (std::size_t i = axis; i < dims->size(); ++i) (*dims)[i] = Dim::of(1);
    }
    for (std::size_t i = 1; i < context.outputCount(); ++i) context.set(i, TypeInfo::tensor(DType::Float32, dims));
    return {};
}

/// norm(input + skip + bias)·gamma + beta. The fourth output is the sum; mean and deviation are for training.
EagerResult skipNorm(Eager& e, bool subtractMean) {
    const DType type = e.tensor("input").dtype();
    Tensor sum = e("add.Tensor", widened(e, "input"), widened(e, "skip"));
    if (sum.shape() != e.tensor("input").shape())
        e.fail("skip " + e.tensor("skip").typeText() + " does not match " + e.tensor("input").typeText());
    if (e.has("bias")) sum = e("add.Tensor", sum, widened(e, "bias"));
    const std::size_t moments = e.context().outputCount() > 1 ? 3 : 1;
    std::vector<Value> results = normalized(e, sum, e.value("gamma"), e.optional("beta"), subtractMean, -1, moments);
    results[0] = Value(e.as(results[0].tensor(), type));
    results.resize(4);
    results[3] = Value(e.as(sum, type));
    return results;
}

base::Result<void> inferSkipNorm(InferContext& context) {
    context.set(context.in("input"));
    std::optional<Dims> dims = context.in("input").shape;
    if (dims && !dims->empty()) dims->back() = Dim::of(1);
    context.set("mean", TypeInfo::tensor(DType::Float32, dims));
    context.set("inv_std_var", TypeInfo::tensor(DType::Float32, dims));
    context.set("input_skip_bias_sum", context.in("input"));
    return {};
}

/// Rows of a table for ids, with an Error for ids outside it. Unlike Gather, negative ids are outside.
Tensor looked(Eager& e, const Tensor& table, const Tensor& ids) {
    if (table.rank() != 2) e.fail("an embedding must be a matrix, but is " + table.typeText());
    for (std::int64_t i = 0; i < ids.numel(); ++i) {
        if (ids.toInt64(i) < 0 || ids.toInt64(i) >= table.dim(0))
            e.fail("id " + std::to_string(ids.toInt64(i)) + " is outside an embedding of " +
                   std::to_string(table.dim(0)) + " rows");
    }
    return e.onnx("Gather", {Value(table), Value(ids)}, {{"axis", std::int64_t{0}}});
}

/// How many tokens of each row count: the ones of the mask; 0 without one.
Tensor maskIndex(Eager& e, const Tensor& ids) {
    Tensor result = e.get(Tensor::zeros(DType::Int32, Shape{ids.dim(0)}));
    if (!e.has("mask")) return result;
    const Tensor given = e.tensor("mask");
    if (given.shape() != ids.shape()) e.fail("the mask " + given.typeText() + " does not match ids " + ids.typeText());
    for (std::int64_t i = 0; i < given.numel(); ++i)
        result.mutableData<std::int32_t>()[i / ids.dim(1)] += given.toInt64(i) == 1;
    return result;
}

struct Embeddings {
    Tensor word, position, segment;  ///< the last may be undefined
    Value gamma, beta;
};

/// norm(word[ids] + position[0, 1, …] + segment[segment ids]); also gives the sum.
std::pair<Tensor, Tensor> embedded(Eager& e, const Embeddings& tables) {
    const Tensor ids = e.tensor("input_ids");
    if (ids.rank() != 2) e.fail("input_ids must be [batch, sequence], but are " + ids.typeText());
    const Tensor at =
        e.has("position_ids") ? e.tensor("position_ids") : e.reshape(e("arange", ids.dim(1)), Shape{1, ids.dim(1)});
    Tensor sum = e("add.Tensor", looked(e, tables.word, ids), looked(e, tables.position, e.as(at, DType::Int64)));
    if (tables.segment.defined()) {
        if (!e.has("segment_ids")) e.fail("segment_ids and segment_embedding must be given together");
        sum = e("add.Tensor", sum, looked(e, tables.segment, e.tensor("segment_ids")));
    }
    if (sum.rank() != 3 || sum.dim(0) != ids.dim(0) || sum.dim(1) != ids.dim(1))
        e.fail("position_ids or segment_ids do not match " + ids.typeText());
    return {normalized(e, sum, tables.gamma, tables.beta, true, -1, 1)[0].tensor(), sum};
}

/// input_ids, segment_ids, word, position and segment embedding, gamma, beta, mask, position_ids.
EagerResult embedNorm(Eager& e) {
    const DType type = e.tensor("word_embedding").dtype();
    Embeddings tables{widened(e, "word_embedding"), widened(e, "position_embedding"),
                      e.has("segment_embedding") ? widened(e, "segment_embedding") : Tensor(), e.value("gamma"),
                      e.value("beta")};
    const auto [normal, sum] = embedded(e, tables);
    return std::vector<Value>{Value(e.as(normal, type)), Value(maskIndex(e, e.tensor("input_ids"))),
                              Value(e.as(sum, type))};
}

base::Result<void> inferEmbedding(InferContext& context, Name word, DType dtype) {
    const auto &ids = context.in("input_ids").shape, &table = context.in(word).shape;
    std::optional<Dims> dims = ids;
    if (dims) dims->push_back(table && table->size() == 2 ? table->back() : Dim{});
    context.set(TypeInfo::tensor(dtype, dims));
    context.set(
        1, TypeInfo::tensor(DType::Int32, ids && !ids->empty() ? std::optional(Dims{ids->front()}) : std::nullopt));
    context.set(2, TypeInfo::tensor(dtype, std::move(dims)));
    return {};
}

/// The same with quantised tables: ids, segment ids, word, position, segment, gamma, beta, mask, then the five scales
/// and the five zero points in the order of the tables.
EagerResult quantizedEmbedNorm(Eager& e) {
    const auto real = [&](Name table, Name scale, Name zero) {
        if (!e.has(table)) return Tensor();
        if (!e.has(scale) || !e.has(zero)) e.fail("a table lacks its scale or zero point");
        const Tensor values = e.as(e.tensor(table), DType::Float32);
        return e("mul.Tensor", e("sub.Tensor", values, e.as(e.tensor(zero), DType::Float32)), e.tensor(scale));
    };
    const Embeddings tables{
        real("word_embedding_quant", "word_embedding_scale", "word_embedding_zero_point"),
        real("position_embedding_quant", "position_embedding_scale", "position_embedding_zero_point"),
        real("segment_embedding", "segment_embedding_scale", "segment_embedding_zero_point"),
        Value(real("gamma_quant", "gamma_scale", "gamma_zero_point")),
        Value(real("beta_quant", "beta_scale", "beta_zero_point"))};
    return std::vector<Value>{Value(embedded(e, tables).first), Value(maskIndex(e, e.tensor("input_ids")))};
}

/// Groups of channels of one image share mean and variance; channels are last unless said otherwise. With skip the sum
/// is normalised and given too. activation 1 is x·sigmoid(x).
EagerResult groupNorm(Eager& e, bool skip) {
    const Attributes& attributes = e.context().attributes();
    const bool last = attributes.getInt("channels_last", 1) != 0;
    Tensor x = widened(e, "X");
    const std::size_t channel = last ? x.rank() - 1 : 1;
    if (x.rank() != 4) e.fail("expects four dimensions, but found " + x.typeText());
    const auto spread = [&](const Tensor& values) {  // [C] or [N, C] along the channels
        if (values.rank() == 4) return values;
        if (values.rank() < 1 || values.rank() > 2) e.fail("skip or bias do not match");
        Shape shape{1, 1, 1, 1};
        shape[channel] = values.dim(values.rank() - 1);
        if (values.rank() == 2) shape[0] = values.dim(0);
        return e.reshape(values, shape);
    };
    if (skip) {
        const Shape shape = x.shape();
        x = e("add.Tensor", x, spread(widened(e, "skip")));
        if (e.has("bias")) x = e("add.Tensor", x, spread(widened(e, "bias")));
        if (x.shape() != shape) e.fail("skip or bias do not match");
    }
    const Tensor sum = x;
    if (last) x = e("permute", x, std::vector<std::int64_t>{0, 3, 1, 2});
    const Attributes options{{"num_groups", attributes.getInt("groups", 1)},
                             {"epsilon", attributes.getFloat("epsilon", 1e-5)}};
    Tensor y = e.onnx("GroupNormalization",
                      {Value(e.get(x.contiguous())), Value(e.as(e.tensor("gamma"), DType::Float32)),
                       Value(e.as(e.tensor("beta"), DType::Float32))},
                      options);
    if (attributes.getInt("activation", 0) == 1) y = e("silu", y);
    if (last) y = e.get(e("permute", y, std::vector<std::int64_t>{0, 2, 3, 1}).contiguous());
    std::vector<Value> results{Value(e.as(y, e.tensor("X").dtype()))};
    if (skip) results.emplace_back(e.as(sum, e.tensor("X").dtype()));
    return results;
}

base::Result<void> inferTwice(InferContext& context) {
    context.set(context.in("X"));
    context.set("S", context.in("X"));
    return {};
}

/// x over the root of its mean square by stretches as long as the scale, times scale·gate·sigmoid(gate).
EagerResult gatedNorm(Eager& e) {
    const Tensor x = widened(e, "X"), scale = widened(e, "scale");
    const std::int64_t length = scale.numel();
    if (length < 1 || x.rank() < 1 || x.dim(x.rank() - 1) % length != 0)
        e.fail("scale " + scale.typeText() + " does not match " + x.typeText());
    const Tensor rows = e.reshape(x, Shape{x.numel() / length, length});
    const Tensor normal = e.reshape(
        normalized(e, rows, Value(e.reshape(scale, Shape{length})), Value(), false, -1, 1)[0].tensor(), x.shape());
    return e.as(e("mul.Tensor", normal, e("silu", widened(e, "gate"))), e.tensor("X").dtype());
}

base::Result<Dependence> gatedNormTerms(const ElementCall& call) {
    const KernelContext& context = call.context;
    const std::int64_t length = context.in(call.op.position("scale")).numel();
    if (length < 1) return opError("the scale is empty");
    Dependence made;
    made.formula = "x / sqrt(mean(row * row) + epsilon) * scale * gate * sigmoid(gate)";
    dependence::addElement(made, made.part("x"), call, context.position("X"), call.element);
    dependence::addElement(made, made.part("scale"), call, call.op.position("scale"), call.element % length);
    dependence::addElement(made, made.part("gate"), call, call.op.position("gate"), call.element);
    const std::uint32_t row = made.listPart("row");
    SONDE_TRY(dependence::checkTerms(length));
    for (std::int64_t i = 0; i < length; ++i)
        dependence::addElement(made, row, call, context.position("X"), call.element / length * length + i);
    made.number("epsilon", context.attributes().getFloat("epsilon", 1e-5));
    return made;
}

void defineEarly(Registry& registry) {
    for (std::string_view domain : {std::string_view(), std::string_view("com.microsoft")}) {
        registry.add(Row("LayerNormalization", 1,
                         "mean 0 and variance 1 over the axes from `axis` on, scaled and shifted",
                         Category::Normalization)
                         .domain(domain)
                         .in("X", kFloats)
                         .in("Scale", kFloats)
                         .optionalIn("B", kFloats)
                         .out("Y")
                         .out("Mean", Arity::Optional)
                         .out("InvStdDev", Arity::Optional)
                         .attrInt("axis", -1)
                         .attrFloat("epsilon", 1e-5)
                         .attrInt("stash_type", 1)
                         .runs(earlyNorm(true), inferEarlyNorm));
        registry.add(Row("SimplifiedLayerNormalization", 1,
                         "x divided by its root mean square over the axes from `axis` on, scaled",
                         Category::Normalization)
                         .domain(domain)
                         .in("X", kFloats)
                         .in("scale", kFloats)
                         .out("Y")
                         .out("inv_std_var", Arity::Optional)
                         .attrInt("axis", -1)
                         .attrFloat("epsilon", 1e-5)
                         .attrInt("stash_type", 1)
                         .runs(earlyNorm(false), inferEarlyNorm));
        explain(domain, "LayerNormalization", dependence::layerNormalised);
        explain(domain, "SimplifiedLayerNormalization", dependence::rootMeanSquareNormalised);
    }
}

}  // namespace

void define_contrib_normalization(Registry& registry) {
    defineEarly(registry);
    const auto skipRow = [](std::string_view name, std::string_view summary) {
        Row row = contribRow(name, summary, Category::Normalization);
        row.in("input", kFloats, "T").in("skip", kFloats, "T").in("gamma", kFloats, "T");
        return row;
    };
    const auto skipOutputs = [](Row row) {
        return row.optionalIn("bias", kFloats, "T")
            .out("output")
            .out("mean", Arity::Optional)
            .out("inv_std_var", Arity::Optional)
            .out("input_skip_bias_sum", Arity::Optional)
            .attrFloat("epsilon", 1e-12);
    };
    registry.add(skipOutputs(skipRow("SkipLayerNormalization", "layer normalisation of input + skip + bias")
                                 .optionalIn("beta", kFloats, "T"))
                     .runs([](Eager& e) { return skipNorm(e, true); }, inferSkipNorm));
    registry.add(skipOutputs(skipRow("SkipSimplifiedLayerNormalization",
                                     "input + skip + bias divided by its root mean square, scaled"))
                     .runs([](Eager& e) { return skipNorm(e, false); }, inferSkipNorm));
    registry.add(contribRow("EmbedLayerNormalization", "sum of word, position and segment embeddings, normalised",
                            Category::Normalization)
                     .in("input_ids", kInt32)
                     .optionalIn("segment_ids", kInt32)
                     .in("word_embedding", kContribFloats, "T")
                     .in("position_embedding", kContribFloats, "T")
                     .optionalIn("segment_embedding", kContribFloats, "T")
                     .in("gamma", kContribFloats, "T")
                     .in("beta", kContribFloats, "T")
                     .optionalIn("mask", kInt32)
                     .optionalIn("position_ids", kInt32)
                     .out("output")
                     .out("mask_index", Arity::Optional)
                     .out("embedding_sum", Arity::Optional)
                     .attrFloat("epsilon", 1e-12)
                     .attrInt("mask_index_type", 1)
                     .runs(embedNorm, [](InferContext& context) {
                         return inferEmbedding(context, "word_embedding", context.in("word_embedding").dtype);
                     }));
    Row quantized =
        contribRow("QEmbedLayerNormalization", "sum of quantised embeddings, normalised", Category::Normalization);
    quantized.in("input_ids", kInt32)
        .optionalIn("segment_ids", kInt32)
        .in("word_embedding_quant", kBytes)
        .in("position_embedding_quant", kBytes)
        .optionalIn("segment_embedding", kBytes)
        .in("gamma_quant", kBytes)
        .in("beta_quant", kBytes)
        .optionalIn("mask", kInt32);
    for (std::string_view name :
         {"word_embedding_scale", "position_embedding_scale", "segment_embedding_scale", "gamma_scale", "beta_scale"}) {
        quantized.optionalIn(name, kFloat32);
    }
    for (std::string_view name : {"word_embedding_zero_point", "position_embedding_zero_point",
                                  "segment_embedding_zero_point", "gamma_zero_point", "beta_zero_point"}) {
        quantized.optionalIn(name, kBytes);
    }
    registry.add(quantized.out("layernorm_out")
                     .out("mask_index_out")
                     .attrFloat("epsilon", 1e-12)
                     .runs(quantizedEmbedNorm, [](InferContext& context) {
                         return inferEmbedding(context, "word_embedding_quant", DType::Float32);
                     }));
    const auto groupRow = [](std::string_view name, std::string_view summary) {
        Row row = contribRow(name, summary, Category::Normalization);
        row.in("X", kContribFloats)
            .in("gamma", kContribFloats)
            .in("beta", kContribFloats)
            .required("activation", AttributeKind::Int)
            .attrInt("channels_last", 1)
            .attrFloat("epsilon", 1e-5)
            .required("groups", AttributeKind::Int);
        return row;
    };
    registry.add(groupRow("GroupNorm", "mean 0 and variance 1 over groups of channels, with activation")
                     .out("Y")
                     .runs([](Eager& e) { return groupNorm(e, false); }, inferSame));
    registry.add(groupRow("SkipGroupNorm", "group normalisation of X + skip + bias, with activation")
                     .in("skip", kContribFloats)
                     .optionalIn("bias", kContribFloats)
                     .out("Y")
                     .out("S", Arity::Optional)
                     .runs([](Eager& e) { return groupNorm(e, true); }, inferTwice));
    registry.add(contribRow("GatedRMSNorm", "X divided by its root mean square, times scale and silu(gate)",
                            Category::Normalization)
                     .in("X", kContribFloats, "T")
                     .in("scale", kContribFloats, "T")
                     .in("gate", kContribFloats, "T")
                     .out("Y")
                     .attrFloat("epsilon", 1e-5)
                     .runs(gatedNorm, inferSame));
    explain("com.microsoft", "SkipLayerNormalization", dependence::skipNormalised, "mean");
    explain("com.microsoft", "SkipSimplifiedLayerNormalization", dependence::skipNormalised);
    explain("com.microsoft", "EmbedLayerNormalization", dependence::embeddingNormalised);
    explain("com.microsoft", "GroupNorm SkipGroupNorm", dependence::sumGroupNormalised);
    explain("com.microsoft", "GatedRMSNorm", gatedNormTerms);
}

}  // namespace sonde::ops
