// Dropouts: the input itself, except while training.

#include <cmath>

#include "core/base/number_text.h"
#include "core/base/random.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/tensor/dispatch.h"

namespace sonde::ops {

namespace {

struct Form {
    bool wholeChannels;  ///< of x [N,C,…]; else single values
    bool alpha;          ///< keeps mean and variance of what SELU makes
};

/// What a kept and a dropped number become: y = scale · (kept ? x : dropped) + shift.
struct Affine {
    double scale, dropped, shift;
};

/// Dropout: x / (1 − p) or 0. Alpha dropout (arXiv:1706.02515, section "New dropout technique"): dropped numbers take
/// SELU's lowest value α′ = −λα, then a·x + b with a = ((1 − p)(1 + p α′²))^(−1/2), b = −a p α′.
Affine affineOf(double p, bool alpha) {
    if (!alpha) return {1 / (1 - p), 0, 0};
    constexpr double kLowest = -1.7580993408473766;
    const double a = 1 / std::sqrt((1 - p) * (1 + p * kLowest * kLowest));
    return {a, kLowest, -a * p * kLowest};
}

/// (input, p, train)
base::Result<void> dropout(KernelContext& context, Form form) {
    if (!context.value({"input", "self"}).isTensor())
        return opError("dropout expects a tensor, not " + context.value({"input", "self"}).typeText());
    SONDE_ASSIGN(const double training, numberOf(context.value("train")));
    SONDE_ASSIGN(const double p, numberOf(context.value("p")));
    if (!(p >= 0 && p <= 1)) return opError("the probability " + base::shortestText(p) + " is outside [0, 1]");
    if (training == 0 || p == 0) {
        context.setOutput(context.value({"input", "self"}));
        return {};
    }
    const Tensor& x = context.in({"input", "self"});
    if (form.wholeChannels && x.rank() < 2) return opError("there are no channels to drop in " + x.typeText());
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), x.shape()));
    const std::int64_t draws = form.wholeChannels ? x.dim(0) * x.dim(1) : x.numel();
    const std::int64_t each = draws > 0 ? x.numel() / draws : 0;
    const Affine affine = affineOf(p, form.alpha);
    base::Random random(context.environment().seed);
    const bool done = tensor::dispatchFloating(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        const T* from = x.data<T>();
        T* to = y.mutableData<T>();
        for (std::int64_t d = 0; d < draws; ++d) {
            const bool kept = random.uniform() >= p;
            for (std::int64_t i = d * each; i < (d + 1) * each; ++i) {
                // With p = 1 nothing is kept, and nothing must become NaN by scaling.
                const double value = kept ? static_cast<double>(from[i]) : affine.dropped;
                to[i] = static_cast<T>(p == 1 ? 0.0 : affine.scale * value + affine.shift);
            }
        }
    });
    return done ? base::Result<void>() : base::Result<void>(opError("dropout is not defined for " + x.typeText()));
}

}  // namespace

void define_aten_dropout(Registry& registry) {
    constexpr Form kPlain{false, false}, kFeature{true, false}, kAlpha{false, true}, kFeatureAlpha{true, true};
    const struct {
        std::string_view schema;
        Form form;
    } rows[] = {
        {"dropout(Tensor input, float p, bool train) -> Tensor", kPlain},
        {"dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)", kPlain},
        {"feature_dropout(Tensor input, float p, bool train) -> Tensor", kFeature},
        {"feature_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)", kFeature},
        {"alpha_dropout(Tensor input, float p, bool train) -> Tensor", kAlpha},
        {"alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)", kAlpha},
        {"feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor", kFeatureAlpha},
        {"feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)", kFeatureAlpha},
    };
    for (const auto& row : rows) {
        registry.add(atenRow(
            row.schema, "the input itself, except while training", Category::Dropout,
            [form = row.form](KernelContext& context) { return dropout(context, form); }, inferSame));
    }
    explain("aten", "dropout feature_dropout alpha_dropout feature_alpha_dropout", dependence::dropped);
}

}  // namespace sonde::ops
