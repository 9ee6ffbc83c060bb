#pragma once

#include <functional>
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
    tensor::Shape shape;               ///< of Numbers
    std::vector<double> values;        ///< of Numbers, in the order of the shape; bools are 0 and 1
    std::vector<TransformTerm> items;  ///< of a List
    tensor::DType dtype = tensor::DType::Undefined;

    static TransformTerm number(double value) { return {Kind::Numbers, {}, {value}, {}, {}}; }
    static TransformTerm numbers(tensor::Shape shape, std::vector<double> values) {
        return {Kind::Numbers, std::move(shape), std::move(values), {}, {}};
    }
};

/// Why an expression has no value; the parser adds the column.
struct TransformError {
    std::string what;
};

/// Numbers, or a list of numbers as the array that numpy makes of it. Throws TransformError.
TransformTerm asNumbers(const TransformTerm& term);
/// An operator on two arrays, broadcast as in numpy. Throws TransformError.
TransformTerm elementwise(const TransformTerm& a, const TransformTerm& b,
                          const std::function<double(double, double)>& op);

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
