#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/io/inputs/input_info.h"
#include "core/tensor/value.h"

namespace sonde::io {

/// Random numbers that are added to the elements of a value, uniform in [-amplitude, amplitude). In a specification
/// "+noise(AMPLITUDE[,SEED])" behind any item: photo.png+noise(0.1,7). Without a seed it is 0.
struct Noise {
    double amplitude = 0;
    std::uint64_t seed = 0;

    bool operator==(const Noise&) const = default;
};

/// The item without what is added to it, which is all of it where nothing is. No noise is what a file is called, or a
/// text contains.
std::string_view withoutNoise(std::string_view item);
/// What is added; nothing: no noise. Errors (Usage): an amplitude that is negative or no number, a seed that is none.
base::Result<std::optional<Noise>> noiseOf(std::string_view item);
/// The item with the noise behind it in place of what it has; an amplitude of 0 is none.
std::string withNoise(std::string_view item, const Noise& noise);

/// Whether noise can be added to values of an input: floats, or what is not known.
bool takesNoise(const tensor::TypeInfo& type);
/// The value of an input with noise, in its dtype. The numbers depend on the seed and `index`, the input's position,
/// alone. Errors (Usage): no floats.
base::Result<tensor::Value> addNoise(const tensor::Value& value, const Noise& noise, const InputInfo& input,
                                     std::size_t index);

}  // namespace sonde::io
