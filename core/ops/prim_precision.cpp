// What a run at another precision rounds: domain prim, put into a graph by session/precision.

#include <algorithm>
#include <cmath>

#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

/// x to the nearest of the 255 multiples of max |x| / 127, ties to even. NaN stays, infinities become the largest.
void quantised(std::span<float> x, std::int64_t outer, std::int64_t channels, std::int64_t inner) {
    for (std::int64_t channel = 0; channel < channels; ++channel) {
        const auto forEach = [&](auto visit) {
            for (std::int64_t o = 0; o < outer; ++o) {
                float* row = x.data() + (o * channels + channel) * inner;
                for (std::int64_t i = 0; i < inner; ++i) visit(row[i]);
            }
        };
        float largest = 0;
        forEach([&](float value) {
            if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
        });
        const float scale = largest / 127.0F;
        if (scale == 0 || !std::isnormal(scale)) continue;
        forEach([&](float& value) {
            if (!std::isnan(value)) value = std::clamp(std::nearbyint(value / scale), -127.0F, 127.0F) * scale;
        });
    }
}

base::Result<void> roundTo(KernelContext& context) {
    const Value& given = context.value("x");
    if (!given.isTensor() || !tensor::isFloating(given.tensor().dtype())) {
        context.setOutput(0, given);
        return {};
    }
    const Tensor& x = given.tensor();
    const std::string type = context.attributes().getString("type", "");
    SONDE_ASSIGN(Tensor rounded, x.cast(type == "float16"    ? DType::Float16
                                        : type == "bfloat16" ? DType::BFloat16
                                                             : DType::Float32));
    SONDE_ASSIGN(rounded, rounded.cast(DType::Float32));
    if (type == "int8") {
        SONDE_ASSIGN(rounded, rounded.clone());
        const std::int64_t axis = context.attributes().getInt("axis", -1);
        std::int64_t outer = 1, channels = 1, inner = 1;
        for (std::size_t d = 0; d < rounded.rank(); ++d) {
            const auto at = static_cast<std::int64_t>(d);
            (axis < 0 || at > axis ? inner : at == axis ? channels : outer) *= rounded.dim(d);
        }
        // Parts of the first axis, each with channels of its own.
        const std::int64_t groups = context.attributes().getInt("groups", 1);
        if (groups < 1 || (groups > 1 && outer % groups != 0))
            return opError("the first axis does not have " + std::to_string(groups) + " parts");
        const auto part = static_cast<std::size_t>(rounded.numel() / groups);
        for (std::size_t group = 0; group < static_cast<std::size_t>(groups); ++group)
            quantised(rounded.mutableSpan<float>().subspan(group * part, part), outer / groups, channels, inner);
    } else if (type != "float16" && type != "bfloat16") {
        return opError("there is no type '" + type + "' to round to");
    }
    SONDE_ASSIGN(Tensor made, rounded.cast(x.dtype()));
    context.setOutput(0, Value(std::move(made)));
    return {};
}

base::Result<void> inferRounded(InferContext& context) {
    context.set(context.in("x"));
    return {};
}

}  // namespace

void define_prim_precision(Registry& registry) {
    registry.add(
        Row("round_to", 0, "Rounds to the numbers of another type and back: float16, bfloat16, int8", Category::Other)
            .domain("prim")
            .anyIn("x")
            .out("y")
            .required("type", AttributeKind::String)
            .attrInt("axis", -1)
            .attrInt("groups", 1)
            .runs(roundTo, inferRounded));
}

}  // namespace sonde::ops
