#include "core/analysis/relation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/number_text.h"

namespace sonde::analysis {

using tensor::Tensor;

namespace {

constexpr std::int64_t kMaxChannels = 16, kMinElements = 4;
constexpr double kMaxLeft = 1e-3;  ///< of the reference's deviation

/// Sums of pairs (x, r), for r ≈ scale · x + offset with the least squares.
struct Fit {
    double n = 0, x = 0, r = 0, xx = 0, xr = 0, rr = 0;
    bool isFinite = true;
    double scale = 0, offset = 0;
    double left = std::numeric_limits<double>::infinity();  ///< √(mean squared residual) over the deviation of r

    void add(double a, double b) {
        if (!std::isfinite(a) || !std::isfinite(b)) {
            isFinite = false;
            return;
        }
        n += 1, x += a, r += b, xx += a * a, xr += a * b, rr += b * b;
    }
    void solve() {
        if (!isFinite || n < static_cast<double>(kMinElements)) return;
        const double varX = xx / n - x / n * x / n, varR = rr / n - r / n * r / n, cov = xr / n - x / n * r / n;
        const double tiny = 1e-12;
        if (varX <= tiny * xx / n || varR <= tiny * rr / n) return;  // of a constant nothing can be told
        scale = cov / varX;
        offset = r / n - scale * x / n;
        left = std::sqrt(std::max(0.0, varR - cov * cov / varX) / varR);
    }
    bool isGood() const { return left < kMaxLeft; }
    bool isPlain() const { return std::abs(scale - 1) < kMaxLeft && std::abs(offset) < kMaxLeft * std::sqrt(rr / n); }
};

std::string formulaText(double scale, double offset, double size) {
    std::string text = std::abs(scale - 1) < 1e-6 ? "x" : base::roundedText(scale, 4) + " * x";
    if (std::abs(offset) > 1e-6 * size) text += (offset < 0 ? " - " : " + ") + base::roundedText(std::abs(offset), 4);
    return text;
}

/// Usual normalisations of images, as scale and offset of red, green and blue.
struct Convention {
    std::string_view text;
    std::array<double, 3> scale, offset;
};
constexpr std::array kConventions{
    Convention{"x / 255", {1 / 255.0, 1 / 255.0, 1 / 255.0}, {0, 0, 0}},
    Convention{"x * 255", {255, 255, 255}, {0, 0, 0}},
    Convention{"x / 127.5 \u2212 1", {2 / 255.0, 2 / 255.0, 2 / 255.0}, {-1, -1, -1}},
    Convention{"2 * x \u2212 1", {2, 2, 2}, {-1, -1, -1}},
    Convention{"(x / 255 \u2212 mean) / deviation of ImageNet",
               {1 / (255 * 0.229), 1 / (255 * 0.224), 1 / (255 * 0.225)},
               {-0.485 / 0.229, -0.456 / 0.224, -0.406 / 0.225}},
    Convention{"(x \u2212 mean) / deviation of ImageNet",
               {1 / 0.229, 1 / 0.224, 1 / 0.225},
               {-0.485 / 0.229, -0.456 / 0.224, -0.406 / 0.225}},
};

std::string conventionOf(const std::vector<Fit>& fits) {
    const auto isNear = [](double a, double b) { return std::abs(a - b) <= 0.005 * std::max(std::abs(b), 1e-3); };
    for (const Convention& one : kConventions) {
        bool isAll = fits.size() == 3 || fits.size() == 1, isReversed = fits.size() == 3;
        for (std::size_t c = 0; c < fits.size() && (isAll || isReversed); ++c) {
            isAll = isAll && isNear(fits[c].scale, one.scale[c]) && isNear(fits[c].offset, one.offset[c]);
            isReversed =
                isReversed && isNear(fits[c].scale, one.scale[2 - c]) && isNear(fits[c].offset, one.offset[2 - c]);
        }
        const bool isSame = one.scale[0] == one.scale[1];
        if ((isAll && (isSame || fits.size() == 3)) || isReversed) return std::string(one.text);
    }
    return {};
}

/// The tensor as outer × channels × inner.
struct ChannelLayout {
    std::int64_t outer = 1, channels = 1, inner = 1;
};

std::vector<ChannelLayout> layoutsOf(const tensor::Shape& shape) {
    std::vector<ChannelLayout> layouts;
    const std::size_t rank = shape.rank();
    if (rank < 3) return layouts;
    for (const std::size_t axis : {rank - 3, rank - 1}) {
        ChannelLayout layout;
        for (std::size_t i = 0; i < rank; ++i)
            (i < axis ? layout.outer : i == axis ? layout.channels : layout.inner) *= shape[i];
        if (layout.channels >= 2 && layout.channels <= kMaxChannels) layouts.push_back(layout);
    }
    return layouts;
}

/// For each channel of the reference the channel of x that it follows from; empty if one follows from none, or two from
/// the same.
std::vector<std::size_t> orderOfChannels(const std::vector<std::vector<Fit>>& fits) {
    std::vector<std::size_t> order;
    for (std::size_t c = 0; c < fits.size(); ++c) {
        std::size_t best = c;
        for (std::size_t k = 0; k < fits.size(); ++k)
            if (fits[c][k].left < fits[c][best].left / 2) best = k;
        if (!fits[c][best].isGood() || std::ranges::find(order, best) != order.end()) return {};
        order.push_back(best);
    }
    return order;
}

std::string orderText(const std::vector<std::size_t>& order) {
    bool isReversed = true;
    for (std::size_t c = 0; c < order.size(); ++c) isReversed = isReversed && order[c] == order.size() - 1 - c;
    if (isReversed) return "channels are reversed";
    std::string text;
    for (const std::size_t c : order) text += (text.empty() ? "" : ", ") + std::to_string(c);
    return "channels are reordered: those of the reference are " + text + " of x";
}

std::optional<Relation> relationByChannel(const Tensor& x, const Tensor& reference, const ChannelLayout& layout) {
    const auto count = static_cast<std::size_t>(layout.channels);
    std::vector<std::vector<Fit>> fits(count, std::vector<Fit>(count));  // [channel of r][channel of x]
    std::vector<double> xs(count), rs(count);
    for (std::int64_t o = 0; o < layout.outer; ++o)
        for (std::int64_t i = 0; i < layout.inner; ++i) {
            for (std::size_t c = 0; c < count; ++c) {
                const std::int64_t at = (o * layout.channels + static_cast<std::int64_t>(c)) * layout.inner + i;
                xs[c] = x.toDouble(at), rs[c] = reference.toDouble(at);
            }
            for (std::size_t c = 0; c < count; ++c)
                for (std::size_t k = 0; k < count; ++k) fits[c][k].add(xs[k], rs[c]);
        }
    for (auto& row : fits) std::ranges::for_each(row, &Fit::solve);
    const std::vector<std::size_t> order = orderOfChannels(fits);
    if (order.empty()) return std::nullopt;
    std::vector<Fit> chosen;
    Relation relation;
    for (std::size_t c = 0; c < count; ++c) {
        chosen.push_back(fits[c][order[c]]);
        relation.isReordered = relation.isReordered || order[c] != c;
        relation.isScaled = relation.isScaled || !chosen[c].isPlain();
    }
    if (!relation.isReordered && !relation.isScaled) return std::nullopt;
    const bool isSame = std::ranges::all_of(chosen, [&](const Fit& fit) {
        return std::abs(fit.scale - chosen[0].scale) < kMaxLeft * std::abs(chosen[0].scale) &&
               std::abs(fit.offset - chosen[0].offset) < kMaxLeft * std::sqrt(fit.rr / fit.n);
    });
    relation.convention = relation.isScaled ? conventionOf(chosen) : "";
    relation.text = "reference = ";
    for (std::size_t c = 0; c < (isSame ? 1 : count); ++c)
        relation.text += (c == 0 ? "" : ", ") +
                         formulaText(chosen[c].scale, chosen[c].offset, std::sqrt(chosen[c].rr / chosen[c].n)) +
                         (isSame ? "" : " in channel " + std::to_string(c));
    if (relation.isReordered) relation.text += "; " + orderText(order);
    return relation;
}

std::optional<Relation> relationOfAll(const Tensor& x, const Tensor& reference) {
    Fit fit;
    for (std::int64_t i = 0; i < x.numel(); ++i) fit.add(x.toDouble(i), reference.toDouble(i));
    fit.solve();
    if (!fit.isGood() || fit.isPlain()) return std::nullopt;
    const std::string formula = formulaText(fit.scale, fit.offset, std::sqrt(fit.rr / fit.n));
    return Relation{"reference = " + formula, conventionOf({fit}), false, true};
}

}  // namespace

std::optional<Relation> relationOf(const Tensor& x, const Tensor& reference) {
    const auto isReal = [](const Tensor& tensor) {
        return tensor.defined() && (tensor::isFloating(tensor.dtype()) || tensor::isInteger(tensor.dtype()));
    };
    if (!isReal(x) || !isReal(reference) || x.shape() != reference.shape()) return std::nullopt;
    if (auto relation = relationOfAll(x, reference)) return relation;
    for (const ChannelLayout& layout : layoutsOf(x.shape()))
        if (auto relation = relationByChannel(x, reference, layout)) return relation;
    return std::nullopt;
}

}  // namespace sonde::analysis
