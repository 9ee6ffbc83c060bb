// Experimental operators of ai.onnx before opset 10, which converters of that time wrote and ONNX Runtime still runs.

#include <algorithm>

#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/support/contrib.h"

namespace sonde::ops {

namespace {

double parameter(Eager& e, std::string_view name, double fallback) {
    return e.context().attributes().getFloat(name, fallback);
}

/// alpha·x + beta
EagerResult affine(Eager& e) {
    return e("add.Scalar", e("mul.Scalar", e.tensor("X"), parameter(e, "alpha", 1)), parameter(e, "beta", 0));
}

/// scale·x + bias of the channel
EagerResult scaledImage(Eager& e) {
    const std::vector<double> bias = e.context().attributes().getFloats("bias");
    const Tensor x = e.tensor("X");
    if (x.rank() != 4 || static_cast<std::int64_t>(bias.size()) != x.dim(1))
        e.fail("bias must have one entry for each channel of " + x.typeText());
    const Tensor offsets = e.as(Tensor::of<double>(Shape{1, x.dim(1), 1, 1}, bias), x.dtype());
    return e("add.Tensor", e("mul.Scalar", x, parameter(e, "scale", 1)), offsets);
}

base::Result<Dependence> scaledImageTerms(const ElementCall& call) {
    const std::vector<double> bias = call.context.attributes().getFloats("bias");
    if (call.at.size() < 2 || call.at[1] >= static_cast<std::int64_t>(bias.size()))
        return opError("the bias does not match the channels");
    Dependence made;
    made.formula = "scale * x + bias";
    dependence::addElement(made, made.part("x"), call, 0, call.element);
    made.number("scale", call.context.attributes().getFloat("scale", 1));
    made.number("bias", bias[static_cast<std::size_t>(call.at[1])]);
    return made;
}

/// alpha·ln(1 + e^(beta·x))
EagerResult parametricSoftplus(Eager& e) {
    return e("mul.Scalar", e.onnx("Softplus", {Value(e("mul.Scalar", e.tensor("X"), parameter(e, "beta", 1)))}),
             parameter(e, "alpha", 1));
}

EagerResult scaledTanh(Eager& e) {
    return e("mul.Scalar", e("tanh", e("mul.Scalar", e.tensor("X"), parameter(e, "beta", 1))),
             parameter(e, "alpha", 1));
}

/// What to cut from an image [N, C, H, W]: border is left, top, right, bottom; scale, if there, is the height and width
/// left.
struct CropWindow {
    std::int64_t top, left, height, width;
};

base::Result<CropWindow> cropWindow(const Attributes& attributes, std::int64_t height, std::int64_t width) {
    const std::vector<std::int64_t> border = attributes.getInts("border"), scale = attributes.getInts("scale");
    if (border.size() < 4 || (!scale.empty() && scale.size() != 2))
        return opError("border must have 4 entries and scale none or 2");
    // In the order of unsigned sums that cannot overflow: everything lies inside the image.
    const bool inside = border[0] >= 0 && border[1] >= 0 && border[2] >= 0 && border[3] >= 0 && border[0] <= width &&
                        border[1] <= height && border[2] <= width && border[3] <= height;
    CropWindow window{border[1], border[0], height - border[1] - border[3], width - border[0] - border[2]};
    if (!scale.empty()) window.height = scale[0], window.width = scale[1];
    if (!inside || window.height < 0 || window.width < 0 || window.height > height - window.top ||
        window.width > width - window.left) {
        return opError("the border does not fit an image of " + std::to_string(height) + " x " + std::to_string(width));
    }
    return window;
}

EagerResult crop(Eager& e) {
    const Tensor x = e.tensor("X");
    if (x.rank() != 4) e.fail("expects [N, C, H, W], but found " + x.typeText());
    const CropWindow window = e.get(cropWindow(e.context().attributes(), x.dim(2), x.dim(3)));
    return e.get(x.sliced(2, window.top, window.height).sliced(3, window.left, window.width).contiguous());
}

base::Result<void> inferEarlyCrop(InferContext& context) {
    std::optional<Dims> dims = context.in("X").shape;
    if (dims && dims->size() == 4 && (*dims)[2].known() && (*dims)[3].known()) {
        SONDE_ASSIGN(const CropWindow window, cropWindow(context.attributes(), (*dims)[2].value, (*dims)[3].value));
        (*dims)[2] = Dim::of(window.height), (*dims)[3] = Dim::of(window.width);
    } else if (dims && dims->size() == 4) {
        (*dims)[2] = (*dims)[3] = Dim{};
    }
    setLike(context, "X", std::move(dims));
    return {};
}

/// Mean 0 over the image, and over the channels too or also the batch; variance 1 if asked for.
EagerResult earlyMeanVariance(Eager& e) {
    const Attributes& attributes = e.context().attributes();
    const Tensor x = e.tensor("X");
    if (x.rank() != 4) e.fail("expects [N, C, H, W], but found " + x.typeText());
    std::vector<std::int64_t> axes{0, 2, 3};
    if (attributes.getInt("across_channels", 0) != 0) axes.insert(axes.begin() + 1, 1);
    const Tensor centred = e("sub.Tensor", x, e("mean.dim", x, axes, true));
    if (attributes.getInt("normalize_variance", 1) == 0) return centred;
    const Tensor variance = e("mean.dim", e("square", centred), axes, true);
    return e("div.Tensor", centred, e("sqrt", e("add.Scalar", variance, 1e-9)));
}

Row earlyRow(std::string_view name, std::string_view summary, Category category) {
    Row row(name, 1, summary, category);
    row.in("X", kFloats, "T").out("Y");
    return row;
}

}  // namespace

void define_contrib_early(Registry& registry) {
    const auto kAct = Category::Activation;
    registry.add(earlyRow("Affine", "alpha·x + beta", Category::Elementwise)
                     .attrFloat("alpha", 1)
                     .attrFloat("beta", 0)
                     .runs(affine, inferSame));
    registry.add(earlyRow("ImageScaler", "scale·x + the bias of the channel", Category::Elementwise)
                     .attrFloat("scale", 1)
                     .attr("bias", AttributeKind::Floats)
                     .runs(scaledImage, inferSame));
    registry.add(earlyRow("ParametricSoftplus", "alpha·ln(1 + e^(beta·x))", kAct)
                     .attrFloat("alpha", 1)
                     .attrFloat("beta", 1)
                     .runs(parametricSoftplus, inferSame));
    registry.add(earlyRow("ScaledTanh", "alpha·tanh(beta·x)", kAct)
                     .attrFloat("alpha", 1)
                     .attrFloat("beta", 1)
                     .runs(scaledTanh, inferSame));
    registry.add(
        earlyRow("ThresholdedRelu", "x where it is above alpha, else 0", kAct)
            .attrFloat("alpha", 1)
            .runs(
                [](KernelContext& context) { return context.runAs(*Registry::all().find("", "ThresholdedRelu", 10)); },
                inferSame));
    registry.add(earlyRow("Crop", "an image without its borders", Category::Tensor)
                     .attrInts("border")
                     .attrInts("scale")
                     .runs(crop, inferEarlyCrop));
    registry.add(
        earlyRow("MeanVarianceNormalization", "mean 0 and variance 1 over images, or over all", Category::Normalization)
            .attrInt("across_channels", 0)
            .attrInt("normalize_variance", 1)
            .runs(earlyMeanVariance, inferSame));
    explain("", "Affine", dependence::elementWise, "alpha * x + beta");
    explain("", "ParametricSoftplus", dependence::elementWise, "alpha * log1p(exp(beta * x))");
    explain("", "ScaledTanh", dependence::elementWise, "alpha * tanh(beta * x)");
    explain("", "ImageScaler", scaledImageTerms);
    explain("", "Crop", dependence::moved, "X");
}

}  // namespace sonde::ops
