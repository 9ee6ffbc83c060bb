#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/tensor/symbolic.h"

namespace sonde::tensor {

/// A sum of any number of Symbolic numbers: what a whole model takes has more terms than one dim size may have. Equal
/// terms of the numbers are one term of the sum.
class SymbolicSum {
  public:
    SymbolicSum() = default;  ///< 0
    explicit SymbolicSum(const Symbolic& value) { add(value); }

    /// False if the number is unknown, or the sum of its terms does not fit: the sum is then unknown and stays so.
    bool add(const Symbolic& value);
    bool add(const SymbolicSum& other);

    bool known() const { return m_isKnown; }
    std::optional<std::int64_t> constant() const;  ///< an integer without symbols
    /// "4089184256*N+2048", larger coefficients first and the number last; "?" if unknown. Symbols whose names are no
    /// identifiers are as in Symbolic::text().
    std::string text() const;
    /// With numbers for symbols; empty if one is missing, and if the sum is no integer.
    std::optional<std::int64_t> bound(
        const std::function<std::optional<std::int64_t>(std::string_view symbol)>& value) const;
    bool operator==(const SymbolicSum&) const = default;

  private:
    bool addTerm(const std::string& factors, std::int64_t coefficient);

    std::int64_t m_number = 0;
    std::map<std::string, std::int64_t> m_terms;  ///< by the text of their factors; without zeros
    bool m_isKnown = true;
};

}  // namespace sonde::tensor
