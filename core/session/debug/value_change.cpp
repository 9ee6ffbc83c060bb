#include "core/session/debug/value_change.h"

#include <cmath>

#include "core/analysis/difference.h"
#include "core/expression/expression.h"

namespace sonde::session::debug {

using tensor::Tensor;

base::Result<ValueChange> valueChange(const tensor::Value& now, const tensor::Value& before,
                                      const base::WorkContext& work) {
    const auto isNumeric = [](const tensor::Value& value) {
        return value.isTensor() && value.tensor().defined() && value.tensor().dtype() != tensor::DType::String;
    };
    if (!isNumeric(now) || !isNumeric(before) || now.tensor().shape() != before.tensor().shape())
        return base::usageError("values of " + before.typeText() + " and " + now.typeText() + " have no difference");
    const Tensor &a = now.tensor(), &b = before.tensor();
    const analysis::Difference apart = analysis::difference(a, b, {});
    ValueChange change{apart.maxAbsolute, apart.maxRelative, 0, a.numel()};
    constexpr std::int64_t kBetweenLooks = 1 << 16;  // elements
    for (std::int64_t i = 0; i < a.numel(); ++i) {
        if (i % kBetweenLooks == 0 && work.cancelled()) return base::cancelled();
        const double x = a.toDouble(i), y = b.toDouble(i);
        change.changed += x == y || (std::isnan(x) && std::isnan(y)) ? 0 : 1;
    }
    return change;
}

base::Result<tensor::Value> valueDifference(const tensor::Value& now, const tensor::Value& before,
                                            const base::WorkContext& work) {
    static const base::Result<expression::Expression> difference = expression::parse("now - before");
    return expression::evaluate(
        *difference, [&](std::string_view name) -> base::Result<tensor::Value> { return name == "now" ? now : before; },
        work);
}

}  // namespace sonde::session::debug
