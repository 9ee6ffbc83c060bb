// Resampling whose operator depends on the rank of the tensor: one function for signals, images and volumes.

#include "core/ops/support/invoke.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

/// The ATen operator for a mode and a number of spatial axes; empty if there is none.
std::string operatorFor(const std::string& mode, std::size_t axes) {
    if (mode == "nearest" || mode == "nearest-exact") {
        const std::string name = mode == "nearest" ? "upsample_nearest" : "_upsample_nearest_exact";
        return axes >= 1 && axes <= 3 ? name + std::to_string(axes) + "d.vec" : std::string();
    }
    if (mode == "linear" && axes == 1) return "upsample_linear1d.vec";
    if (mode == "bilinear" && axes == 2) return "upsample_bilinear2d.vec";
    if (mode == "bicubic" && axes == 2) return "upsample_bicubic2d.vec";
    if (mode == "trilinear" && axes == 3) return "upsample_trilinear3d.vec";
    return {};
}

Value perAxis(const Value& value, std::size_t axes) {
    if (value.isNone() || value.isListLike()) return value;
    return Value::list(tensor::ValueList(axes, value));
}

/// (input, size, scale_factor, mode, align_corners)
base::Result<void> interpolate(KernelContext& context) {
    if (!context.value("input").isTensor() || context.value("mode").kind() != ValueKind::String)
        return opError("interpolate expects a tensor and a mode");
    const Tensor& x = context.in("input");
    const std::string& mode = context.value("mode").toString();
    const std::size_t axes = x.rank() < 2 ? 0 : x.rank() - 2;
    if (mode == "area") {
        if (!context.has("size")) return opError("interpolate by area expects a size");
        SONDE_ASSIGN(Tensor y, invokeAten(context, "adaptive_avg_pool" + std::to_string(axes) + "d",
                                          {context.value("input"), context.value("size")}));
        context.setOutput(Value(std::move(y)));
        return {};
    }
    const std::string name = operatorFor(mode, axes);
    if (name.empty()) return opError("cannot interpolate " + x.typeText() + " with mode '" + mode + "'");
    std::vector<Value> arguments{context.value("input"), perAxis(context.value("size"), axes)};
    if (mode.find("linear") != std::string::npos || mode == "bicubic") {
        arguments.push_back(Value::ofBool(context.value("align_corners").kind() == ValueKind::Bool &&
                                          context.value("align_corners").toBool()));
    }
    arguments.push_back(perAxis(context.value("scale_factor"), axes));
    SONDE_ASSIGN(Tensor y, invokeAten(context, name, std::move(arguments)));
    context.setOutput(Value(std::move(y)));
    return {};
}

base::Result<void> inferInterpolate(InferContext& context) {
    const std::optional<Dims>& shape = context.in("input").shape;
    if (!shape || shape->size() < 3) {
        setLike(context, "input", std::nullopt);
        return {};
    }
    Dims dims = unknownDims(shape->size());
    dims[0] = (*shape)[0];
    dims[1] = (*shape)[1];
    const Value sizes = perAxis(context.constant("size"), dims.size() - 2);
    for (std::size_t i = 2; sizes.isListLike() && i < dims.size() && i - 2 < sizes.items().size(); ++i) {
        if (sizes.items()[i - 2].kind() == ValueKind::Int) dims[i] = tensor::Dim::of(sizes.items()[i - 2].toInt());
    }
    setLike(context, "input", std::move(dims));
    return {};
}

}  // namespace

void define_prim_interpolate(Registry& registry) {
    OpDef def = atenRow(
        "interpolate(Tensor input, int[]? size=None, float[]? scale_factor=None, str mode='nearest', bool? align_corners=None) -> Tensor",
        "resamples a signal, an image or a volume to another size", Category::Transform, interpolate, inferInterpolate);
    def.domain = "prim";
    registry.add(std::move(def));
}

}  // namespace sonde::ops
