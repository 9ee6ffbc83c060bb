// The check that test cases of a dump are made of.

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/number_text.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

/// max |e - g| / max(min(|e|, |g|), 1) over the elements; NaN if there is one that has none: of NaN, and of an infinity
/// beside the same infinity, as in MegEngine.
double errorOf(const Tensor& expected, const Tensor& got) {
    double worst = 0;
    for (std::int64_t i = 0; i < expected.numel(); ++i) {
        const double e = expected.toDouble(i), g = got.toDouble(i);
        const double error = std::abs(e - g) / std::max(std::min(std::abs(e), std::abs(g)), 1.0);
        if (std::isnan(error)) return std::numeric_limits<double>::quiet_NaN();
        worst = std::max(worst, error);
    }
    return worst;
}

base::Result<void> assertEqual(KernelContext& context) {
    const Tensor& expected = context.in("expect");
    const Tensor& got = context.in("got");
    const auto name = context.attributes().getString("name", "");
    const bool throws = context.attributes().getInt("throws", 1) != 0;
    if (expected.shape() != got.shape() && throws) {
        return opError("AssertEqual: " + expected.typeText() + " is expected for " + name + ", but it is " +
                       got.typeText());
    }
    const double error =
        expected.shape() == got.shape() ? errorOf(expected, got) : std::numeric_limits<double>::infinity();
    const double limit = context.attributes().getFloat("maxerr", 1e-4);
    // Not a number is no agreement.
    if (throws && !(error >= 0 && error <= limit)) {
        return opError("AssertEqual: err=" + base::shortestText(error) + " (name=" + name + "), and " +
                       base::shortestText(limit) + " is allowed");
    }
    context.setOutput(Value(Tensor::scalar<double>(error)));
    return {};
}

}  // namespace

void define_assert_equal(Registry& registry) {
    registry.add(
        Row("AssertEqual", 1, "fails unless a tensor equals the expected one up to an error", Category::Control)
            .domain("sonde")
            .anyIn("expect")
            .anyIn("got")
            .out("error")
            .attrFloat("maxerr", 1e-4)
            .attrString("name", "")
            .attrInt("throws", 1)   // 0: the error is returned, whatever it is
            .attrInt("verbose", 1)  // 0: who runs the test cases does not print the error
            .runs(assertEqual, [](InferContext& context) -> base::Result<void> {
                context.set(TypeInfo::tensor(DType::Float64, Shape{}));
                return {};
            }));
}

}  // namespace sonde::ops
