#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sonde::document {

/// A model that a library says it holds (core/nn/plugin.h).
struct PluginEntry {
    std::string abi;           ///< "Sonde 0.1.0, libstdc++ 12 …": what it was built for
    std::uint32_t layout = 0;  ///< nn::pluginLayout() when it was built; 0: the note has another form
    std::uint32_t line = 0;    ///< of the macro in its file
    std::string model;         ///< "my_net"
    std::string className;     ///< "MyNet"
};

/// Reads the notes of SONDE_MODEL from a shared library without running any of it: 64-bit little-endian ELF (System V
/// ABI, "Program Header", "Note Section"). In the order of the source. Nothing for any other content, and for what does
/// not lie inside the file.
std::vector<PluginEntry> readPluginNotes(std::span<const std::byte> file);

}  // namespace sonde::document
