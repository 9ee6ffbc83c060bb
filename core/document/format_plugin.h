#pragma once

#include "core/document/format.h"

namespace sonde::document {

/// Shared libraries with models of SONDE_MODEL (core/nn/plugin.h). Their code runs in this process, and only if the
/// file is named .so and the user agreed to its content: by OpenOptions::allowNative, or once and for all
/// (agreeToNative). PATH#NAME chooses a model. A library stays loaded; if its file has changed, it is loaded anew
/// beside the old one. Errors (Unreadable): another name; not agreed to; built for another Sonde or standard library;
/// it cannot be loaded; its constructor or forward threw.
Format pluginFormat();

/// Whether the file is named .so.
bool isNamedAsLibrary(const std::filesystem::path& path);

/// "a.so#name" → ("a.so", "name") if there is no file of the whole name; else the path alone.
std::pair<std::filesystem::path, std::string> splitModelPath(const std::string& model);

}  // namespace sonde::document
