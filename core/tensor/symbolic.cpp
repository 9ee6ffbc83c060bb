#include "core/tensor/symbolic.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sonde::tensor {

namespace {

constexpr std::size_t kMaxTerms = 12;
constexpr std::size_t kMaxFactors = 8;
constexpr std::size_t kMaxTextLength = 120;

std::int64_t floorQuotient(std::int64_t a, std::int64_t b) {
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0);
}

bool isPlainName(std::string_view text) {
    if (text.empty() || (text[0] >= '0' && text[0] <= '9') || text == "min" || text == "max") return false;
    return std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
               c == ':';
    });
}

bool isFunction(std::string_view atom) { return atom.starts_with("min(") || atom.starts_with("max("); }

/// Floor divisions and remainders need brackets inside a product.
bool needsBrackets(std::string_view atom) { return !isPlainName(atom) && !isFunction(atom) && !atom.starts_with('\''); }

/// What is between separators outside of brackets and quotes.
std::vector<std::string_view> partsOf(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    int depth = 0;
    bool isQuoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\'') isQuoted = !isQuoted;
        if (isQuoted) continue;
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (text[i] != separator || depth > 0) continue;
        parts.push_back(text.substr(begin, i - begin));
        begin = i + 1;
    }
    parts.push_back(text.substr(begin));
    return parts;
}

bool isNotNegative(const Symbolic& value);

/// Of a symbol, a minimum or maximum, a floor division or a remainder.
bool isFactorNotNegative(std::string_view factor) {
    const auto isPart = [](std::string_view text) { return isNotNegative(Symbolic::parse(text)); };
    if (factor.empty() || isPlainName(factor)) return true;
    if (isFunction(factor)) {
        const auto arguments = partsOf(factor.substr(4, factor.size() - 5), ',');
        return factor.starts_with("min(") ? std::ranges::all_of(arguments, isPart)
                                          : std::ranges::any_of(arguments, isPart);
    }
    // "x//d" is x, nothing, d.
    const auto quotient = partsOf(factor, '/'), remainder = partsOf(factor, '%');
    const auto isPositive = [](std::string_view text) { return Symbolic::parse(text).constant().value_or(0) > 0; };
    if (quotient.size() == 3) return isPart(quotient.front()) && isPositive(quotient.back());
    if (remainder.size() == 2) return isPositive(remainder.back());
    if (quotient.size() != 1 || remainder.size() != 1) return false;
    if (factor.front() == '\'') return factor.find('\'', 1) == factor.size() - 1;
    return factor.front() == '(' && factor.back() == ')' && isFactorNotNegative(factor.substr(1, factor.size() - 2));
}

/// As far as the expression shows it: sums of products of what is not negative.
bool isNotNegative(const Symbolic& value) {
    return value.isInteger() && std::ranges::all_of(value.terms(), [](const auto& term) {
               return term.second >= 0 && std::ranges::all_of(partsOf(term.first, '*'), isFactorNotNegative);
           });
}

}  // namespace

Symbolic Symbolic::make(Terms terms, std::int64_t denominator) {
    Symbolic result;
    if (denominator <= 0 || terms.size() > kMaxTerms) return result;
    std::erase_if(terms, [](const auto& term) { return term.second == 0; });
    std::int64_t common = denominator;
    for (const auto& [factors, coefficient] : terms) {
        if (factors.size() > kMaxFactors || coefficient == INT64_MIN) return result;
        common = std::gcd(common, coefficient);
    }
    if (terms.empty()) common = denominator;
    for (auto& [factors, coefficient] : terms) coefficient /= common;
    result.m_terms = std::move(terms);
    result.m_denominator = denominator / common;
    if (result.m_terms->size() > 1 && result.text().size() > kMaxTextLength) result.m_terms.reset();
    return result;
}

Symbolic Symbolic::atom(std::string text) {
    if (text.empty() || text.size() > kMaxTextLength) return {};
    return make({{{std::move(text)}, 1}});
}

/// Nearly all numbers of a graph are constants: they do without what `make` looks for.
Symbolic Symbolic::of(std::int64_t value) {
    Symbolic result;
    if (value == INT64_MIN) return result;
    result.m_terms.emplace();
    if (value != 0) result.m_terms->emplace(Monomial(), value);
    return result;
}

Symbolic Symbolic::of(double value) {
    if (!std::isfinite(value) || std::abs(value) > 1e15) return {};
    // A float32 0.1 is not the double 0.1: a fraction fits if it rounds to the same float.
    for (std::int64_t denominator :
         {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 25, 32, 40, 50, 64, 100, 128, 256, 512, 1000, 1024}) {
        const double scaled = std::round(value * static_cast<double>(denominator));
        const double back = scaled / static_cast<double>(denominator);
        if (back == value || (value != 0 && static_cast<float>(back) == static_cast<float>(value) && denominator > 1)) {
            return make({{{}, static_cast<std::int64_t>(scaled)}}, denominator);
        }
    }
    return {};
}

Symbolic Symbolic::of(const Dim& dim) {
    if (dim.known()) return of(dim.value);
    return dim.symbol.empty() ? Symbolic() : parse(dim.symbol);
}

std::optional<std::int64_t> Symbolic::constant() const {
    if (!m_terms || m_denominator != 1) return std::nullopt;
    if (m_terms->empty()) return 0;
    if (m_terms->size() == 1 && m_terms->begin()->first.empty()) return m_terms->begin()->second;
    return std::nullopt;
}

Dim Symbolic::dim() const {
    if (!isInteger()) return {};
    if (const auto value = constant()) return *value >= 0 ? Dim::of(*value) : Dim{};
    std::string name = text();
    // A lone symbol stands as the file has it.
    if (name.size() > 2 && name.front() == '\'' && name.find('\'', 1) == name.size() - 1)
        name = name.substr(1, name.size() - 2);
    return Dim::named(std::move(name));
}

std::string Symbolic::text() const {
    if (!m_terms) return "?";
    if (m_terms->empty()) return "0";
    // Larger products first, the number last.
    std::vector<const Terms::value_type*> order;
    for (const auto& term : *m_terms) order.push_back(&term);
    std::ranges::stable_sort(order, [](const auto* a, const auto* b) {
        if (a->first.size() != b->first.size()) return a->first.size() > b->first.size();
        return (a->second > 0) > (b->second > 0);
    });
    std::string result;
    for (const auto* term : order) {
        const auto& [factors, coefficient] = *term;
        const std::uint64_t size =
            coefficient < 0 ? 0 - static_cast<std::uint64_t>(coefficient) : static_cast<std::uint64_t>(coefficient);
        if (coefficient < 0) result += '-';
        else if (!result.empty()) result += '+';
        std::string body = size == 1 && !factors.empty() ? "" : std::to_string(size);
        const bool isAlone = body.empty() && factors.size() == 1 && coefficient > 0;
        for (const std::string& factor : factors) {
            if (!body.empty()) body += '*';
            body += !isAlone && needsBrackets(factor) ? "(" + factor + ")" : factor;
        }
        result += body;
    }
    return m_denominator == 1 ? result : "(" + result + ")/" + std::to_string(m_denominator);
}

std::vector<std::pair<std::string, std::int64_t>> Symbolic::terms() const {
    std::vector<std::pair<std::string, std::int64_t>> all;
    if (!isInteger()) return all;
    all.reserve(m_terms->size());
    for (const auto& [factors, coefficient] : *m_terms) {
        std::string text;
        for (const std::string& factor : factors) {
            if (!text.empty()) text += '*';
            text += needsBrackets(factor) ? "(" + factor + ")" : factor;
        }
        all.emplace_back(std::move(text), coefficient);
    }
    return all;
}

bool Symbolic::operator==(const Symbolic& other) const {
    return m_terms && other.m_terms && m_denominator == other.m_denominator && *m_terms == *other.m_terms;
}

Symbolic Symbolic::operator+(const Symbolic& other) const {
    if (!m_terms || !other.m_terms) return {};
    if (const auto a = constant(), b = other.constant(); a && b) {
        std::int64_t result = 0;
        return __builtin_add_overflow(*a, *b, &result) ? Symbolic() : of(result);
    }
    if (m_terms->empty()) return other;
    if (other.m_terms->empty()) return *this;
    Terms sum;
    std::int64_t denominator = 0;
    if (__builtin_mul_overflow(m_denominator, other.m_denominator, &denominator)) return {};
    const auto add = [&sum](const Terms& terms, std::int64_t factor) {
        for (const auto& [factors, coefficient] : terms) {
            std::int64_t scaled = 0;
            if (__builtin_mul_overflow(coefficient, factor, &scaled) ||
                __builtin_add_overflow(sum[factors], scaled, &sum[factors]))
                return false;
        }
        return true;
    };
    if (!add(*m_terms, other.m_denominator) || !add(*other.m_terms, m_denominator)) return {};
    return make(std::move(sum), denominator);
}

Symbolic Symbolic::operator-(const Symbolic& other) const { return *this + other * of(std::int64_t{-1}); }

Symbolic Symbolic::operator*(const Symbolic& other) const {
    if (!m_terms || !other.m_terms) return {};
    if (const auto a = constant(), b = other.constant(); a && b) {
        std::int64_t result = 0;
        return __builtin_mul_overflow(*a, *b, &result) ? Symbolic() : of(result);
    } else if (a == 1) {
        return other;
    } else if (b == 1) {
        return *this;
    }
    if (m_terms->size() * other.m_terms->size() > 4 * kMaxTerms) return {};
    std::int64_t denominator = 0;
    if (__builtin_mul_overflow(m_denominator, other.m_denominator, &denominator)) return {};
    Terms result;
    for (const auto& [a, x] : *m_terms) {
        for (const auto& [b, y] : *other.m_terms) {
            Monomial factors;
            std::ranges::merge(a, b, std::back_inserter(factors));
            std::int64_t value = 0;
            if (factors.size() > kMaxFactors || __builtin_mul_overflow(x, y, &value)) return {};
            std::int64_t& sum = result[std::move(factors)];
            if (__builtin_add_overflow(sum, value, &sum)) return {};
        }
    }
    return make(std::move(result), denominator);
}

/// Polynomial division by the leading term (the longest, then the last in order); nothing unless it leaves no
/// remainder.
std::optional<Symbolic::Terms> Symbolic::quotient(Terms above, const Terms& below) {
    const auto leading = [](const Terms& terms) {
        return std::ranges::max_element(terms, [](const auto& a, const auto& b) {
            return a.first.size() != b.first.size() ? a.first.size() < b.first.size() : a.first < b.first;
        });
    };
    if (below.empty()) return std::nullopt;
    const auto divisor = leading(below);
    Terms result;
    for (std::size_t step = 0; !above.empty(); ++step) {
        if (step > 2 * kMaxTerms || above.size() > 2 * kMaxTerms) return std::nullopt;
        const auto [factors, coefficient] = *leading(above);
        if (!std::ranges::includes(factors, divisor->first) || coefficient % divisor->second != 0) return std::nullopt;
        Monomial rest;
        std::ranges::set_difference(factors, divisor->first, std::back_inserter(rest));
        const std::int64_t share = coefficient / divisor->second;
        for (const auto& [other, value] : below) {
            Monomial place;
            std::ranges::merge(rest, other, std::back_inserter(place));
            std::int64_t part = 0;
            std::int64_t& left = above[place];
            if (__builtin_mul_overflow(share, value, &part) || __builtin_sub_overflow(left, part, &left))
                return std::nullopt;
            if (left == 0) above.erase(place);
        }
        result[rest] += share;
    }
    return result;
}

Symbolic Symbolic::operator/(const Symbolic& other) const {
    if (!m_terms || !other.m_terms || other.m_terms->empty()) return {};
    // (a/p) / (b/q) = (a q / b) / p
    const Symbolic above = make(*m_terms) * of(other.m_denominator);
    if (!above.known()) return {};
    if (auto exact = quotient(*above.m_terms, *other.m_terms)) return make(std::move(*exact), m_denominator);
    if (const auto number = make(*other.m_terms).constant()) {
        std::int64_t denominator = 0;
        if (__builtin_mul_overflow(m_denominator, std::abs(*number), &denominator)) return {};
        const Symbolic scaled = make(*above.m_terms, denominator);
        return *number < 0 ? -scaled : scaled;
    }
    return {};
}

/// x//d of an expression that is nothing else.
std::optional<std::pair<Symbolic, std::int64_t>> Symbolic::asFloorDiv() const {
    if (!m_terms || m_terms->size() != 1 || m_terms->begin()->second != 1 || m_terms->begin()->first.size() != 1)
        return std::nullopt;
    const std::string& text = m_terms->begin()->first[0];
    const std::size_t bar = text.rfind("//");
    if (bar == std::string::npos || isFunction(text) || text[0] == '\'') return std::nullopt;
    const auto divisor = parse(std::string_view(text).substr(bar + 2)).constant();
    if (!divisor || *divisor <= 0) return std::nullopt;
    std::string_view above = std::string_view(text).substr(0, bar);
    return std::pair(parse(above), *divisor);
}

Symbolic floorDiv(const Symbolic& a, const Symbolic& b) {
    if (!a.isInteger() || !b.isInteger() || b.m_terms->empty()) return {};
    if (auto exact = Symbolic::quotient(*a.m_terms, *b.m_terms)) return Symbolic::make(std::move(*exact));
    const auto divisor = b.constant();
    if (!divisor) {
        const bool isShort =
            b.m_terms->size() == 1 && b.m_terms->begin()->first.size() == 1 && !needsBrackets(b.text());
        const bool isName = a.m_terms->size() == 1 && !needsBrackets(a.text());
        return Symbolic::atom((isName ? a.text() : "(" + a.text() + ")") + "//" +
                              (isShort ? b.text() : "(" + b.text() + ")"));
    }
    if (*divisor < 0) return floorDiv(-a, -b);
    // (b q + r) // b = q + r // b, term by term.
    Symbolic::Terms whole, rest;
    for (const auto& [factors, coefficient] : *a.m_terms) {
        whole[factors] = floorQuotient(coefficient, *divisor);
        rest[factors] = coefficient - whole[factors] * *divisor;
    }
    const Symbolic outside = Symbolic::make(std::move(whole));
    const Symbolic inside = Symbolic::make(std::move(rest));
    if (!outside.known() || !inside.known()) return {};
    if (inside.constant()) return outside;  // smaller than the divisor
    // (x // d + c) // e = (x + c d) // (d e)
    const auto number = inside.m_terms->find({});
    const std::int64_t added = number == inside.m_terms->end() ? 0 : number->second;
    if (const auto inner = (inside - Symbolic::of(added)).asFloorDiv()) {
        std::int64_t both = 0;
        if (!__builtin_mul_overflow(inner->second, *divisor, &both)) {
            return outside +
                   floorDiv(inner->first + Symbolic::of(added) * Symbolic::of(inner->second), Symbolic::of(both));
        }
    }
    const bool isName = inside.m_terms->size() == 1 && inside.m_terms->begin()->second == 1 &&
                        inside.m_terms->begin()->first.size() == 1 && !needsBrackets(inside.text());
    return outside +
           Symbolic::atom((isName ? inside.text() : "(" + inside.text() + ")") + "//" + std::to_string(*divisor));
}

Symbolic ceilDiv(const Symbolic& a, const Symbolic& b) {
    if (b.constant() && *b.constant() > 0) return floorDiv(a + b - Symbolic::of(std::int64_t{1}), b);
    return -floorDiv(-a, b);
}

Symbolic mod(const Symbolic& a, const Symbolic& b) {
    if (!a.isInteger() || !b.isInteger() || b.m_terms->empty()) return {};
    const auto divisor = b.constant();
    if (divisor && *divisor < 0) return -mod(-a, -b);
    Symbolic inside = a;
    if (divisor) {
        Symbolic::Terms rest;
        for (const auto& [factors, coefficient] : *a.m_terms)
            rest[factors] = coefficient - floorQuotient(coefficient, *divisor) * *divisor;
        inside = Symbolic::make(std::move(rest));
        if (!inside.known() || inside.constant()) return inside;
    } else if (Symbolic::quotient(*a.m_terms, *b.m_terms)) {
        return Symbolic::of(std::int64_t{0});
    }
    const std::string divisorText = b.text();
    const bool isName = !needsBrackets(inside.text());
    return Symbolic::atom((isName ? inside.text() : "(" + inside.text() + ")") + "%" +
                          (divisor || isPlainName(divisorText) ? divisorText : "(" + divisorText + ")"));
}

Symbolic floor(const Symbolic& a) {
    if (!a.m_terms) return {};
    return floorDiv(Symbolic::make(*a.m_terms), Symbolic::of(a.m_denominator));
}

/// min or max: whichever is certain, else the function itself with sorted arguments.
Symbolic Symbolic::pick(const Symbolic& other, std::string_view function) const {
    if (!m_terms || !other.m_terms) return {};
    const bool isMax = function == "max";
    const Symbolic difference = *this - other;
    if (difference.known()) {
        // Tensors without elements aside, symbols are at least 1: with coefficients of one sign, that is the nearest to
        // 0.
        const bool plain = std::ranges::all_of(*difference.m_terms, [](const auto& term) {
            return std::ranges::all_of(term.first, [](const std::string& factor) { return isPlainName(factor); });
        });
        bool rises = plain, falls = plain;
        double nearest = 0;  // the difference where all symbols are 1
        for (const auto& [factors, coefficient] : *difference.m_terms) {
            nearest += static_cast<double>(coefficient);
            if (!factors.empty()) (coefficient > 0 ? falls : rises) = false;
        }
        if (rises && nearest >= 0) return isMax ? *this : other;
        if (falls && nearest <= 0) return isMax ? other : *this;
    }
    if (!isInteger() || !other.isInteger()) return {};
    // Sizes are not negative, and neither are their minima: of those and a number up to 0 the larger one is known.
    const auto isUpToZero = [](const Symbolic& one) { return one.constant().value_or(1) <= 0; };
    if (isUpToZero(other) && isNotNegative(*this)) return isMax ? *this : other;
    if (isUpToZero(*this) && isNotNegative(other)) return isMax ? other : *this;
    const std::string opposite = isMax ? "min(" : "max(";
    const auto absorbs = [&opposite](const Symbolic& one, const Symbolic& function) {
        // max(a, min(a, b)) = a
        const std::string text = function.text();
        if (!text.starts_with(opposite)) return false;
        return text.starts_with(opposite + one.text() + ",") || text.ends_with("," + one.text() + ")");
    };
    if (absorbs(*this, other)) return *this;
    if (absorbs(other, *this)) return other;
    std::string a = text(), b = other.text();
    // max(a, max(a, b)) = max(a, b)
    const std::string same = std::string(function) + "(";
    if (a.starts_with(same) && (a.starts_with(same + b + ",") || a.ends_with("," + b + ")"))) return *this;
    if (b.starts_with(same) && (b.starts_with(same + a + ",") || b.ends_with("," + a + ")"))) return other;
    if (constant() || (!other.constant() && b < a)) std::swap(a, b);
    return atom(same + a + "," + b + ")");
}

Symbolic smaller(const Symbolic& a, const Symbolic& b) { return a.pick(b, "min"); }
Symbolic larger(const Symbolic& a, const Symbolic& b) { return a.pick(b, "max"); }

Symbolic product(const std::vector<Dim>& dims) {
    // The numbers first, without a Symbolic for each.
    std::int64_t numbers = 1;
    bool hasOthers = false;
    for (const Dim& dim : dims) {
        if (!dim.known()) hasOthers = true;
        else if (__builtin_mul_overflow(numbers, dim.value, &numbers)) return {};
    }
    Symbolic result = Symbolic::of(numbers);
    for (const Dim& dim : dims)
        if (hasOthers && !dim.known()) result = result * Symbolic::of(dim);
    return result;
}

}  // namespace sonde::tensor
