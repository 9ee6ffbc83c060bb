#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::io {

/// Paths that a specification of inputs (see makeInputs) may name, without reading any but its list: "x:a.npy;b.npz#k"
/// gives a.npy and b.npz, "@list.txt" the list and what its lines name. Names of inputs are not known here: also parts
/// that are no paths may be among them.
std::vector<std::filesystem::path> filesNamedIn(std::string_view spec);

/// Where one item without an input's name has paths: "prompt.txt#tokenizer.json,16" has two, 'Hello'#vocab.txt and
/// a.npz#key one, numbers none. Position and size of each, in order.
std::vector<std::pair<std::size_t, std::size_t>> pathsInItem(std::string_view item);

}  // namespace sonde::io
