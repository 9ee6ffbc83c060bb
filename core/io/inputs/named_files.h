#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace sonde::io {

/// Paths that a specification of inputs (see makeInputs) may name, without reading any but its list: "x:a.npy;b.npz#k"
/// gives a.npy and b.npz, "@list.txt" the list and what its lines name. Names of inputs are not known here: also parts
/// that are no paths may be among them.
std::vector<std::filesystem::path> filesNamedIn(std::string_view spec);

}  // namespace sonde::io
