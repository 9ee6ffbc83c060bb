// Operators on images whose channels are in blocks (dump.md, "Layouts"): poolings, resizing and warping, as the
// exported forms of other engines have them. Like ConvBias they are computed by the plain operator on the unpacked
// tensor.

#include <algorithm>
#include <array>

#include "core/ops/support/invoke.h"
#include "core/ops/support/packing.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

/// What can be done in blocks; the first input is the image, and so is the one result.
constexpr std::array<std::string_view, 6> kBlockedOps{"MaxPool",       "AveragePool", "GlobalAveragePool",
                                                      "GlobalMaxPool", "Resize",      "GridSample"};

base::Result<const OpDef*> plainRow(const Attributes& attributes) {
    const std::string of = attributes.getString("of", "");
    if (std::ranges::find(kBlockedOps, of) == kBlockedOps.end())
        return opError("'" + of + "' is no operator on blocks of channels");
    return Registry::all().find("", of, 0);
}

/// Those of the plain operator.
Attributes plainAttributes(const Attributes& attributes) {
    Attributes result = attributes;
    for (const char* own : {"of", "packing", "channels"}) result.erase(own);
    return result;
}

std::vector<std::int64_t> plainDimSizes(const Attributes& attributes) {
    return {-1, attributes.getInt("channels", -1), -1, -1};
}

base::Result<void> blocked(KernelContext& context) {
    const Attributes& attributes = context.attributes();
    SONDE_ASSIGN(const OpDef* op, plainRow(attributes));
    SONDE_ASSIGN(const Packing packing, Packing::parse(attributes.getString("packing", "")));
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < context.inputCount(); ++i) inputs.push_back(context.value(i));
    SONDE_ASSIGN(Tensor x, packing.unpack(context.in("x"), plainDimSizes(attributes)));
    inputs[context.position("x")] = Value(std::move(x));
    SONDE_ASSIGN(const auto results, invoke(context, "", op->name, std::move(inputs), plainAttributes(attributes)));
    SONDE_ASSIGN(Tensor y, packing.pack(results.front().tensor()));
    context.setOutput(Value(std::move(y)));
    return {};
}

base::Result<void> inferBlocked(InferContext& context) {
    const Attributes& attributes = context.attributes();
    SONDE_ASSIGN(const OpDef* op, plainRow(attributes));
    SONDE_ASSIGN(const Packing packing, Packing::parse(attributes.getString("packing", "")));
    setLike(context, "x", std::nullopt);
    const std::optional<Shape> shape = context.in("x").staticShape();
    if (!shape) return {};
    SONDE_ASSIGN(const Shape image, packing.plainShape(*shape, plainDimSizes(attributes)));
    std::vector<TypeInfo> types{TypeInfo::tensor(context.in("x").dtype, image)};
    std::vector<Value> constants{Value()};
    for (std::size_t i = 1; i < context.inputCount(); ++i) {
        types.push_back(context.in(i));
        constants.push_back(context.constant(i));
    }
    SONDE_ASSIGN(const Inferred inferred, infer(*op, types, constants, plainAttributes(attributes), 1));
    if (const auto made = inferred.types.front().staticShape()) {
        SONDE_ASSIGN(const Shape packed, packing.packedShape(*made));
        setLike(context, "x", dimsOf(packed));
    }
    return {};
}

}  // namespace

void define_blocked(Registry& registry) {
    registry.add(
        Row("Blocked", 1, "a pooling, resizing or warping of an image whose channels are in blocks", Category::Pool)
            .domain("sonde")
            .in("x")
            .optionalIn("roi")  // of a warping: the grid
            .optionalIn("scales")
            .optionalIn("sizes")
            .out("y")
            .required("of", AttributeKind::String)
            .required("packing", AttributeKind::String)
            .attrInt("channels", -1)
            .runs(blocked, inferBlocked));
}

}  // namespace sonde::ops
