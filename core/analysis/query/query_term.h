#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/query/query.h"
#include "core/expression/expression.h"
#include "core/ops/support/regex.h"

namespace sonde::analysis {

// clang-format off
enum class QueryField : std::uint8_t {
    Any, Number, Name, Op, Module, Class, Attribute, DType, Shape, Category, Kind, Domain, Source, Is, Value,
    // numbers
    Readers, Inputs, Elements, Bytes, Parameters, Time, Rank, Nan, Inf, Zeros, Min, Max, Mean, Std,
};
// clang-format on

enum class QueryRelation : std::uint8_t { InputsOf, OutputsOf, Near, UpstreamOf, DownstreamOf };

enum class QueryCompare : std::uint8_t { Has, Equal, Unequal, Less, LessEqual, Greater, GreaterEqual };

/// The name of a node's value in expressions of queries.
inline constexpr std::string_view kValueName = "x";

/// A text to compare with: part of it, the whole of it with wildcards, or a regular expression.
struct TextPattern {
    std::string text;  ///< with folded case
    bool whole = false;
    std::optional<ops::Regex> regex;  ///< in any case of letters

    bool fits(std::string_view candidate) const;
};

/// One dimension of a shape pattern.
struct DimSizePattern {
    enum class Kind : std::uint8_t { Any, Rest, Symbol, Number } kind = Kind::Any;
    std::string symbol;
    QueryCompare compare = QueryCompare::Equal;
    std::int64_t number = 0;
};

struct QueryTerm {
    enum class Kind : std::uint8_t { And, Or, Not, Field, Relation } kind = Kind::Field;
    std::vector<std::shared_ptr<const QueryTerm>> parts;  ///< And, Or: two or more. Not, Relation: one

    QueryField field = QueryField::Any;
    QueryCompare compare = QueryCompare::Has;
    TextPattern pattern;
    expression::Expression condition;  ///< of numeric fields and Value
    double number = 0;                 ///< of Number, and of an attribute's value
    std::string attribute;             ///< Attribute: its name, with folded case
    bool wantsValue = false;           ///< Attribute: its value is compared too
    bool valueIsNumber = false;
    std::vector<DimSizePattern> dimSizes;  ///< Shape
    bool anyDimSize = false;               ///< Shape: one such dimension suffices

    QueryRelation relation = QueryRelation::Near;
    std::size_t distance = 1;  ///< Relation: how many edges
};

bool isNumeric(QueryField field);
/// "nan" … "readers"; none for fields of text and for other words.
std::optional<QueryField> numericField(std::string_view name);
bool compares(double left, QueryCompare compare, double right);

}  // namespace sonde::analysis
