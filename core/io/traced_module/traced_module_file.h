#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "core/base/mapped_file.h"
#include "core/base/result.h"
#include "core/trace/traced_module.h"

namespace sonde::io {

/// A file of a traced module: "SONDETM\n", the length of the header (8 bytes, little endian), the header (JSON: format,
/// version, library version, registrations, modules, graphs, tensors), then the tensors' bytes, each from a multiple
/// of 64. It holds graphs with names and ids, counters, parameters and constants; of built-in modules what their calls
/// in the graphs do. Watch and end points are not saved.
inline constexpr std::string_view kTracedModuleMagic = "SONDETM\n";
inline constexpr int kTracedModuleVersion = 1;
/// The library's version in files: hooks of another one's files are run (trace::registerUpgrade).
inline constexpr std::string_view kTracedModuleLibrary = "1";

bool looksLikeTracedModule(std::span<const std::byte> head);

/// Errors: a constant of a type that cannot be saved (names registerSupportedType), a built-in module whose calls have
/// inputs of unknown shapes, or the file cannot be written; one of `sources`, the files that tensors are read from,
/// changed meanwhile (then no file is left).
base::Result<void> saveTracedModule(const trace::TracedModule& module, const std::filesystem::path& path,
                                    std::string_view libraryVersion = kTracedModuleLibrary,
                                    const base::MappedFiles& sources = {});
/// Tensors are mapped, not copied. Errors: what is wrong with the file; it can hold anything.
base::Result<std::shared_ptr<trace::TracedModule>> loadTracedModule(const std::filesystem::path& path);

}  // namespace sonde::io
