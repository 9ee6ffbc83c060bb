#pragma once

#include "core/expression/syntax.h"
#include "core/expression/workspace.h"

namespace sonde::expression {

/// Something that can be computed with.
struct Operand {
    tensor::Tensor tensor;  ///< of a dtype that numpy has
    bool isPython = false;  ///< a number of Python (rank 0), which takes the dtype of the array beside it
};

/// A number, an array, or a list of them as the array that numpy makes of it. Throws Problem.
Operand operandOf(Workspace& workspace, const tensor::Value& value);
/// The same, as an array with a dtype of its own.
tensor::Tensor arrayOf(Workspace& workspace, const tensor::Value& value);
/// Operands of numbers of Python as such.
tensor::Value valueOf(const Operand& operand);

/// What an array of a dtype is computed in: float64 for those that numpy has not. Throws Problem: complex, string.
tensor::DType numpyType(tensor::DType dtype);
/// numpy's promotion of the dtypes of two arrays.
tensor::DType promoted(tensor::DType a, tensor::DType b);
/// The float that numpy computes a dtype in, next to a float or in a function such as sqrt.
tensor::DType floatFor(tensor::DType dtype);
/// What an operator computes two operands in. Throws Problem: an integer of Python that the array's dtype does not
/// hold, but not for comparisons, which are exact.
tensor::DType commonType(const Operand& a, const Operand& b, bool isComparison);

/// An operator on two numbers of Python, both int, float or bool. Throws Problem: division by zero, overflow.
tensor::Value pythonResult(Operator op, const tensor::Value& a, const tensor::Value& b);

/// a // b and a % b of floats as numpy has them: the remainder has the sign of b.
double floorDivided(double a, double b);
double floorRemainder(double a, double b);

}  // namespace sonde::expression
