#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ops/registry/registry.h"

namespace sonde::ops {

/// No input: of a term that is a number of the operator itself.
inline constexpr std::uint32_t kNoOperand = std::numeric_limits<std::uint32_t>::max();
/// Terms that one element may have; more are an error.
inline constexpr std::size_t kMaxTerms = std::size_t{1} << 22;

/// One element that an element of a result is made of.
struct DependenceTerm {
    std::uint32_t part = 0;                  ///< position in Dependence::parts
    std::uint32_t input = kNoOperand;        ///< position in the call; kNoOperand: not an input
    std::uint32_t member = 0;                ///< of an input that is a list of tensors
    std::uint32_t weightInput = kNoOperand;  ///< where the weight is an element of an input itself
    std::uint32_t weightMember = 0;          ///< of an input that is a list of tensors
    std::int64_t element = 0;                ///< row-major index
    std::int64_t weightElement = 0;
    double value = 0;
    double weight = 1;
    bool isOutput = false;  ///< `input` is an output of the same call: the step before of a recurrent layer
    bool isInside = false;  ///< a number that the operator computes on its way: `element` is its place among its kind
    /// Terms of one pair, both elements of a difference for instance, are listed together; none: 0.
    std::uint32_t pair = 0;
};

/// A name of the formula that stands for terms: a number if it has one, an array of all of them otherwise.
struct DependencePart {
    std::string name;
    std::string weights = {};  ///< the name of their weights in the formula; empty: they do not occur there
    bool isList = false;       ///< an array even if it has one term or none
};

/// What an element of a result is made of.
struct Dependence {
    /// An expression (core/expression) over the names of the parts, of their weights and of `numbers`, whose value is
    /// the element: "sum(w * x) + bias".
    std::string formula;
    std::vector<DependencePart> parts;
    std::vector<DependenceTerm> terms;
    std::vector<std::pair<std::string, Value>> numbers;  ///< "epsilon", 1e-5; None where it is left out
    /// Of terms that are outputs of the same call, as the states of a recurrent layer: outputs where the chain of them
    /// begins. All on the way from there takes part as well.
    std::vector<DependenceTerm> begins = {};
    /// The formula is a call of the operator, and this what its kernel gives for these elements alone.
    std::optional<double> byKernel = std::nullopt;

    /// The part of that name, which is made if there is none.
    std::uint32_t part(std::string_view name, std::string_view weights = {});
    std::uint32_t listPart(std::string_view name, std::string_view weights = {});
    void number(std::string_view name, double value) { numbers.emplace_back(name, Value::ofFloat(value)); }
};

/// An element of a result of one call: what a rule is asked about.
struct ElementCall {
    KernelContext& context;  ///< inputs with defaults filled in, contiguous; attributes complete
    const OpDef& op;
    const Tensor& result;            ///< that has the element; contiguous
    std::span<const Value> outputs;  ///< all of the call; None where one is not known
    std::size_t output = 0;
    std::size_t member = 0;  ///< of an output that is a list of tensors
    std::int64_t element = 0;
    std::vector<std::int64_t> at = {};  ///< its index in each dimension

    /// The text that stands beside the rule where it is declared.
    std::string_view text = {};
};

/// How the elements of a result depend on those of the inputs.
using DependenceRule = base::Result<Dependence> (*)(const ElementCall& call);

/// Declares the rule of operators, beside their rows. `names`: separated by blanks, without overloads, for all
/// versions; `text`: what the rule wants to know, a formula for instance. A name with a dot is one overload.
void explain(std::string_view domain, std::string_view names, DependenceRule rule, std::string_view text = {});

/// The rule of an operator, which its in-place form and its other names share: what it declares, or what follows from
/// its traits; null if there is none.
struct DeclaredDependence {
    DependenceRule rule = nullptr;
    std::string_view text;
    explicit operator bool() const { return rule != nullptr; }
};
DeclaredDependence dependenceOf(const OpDef& op);

/// "DOMAIN::NAME" of all declarations, sorted.
std::vector<std::string> explainedOperators();

/// What one element of an output is made of. `inputs` as for ops::call; `outputs` what that gave. Errors: the operator
/// has no rule (Unsupported); the element is not there; more than kMaxTerms; the rule's own.
struct DependenceQuestion {
    const OpDef* op = nullptr;
    std::span<const Value> inputs;
    const Attributes* attributes = nullptr;
    std::span<const Value> outputs;
    std::size_t output = 0, member = 0;
    std::int64_t element = 0;
    int version = 0;
};
base::Result<Dependence> findDependence(const DependenceQuestion& question, RunEnvironment& environment);

/// Where all elements of a result come from, for operators that move data.
struct MovedElements {
    struct Source {
        std::size_t input, member;
        std::int64_t first, count;  ///< of the numbers that its elements have
        Tensor tensor;
    };
    struct Element {
        std::size_t input, member;
        std::int64_t element;
    };
    Tensor numbers;  ///< by element of the result
    std::vector<Source> sources;

    /// Nothing for a constant.
    std::optional<Element> sourceOf(std::int64_t element) const;
};
/// Errors: another rule, or none; too many elements.
base::Result<MovedElements> findMoved(const DependenceQuestion& question, RunEnvironment& environment);
/// Whether which elements it takes is told by values, or by chance, so that neighbours may come from anywhere.
bool picksElements(const OpDef& op);

}  // namespace sonde::ops
