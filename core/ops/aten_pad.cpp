// ATen's pads.

#include <algorithm>

#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/move.h"
#include "core/ops/support/eager.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

using Ints = std::vector<std::int64_t>;

/// Numbers for the last dimension first: (before, after) pairs.
EagerResult pad(Eager& e, const std::string& mode, const Value& fill) {
    const Tensor x = e.tensor("self");
    const Ints pairs = e.integers({"pad", "padding"});
    if (pairs.size() % 2 != 0 || pairs.size() / 2 > x.rank())
        e.fail("a padding of " + std::to_string(pairs.size()) + " numbers for " + x.typeText());
    Ints before(x.rank(), 0), after(x.rank(), 0);
    for (std::size_t i = 0; i < pairs.size() / 2; ++i) {
        before[x.rank() - 1 - i] = pairs[2 * i];
        after[x.rank() - 1 - i] = pairs[2 * i + 1];
    }
    kernels::PadMode how = kernels::PadMode::Constant;
    if (mode == "reflect") how = kernels::PadMode::Reflect;
    else if (mode == "replicate") how = kernels::PadMode::Edge;
    else if (mode == "circular") how = kernels::PadMode::Wrap;
    else if (mode != "constant") e.fail("there is no padding '" + mode + "'");
    const Tensor number = fill.isNone() ? Tensor() : e.get(asTensor(fill, x.dtype()));
    e.check(kernels::pad(e.context(), x, before, after, how, number));
    return e.taken();
}

base::Result<void> inferAtenPad(InferContext& context) {
    std::optional<Dims> dims = context.in("self").shape;
    if (dims && context.constant({"padding", "pad"}).isNone()) dims = unknownDims(dims->size());
    if (dims && !context.constant({"padding", "pad"}).isNone()) {
        SONDE_ASSIGN(const Ints pairs, intsOf(context.constant({"padding", "pad"})));
        for (std::size_t i = 0; i < pairs.size() / 2 && i < dims->size(); ++i) {
            Dim& dim = (*dims)[dims->size() - 1 - i];
            if (dim.known()) dim = Dim::of(dim.value + pairs[2 * i] + pairs[2 * i + 1]);
        }
    }
    setLike(context, "self", std::move(dims));
    return {};
}

}  // namespace

void define_aten_pad(Registry& registry) {
    registry.add(eagerRow(
        "constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor", "x with a number around it, or cut", kMove,
        [](Eager& e) { return pad(e, "constant", e.value("value")); }, inferAtenPad));
    registry.add(eagerRow(
        "pad(Tensor self, int[] pad, str mode='constant', float? value=None) -> Tensor",
        "x padded by a constant, reflection, replication or wrapping", kMove,
        [](Eager& e) { return pad(e, e.text("mode"), e.value("value")); }, inferAtenPad));
    registry.add(eagerRow(
        "_pad_enum(Tensor self, int[] pad, int mode, float? value=None) -> Tensor",
        "x padded by a constant, reflection, replication or wrapping", kMove,
        [](Eager& e) {
            static constexpr const char* kModes[] = {"constant", "reflect", "replicate", "circular"};
            const std::int64_t mode = e.integer("mode");
            return pad(e, mode >= 0 && mode < 4 ? kModes[mode] : "?", e.value("value"));
        },
        inferAtenPad));
    registry.add(eagerRow(
        "_pad_circular(Tensor self, int[] pad) -> Tensor", "x with its other end around it", kMove,
        [](Eager& e) { return pad(e, "circular", Value()); }, inferAtenPad));
    for (std::string_view schema : {"reflection_pad1d(Tensor self, int[2] padding) -> Tensor",
                                    "reflection_pad2d(Tensor self, int[4] padding) -> Tensor",
                                    "reflection_pad3d(Tensor self, int[6] padding) -> Tensor"}) {
        registry.add(eagerRow(
            schema, "x with its mirror image around it", kMove, [](Eager& e) { return pad(e, "reflect", Value()); },
            inferAtenPad));
    }
    for (std::string_view schema : {"replication_pad1d(Tensor self, int[2] padding) -> Tensor",
                                    "replication_pad2d(Tensor self, int[4] padding) -> Tensor",
                                    "replication_pad3d(Tensor self, int[6] padding) -> Tensor"}) {
        registry.add(eagerRow(
            schema, "x with its edge around it", kMove, [](Eager& e) { return pad(e, "replicate", Value()); },
            inferAtenPad));
    }
    explain("aten",
            "constant_pad_nd pad _pad_enum _pad_circular reflection_pad1d reflection_pad2d reflection_pad3d "
            "replication_pad1d replication_pad2d replication_pad3d",
            dependence::moved, "self value");
}

}  // namespace sonde::ops
