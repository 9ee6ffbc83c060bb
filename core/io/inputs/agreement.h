#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/io/inputs/input_info.h"

namespace sonde::io {

/// Whether a value may be given to an input, by what the model declares (InputInfo::required) and by what the other
/// inputs are given. All errors are of kind Usage and read "input 'x' expects float32[N,3,8,8], got float32[1,4,8,8]
/// (dimension 1: 3 declared, 4 given)".

/// The error of that form; without brackets if `detail` is empty.
base::Error unexpectedValue(const InputInfo& input, const std::string& given, const std::string& detail);

/// What speaks against the type of a value of this input: rank, fixed dimensions, one symbol with two sizes. Nothing if
/// the model declares nothing.
std::optional<base::Error> contradiction(const InputInfo& input, const tensor::TypeInfo& given);

/// What speaks against an input being given together with the others.
struct Contradiction {
    std::size_t input;
    base::Error error;
};
/// contradiction() for every input, and the inputs whose symbols ("N") have another size than in an input before them.
/// `values`: one for each input; none for what is not given.
std::vector<Contradiction> contradictions(const std::vector<InputInfo>& inputs, std::span<const tensor::Value> values);

/// Why fitted() refuses a tensor of a type for its shape. Nothing if it does not, or the input takes no tensor.
std::optional<base::Error> misfit(const InputInfo& input, const tensor::TypeInfo& given);

/// A tensor of data as a value of the input: converted to its dtype, or to int, float, bool, str or a list of them
/// where the model takes no tensor. Where the model declares a type, values must survive the conversion: no fraction
/// becomes an integer, no integer another number, no number leaves the range of the dtype; floats are rounded. Without,
/// the cast of Tensor::cast() and only the rank is checked. A scalar is taken for an input that was recorded as [1].
/// `where`: file or text that the data is from.
base::Result<tensor::Value> fitted(tensor::Tensor tensor, const InputInfo& input, const std::string& where);

/// Whether arrays of a dtype are taken for the input without a key that names it: floats for floats, integers for
/// integers. An undefined dtype expects nothing.
bool isSameClass(tensor::DType given, tensor::DType expected);

/// A dimension that is only named "?" or the like says nothing of another one of that name.
bool isSymbol(const tensor::Dim& dim);

/// Gives every symbol one size in all inputs: that of the values that are given, else the largest usual one
/// (InputInfo::usual). `values` may be empty.
void agreeOnSymbols(std::vector<InputInfo>& inputs, std::span<const tensor::Value> values = {});

}  // namespace sonde::io
