#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/tensor/type_info.h"

namespace sonde::tensor {

/// A number that may depend on dim sizes that are not known before a run: a polynomial with rational coefficients over
/// symbols and over what is no polynomial (floor divisions, remainders, minima, maxima). Equal expressions have equal
/// texts: `(N+1)*2` and `2*N+2` are both `2*N+2`, `(H-1)//2+1` is `(H+1)//2`. Expressions that grow too large, overflow
/// or divide by zero become unknown. Symbols stand for dim sizes, so they are not negative.
class Symbolic {
  public:
    Symbolic() = default;  ///< unknown
    static Symbolic of(std::int64_t value);
    /// A number of few binary or decimal digits as a fraction (0.5, 1.25, 0.1); unknown if it is none.
    static Symbolic of(double value);
    static Symbolic of(const Dim& dim);
    /// Reads "3*H+1", "(s0-1)//2", "max(N,1)", "'odd name'*2"; a text that is no expression is one symbol.
    static Symbolic parse(std::string_view text);

    bool known() const { return m_terms.has_value(); }  ///< anything at all
    std::optional<std::int64_t> constant() const;       ///< an integer without symbols
    /// As a dim size: unknown if it is negative or not an integer.
    Dim dim() const;
    std::string text() const;  ///< "3*H*W+1"; "?" if unknown
    /// Of an integer: the factors of each term as text, "H*W", "((H+1)//2)", "" of the number, with the coefficient.
    std::vector<std::pair<std::string, std::int64_t>> terms() const;
    /// With numbers for symbols; unknown if one is missing.
    Symbolic bound(const std::function<std::optional<std::int64_t>(std::string_view symbol)>& value) const;
    bool isInteger() const { return m_terms && m_denominator == 1; }

    Symbolic operator+(const Symbolic& other) const;
    Symbolic operator-(const Symbolic& other) const;
    Symbolic operator-() const { return of(std::int64_t{0}) - *this; }
    Symbolic operator*(const Symbolic& other) const;
    Symbolic operator/(const Symbolic& other) const;  ///< exact: a fraction, or a division without remainder
    /// Equal as expressions; unknown equals nothing.
    bool operator==(const Symbolic& other) const;

    friend Symbolic floorDiv(const Symbolic& a, const Symbolic& b);
    friend Symbolic ceilDiv(const Symbolic& a, const Symbolic& b);
    friend Symbolic mod(const Symbolic& a, const Symbolic& b);
    friend Symbolic floor(const Symbolic& a);
    friend Symbolic smaller(const Symbolic& a, const Symbolic& b);
    friend Symbolic larger(const Symbolic& a, const Symbolic& b);

  private:
    using Monomial = std::vector<std::string>;       ///< its factors, sorted
    using Terms = std::map<Monomial, std::int64_t>;  ///< without zeros; empty: 0

    static Symbolic make(Terms terms, std::int64_t denominator = 1);
    static Symbolic atom(std::string text);
    static std::optional<Terms> quotient(Terms above, const Terms& below);
    std::optional<std::pair<Symbolic, std::int64_t>> asFloorDiv() const;
    Symbolic pick(const Symbolic& other, std::string_view function) const;

    std::optional<Terms> m_terms;
    std::int64_t m_denominator = 1;  ///< above 0; of all terms
};

// Arithmetic of dim sizes; unknown with unknown gives unknown.
Symbolic floorDiv(const Symbolic& a, const Symbolic& b);
Symbolic ceilDiv(const Symbolic& a, const Symbolic& b);
Symbolic mod(const Symbolic& a, const Symbolic& b);  ///< with the sign of b
Symbolic floor(const Symbolic& a);
Symbolic smaller(const Symbolic& a, const Symbolic& b);
Symbolic larger(const Symbolic& a, const Symbolic& b);

/// The product of dim sizes, 1 for none.
Symbolic product(const std::vector<Dim>& dims);

}  // namespace sonde::tensor
