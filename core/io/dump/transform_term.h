#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

namespace sonde::io::dump {

/// What a part of an input transform is (see input_transform.h).
struct TransformTerm {
    enum class Kind { None, Numbers, List, Type };
    Kind kind = Kind::None;
    tensor::Shape shape;                             ///< of Numbers
    std::vector<double> values;                      ///< of Numbers, in the order of the shape; bools are 0 and 1
    std::vector<TransformTerm> items;                ///< of a List
    tensor::DType dtype = tensor::DType::Undefined;  ///< of Numbers, whose values it can hold, and of a Type
    bool isPython = false;  ///< of Numbers: a number of Python, which takes the dtype of the array beside it

    static TransformTerm number(double value, tensor::DType dtype) {
        return {Kind::Numbers, {}, {value}, {}, dtype, true};
    }
    static TransformTerm numbers(tensor::Shape shape, std::vector<double> values, tensor::DType dtype) {
        return {Kind::Numbers, std::move(shape), std::move(values), {}, dtype, false};
    }
};

enum class TransformOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Minimum,
    Maximum
};

/// Why an expression has no value; the parser adds the column.
struct TransformError {
    std::string what;
};

/// Numbers, or a list of numbers as the array that numpy makes of it. Throws TransformError.
TransformTerm asNumbers(const TransformTerm& term);
/// An operator on two arrays, broadcast and with the dtype of the result as in numpy 2: integers wrap, and a number of
/// Python that an array's dtype cannot hold is an error. Throws TransformError: also for int64 above 2^53.
TransformTerm elementwise(const TransformTerm& a, const TransformTerm& b, TransformOp op);
/// -a
TransformTerm negated(const TransformTerm& a);
/// What is computed in for data of a dtype: float64 for those that numpy has not.
tensor::DType numpyType(tensor::DType dtype);
/// Values as a dtype holds them: fractions are cut for integers, which wrap. Throws TransformError.
void toDtype(TransformTerm& term, tensor::DType dtype);

/// Arguments of a call: by position, then by name.
struct TransformCall {
    std::vector<TransformTerm> arguments;
    std::vector<std::pair<std::string, TransformTerm>> keywords;
};
/// Throws TransformError if there is no function of that name, or none that is a method of arrays.
void checkFunction(std::string_view name, bool isMethod);
/// A function of numpy, called as np.NAME(a, …), or as a.NAME(…) with `a` as the first argument. Throws TransformError:
/// unknown names, arguments that do not fit.
TransformTerm callFunction(std::string_view name, TransformCall call, bool isMethod);

}  // namespace sonde::io::dump
