#include "core/base/helper_program.h"

#include <cstdlib>
#include <unistd.h>

namespace sonde::base {

namespace fs = std::filesystem;

fs::path findHelperProgram(const std::string& name, const char* variable) {
    if (const char* const named = std::getenv(variable); named && *named) return named;
    std::error_code failed;
    const fs::path here = fs::read_symlink("/proc/self/exe", failed).parent_path();
    if (failed) return {};
    for (const fs::path& folder : {here, here / "../libexec/sonde", here / "../bin"}) {
        const fs::path program = folder / name;
        if (fs::is_regular_file(program, failed) && ::access(program.c_str(), X_OK) == 0)
            return program.lexically_normal();
    }
    return {};
}

}  // namespace sonde::base
