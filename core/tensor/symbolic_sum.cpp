#include "core/tensor/symbolic_sum.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace sonde::tensor {

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
    if (!value.isInteger()) return addTerm("(" + value.text() + ")", 1);
    for (const auto& [factors, coefficient] : value.terms()) {
        const bool fits =
            factors.empty() ? !__builtin_add_overflow(m_number, coefficient, &m_number) : addTerm(factors, coefficient);
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
