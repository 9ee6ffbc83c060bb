#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/tensor/value.h"

namespace sonde::expression {

struct Function;

// clang-format off
enum class Operator : std::uint8_t {
    Or, And, Not,
    Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual,
    BitOr, BitXor, BitAnd,
    Add, Subtract, Multiply, Divide, FloorDivide, Modulo, Power,
    Negate, Plus, Invert,
    Minimum, Maximum,  // of functions only
};
// clang-format on

inline bool isComparison(Operator op) { return op >= Operator::Less && op <= Operator::NotEqual; }
inline bool isBitwise(Operator op) { return op >= Operator::BitOr && op <= Operator::BitAnd; }
/// The sign as it is written.
std::string_view name(Operator op);

/// A part of an expression.
struct Term {
    enum class Kind : std::uint8_t {
        Constant,  ///< a number, a bool, None, a dtype's name
        Name,      ///< of a value
        List,
        Tuple,
        Unary,
        Binary,
        Logical,  ///< and, or: two parts or more
        Chain,    ///< a < b <= c: one operator less than parts
        Call,     ///< a part for each parameter; those that are not given are None
        Index,    ///< the array, then what is inside the brackets
        Slice,    ///< start, stop, step; None where they are left out
        Ellipsis  ///< inside of an Index
    };
    Kind kind = Kind::Constant;
    Operator op = Operator::Add;  ///< of Unary, Binary, Logical
    std::uint16_t depth = 1;      ///< levels, this one included
    std::size_t at = 0;           ///< byte that errors point at
    tensor::Value constant;
    std::string name;
    const Function* function = nullptr;
    std::vector<Term> parts;
    std::vector<Operator> comparisons;       ///< of a Chain
    std::vector<std::size_t> comparisonsAt;  ///< where they are in the text
};

/// Why something cannot be computed; the evaluator adds the column.
struct Problem {
    std::string what;
    std::string hint = {};
};

/// A problem and the byte of the text where it is.
struct LocatedProblem {
    Problem problem;
    std::size_t at;
};

/// The Usage error for a person. `text` is shortened if it is long.
base::Error errorOf(const LocatedProblem& located, std::string_view text);

}  // namespace sonde::expression
