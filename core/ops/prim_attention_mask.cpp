// Masks of attention, whose dtype is only known in a run.

#include <limits>

#include "core/ops/support/invoke.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

/// bool -> float32: -inf where true, else 0. Numbers stay as they are.
base::Result<void> canonicalMask(KernelContext& context) {
    if (!context.value("mask").isTensor())
        return opError("a mask is a tensor, not " + context.value("mask").typeText());
    const Tensor& mask = context.in("mask");
    if (mask.dtype() != DType::Bool) {
        context.setOutput(context.value("mask"));
        return {};
    }
    SONDE_ASSIGN(Tensor y, context.output(DType::Float32, mask.shape()));
    const bool* hidden = mask.data<bool>();
    float* to = y.mutableData<float>();
    for (std::int64_t i = 0; i < mask.numel(); ++i) to[i] = hidden[i] ? -std::numeric_limits<float>::infinity() : 0.0F;
    return {};
}

base::Result<void> inferMask(InferContext& context) {
    TypeInfo type = context.in("mask");
    if (type.isTensor() && type.dtype == DType::Bool) type.dtype = DType::Float32;
    context.set(std::move(type));
    return {};
}

}  // namespace

void define_prim_attention_mask(Registry& registry) {
    OpDef def =
        atenRow("_canonical_mask(Tensor mask) -> Tensor", "a mask as numbers to add: -inf where a boolean one is true",
                Category::Attention, canonicalMask, inferMask);
    def.domain = "prim";
    registry.add(std::move(def));
}

}  // namespace sonde::ops
