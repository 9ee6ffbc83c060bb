#pragma once

#include <filesystem>
#include <string>

namespace sonde::base {

/// Where a helper program of Sonde is: the path in the environment variable `variable`, else `name` beside the running
/// executable, in ../libexec/sonde or ../bin from there; empty if nowhere.
std::filesystem::path findHelperProgram(const std::string& name, const char* variable);

}  // namespace sonde::base
