// One number.

#include <cmath>
#include <fmt/format.h>

#include "core/session/outputs/forms.h"

namespace sonde::session::outputs {

namespace {

int suitsScalar(const Facts& facts) {
    if (facts.tensor.defined()) return facts.tensor.numel() == 1 ? kCertain : kCannot;
    return facts.value.isNumber() || facts.value.kind() == tensor::ValueKind::String ? kCertain : kCannot;
}

base::Result<Made> makeScalar(const FormRequest& request) {
    const Facts& facts = request.facts;
    Scalar scalar;
    constexpr int kDigits = 6;
    scalar.text = facts.tensor.defined() ? facts.tensor.elementText(0, kDigits) : facts.value.text();
    if (facts.isFloat() && facts.isWithin(0, 1)) scalar.note = fmt::format("{:.1f} %", facts.stats.mean * 100);
    return Made{std::move(scalar)};
}

}  // namespace

Form scalarForm() {
    return {.id = "scalar",
            .title = "Number",
            .description = "One number, bool or text",
            .suits = suitsScalar,
            .make = makeScalar};
}

}  // namespace sonde::session::outputs
