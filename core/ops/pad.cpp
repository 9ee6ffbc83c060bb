// Padding of ONNX.

#include <algorithm>
#include <limits>

#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/move.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

using tensor::Dim;

base::Result<kernels::PadMode> padMode(const std::string& name) {
    if (name == "constant") return kernels::PadMode::Constant;
    if (name == "reflect") return kernels::PadMode::Reflect;
    if (name == "edge" || name == "replicate") return kernels::PadMode::Edge;
    if (name == "wrap" || name == "circular") return kernels::PadMode::Wrap;
    return opError("mode '" + name + "' is not supported");
}

struct PadRequest {
    std::vector<std::int64_t> before, after;
};

/// pads = [begins…, ends…], of all axes or of those given.
base::Result<PadRequest> padRequest(const std::vector<std::int64_t>& pads,
                                    const std::optional<std::vector<std::int64_t>>& axes, std::size_t rank) {
    PadRequest request{std::vector<std::int64_t>(rank, 0), std::vector<std::int64_t>(rank, 0)};
    std::vector<std::size_t> on(rank);
    for (std::size_t i = 0; i < rank; ++i) on[i] = i;
    if (axes) {
        SONDE_ASSIGN(on, axesOf(*axes, rank));
    }
    if (pads.size() != 2 * on.size())
        return opError("pads " + Shape(pads).text() + " must have " + std::to_string(2 * on.size()) + " entries");
    for (std::size_t i = 0; i < on.size(); ++i) {
        request.before[on[i]] = pads[i];
        request.after[on[i]] = pads[on.size() + i];
    }
    return request;
}

base::Result<void> onnxPad(KernelContext& context) {
    const Tensor& x = context.in("data");
    const Attributes& attributes = context.attributes();
    SONDE_ASSIGN(const kernels::PadMode mode, padMode(attributes.getString("mode", "constant")));
    std::vector<std::int64_t> pads = attributes.getInts("pads", attributes.getInts("paddings"));
    std::optional<std::vector<std::int64_t>> axes;
    Tensor value;
    if (context.inputCount() > 1) {
        SONDE_ASSIGN(pads, intsOf(context.value("pads")));
        if (context.has("constant_value") && context.in("constant_value").numel() > 0)
            value = context.in("constant_value");
        if (context.has("axes")) {
            SONDE_ASSIGN(axes, intsOf(context.value("axes")));
        }
    } else if (attributes.getFloat("value", 0) != 0) {
        SONDE_ASSIGN(value, Tensor::scalar<double>(attributes.getFloat("value", 0)).cast(x.dtype()));
    }
    SONDE_ASSIGN(const PadRequest request, padRequest(pads, axes, x.rank()));
    return kernels::pad(context, x, request.before, request.after, mode, value);
}

base::Result<void> inferPad(InferContext& context) {
    std::optional<Dims> dims = context.in("data").shape;
    const bool fromInput = context.inputCount() > 1;
    std::optional<Elements> pads = fromInput ? context.elements("pads") : std::optional(Elements{});
    if (!dims || !pads ||
        (fromInput && context.inputCount() > 3 && context.has("axes") && context.constant("axes").isNone())) {
        setLike(context, "data", dims ? std::optional(unknownDims(dims->size())) : std::nullopt);
        return {};
    }
    std::vector<std::size_t> on(dims->size());
    for (std::size_t i = 0; i < on.size(); ++i) on[i] = i;
    if (!fromInput) {
        for (std::int64_t pad : context.attributes().getInts("pads", context.attributes().getInts("paddings")))
            pads->push_back(tensor::Symbolic::of(pad));
    } else if (context.inputCount() > 3 && !context.constant("axes").isNone()) {
        SONDE_ASSIGN(const std::vector<std::int64_t> axes, intsOf(context.constant("axes")));
        SONDE_ASSIGN(on, axesOf(axes, dims->size()));
    }
    if (pads->size() != 2 * on.size()) return opError("pads must have " + std::to_string(2 * on.size()) + " entries");
    for (std::size_t i = 0; i < on.size(); ++i) {
        Dim& dim = (*dims)[on[i]];
        const tensor::Symbolic more = (*pads)[i] + (*pads)[on.size() + i];
        if (more.constant() == 0) continue;
        dim = dim.known() && more.constant() ? Dim::of(std::max<std::int64_t>(0, dim.value + *more.constant()))
                                             : (tensor::Symbolic::of(dim) + more).dim();
    }
    setLike(context, "data", std::move(dims));
    return {};
}

}  // namespace

void define_pad(Registry& registry) {
    registry.add(Row("Pad", 1, "adds elements at the ends of each dimension, or cuts", Category::Transform)
                     .in("data")
                     .out("output")
                     .attrString("mode", "constant")
                     .attrInts("pads")
                     .attrInts("paddings")
                     .attrFloat("value", 0)
                     .runs(onnxPad, inferPad));
    registry.add(Row("Pad", 11, "adds elements at the ends of each dimension, or cuts", Category::Transform)
                     .in("data", kAnyDType, "T")
                     .in("pads", kInt64)
                     .optionalIn("constant_value", kAnyDType, "T")
                     .optionalIn("axes", kIndex)
                     .out("output")
                     .attrString("mode", "constant")
                     .runs(onnxPad, inferPad));
    explain("", "Pad", dependence::moved, "data constant_value");
}

}  // namespace sonde::ops
