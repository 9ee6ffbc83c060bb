// Convolutions as the exported forms of other engines have them (dump.md, "Fusions"): with bias, a sum and an
// activation in one step, weights and activations in blocks of channels. They show what such a file holds, and are
// computed by the plain convolution on unpacked tensors.

#include "core/ops/support/invoke.h"
#include "core/ops/support/packing.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

/// x [N, C, H, W] -> blocks, or the way back.
base::Result<void> relayout(KernelContext& context) {
    const Attributes& attributes = context.attributes();
    SONDE_ASSIGN(const Packing packing, Packing::parse(attributes.getString("packing", "")));
    if (attributes.getInt("back", 0) == 0) {
        Tensor x = context.in("x");
        if (attributes.has("offset")) {
            // Bytes 0 … 255 as int8 -128 … 127: what float32 arithmetic gives of them is exact.
            SONDE_ASSIGN(x, x.cast(DType::Float32));
            for (float& value : x.mutableSpan<float>()) value += static_cast<float>(attributes.getInt("offset", 0));
            SONDE_ASSIGN(x, x.cast(DType::Int8));
        }
        SONDE_ASSIGN(Tensor packed, packing.pack(x));
        context.setOutput(Value(std::move(packed)));
        return {};
    }
    SONDE_ASSIGN(Tensor plain, packing.unpack(context.in("x"), attributes.getInts("extents")));
    context.setOutput(Value(std::move(plain)));
    return {};
}

base::Result<void> inferRelayout(InferContext& context) {
    const Attributes& attributes = context.attributes();
    SONDE_ASSIGN(const Packing packing, Packing::parse(attributes.getString("packing", "")));
    setLike(context, "x", std::nullopt);
    if (attributes.has("offset")) context.set("y", TypeInfo::tensor(DType::Int8));
    const std::optional<Shape> shape = context.in("x").staticShape();
    if (!shape) return {};
    SONDE_ASSIGN(const Shape result, attributes.getInt("back", 0) == 0
                                         ? packing.packedShape(*shape)
                                         : packing.plainShape(*shape, attributes.getInts("extents")));
    setLike(context, "x", dimsOf(result));
    if (attributes.has("offset")) context.set("y", TypeInfo::tensor(DType::Int8, result));
    return {};
}

/// Inputs of ConvBias. Quantised convolutions take the scales and zero points.
enum Input : std::size_t { X, W, Bias, Z, XScale, XZero, WScale, WZero, YScale, YZero };

/// What a tensor is before it was packed by the attribute; itself if there is no such attribute.
base::Result<Tensor> plain(const Attributes& attributes, const Tensor& tensor, std::string_view packing,
                           std::span<const std::int64_t> dimSizes) {
    const std::string text = attributes.getString(packing, "");
    if (text.empty()) return tensor;
    SONDE_ASSIGN(const Packing how, Packing::parse(text));
    return how.unpack(tensor, dimSizes);
}

/// Weights as convolutions take them: [G, K/G, C/G, kernel...] is [K, C/G, kernel...].
base::Result<Tensor> plainWeights(const Attributes& attributes, const Tensor& w) {
    SONDE_ASSIGN(const Tensor weights, plain(attributes, w, "w_packing", attributes.getInts("w_extents")));
    if (weights.rank() != 5 || attributes.getString("w_packing", "").empty()) return weights;
    const Shape& g = weights.shape();
    return weights.reshaped({g[0] * g[1], g[2], g[3], g[4]});
}

Attributes convAttributes(const Attributes& attributes) {
    Attributes result;
    for (const char* name : {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides", "compute_mode"}) {
        if (const auto* value = attributes.find(name)) result.set(name, *value);
    }
    return result;
}

base::Result<Tensor> onlyTensor(base::Result<std::vector<Value>> results) {
    if (!results) return std::move(results).error();
    return results->front().tensor();
}

base::Result<Tensor> convolved(KernelContext& context, const Tensor& x, const Tensor& w, const std::string& of) {
    Value bias;
    if (context.has(Bias)) {
        // In whatever form: the numbers are in the order of the channels.
        SONDE_ASSIGN(Tensor flat, context.in(Bias).reshaped({context.in(Bias).numel()}));
        bias = Value(std::move(flat));
    }
    const auto given = [&](Input input) { return input < context.inputCount() ? context.value(input) : Value(); };
    std::vector<Value> inputs;
    if (of == "Conv") inputs = {Value(x), Value(w), bias};
    else if (of == "ConvInteger") inputs = {Value(x), Value(w), given(XZero), given(WZero)};
    else
        inputs = {Value(x),     given(XScale), given(XZero), Value(w), given(WScale),
                  given(WZero), given(YScale), given(YZero), bias};
    return onlyTensor(invoke(context, "", of, std::move(inputs), convAttributes(context.attributes())));
}

base::Result<std::string> knownConvolution(const Attributes& attributes) {
    std::string of = attributes.getString("of", "Conv");
    if (of != "Conv" && of != "ConvInteger" && of != "QLinearConv") return opError("'" + of + "' is not a convolution");
    return of;
}

/// y = act(conv(x, w) + bias + z).
base::Result<void> convBias(KernelContext& context) {
    const Attributes& attributes = context.attributes();
    SONDE_ASSIGN(const std::string of, knownConvolution(attributes));
    const std::int64_t channels[] = {-1, attributes.getInt("x_channels", -1), -1, -1};
    SONDE_ASSIGN(const Tensor x, plain(attributes, context.in(X), "x_packing", channels));
    SONDE_ASSIGN(const Tensor w, plainWeights(attributes, context.in(W)));
    SONDE_ASSIGN(Tensor y, convolved(context, x, w, of));
    if (context.has(Z)) {
        SONDE_ASSIGN(const Tensor z, plain(attributes, context.in(Z), "y_packing", {}));
        SONDE_ASSIGN(y, onlyTensor(invoke(context, "", "Add", {Value(y), Value(z)})));
    }
    if (const std::string act = attributes.getString("nonlinearity", ""); !act.empty()) {
        if (act != "Relu" && act != "Sigmoid" && act != "HardSwish")
            return opError("the nonlinearity '" + act + "' is not supported");
        SONDE_ASSIGN(y, onlyTensor(invoke(context, "", act, {Value(y)})));
    }
    if (const std::string text = attributes.getString("y_packing", ""); !text.empty()) {
        SONDE_ASSIGN(const Packing packing, Packing::parse(text));
        SONDE_ASSIGN(y, packing.pack(y));
    }
    context.setOutput(Value(std::move(y)));
    return {};
}

/// A type with the dimensions that `change` makes of a known shape; open if the shape is not known.
template <typename Change>
base::Result<TypeInfo> changed(const TypeInfo& type, const std::string& packing, Change change) {
    if (packing.empty()) return type;
    TypeInfo result = TypeInfo::tensor(type.dtype);
    const std::optional<Shape> shape = type.staticShape();
    if (!shape) return result;
    SONDE_ASSIGN(const Packing how, Packing::parse(packing));
    SONDE_ASSIGN(const Shape made, change(how, *shape));
    return TypeInfo::tensor(type.dtype, made);
}

base::Result<void> inferConvBias(InferContext& context) {
    const Attributes& attributes = context.attributes();
    SONDE_ASSIGN(const std::string of, knownConvolution(attributes));
    const std::vector<std::int64_t> channels{-1, attributes.getInt("x_channels", -1), -1, -1},
        weights = attributes.getInts("w_extents");
    SONDE_ASSIGN(const TypeInfo x,
                 changed(context.in(X), attributes.getString("x_packing", ""),
                         [&](const Packing& how, const Shape& shape) { return how.plainShape(shape, channels); }));
    SONDE_ASSIGN(TypeInfo w,
                 changed(context.in(W), attributes.getString("w_packing", ""),
                         [&](const Packing& how, const Shape& shape) { return how.plainShape(shape, weights); }));
    if (const auto shape = w.staticShape();
        shape && shape->rank() == 5 && attributes.has("w_packing") && !attributes.getString("w_packing", "").empty()) {
        const auto outputs = Shape{(*shape)[0], (*shape)[1]}.checkedNumel();
        if (!outputs) return opError("weights of shape " + shape->text() + " are too large");
        w = TypeInfo::tensor(w.dtype, Shape{*outputs, (*shape)[2], (*shape)[3], (*shape)[4]});
    }
    const OpDef* conv = Registry::all().find("", "Conv", 0);
    const std::vector<TypeInfo> types{x, w};
    const std::vector<Value> constants(2);
    const Attributes given = convAttributes(attributes);
    InferContext inner(types, constants, given, 1);
    SONDE_TRY(inner.inferAs(*conv));
    TypeInfo y = inner.outputs().front();
    y.dtype = of == "Conv" ? context.in(X).dtype : of == "ConvInteger" ? DType::Int32 : context.in(YZero).dtype;
    SONDE_ASSIGN(y, changed(y, attributes.getString("y_packing", ""),
                            [](const Packing& how, const Shape& shape) { return how.packedShape(shape); }));
    context.set(std::move(y));
    return {};
}

}  // namespace

void define_conv_bias(Registry& registry) {
    registry.add(Row("Relayout", 1, "splits axes of a tensor into blocks, or merges them", Category::Transform)
                     .domain("sonde")
                     .in("x")
                     .out("y")
                     .required("packing", AttributeKind::String)
                     .attrInt("back", 0)
                     .attrInts("extents")
                     .attr("offset", AttributeKind::Int)
                     .runs(relayout, inferRelayout));
    registry.add(Row("ConvBias", 1,
                     "convolution, bias, sum and activation in one step, optionally in blocks of channels",
                     Category::Layer)
                     .domain("sonde")
                     .in("x")
                     .in("w")
                     .optionalIn("bias")
                     .optionalIn("z")
                     .optionalIn("x_scale")
                     .optionalIn("x_zero_point")
                     .optionalIn("w_scale")
                     .optionalIn("w_zero_point")
                     .optionalIn("y_scale")
                     .optionalIn("y_zero_point")
                     .out("y")
                     .attrString("of", "Conv")
                     .attrString("nonlinearity", "")
                     .attrString("x_packing", "")
                     .attrString("w_packing", "")
                     .attrString("y_packing", "")
                     .attrInt("x_channels", -1)
                     .attrInts("w_extents")
                     .attrString("auto_pad", "NOTSET")
                     .attrInts("dilations")
                     .attrInt("group", 1)
                     .attrInts("kernel_shape")
                     .attrInts("pads")
                     .attrInts("strides")
                     .attrString("compute_mode", "")
                     .runs(convBias, inferConvBias));
}

}  // namespace sonde::ops
