// Constants, copies, conversions and ranges.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/number_text.h"
#include "core/base/random.h"
#include "core/base/unicode.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/elementwise.h"
#include "core/ops/kernels/epilogue.h"
#include "core/ops/support/convert.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/tensor/dispatch.h"

namespace sonde::ops {

namespace {

using tensor::Dim;

/// The one attribute that holds the value.
base::Result<Value> constantValue(const Attributes& attributes) {
    if (const auto value = attributes.getTensor("value")) return Value(*value);
    if (attributes.has("value_int")) return Value(Tensor::scalar<std::int64_t>(attributes.getInt("value_int", 0)));
    if (attributes.has("value_float"))
        return Value(Tensor::scalar<float>(static_cast<float>(attributes.getFloat("value_float", 0))));
    if (attributes.has("value_string"))
        return Value(Tensor::ofStrings(Shape{}, {attributes.getString("value_string", "")}));
    if (attributes.has("value_ints")) {
        const auto values = attributes.getInts("value_ints");
        return Value(Tensor::of<std::int64_t>(Shape{static_cast<std::int64_t>(values.size())}, values));
    }
    if (attributes.has("value_floats")) {
        std::vector<float> values;
        for (double v : attributes.getFloats("value_floats")) values.push_back(static_cast<float>(v));
        return Value(Tensor::of<float>(Shape{static_cast<std::int64_t>(values.size())}, values));
    }
    if (attributes.has("value_strings")) {
        auto values = attributes.getStrings("value_strings");
        const auto count = static_cast<std::int64_t>(values.size());
        return Value(Tensor::ofStrings(Shape{count}, std::move(values)));
    }
    return opError("no attribute has the value (sparse values are not supported)");
}

base::Result<void> constant(KernelContext& context) {
    SONDE_ASSIGN(Value value, constantValue(context.attributes()));
    context.setOutput(std::move(value));
    return {};
}

base::Result<void> inferConstant(InferContext& context) {
    SONDE_ASSIGN(Value value, constantValue(context.attributes()));
    context.set(TypeInfo::of(value));
    context.setKnown(std::move(value));
    return {};
}

base::Result<Tensor> filled(KernelContext& context, const Shape& shape, const Tensor& value) {
    SONDE_ASSIGN(Tensor out, context.output(value.dtype(), shape));
    if (value.dtype() == DType::String) {
        for (std::string& text : out.mutableStrings()) text = value.strings()[0];
        return out;
    }
    tensor::dispatchSize(value.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        std::fill(out.mutableData<T>(), out.mutableData<T>() + out.numel(), *value.data<T>());
    });
    return out;
}

Tensor fillValue(const Attributes& attributes) {
    const auto value = attributes.getTensor("value");
    return value && value->numel() == 1 ? *value : Tensor::scalar<float>(0.0F);
}

base::Result<void> constantOfShape(KernelContext& context) {
    SONDE_ASSIGN(std::vector<std::int64_t> dims, intsOf(context.value("input")));
    SONDE_TRY(filled(context, Shape(std::move(dims)), fillValue(context.attributes())));
    return {};
}

base::Result<void> inferConstantOfShape(InferContext& context) {
    const DType dtype = fillValue(context.attributes()).dtype();
    const std::optional<Elements> request = context.elements("input");
    context.set(
        TypeInfo::tensor(dtype, request ? std::optional(dimsOf(*request)) : unknownDimsFrom(context.in("input"))));
    return {};
}

base::Result<void> identity(KernelContext& context) {
    context.setOutput(context.value({"self", "input"}));
    return {};
}

base::Result<void> inferIdentity(InferContext& context) {
    context.set(context.in({"self", "input"}));
    if (!context.constant({"self", "input"}).isNone()) context.setKnown(context.constant({"self", "input"}));
    return {};
}

// Conversions.

base::Result<DType> castTarget(const Attributes& attributes) {
    if (const auto* text = attributes.find("to"); text && std::holds_alternative<std::string>(*text)) {
        // Opset 1 wrote the name: "FLOAT", "INT64".
        if (const auto dtype = tensor::dtypeFromName(base::lowerCase(std::get<std::string>(*text)))) return *dtype;
    }
    const std::int64_t code = attributes.getInt("to", 0);
    if (code <= 0 || code >= tensor::kDTypeCount)
        return opError("cannot convert to type number " + std::to_string(code));
    return static_cast<DType>(code);
}

CastOptions castOptions(const Attributes& attributes) {
    return {attributes.getInt("saturate", 1) != 0, attributes.getString("round_mode", "up")};
}

base::Result<void> cast(KernelContext& context) {
    SONDE_ASSIGN(const DType to, castTarget(context.attributes()));
    return convertTo(context, context.in("input"), to, castOptions(context.attributes()));
}

base::Result<void> inferCast(InferContext& context) {
    SONDE_ASSIGN(const DType to, castTarget(context.attributes()));
    context.set(TypeInfo::tensor(to, context.in("input").shape));
    return {};
}

/// The same bits seen as another dtype of the same size.
base::Result<void> bitCast(KernelContext& context) {
    SONDE_ASSIGN(const DType to, castTarget(context.attributes()));
    const Tensor& x = context.in("input");
    if (x.dtype() == DType::String || to == DType::String || tensor::bitsInFile(x.dtype()) != tensor::bitsInFile(to)) {
        return opError("the bits of " + x.typeText() + " cannot be seen as " + std::string(tensor::name(to)));
    }
    SONDE_ASSIGN(Tensor out, context.output(to, x.shape()));
    std::memcpy(out.mutableBytes(), x.bytes(), x.sizeBytes());
    const std::size_t bits = tensor::bitsInFile(to);
    for (std::size_t i = 0; bits < 8 && i < out.sizeBytes(); ++i) {
        // Narrow integers are kept one to a byte, with their sign.
        auto* bytes = out.mutableData<std::uint8_t>();
        const auto shifted = static_cast<std::uint8_t>(bytes[i] << (8 - bits));
        bytes[i] = tensor::isInteger(to) && tensor::isSigned(to)
                       ? static_cast<std::uint8_t>(static_cast<std::int8_t>(shifted) >> (8 - bits))
                       : static_cast<std::uint8_t>(shifted >> (8 - bits));
    }
    return {};
}

// Ranges.

/// ceil((limit − start) / delta) elements, 0 if that is negative.
base::Result<void> rangeOf(KernelContext& context, const Tensor& start, const Tensor& limit, const Tensor& delta) {
    if (start.numel() != 1 || limit.numel() != 1 || delta.numel() != 1)
        return opError("start, limit and delta must be scalars");
    const DType dtype = start.dtype();
    double count = 0;
    if (tensor::isInteger(dtype)) {
        const std::int64_t d = delta.toInt64(0);
        if (d == 0) return opError("delta is 0");
        count = std::ceil((static_cast<double>(limit.toInt64(0)) - static_cast<double>(start.toInt64(0))) /
                          static_cast<double>(d));
    } else {
        if (delta.toDouble(0) == 0) return opError("delta is 0");
        count = std::ceil((limit.toDouble(0) - start.toDouble(0)) / delta.toDouble(0));
    }
    if (!(count < 1e15)) return opError("a range of " + base::shortestText(count) + " elements is too large");
    SONDE_ASSIGN(Tensor out, context.output(dtype, Shape{static_cast<std::int64_t>(std::max(count, 0.0))}));
    if (!tensor::dispatchNumbers(dtype, [&](auto tag) {
            using T = typename decltype(tag)::type;
            for (std::int64_t i = 0; i < out.numel(); ++i) {
                if constexpr (std::is_integral_v<T>) {
                    out.mutableData<T>()[i] =
                        static_cast<T>(static_cast<std::uint64_t>(start.toInt64(0)) +
                                       static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(delta.toInt64(0)));
                } else {
                    out.mutableData<T>()[i] =
                        static_cast<T>(start.toDouble(0) + static_cast<double>(i) * delta.toDouble(0));
                }
            }
        })) {
        return opError("a range is not defined for " + start.typeText());
    }
    return {};
}

base::Result<void> eyeLike(KernelContext& context) {
    const Tensor& x = context.in("input");
    if (x.rank() != 2) return opError("needs a matrix, but has " + x.typeText());
    DType dtype = x.dtype();
    if (const std::int64_t code = context.attributes().getInt("dtype", 0); code > 0 && code < tensor::kDTypeCount)
        dtype = static_cast<DType>(code);
    const std::int64_t k = context.attributes().getInt("k", 0);
    SONDE_ASSIGN(Tensor wide, Tensor::zeros(DType::Int8, x.shape()));
    for (std::int64_t i = 0; i < x.dim(0); ++i) {
        std::int64_t column = 0;
        if (!__builtin_add_overflow(i, k, &column) && column >= 0 && column < x.dim(1))
            wide.mutableData<std::int8_t>()[i * x.dim(1) + column] = 1;
    }
    SONDE_ASSIGN(Tensor out, wide.cast(dtype));
    context.setOutput(Value(std::move(out)));
    return {};
}

// Clip and Dropout: the identity in most places.

base::Result<void> clipTo(KernelContext& context, std::optional<double> low, std::optional<double> high) {
    const Tensor& x = context.in("input");
    const kernels::UnaryFunction function{
        [](double v, double a, double b) { return std::isnan(v) ? v : std::min(std::max(v, a), b); }, nullptr,
        kernels::Unary::Clip};
    const double inf = std::numeric_limits<double>::infinity();
    if (tensor::isFloating(x.dtype()))
        return kernels::applyUnary(context, function, x, low.value_or(-inf), high.value_or(inf));
    return opError("clip is not defined for " + x.typeText());
}

base::Result<void> clipInputs(KernelContext& context) {
    const Tensor& x = context.in("input");
    const auto bound = [&](Name name) {
        return context.has(name) && context.in(name).numel() == 1 ? std::optional(context.in(name).toDouble(0))
                                                                  : std::nullopt;
    };
    if (tensor::isFloating(x.dtype()) && !(context.has("min") && context.in("min").numel() != 1))
        return clipTo(context, bound("min"), bound("max"));
    Tensor result = x;
    if (context.has("min")) {
        SONDE_ASSIGN(result,
                     kernels::arithmeticTensor(context.pool(), kernels::Arithmetic::Max, result, context.in("min")));
    }
    if (context.has("max")) {
        SONDE_ASSIGN(result,
                     kernels::arithmeticTensor(context.pool(), kernels::Arithmetic::Min, result, context.in("max")));
    }
    context.setOutput(Value(std::move(result)));
    return {};
}

/// Bounds as attributes or as inputs of one number.
std::unique_ptr<kernels::EpilogueOp> clipEpilogue(const kernels::EpilogueCall& call) {
    if (call.sameShapeOnly != kernels::kNoInput) return nullptr;  // a bound that has no value yet
    double bounds[2] = {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    const char* const names[2] = {"min", "max"};
    for (std::size_t i = 0; i < 2; ++i) {
        bounds[i] = call.attributes.getFloat(names[i], bounds[i]);
        const std::size_t at = call.op.position(names[i]);
        if (at >= call.inputs.size() || call.inputs[at].isNone()) continue;
        if (!call.inputs[at].isTensor() || call.inputs[at].tensor().numel() != 1) return nullptr;
        bounds[i] = call.inputs[at].tensor().toDouble(0);
    }
    return call.at == 0 ? kernels::unaryEpilogue(kernels::Unary::Clip, bounds[0], bounds[1]) : nullptr;
}

base::Result<void> clipAttributes(KernelContext& context) {
    const Attributes& attributes = context.attributes();
    const auto bound = [&](const char* name) {
        return attributes.has(name) ? std::optional(attributes.getFloat(name, 0)) : std::nullopt;
    };
    return clipTo(context, bound("min"), bound("max"));
}

base::Result<void> atenClamp(KernelContext& context) {
    Tensor x = context.in("self");
    std::vector<Value> all{context.value("self")};
    for (const char* name : {"min", "max"}) {
        if (context.has(name)) all.push_back(context.value(name));
    }
    const DType dtype = promoted(all);
    SONDE_ASSIGN(x, x.cast(dtype));
    for (const auto& [name, operation] :
         {std::pair("min", kernels::Arithmetic::Max), std::pair("max", kernels::Arithmetic::Min)}) {
        if (!context.has(name)) continue;
        SONDE_ASSIGN(const Tensor bound, asTensor(context.value(name), dtype));
        SONDE_ASSIGN(x, kernels::arithmeticTensor(context.pool(), operation, x, bound));
    }
    context.setOutput(Value(std::move(x)));
    return {};
}

base::Result<void> inferDropout(InferContext& context) {
    context.set(context.in("data"));
    context.set("mask", TypeInfo::tensor(DType::Bool, context.in("data").shape));
    return {};
}

/// Zeroes each element with probability `ratio` and scales the others by 1/(1 − ratio).
base::Result<void> dropElements(KernelContext& context, double ratio, std::uint64_t seed) {
    if (!(ratio >= 0 && ratio < 1)) return opError("ratio " + base::shortestText(ratio) + " is outside [0, 1)");
    const Tensor& x = context.in("data");
    SONDE_ASSIGN(Tensor mask, context.output("mask", DType::Bool, x.shape()));
    base::Random random(seed);
    for (std::int64_t i = 0; i < x.numel(); ++i) mask.mutableData<bool>()[i] = random.uniform() >= ratio;
    SONDE_ASSIGN(const Tensor keep, mask.cast(x.dtype()));
    SONDE_ASSIGN(const Tensor scale, Tensor::scalar<double>(1 / (1 - ratio)).cast(x.dtype()));
    SONDE_ASSIGN(const Tensor kept, kernels::arithmeticTensor(context.pool(), kernels::Arithmetic::Mul, x, keep));
    SONDE_TRY(kernels::arithmetic(context, kernels::Arithmetic::Mul, kept, scale));
    return {};
}

base::Result<void> dropout(KernelContext& context) {
    const bool training = context.has("training_mode") && context.in("training_mode").numel() == 1 &&
                          context.in("training_mode").toInt64(0) != 0;
    const double ratio =
        context.has("ratio") ? context.in("ratio").numel() == 1 ? context.in("ratio").toDouble(0) : 0.5 : 0.5;
    if (training && ratio != 0) {
        return dropElements(
            context, ratio,
            context.environment().seed + static_cast<std::uint64_t>(context.attributes().getInt("seed", 0)));
    }
    context.setOutput(context.value("data"));
    if (context.wants("mask")) {
        SONDE_ASSIGN(Tensor mask, context.output("mask", DType::Bool, context.in("data").shape()));
        // Before opset 12 nothing says what the mask is outside training; ONNX Runtime has false, and so have files
        // made with it.
        std::fill(mask.mutableData<bool>(), mask.mutableData<bool>() + mask.numel(), context.version() >= 12);
    }
    return {};
}

/// Before version 10 the mask had the data's dtype; nothing says its values outside training (zeros in ONNX Runtime).
base::Result<void> dropoutWithNumbers(KernelContext& context) {
    context.setOutput(context.value("data"));
    if (!context.wants("mask")) return {};
    SONDE_ASSIGN(Tensor mask, Tensor::zeros(context.in("data").dtype(), context.in("data").shape()));
    context.setOutput("mask", Value(std::move(mask)));
    return {};
}

base::Result<void> inferDropoutWithNumbers(InferContext& context) {
    context.set(context.in("data"));
    context.set("mask", context.in("data"));
    return {};
}

void defineAtenData(Registry& registry) {
    for (std::string_view schema :
         {"contiguous(Tensor self, *, MemoryFormat memory_format=contiguous_format) -> Tensor",
          "detach(Tensor self) -> Tensor", "alias(Tensor self) -> Tensor",
          "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", "lift_fresh(Tensor self) -> Tensor",
          "detach_(Tensor(a!) self) -> Tensor(a!)", "lift_fresh_copy(Tensor self) -> Tensor"}) {
        registry.add(atenRow(schema, "the same tensor", Category::Shape, identity, inferIdentity));
    }
    for (std::string_view schema : {"clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
                                    "clamp_(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)",
                                    "clamp_min(Tensor self, Scalar min) -> Tensor",
                                    "clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor"}) {
        registry.add(atenRow(schema, "x held between two bounds", Category::Elementwise, atenClamp, inferSame));
    }
    registry.add(atenRow("where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
                         "self where the condition is true, else other", Category::Logic,
                         [](KernelContext& context) -> base::Result<void> {
                             SONDE_ASSIGN(const auto pair, promotedPair(context.value("self"), context.value("other")));
                             SONDE_ASSIGN(const Tensor condition, context.in("condition").cast(DType::Bool));
                             return kernels::where(context, condition, pair.first, pair.second);
                         }));
}

}  // namespace

void define_data_ops(Registry& registry) {
    registry.add(Row("Constant", 1, "a value from the model", Category::Data)
                     .out("output")
                     .attr("value", AttributeKind::Tensor)
                     .attr("value_float", AttributeKind::Float)
                     .attr("value_floats", AttributeKind::Floats)
                     .attr("value_int", AttributeKind::Int)
                     .attr("value_ints", AttributeKind::Ints)
                     .attr("value_string", AttributeKind::String)
                     .attr("value_strings", AttributeKind::Strings)
                     .runs(constant, inferConstant));
    registry.add(Row("ConstantOfShape", 9, "one value for every element of a shape", Category::Data)
                     .in("input", kInt64)
                     .out("output")
                     .attr("value", AttributeKind::Tensor)
                     .runs(constantOfShape, inferConstantOfShape));
    registry.add(Row("Identity", 1, "the same value", Category::Shape)
                     .anyIn("input")
                     .out("output")
                     .strided()
                     .runs(identity, inferIdentity));
    registry.add(Row("Cast", 1, "converts the elements to another dtype", Category::Elementwise)
                     .in("input")
                     .out("output")
                     .required("to", AttributeKind::Any)
                     .attrInt("saturate", 1)
                     .attrString("round_mode", "up")
                     .runs(cast, inferCast));
    registry.add(Row("CastLike", 15, "converts the elements to the dtype of another tensor", Category::Elementwise)
                     .in("input")
                     .in("target_type")
                     .out("output")
                     .attrInt("saturate", 1)
                     .attrString("round_mode", "up")
                     .runs(
                         [](KernelContext& context) {
                             return convertTo(context, context.in("input"), context.in("target_type").dtype(),
                                              castOptions(context.attributes()));
                         },
                         [](InferContext& context) -> base::Result<void> {
                             context.set(TypeInfo::tensor(context.in("target_type").dtype, context.in("input").shape));
                             return {};
                         }));
    registry.add(Row("BitCast", 26, "the same bits as another dtype", Category::Elementwise)
                     .in("input")
                     .out("output")
                     .required("to", AttributeKind::Int)
                     .runs(bitCast, inferCast));
    registry.add(Row("Range", 11, "start, start + delta, … below limit", Category::Data)
                     .in("start", kNumbers, "T")
                     .in("limit", kNumbers, "T")
                     .in("delta", kNumbers, "T")
                     .out("output")
                     .attrInt("stash_type", 1)
                     .runs(
                         [](KernelContext& context) {
                             return rangeOf(context, context.in("start"), context.in("limit"), context.in("delta"));
                         },
                         [](InferContext& context) -> base::Result<void> {
                             const auto start = context.elements("start"), limit = context.elements("limit"),
                                        delta = context.elements("delta");
                             tensor::Symbolic count;
                             if (start && limit && delta && start->size() == 1 && limit->size() == 1 &&
                                 delta->size() == 1) {
                                 const tensor::Symbolic steps = (limit->front() - start->front()) / delta->front();
                                 count = larger(-floor(-steps), tensor::Symbolic::of(std::int64_t{0}));
                             }
                             setLike(context, "start", Dims{count.dim()});
                             return {};
                         }));
    registry.add(Row("EyeLike", 9, "ones on a diagonal, else zeros, in the shape of the input", Category::Data)
                     .in("input")
                     .out("output")
                     .attr("dtype", AttributeKind::Int)
                     .attrInt("k", 0)
                     .runs(eyeLike, [](InferContext& context) -> base::Result<void> {
                         const std::int64_t code = context.attributes().getInt("dtype", 0);
                         context.set(TypeInfo::tensor(code > 0 && code < tensor::kDTypeCount
                                                          ? static_cast<DType>(code)
                                                          : context.in("input").dtype,
                                                      context.in("input").shape));
                         return {};
                     }));
    kernels::addEpilogueOp("", "Clip", clipEpilogue);
    registry.add(Row("Clip", 1, "x held between two bounds", Category::Elementwise)
                     .in("input", kFloats)
                     .out("output")
                     .attr("max", AttributeKind::Float)
                     .attr("min", AttributeKind::Float)
                     .runs(clipAttributes, inferSame));
    registry.add(Row("Clip", 11, "x held between two bounds", Category::Elementwise)
                     .in("input", kNumbers, "T")
                     .optionalIn("min", kNumbers, "T")
                     .optionalIn("max", kNumbers, "T")
                     .out("output")
                     .runs(clipInputs, inferSame));
    constexpr DTypeSet kEighths =
        bit(DType::Float8E4M3FN) | bit(DType::Float8E4M3FNUZ) | bit(DType::Float8E5M2) | bit(DType::Float8E5M2FNUZ);
    registry.add(Row("Dropout", 1, "the input itself", Category::Dropout)
                     .in("data", kFloats)
                     .out("output")
                     .out("mask", Arity::Optional)
                     .attrFloat("ratio", 0.5)
                     .attrInt("is_test", 0)
                     .runs(dropoutWithNumbers, inferDropoutWithNumbers));
    registry.add(Row("Dropout", 10, "the input itself", Category::Dropout)
                     .in("data", kFloats)
                     .out("output")
                     .out("mask", Arity::Optional)
                     .attrFloat("ratio", 0.5)
                     .runs(dropout, inferDropout));
    registry.add(Row("Dropout", 12, "the input itself, except while training", Category::Dropout)
                     .in("data", kFloats | kEighths)
                     .optionalIn("ratio", kFloats | kEighths)
                     .optionalIn("training_mode", kBool)
                     .out("output")
                     .out("mask", Arity::Optional)
                     .attr("seed", AttributeKind::Int)
                     .random()
                     .runs(dropout, inferDropout));
    defineAtenData(registry);
    explain("aten", "where.self where.Scalar where.ScalarOther where.ScalarSelf", dependence::elementWise,
            "where(x, y, z)");
    explain("aten", "masked_fill", dependence::elementWise, "where(y, z, x)");
    explain("", "Clip", dependence::clipped);
    explain("aten", "clamp clip", dependence::clipped);
    explain("", "Dropout", dependence::dropped);
    explain("", "Cast CastLike", dependence::converted);
    explain("", "Constant ConstantOfShape EyeLike Range", dependence::fixed);
}

}  // namespace sonde::ops
