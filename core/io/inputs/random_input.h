#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/io/inputs/input_info.h"
#include "core/tensor/value.h"

namespace sonde::io {

/// "#rand(min,max,shape…)", and "#zeros(shape…)" with zero for both.
struct RandSpec {
    double low = 0;
    double high = 1;
    bool hasShape = false;
    std::vector<std::int64_t> shape;
    bool continues = false;  ///< ends in "..."
};

/// input-data.md, "Grammar": no blank after the bracket, numbers without exponent, integers as dim sizes.
base::Result<RandSpec> parseRand(std::string_view item);

/// Uniform random numbers of the input's dtype in [min, max), or min where both are equal. Integers are truncated.
/// What truncation or rounding takes out of the interval becomes the next number inside. A bool is false or true, as
/// the integers from min up to and with max. The numbers depend on `seed` and `index`, the input's position, alone.
/// Errors (Usage): the item; a shape that the input does not take; an interval that reaches beyond the dtype, or that
/// has none of its numbers.
base::Result<tensor::Value> randomValue(std::string_view item, const InputInfo& input, std::size_t index,
                                        std::uint64_t seed);

}  // namespace sonde::io
