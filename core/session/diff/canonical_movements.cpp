#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <numeric>

#include "core/session/diff/form_call.h"

namespace sonde::session::diff {

namespace {

using Sizes = CanonicalTerms::Sizes;
using Range = CanonicalTerms::Range;
constexpr std::int64_t kToTheEnd = std::numeric_limits<std::int64_t>::max();

/// Of a dimension of that size, where it is known: from the front, and no further than the end. What exporters write
/// for "to the end" is larger than any dimension.
Range plainRange(Range range, std::optional<std::int64_t> size) {
    constexpr std::int64_t kLarge = std::numeric_limits<std::int32_t>::max();
    if (range.end >= kLarge) range.end = kToTheEnd;
    if (!size || range.step <= 0) return range;
    const auto fromFront = [&](std::int64_t at) {
        return std::clamp(at < 0 ? at + *size : at, std::int64_t{0}, *size);
    };
    return {fromFront(range.start), fromFront(range.end), range.step};
}

bool isWhole(const Range& range, std::optional<std::int64_t> size) {
    return range.start == 0 && range.step == 1 && (range.end == kToTheEnd || (size && range.end >= *size));
}

TermId part(FormCall& call, std::map<std::size_t, Range> ranges) {
    for (auto entry = ranges.begin(); entry != ranges.end();) {
        const auto size = call.dim(0, entry->first);
        entry->second = plainRange(entry->second, size);
        if (isWhole(entry->second, size)) entry = ranges.erase(entry);
        else ++entry;
    }
    return call.terms.sliced(call.in(0), ranges);
}

}  // namespace

std::optional<TermId> reshapeForm(FormCall& call) {
    const auto from = FormCall::sizes(call.type(0)), to = FormCall::sizes(call.resultType());
    if (!from || !to) return std::nullopt;
    return call.terms.reshaped(call.in(0), *from, *to);
}

std::optional<TermId> transposeForm(FormCall& call) {
    const auto rank = call.rank(0);
    if (!rank) return std::nullopt;
    std::vector<std::size_t> order;
    for (const std::int64_t axis : call.attributes().getInts("perm")) {
        const auto one = tensor::normalizedAxis(axis, *rank);
        if (!one) return std::nullopt;
        order.push_back(*one);
    }
    if (order.empty())
        for (std::size_t i = *rank; i-- > 0;) order.push_back(i);
    return order.size() == *rank ? std::optional(call.terms.transposed(call.in(0), order)) : std::nullopt;
}

std::optional<TermId> sliceForm(FormCall& call) {
    const auto rank = call.rank(0);
    const bool isOfAttributes = call.version() < 10;
    const auto given = [&](std::size_t position, const char* attribute) -> std::optional<std::vector<std::int64_t>> {
        if (isOfAttributes) return call.attributes().getInts(attribute);
        if (!call.has(position)) return std::vector<std::int64_t>();
        return call.integers(position);
    };
    const auto starts = given(1, "starts"), ends = given(2, "ends"), axes = given(3, "axes"), steps = given(4, "");
    if (!rank || !starts || !ends || !axes || !steps || starts->size() != ends->size()) return std::nullopt;
    std::map<std::size_t, Range> ranges;
    for (std::size_t i = 0; i < starts->size(); ++i) {
        const auto axis = axes->empty()      ? std::optional(i)
                          : i < axes->size() ? tensor::normalizedAxis((*axes)[i], *rank)
                                             : std::nullopt;
        if (!axis || (!steps->empty() && i >= steps->size())) return std::nullopt;
        ranges[*axis] = {(*starts)[i], (*ends)[i], steps->empty() ? 1 : (*steps)[i]};
    }
    return part(call, std::move(ranges));
}

std::optional<TermId> gatherForm(FormCall& call) {
    const auto axis = call.axis("axis", 0);
    const auto index = call.integers(1);
    if (!axis || !index || index->size() != 1) return std::nullopt;
    const std::int64_t at = index->front();
    const auto from = FormCall::sizes(call.type(0)), to = FormCall::sizes(call.resultType());
    if (!from || !to) return std::nullopt;
    const TermId one = part(call, {{*axis, {at, at == -1 ? kToTheEnd : at + 1, 1}}});
    Sizes kept = *from;
    kept[*axis] = "1";
    return call.terms.reshaped(one, kept, *to);
}

std::optional<TermId> splitForm(FormCall& call) {
    const auto axis = call.axis("axis", 0);
    if (!axis) return std::nullopt;
    std::vector<std::int64_t> lengths = call.attributes().getInts("split");
    if (call.has(1)) {
        const auto read = call.integers(1);
        if (!read) return std::nullopt;
        lengths = *read;
    }
    const auto count = static_cast<std::int64_t>(call.expr().outputs.size());
    if (lengths.empty()) {
        const auto size = call.dim(0, *axis);
        if (!size || count == 0) return std::nullopt;
        const std::int64_t each = (*size + count - 1) / count;
        for (std::int64_t i = 0; i < count; ++i)
            lengths.push_back(std::min(each, std::max<std::int64_t>(*size - i * each, 0)));
    }
    if (call.output() >= lengths.size()) return std::nullopt;
    const std::int64_t start =
        std::accumulate(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(call.output()), std::int64_t{0});
    return part(call, {{*axis, {start, start + lengths[call.output()], 1}}});
}

std::optional<TermId> depthToSpaceForm(FormCall& call) {
    const auto from = call.type(0).staticShape();
    const auto to = FormCall::sizes(call.resultType());
    const std::int64_t block = call.attributes().getInt("blocksize", 0);
    if (!from || from->rank() != 4 || !to || block <= 0 || (*from)[1] % (block * block) != 0) return std::nullopt;
    const bool isColumns = call.attributes().getString("mode", "DCR") == "CRD";
    const auto text = [](std::int64_t size) { return std::to_string(size); };
    const std::string n = text((*from)[0]), c = text((*from)[1] / (block * block)), b = text(block),
                      h = text((*from)[2]), w = text((*from)[3]);
    const Sizes apart = isColumns ? Sizes{n, c, b, b, h, w} : Sizes{n, b, b, c, h, w};
    const std::vector<std::size_t> order =
        isColumns ? std::vector<std::size_t>{0, 1, 4, 2, 5, 3} : std::vector<std::size_t>{0, 3, 4, 1, 5, 2};
    const TermId blocks = call.terms.reshaped(call.in(0), *FormCall::sizes(call.type(0)), apart);
    return call.terms.reshaped(call.terms.transposed(blocks, order), {n, c, h, b, w, b}, *to);
}

std::optional<TermId> expandForm(FormCall& call) {
    const auto from = FormCall::sizes(call.type(0)), to = FormCall::sizes(call.resultType());
    if (!from || !to) return std::nullopt;
    if (*from == *to) return call.in(0);
    std::string label = "Expand";
    for (const std::string& size : *to) label += " " + size;
    return call.terms.moved(label, call.in(0));
}

std::optional<TermId> padForm(FormCall& call) {
    const auto rank = call.rank(0);
    std::vector<std::int64_t> pads = call.attributes().getInts(call.attributes().has("paddings") ? "paddings" : "pads");
    double value = call.attributes().getFloat("value", 0);
    if (call.has(1)) {
        const auto read = call.integers(1);
        if (!read) return std::nullopt;
        pads = *read;
    }
    if (call.has(2)) {
        const auto read = call.filled(2);
        if (!read) return std::nullopt;
        value = *read;
    }
    if (!rank || pads.size() != 2 * *rank || call.has(3)) return std::nullopt;
    if (std::ranges::all_of(pads, [](std::int64_t each) { return each == 0; })) return call.in(0);
    const std::string mode = call.attributes().getString("mode", "constant");
    std::string label = "Pad " + mode;
    for (const std::int64_t each : pads) label += fmt::format(" {}", each);
    if (mode != "constant") return call.terms.moved(label, call.in(0));
    return call.terms.apply(label, {call.in(0), call.terms.number(value)});
}

/// Of opsets before 11: pixel i of the result is pixel floor(i / scale), or the line between its neighbours.
std::optional<TermId> resizeForm(FormCall& call) {
    const auto rank = call.rank(0);
    const graph::Attributes& attributes = call.attributes();
    if (!rank || attributes.has("axes") || attributes.has("keep_aspect_ratio_policy")) return std::nullopt;
    const bool isOld = call.version()<11, hasRegion = call.expr().arguments.size()> 2;
    const std::size_t position = hasRegion ? 2 : 1;
    std::vector<double> scales = attributes.getFloats("scales");
    if (call.has(position)) {
        const auto read = call.numbers(position);
        if (!read) return std::nullopt;
        scales = *read;
    }
    if (call.has(3)) {
        const auto sizes = call.integers(3);
        if (!sizes || sizes->size() != *rank) return std::nullopt;
        scales.clear();
        for (std::size_t i = 0; i < sizes->size(); ++i) {
            const auto size = call.dim(0, i);
            if (!size || *size == 0) return std::nullopt;
            scales.push_back(static_cast<double>((*sizes)[i]) / static_cast<double>(*size));
        }
    }
    if (scales.size() != *rank) return std::nullopt;
    std::string mode = attributes.getString("mode", "nearest");
    if (mode.starts_with("bi")) mode.erase(0, 2);  // as opsets before 9 say it
    const std::string coordinates =
        isOld ? "asymmetric" : attributes.getString("coordinate_transformation_mode", "half_pixel");
    if (coordinates == "tf_crop_and_resize" || attributes.getInt("antialias", 0) != 0) return std::nullopt;
    std::string label = "Resize " + mode + " " + coordinates;
    if (mode == "nearest")
        label += " " + (isOld ? "floor" : attributes.getString("nearest_mode", "round_prefer_floor"));
    if (mode == "cubic")
        label += fmt::format(" {} {}", static_cast<float>(attributes.getFloat("cubic_coeff_a", -0.75)),
                             attributes.getInt("exclude_outside", 0));
    for (const double scale : scales) label += fmt::format(" {}", static_cast<float>(scale));
    return call.terms.moved(label, call.in(0));
}

}  // namespace sonde::session::diff
