#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace sonde::session::diff {

using TermId = std::uint32_t;

/// Formulas in one canonical form: two that are equal as formulas of real numbers have one id, as far as the rules
/// below say. Sums are flat, with a coefficient for each summand; products are flat, with integer exponents; a number
/// that multiplies all of a product, of the operand of a limit or of what only moves elements stands outside. What is
/// not known of an operator is its label.
class CanonicalTerms {
  public:
    /// Which numbers are equal: those with the same float32, or with the same six digits, which is what float32 has but
    /// for the rounding of a few operations.
    enum class Numbers { Exact, Rounded };
    explicit CanonicalTerms(Numbers numbers) : m_numbers(numbers) {}

    TermId number(double value);
    /// An operator with all that it is set to, of terms; without terms a value that is given.
    TermId apply(const std::string& label, std::vector<TermId> of = {});

    TermId sum(TermId a, TermId b);
    TermId scaled(TermId a, double by);
    TermId product(TermId a, TermId b);
    TermId reciprocal(TermId a);
    TermId power(TermId a, double exponent);
    TermId root(TermId a) { return apply("Sqrt", {a}); }
    /// min(max(a, low), high); infinities: no limit.
    TermId clip(TermId a, double low, double high);

    /// What gives the elements of `a`, some of them or all, in another place: numbers stand outside.
    TermId moved(const std::string& label, TermId a);
    /// Of texts of the dimensions.
    using Sizes = std::vector<std::string>;
    TermId reshaped(TermId a, const Sizes& from, const Sizes& to);
    TermId transposed(TermId a, const std::vector<std::size_t>& order);
    struct Range {
        std::int64_t start, end, step;
        bool operator==(const Range&) const = default;
    };
    /// By axis.
    TermId sliced(TermId a, const std::map<std::size_t, Range>& ranges);
    /// A function along axes: softmax of a transposed value is the transposed softmax.
    TermId alongAxes(const std::string& function, TermId a, std::vector<std::size_t> axes);
    /// What multiplies with all that multiplies an operand: a matrix product.
    TermId linear(const std::string& label, std::vector<TermId> of);
    /// A mean over axes: sums and factors of numbers stand outside.
    TermId mean(const std::string& label, TermId a);

    std::optional<double> numberOf(TermId term) const;

  private:
    /// Opaque: an operator of which nothing is known but its label.
    enum class Kind { Opaque, Limits, Reshaped, Transposed, Part, Sum, Product };
    struct Term {
        Kind kind = Kind::Opaque;
        std::string label;
        std::vector<TermId> of;
        std::vector<double> factors;  ///< of a sum coefficients, of a product exponents, of limits both of them
        double constant = 0;          ///< of a sum
        Sizes from;                   ///< of another shape: that of the operand
        std::vector<std::size_t> order;
        std::map<std::size_t, Range> ranges;
    };
    using Summands = std::map<TermId, double>;
    struct Factors {
        double scale = 1;
        std::map<TermId, double> up, down;  ///< exponents, both positive; not cancelled: x / x is not 1 where x is 0
    };

    std::string digits(double value) const;
    TermId intern(Term term);
    TermId sumOf(const Summands& items, double constant);
    TermId productOf(const Factors& factors);
    Summands summandsOf(TermId term) const;
    Factors factorsOf(TermId term);
    double constantOf(TermId term) const;
    /// Of a sum with one summand: that, its coefficient and the constant; else the term itself, 1 and 0.
    struct Affine {
        TermId core;
        double scale, shift;
    };
    Affine affine(TermId term) const;

    Numbers m_numbers;
    std::vector<Term> m_terms;
    std::unordered_map<std::string, TermId> m_ids;
};

}  // namespace sonde::session::diff
