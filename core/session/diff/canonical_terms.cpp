#include "core/session/diff/canonical_terms.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace sonde::session::diff {

namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

}  // namespace

std::string CanonicalTerms::digits(double value) const {
    const auto rounded = static_cast<float>(value);
    const float shown = rounded == 0 ? 0.0F : rounded;
    return m_numbers == Numbers::Exact ? fmt::format("{}", shown) : fmt::format("{:.6g}", shown);
}

TermId CanonicalTerms::intern(Term term) {
    std::string key = fmt::format("{}:{}:", static_cast<int>(term.kind), term.label);
    for (const TermId id : term.of) key += fmt::format("{},", id);
    for (const double factor : term.factors) key += "*" + digits(factor);
    key += "+" + digits(term.constant);
    const auto [entry, isNew] = m_ids.try_emplace(std::move(key), static_cast<TermId>(m_terms.size()));
    if (isNew) m_terms.push_back(std::move(term));
    return entry->second;
}

TermId CanonicalTerms::number(double value) { return sumOf({}, value); }

TermId CanonicalTerms::apply(const std::string& label, std::vector<TermId> of) {
    Term term;
    term.label = label;
    term.of = std::move(of);
    return intern(std::move(term));
}

std::optional<double> CanonicalTerms::numberOf(TermId term) const {
    const Term& of = m_terms[term];
    return of.kind == Kind::Sum && of.of.empty() ? std::optional(of.constant) : std::nullopt;
}

// Sums.

TermId CanonicalTerms::sumOf(const Summands& items, double constant) {
    if (items.size() == 1 && constant == 0 && digits(items.begin()->second) == "1") return items.begin()->first;
    Term term;
    term.kind = Kind::Sum;
    term.constant = constant;
    for (const auto& [id, coefficient] : items) {
        term.of.push_back(id);
        term.factors.push_back(coefficient);
    }
    return intern(std::move(term));
}

CanonicalTerms::Summands CanonicalTerms::summandsOf(TermId term) const {
    const Term& of = m_terms[term];
    if (of.kind != Kind::Sum) return {{term, 1.0}};
    Summands items;
    for (std::size_t i = 0; i < of.of.size(); ++i) items.emplace(of.of[i], of.factors[i]);
    return items;
}

double CanonicalTerms::constantOf(TermId term) const {
    return m_terms[term].kind == Kind::Sum ? m_terms[term].constant : 0;
}

TermId CanonicalTerms::sum(TermId a, TermId b) {
    Summands items = summandsOf(a);
    for (const auto& [id, coefficient] : summandsOf(b)) items[id] += coefficient;
    return sumOf(items, constantOf(a) + constantOf(b));
}

TermId CanonicalTerms::scaled(TermId a, double by) {
    Summands items = summandsOf(a);
    for (auto& [id, coefficient] : items) coefficient *= by;
    return sumOf(items, constantOf(a) * by);
}

CanonicalTerms::Affine CanonicalTerms::affine(TermId term) const {
    const Term& of = m_terms[term];
    if (of.kind != Kind::Sum || of.of.size() != 1) return {term, 1, 0};
    return {of.of.front(), of.factors.front(), of.constant};
}

// Products.

CanonicalTerms::Factors CanonicalTerms::factorsOf(TermId term) {
    Factors factors;
    const Affine outside = affine(term);
    if (const auto value = numberOf(term)) {
        factors.scale = *value;
        return factors;
    }
    TermId core = term;
    if (outside.shift == 0) {
        factors.scale = outside.scale;
        core = outside.core;
    } else if (m_terms[term].factors.front() != 0) {
        factors.scale = m_terms[term].factors.front();
        core = scaled(term, 1 / factors.scale);
    }
    if (m_terms[core].kind == Kind::Sum && m_terms[core].of.size() > 1 && m_terms[core].factors.front() != 0) {
        const double leading = m_terms[core].factors.front();
        factors.scale *= leading;
        core = scaled(core, 1 / leading);
    }
    const Term& of = m_terms[core];
    if (of.kind != Kind::Product) {
        factors.up.emplace(core, 1);
        return factors;
    }
    for (std::size_t i = 0; i < of.of.size(); ++i)
        (of.factors[i] > 0 ? factors.up : factors.down).emplace(of.of[i], std::abs(of.factors[i]));
    return factors;
}

TermId CanonicalTerms::productOf(const Factors& factors) {
    if (factors.up.empty() && factors.down.empty()) return number(factors.scale);
    Term term;
    term.kind = Kind::Product;
    for (const auto& [id, exponent] : factors.up) {
        term.of.push_back(id);
        term.factors.push_back(exponent);
    }
    for (const auto& [id, exponent] : factors.down) {
        term.of.push_back(id);
        term.factors.push_back(-exponent);
    }
    const bool isOne = term.of.size() == 1 && term.factors.front() == 1;
    const TermId core = isOne ? term.of.front() : intern(std::move(term));
    return scaled(core, factors.scale);
}

TermId CanonicalTerms::product(TermId a, TermId b) {
    if (const auto value = numberOf(a)) return scaled(b, *value);
    if (const auto value = numberOf(b)) return scaled(a, *value);
    Factors factors = factorsOf(a);
    const Factors others = factorsOf(b);
    factors.scale *= others.scale;
    for (const auto& [id, exponent] : others.up) factors.up[id] += exponent;
    for (const auto& [id, exponent] : others.down) factors.down[id] += exponent;
    return productOf(factors);
}

TermId CanonicalTerms::reciprocal(TermId a) {
    Factors factors = factorsOf(a);
    if (factors.scale == 0) return apply("Reciprocal", {a});
    factors.scale = 1 / factors.scale;
    std::swap(factors.up, factors.down);
    return productOf(factors);
}

TermId CanonicalTerms::power(TermId a, double exponent) {
    constexpr double kMaxExponent = 16;
    if (exponent == 0.5) return root(a);
    if (exponent != std::floor(exponent) || exponent == 0 || std::abs(exponent) > kMaxExponent)
        return apply("Pow", {a, number(exponent)});
    Factors factors = factorsOf(a);
    const double times = std::abs(exponent);
    factors.scale = std::pow(factors.scale, times);
    for (auto* const side : {&factors.up, &factors.down})
        for (auto& [id, own] : *side) own *= times;
    const TermId positive = productOf(factors);
    return exponent > 0 ? positive : reciprocal(positive);
}

TermId CanonicalTerms::clip(TermId a, double low, double high) {
    if (low == -kNoLimit && high == kNoLimit) return a;
    const Term& of = m_terms[a];
    double by = 1;
    if (of.kind == Kind::Sum && !of.of.empty() && of.factors.front() != 0) by = std::abs(of.factors.front());
    const TermId inside = by == 1 ? a : scaled(a, 1 / by);
    low /= by;
    high /= by;
    Term term;
    term.kind = Kind::Limits;
    term.of = {inside};
    const Term& before = m_terms[inside];
    if (before.kind == Kind::Limits && low <= high) {
        term.of = before.of;
        const double first = before.factors[0], second = before.factors[1];
        low = std::clamp(first, low, high);
        high = std::clamp(second, low, high);
    }
    term.factors = {low, high};
    return scaled(intern(std::move(term)), by);
}

// Elements elsewhere.

TermId CanonicalTerms::moved(const std::string& label, TermId a) {
    const Affine outside = affine(a);
    if (const auto value = numberOf(a)) return number(*value);
    return sum(scaled(apply(label, {outside.core}), outside.scale), number(outside.shift));
}

TermId CanonicalTerms::reshaped(TermId a, const Sizes& from, const Sizes& to) {
    if (const auto value = numberOf(a)) return number(*value);
    const Affine outside = affine(a);
    Term term;
    term.kind = Kind::Reshaped;
    for (const std::string& size : to) term.label += " " + size;
    term.from = from;
    term.of = {outside.core};
    const Term& before = m_terms[outside.core];
    if (before.kind == Kind::Reshaped) {
        term.of = before.of;
        term.from = before.from;
    }
    const TermId core = term.from == to ? term.of.front() : intern(std::move(term));
    return sum(scaled(core, outside.scale), number(outside.shift));
}

TermId CanonicalTerms::transposed(TermId a, const std::vector<std::size_t>& order) {
    if (const auto value = numberOf(a)) return number(*value);
    const Affine outside = affine(a);
    Term term;
    term.order = order;
    term.of = {outside.core};
    const Term& before = m_terms[outside.core];
    if (before.kind == Kind::Transposed && before.order.size() == order.size()) {
        for (std::size_t i = 0; i < order.size(); ++i) term.order[i] = before.order[order[i]];
        term.of = before.of;
    }
    term.kind = Kind::Transposed;
    for (const std::size_t axis : term.order) term.label += fmt::format(" {}", axis);
    const TermId core = std::ranges::is_sorted(term.order) ? term.of.front() : intern(std::move(term));
    return sum(scaled(core, outside.scale), number(outside.shift));
}

TermId CanonicalTerms::sliced(TermId a, const std::map<std::size_t, Range>& ranges) {
    if (const auto value = numberOf(a)) return number(*value);
    if (ranges.empty()) return a;
    const Affine outside = affine(a);
    Term term;
    term.ranges = ranges;
    term.of = {outside.core};
    const Term& before = m_terms[outside.core];
    const bool isSlice = before.kind == Kind::Part;
    const auto mayJoin = [&](const auto& entry) {
        const auto own = before.ranges.find(entry.first);
        if (own == before.ranges.end()) return true;
        return own->second.step == 1 && entry.second.step == 1 && own->second.start >= 0 && own->second.end >= 0 &&
               entry.second.start >= 0 && entry.second.end >= 0;
    };
    if (isSlice && std::ranges::all_of(ranges, mayJoin)) {
        term.of = before.of;
        term.ranges = before.ranges;
        for (const auto& [axis, range] : ranges) {
            const auto [own, isNew] = term.ranges.try_emplace(axis, range);
            if (isNew) continue;
            const std::int64_t start = own->second.start;
            own->second.start = start + range.start;
            own->second.end =
                range.end > own->second.end ? own->second.end : std::min(own->second.end, start + range.end);
        }
    }
    term.kind = Kind::Part;
    for (const auto& [axis, range] : term.ranges)
        term.label += fmt::format(" {}:{}:{}:{}", axis, range.start, range.end, range.step);
    return sum(scaled(intern(std::move(term)), outside.scale), number(outside.shift));
}

TermId CanonicalTerms::alongAxes(const std::string& function, TermId a, std::vector<std::size_t> axes) {
    const Term before = m_terms[a];
    const bool isTurned = before.kind == Kind::Transposed;
    if (isTurned)
        for (std::size_t& axis : axes)
            if (axis < before.order.size()) axis = before.order[axis];
    std::ranges::sort(axes);
    std::string label = function;
    for (const std::size_t axis : axes) label += fmt::format(" {}", axis);
    if (!isTurned) return apply(label, {a});
    return transposed(apply(label, before.of), before.order);
}

TermId CanonicalTerms::linear(const std::string& label, std::vector<TermId> of) {
    double scale = 1;
    for (TermId& each : of) {
        const Affine outside = affine(each);
        if (outside.shift != 0) continue;
        scale *= outside.scale;
        each = outside.core;
    }
    return scaled(apply(label, std::move(of)), scale);
}

TermId CanonicalTerms::mean(const std::string& label, TermId a) { return moved(label, a); }

}  // namespace sonde::session::diff
