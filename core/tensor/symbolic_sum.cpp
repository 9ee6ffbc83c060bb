#include "core/tensor/symbolic_sum.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

namespace sonde::tensor {

namespace {

/// The terms of what Symbolic::text() gives for an integer: "3*H*W-H+1" is 3*H*W, -H and 1.
std::vector<std::string_view> termsOf(std::string_view text) {
    std::vector<std::string_view> terms;
    std::size_t start = 0;
    int depth = 0;
    bool isQuoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\'') isQuoted = !isQuoted;
        if (isQuoted) continue;
        if (c == '(') ++depth;
        if (c == ')') --depth;
        if (depth > 0 || i == start || (c != '+' && c != '-')) continue;
        terms.push_back(text.substr(start, i - start));
        start = i;
    }
    terms.push_back(text.substr(start));
    return terms;
}

/// A floor division that is all of a term has no brackets; as a factor it has.
std::string asFactor(std::string_view term) {
    int depth = 0;
    bool isQuoted = false;
    for (const char c : term) {
        if (c == '\'') isQuoted = !isQuoted;
        if (isQuoted) continue;
        if (c == '(') ++depth;
        if (c == ')') --depth;
        if (depth == 0 && (c == '/' || c == '%')) return "(" + std::string(term) + ")";
    }
    return std::string(term);
}

}  // namespace

bool SymbolicSum::addTerm(const std::string& factors, std::int64_t coefficient) {
    if (coefficient == 0) return true;
    std::int64_t& sum = m_terms[factors];
    if (__builtin_add_overflow(sum, coefficient, &sum)) return m_isKnown = false;
    if (sum == 0) m_terms.erase(factors);
    return true;
}

bool SymbolicSum::add(const Symbolic& value) {
    if (!value.known() || !m_isKnown) return m_isKnown = false;
    if (const auto number = value.constant()) return m_isKnown = !__builtin_add_overflow(m_number, *number, &m_number);
    const std::string text = value.text();
    if (!value.isInteger()) return addTerm("(" + text + ")", 1);
    for (std::string_view term : termsOf(text)) {
        const bool isNegative = term.starts_with('-');
        if (isNegative || term.starts_with('+')) term.remove_prefix(1);
        std::int64_t coefficient = 1;
        const auto [end, error] = std::from_chars(term.data(), term.data() + term.size(), coefficient);
        const auto digits = static_cast<std::size_t>(end - term.data());
        if (error == std::errc::result_out_of_range) return m_isKnown = false;
        const bool isNumber = digits == term.size();
        // A floor division that stands alone begins with its dividend: "7//H".
        const bool isFactor = digits > 0 && !isNumber && term[digits] == '*';
        if (!isNumber && !isFactor) coefficient = 1;
        const std::string factors = isFactor ? std::string(term.substr(digits + 1)) : asFactor(term);
        if (isNegative) coefficient = -coefficient;
        const bool fits =
            isNumber ? !__builtin_add_overflow(m_number, coefficient, &m_number) : addTerm(factors, coefficient);
        if (!fits) return m_isKnown = false;
    }
    return true;
}

bool SymbolicSum::add(const SymbolicSum& other) {
    if (!m_isKnown || !other.m_isKnown) return m_isKnown = false;
    for (const auto& [factors, coefficient] : other.m_terms)
        if (!addTerm(factors, coefficient)) return false;
    return m_isKnown = !__builtin_add_overflow(m_number, other.m_number, &m_number);
}

std::optional<std::int64_t> SymbolicSum::constant() const {
    return m_isKnown && m_terms.empty() ? std::optional(m_number) : std::nullopt;
}

std::string SymbolicSum::text() const {
    if (!m_isKnown) return "?";
    std::vector<std::pair<std::int64_t, const std::string*>> order;
    for (const auto& [factors, coefficient] : m_terms) order.emplace_back(coefficient, &factors);
    std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text;
    for (const auto& [coefficient, factors] : order) {
        if (coefficient > 0 && !text.empty()) text += '+';
        if (coefficient == -1) text += '-';
        else if (coefficient != 1) text += std::to_string(coefficient) + "*";
        text += *factors;
    }
    if (m_number != 0 || text.empty()) text += (m_number > 0 && !text.empty() ? "+" : "") + std::to_string(m_number);
    return text;
}

std::optional<std::int64_t> SymbolicSum::bound(
    const std::function<std::optional<std::int64_t>(std::string_view symbol)>& value) const {
    if (!m_isKnown) return std::nullopt;
    Symbolic sum = Symbolic::of(m_number);
    for (const auto& [factors, coefficient] : m_terms)
        sum = sum + Symbolic::of(coefficient) * Symbolic::parse(factors).bound(value);
    return sum.constant();
}

}  // namespace sonde::tensor
